#include "local/transfer.hpp"

#include "arges/algebra_concepts.hpp"
#include "arges/error.hpp"
#include "arges/scalar.hpp"

#include <complex>
#include <limits>
#include <string>
#include <tuple>

namespace arges::local {

namespace {

using Numbers =
    std::tuple<bool, std::int16_t, std::int32_t, std::int64_t, float, double, long double, std::complex<float>, std::complex<double>>;
using Conversion = void (*)(const void*, void*, std::int64_t);

/// The element with the digits that the type has.
template <class From, class To>
To rounded(const From& value) {
    if constexpr (is_lossless<From, To>) {
        return static_cast<To>(value);
    } else if constexpr (std::is_same_v<To, bool>) {
        return value != From(0);
    } else if constexpr (kernels::is_complex<To>) {
        return To(static_cast<real_of<To>>(std::real(value)), static_cast<real_of<To>>(std::imag(value)));
    } else if constexpr (std::is_integral_v<To>) {
        // The first power of two that is too large: the largest integer itself may not be a floating-point number.
        constexpr long double beyond = 2.0L * static_cast<long double>(To{1} << (std::numeric_limits<To>::digits - 1));
        const long double number = value;
        if (!(number > -beyond - 1 && number < beyond))
            throw InvalidArgument("conversion to int" + std::to_string(8 * sizeof(To)) + ": " +
                                  std::to_string(static_cast<double>(number)) + " is not within the type; use a wider one");
        return static_cast<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

template <class From, class To>
void convert(const void* source, void* target, std::int64_t count) {
    const From* const from = static_cast<const From*>(source);
    To* const to = static_cast<To*>(target);
    if constexpr (std::is_integral_v<To> && !is_lossless<From, To>) {  // may throw
        for (std::int64_t i = 0; i < count; ++i) to[i] = rounded<From, To>(from[i]);
    } else {
#pragma omp parallel for schedule(static) if (count >= 65536)
        for (std::int64_t i = 0; i < count; ++i) to[i] = rounded<From, To>(from[i]);
    }
}

template <class From, class To>
void find_for(const std::type_info& to, bool rounds, Conversion& found) {
    if constexpr (kernels::is_complex<To> || !kernels::is_complex<From>)
        if (to == typeid(To) && (rounds || (is_lossless<From, To> && !std::is_same_v<From, To>))) found = convert<From, To>;
}

Conversion conversion(const std::type_info& from, const std::type_info& to, bool rounds) {
    Conversion found = nullptr;
    const auto from_type = [&]<class From>(From) {
        if (from == typeid(From))
            std::apply([&](auto... numbers) { (find_for<From, decltype(numbers)>(to, rounds, found), ...); }, Numbers());
    };
    std::apply([&](auto... numbers) { (from_type(numbers), ...); }, Numbers());
    return found;
}

}  // namespace

bool can_convert(const std::type_info& from, const std::type_info& to) { return conversion(from, to, false) != nullptr; }

void convert_elements(const std::type_info& from, const ElementKernels& to, const void* source, void* target, std::int64_t count) {
    if (to.convert != nullptr) return to.convert(from, source, target, count);
    const auto convert = conversion(from, *to.type, false);
    if (convert == nullptr) throw InvalidArgument("elements cannot be converted without loss; use a tensor of a wider type");
    convert(source, target, count);
}

void round_elements(const std::type_info& from, const std::type_info& to, const void* source, void* target, std::int64_t count) {
    const auto convert = conversion(from, to, true);
    if (convert == nullptr) throw InvalidArgument("complex elements as real ones would lose their imaginary parts; take real() or imag()");
    convert(source, target, count);
}

}  // namespace arges::local
