#include "handles/tensor_handle.hpp"

#include "arges/error.hpp"
#include "handles/statement_handle.hpp"

#include <cmath>
#include <limits>

namespace arges::handles {

void TensorHandle::refuse_form(const char* what, const char* cure) const {
    throw InvalidArgument(title() + ": " + what + " needs " + cure);
}

TensorHandle made_tensor(ElementType element, bool is_sparse, const World& world, std::vector<std::int64_t> extents,
                         const Symmetry& symmetry, std::string name) {
    return with_element_type(element, [&]<class T>() -> TensorHandle {
        if (is_sparse) return SparseTensor<T>(world, std::move(extents), symmetry, std::move(name));
        return Tensor<T>(world, std::move(extents), symmetry, std::move(name));
    });
}

TensorHandle copied(const TensorHandle& tensor) {
    return tensor.visit([](const auto& from) -> TensorHandle {
        auto copy = from;
        return TensorHandle(std::move(copy));
    });
}

void set_slice(const TensorHandle& whole, const std::vector<std::int64_t>& begin, const TensorHandle& part) {
    const auto form = [](const TensorHandle& tensor) { return to_string(tensor.element()) + (tensor.is_sparse() ? ", sparse" : ""); };
    whole.world().agree([&] {
        if (whole.element() != part.element() || whole.is_sparse() != part.is_sparse())
            throw InvalidArgument(whole.title() + ": a part of type " + form(part) + " in a tensor of type " + form(whole) +
                                  "; bring it into the form of the tensor (convert it, to_dense, to_sparse)");
    });
    whole.visit([&]<class Whole>(const Whole& own) {
        Whole target(own.state());
        part.visit([&]<class Part>(const Part& piece) {
            if constexpr (std::is_same_v<Whole, Part>) target.set_slice(begin, piece);
        });
    });
}

Labels all_labels(int order) {
    std::vector<std::string> names;
    for (int d = 0; d < order; ++d) names.push_back("d" + std::to_string(d));
    return names;
}

namespace {

/// A conversion from S to T that loses digits at most.
template <class S, class T>
inline constexpr bool is_convertible_element = kernels::is_complex<T> || !kernels::is_complex<S>;

template <class S, class T>
T converted_element(const S& value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value != S(0);
    } else if constexpr (kernels::is_complex<T>) {
        if constexpr (kernels::is_complex<S>)
            return T(static_cast<real_of<T>>(value.real()), static_cast<real_of<T>>(value.imag()));
        else
            return T(static_cast<real_of<T>>(value));
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<S, bool>) {
        // The first power of two that is too large: the largest integer itself may not be a floating-point number.
        constexpr double beyond = 2.0 * static_cast<double>(T{1} << (std::numeric_limits<T>::digits - 1));
        const double number = value;
        const bool has_room = std::is_integral_v<S> && sizeof(S) <= sizeof(T);
        if (!has_room && !(number > -beyond - 1 && number < beyond))
            throw InvalidArgument("conversion to " + to_string(element_type_of<T>()) + ": " + std::to_string(number) +
                                  " is not within the type; use a wider one");
        return static_cast<T>(value);
    } else {
        return static_cast<T>(value);
    }
}

/// Converts arrays of elements; none where parts of them would be lost.
template <class S, class T>
statements::BulkFunction conversion() {
    if constexpr (is_convertible_element<S, T>)
        return [](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
            const auto* const from = static_cast<const S*>(inputs[0]);
            auto* const to = static_cast<T*>(results);
            for (std::int64_t i = 0; i < count; ++i) to[i] = converted_element<S, T>(from[i]);
        };
    else
        return {};
}

}  // namespace

TensorHandle converted(const TensorHandle& tensor, ElementType element) {
    if (element == tensor.element()) return copied(tensor);
    const auto convert = with_element_type(
        tensor.element(), [&]<class S>() { return with_element_type(element, []<class T>() { return conversion<S, T>(); }); });
    if (!convert)
        throw InvalidArgument(tensor.title() + ": complex elements as " + to_string(element) +
                              " would lose their imaginary parts; take real() or imag()");
    auto result = made_tensor(element, tensor.is_sparse(), tensor.world(), tensor.extents(), tensor.symmetry(), tensor.name());
    const auto labels = all_labels(tensor.order());
    apply(result, labels, {tensor}, {labels}, convert, false, MapOver::all);
    return result;
}

TensorHandle to_dense(const TensorHandle& tensor) {
    return tensor.visit([&](const auto& from) -> TensorHandle {
        if constexpr (is_sparse_tensor<decltype(from)>)
            return from.to_dense();
        else
            return copied(tensor);
    });
}

TensorHandle to_sparse(const TensorHandle& tensor, double cutoff) {
    if (std::isnan(cutoff)) throw InvalidArgument("to_sparse: a cutoff that is not a number; give zero or a positive one");
    return tensor.visit([&](const auto& from) -> TensorHandle {
        using T = element_of<decltype(from)>;
        if constexpr (is_sparse_tensor<decltype(from)>) {
            return copied(tensor);
        } else {
            if constexpr (kernels::has_negative<T>)
                if (cutoff >= 0) return SparseTensor<T>::from_dense(from, static_cast<real_of<T>>(cutoff));
            return SparseTensor<T>::from_dense(from);
        }
    });
}

template <class T>
T element_from(const Number& number) {
    const auto refuse = [&](const char* what) -> T {
        throw InvalidArgument(std::string("a ") + what + " as an element of type " + to_string(element_type_of<T>()) +
                              "; use a tensor of a type that has it");
    };
    if (const auto* integer = std::get_if<std::int64_t>(&number)) {
        if constexpr (std::is_same_v<T, bool>) {
            return *integer == 0 || *integer == 1 ? *integer == 1 : refuse("number other than 0 and 1");
        } else if constexpr (std::is_integral_v<T>) {
            const bool fits = *integer >= std::numeric_limits<T>::min() && *integer <= std::numeric_limits<T>::max();
            return fits ? static_cast<T>(*integer) : refuse("larger integer");
        } else {
            return T(static_cast<real_of<T>>(*integer));
        }
    }
    if (const auto* real = std::get_if<double>(&number)) {
        if constexpr (std::is_integral_v<T>) {
            if (std::nearbyint(*real) != *real || std::abs(*real) > 9e18) return refuse("fraction");
            return element_from<T>(static_cast<std::int64_t>(*real));
        } else {
            return T(static_cast<real_of<T>>(*real));
        }
    }
    const auto& z = std::get<std::complex<double>>(number);
    if constexpr (kernels::is_complex<T>) return T(static_cast<real_of<T>>(z.real()), static_cast<real_of<T>>(z.imag()));
    if (z.imag() == 0) return element_from<T>(z.real());
    return refuse("complex number");
}

#define ARGES_INSTANTIATE(T) template T element_from<T>(const Number&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
ARGES_INSTANTIATE(std::complex<float>)
ARGES_INSTANTIATE(std::complex<double>)
ARGES_INSTANTIATE(std::int16_t)
ARGES_INSTANTIATE(std::int32_t)
ARGES_INSTANTIATE(std::int64_t)
ARGES_INSTANTIATE(bool)
#undef ARGES_INSTANTIATE

}  // namespace arges::handles
