// Calls of tensors whose element type and storage are known at run time.
#include "arges/sparse_tensor.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "interface/world/call_arguments.hpp"
#include "local/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arges {

namespace {

using enum ElementType;

template <class T>
T element_of(const Number& number) {
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
            return element_of<T>(static_cast<std::int64_t>(*real));
        } else {
            return T(static_cast<real_of<T>>(*real));
        }
    }
    const auto& z = std::get<std::complex<double>>(number);
    if constexpr (kernels::is_complex<T>) return T(static_cast<real_of<T>>(z.real()), static_cast<real_of<T>>(z.imag()));
    if (z.imag() == 0) return element_of<T>(z.real());
    return refuse("complex number");
}

bool holds(ElementType wide, ElementType narrow) {
    return wide == narrow || local::can_convert(*element_kernels(narrow).type, *element_kernels(wide).type);
}

/// Is the magnitude of an element over a cutoff? NaN is.
ElementTest is_over(const ElementKernels& kernels, double cutoff) {
    if (!(cutoff >= 0) || !kernels.has_negative)
        return [is_zero = kernels.is_zero](Index, const void* element) { return !is_zero(element); };
    const auto magnitude = kernels.reductions->magnitude;
    return [=](Index, const void* element) { return !(magnitude(element) <= cutoff); };
}

}  // namespace

ElementValue element_from(const Number& number, ElementType type) {
    return with_element_type(type, [&]<class T>() { return ElementValue::of(element_of<T>(number)); });
}

Number number_from(const void* element, ElementType type) {
    return with_element_type(type, [&]<class T>() -> Number {
        const T& value = *static_cast<const T*>(element);
        if constexpr (std::is_integral_v<T>)
            return std::int64_t{value};
        else if constexpr (std::is_floating_point_v<T>)
            return double{value};
        else
            return std::complex<double>(value);
    });
}

ElementType common_type(ElementType a, ElementType b) {
    for (auto type : {boolean, int16, int32, int64, float32, float64, complex64, complex128})
        if (holds(type, a) && holds(type, b)) return type;
    throw InvalidArgument("no element type has the numbers of both " + to_string(a) + " and " + to_string(b) +
                          "; convert one of them first");
}

Labels all_labels(int order) {
    std::vector<std::string> names;
    for (int d = 0; d < order; ++d) names.push_back("d" + std::to_string(d));
    return names;
}

ElementType AnyTensor::element() const {
    if (const auto type = element_type_of(kernels())) return *type;
    throw InvalidArgument(title() + ": elements of the user's type " + readable_type(kernels().name) + " where numbers are expected");
}

void AnyTensor::fill(const Number& value) {
    ElementValue element;
    world().agree([&] { element = element_from(value, this->element()); });
    fill_with(element.data());
}

AnyTensor AnyTensor::converted(ElementType element) const {
    const auto& from = any_state_of(*this, "converted");
    const auto& kernels = from.is_sparse ? element_kernels(element) : from.world->kernels(element_kernels(element));
    if (&from.kernels->on_host() == &kernels.on_host()) return *this;
    const CollectiveCall call(from.world->movement_communicator(), "Tensor::converted", *this, element);
    if (from.kernels->is_complex && !kernels.is_complex)
        throw InvalidArgument(title() + ": complex elements as " + to_string(element) +
                              " would lose their imaginary parts; take real() or imag()");
    const auto convert = [&](const void* source, void* target, std::int64_t count) {
        local::round_elements(*from.kernels->type, *kernels.type, source, target, count);
    };
    if (is_sparse()) {
        const auto& state = sparse_state_of(*this, "converted");
        AnyTensor result(kernels, Storage::sparse, world(), extents(), symmetry(), name());
        SparseValues values;
        from.world->agree([&] {
            values = SparseValues(kernels, state.count());
            convert(state.values().data(), values.data(), state.count());
        });
        result.sparse_state()->adopt(state.pattern(), std::move(values));
        return result;
    }
    const auto& state = state_of(*this, "converted");
    auto result = TensorState::make(
        kernels, world(), [&] { return state.layout; }, name());
    from.world->agree([&] {
        const HostElements source(state);
        ChangedHostElements target(*result);
        convert(source.data(), target.data(), state.count());
    });
    return AnyTensor(std::move(result));
}

AnyTensor AnyTensor::to_sparse(double cutoff) const {
    if (std::isnan(cutoff)) throw InvalidArgument("to_sparse: a cutoff that is not a number; give zero or a positive one");
    if (is_sparse()) return *this;
    return sparse_where([test = is_over(kernels(), cutoff)](const void* element) { return test({}, element); }, cutoff);
}

void AnyTensor::drop(double cutoff) {
    keep_if("SparseTensor::drop", is_over(kernels(), cutoff > 0 || std::isnan(cutoff) ? cutoff : -1), cutoff);
}

Number AnyTensor::sum() const {
    const auto type = element();
    if (!kernels().has_negative || (is_sparse() && type >= int16 && type <= int64)) return total((*this)[all_labels(order())]);
    if (is_sparse()) {
        const auto sum = sum_of_stored();
        return kernels().is_complex ? Number(sum) : Number(sum.real());
    }
    ElementValue sum(kernels().size);
    sum_to(sum.data());
    return number_from(sum.data(), type);
}

double AnyTensor::norm1() const { return static_cast<double>(norm1_of_all()); }
double AnyTensor::norm() const { return static_cast<double>(norm_of_all()); }
double AnyTensor::norm_max() const { return static_cast<double>(norm_max_of_all()); }

Number AnyTensor::dot(const AnyTensor& other) const {
    ElementValue result(kernels().size);
    dot_to(other, result.data());
    return number_from(result.data(), element());
}

namespace {

/// The value that a call writes, and the index that it gives.
template <class Call>
Extremum<Number> extremum(const AnyTensor& tensor, Call&& call) {
    ElementValue value(tensor.kernels().size);
    auto index = call(value.data());
    return {number_from(value.data(), tensor.element()), std::move(index)};
}

}  // namespace

Extremum<Number> AnyTensor::largest_magnitude() const {
    return extremum(*this, [&](void* value) { return largest_magnitude_to(value); });
}
Extremum<Number> AnyTensor::minimum() const {
    return extremum(*this, [&](void* value) { return least_or_largest_to(false, value); });
}
Extremum<Number> AnyTensor::maximum() const {
    return extremum(*this, [&](void* value) { return least_or_largest_to(true, value); });
}

AnyTensor concatenated(int dimension, const std::vector<const AnyTensor*>& parts) {
    if (parts.empty()) throw InvalidArgument("concat: no tensors; give at least one");
    parts[0]->world().agree([&] {
        for (const auto* part : parts)
            if (part->is_sparse() || &part->kernels().on_host() != &parts[0]->kernels().on_host())
                throw InvalidArgument("concat: tensors of several types; convert them to one, dense");
    });
    return AnyTensor::joined(dimension, parts);
}

AnyTensor transfer(ElementType element, const World& meeting, const AnyTensor& source, const World& target) {
    return AnyTensor::transferred(element_kernels(element), meeting, source, target);
}

namespace {

AnyTensor part_of(const AnyTensor& A, bool imaginary) {
    if (!A.kernels().is_complex) throw InvalidArgument(A.title() + ": real and imaginary part of elements that are real");
    return A.part_of_complex(imaginary, element_kernels(A.element() == complex64 ? float32 : float64));
}

}  // namespace

AnyTensor conj(const AnyTensor& A) { return A.conjugated(); }
AnyTensor real(const AnyTensor& A) { return part_of(A, false); }
AnyTensor imag(const AnyTensor& A) { return part_of(A, true); }

}  // namespace arges
