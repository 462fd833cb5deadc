#include "local/transfer.hpp"

#include "arges/error.hpp"
#include "arges/scalar.hpp"

#include <complex>
#include <tuple>

namespace arges::local {

namespace {

using Numbers =
    std::tuple<bool, std::int16_t, std::int32_t, std::int64_t, float, double, long double, std::complex<float>, std::complex<double>>;
using Conversion = void (*)(const void*, void*, std::int64_t);

template <class From, class To>
void convert(const void* source, void* target, std::int64_t count) {
    const From* const from = static_cast<const From*>(source);
    To* const to = static_cast<To*>(target);
#pragma omp parallel for schedule(static) if (count > 65536)
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

template <class From, class To>
void find_for(const std::type_info& to, Conversion& found) {
    if constexpr (is_lossless<From, To> && !std::is_same_v<From, To>)
        if (to == typeid(To)) found = convert<From, To>;
}

Conversion conversion(const std::type_info& from, const std::type_info& to) {
    Conversion found = nullptr;
    const auto from_type = [&]<class From>(From) {
        if (from == typeid(From)) std::apply([&](auto... numbers) { (find_for<From, decltype(numbers)>(to, found), ...); }, Numbers());
    };
    std::apply([&](auto... numbers) { (from_type(numbers), ...); }, Numbers());
    return found;
}

}  // namespace

bool can_convert(const std::type_info& from, const std::type_info& to) { return conversion(from, to) != nullptr; }

void convert_elements(const std::type_info& from, const ElementKernels& to, const void* source, void* target, std::int64_t count) {
    if (to.convert != nullptr) return to.convert(from, source, target, count);
    const auto convert = conversion(from, *to.type);
    if (convert == nullptr) throw InvalidArgument("elements cannot be converted without loss; use a tensor of a wider type");
    convert(source, target, count);
}

}  // namespace arges::local
