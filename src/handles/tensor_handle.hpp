/// Tensors whose element type and form are known at run time: what programs in C, Fortran and Python hold.
#pragma once

#include "arges/arges.hpp"

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace arges::handles {

/// A number of a program in another language, before it takes on the type of the elements that it meets.
using Number = std::variant<std::int64_t, double, std::complex<double>>;

/// True for SparseTensor<T>.
template <class Tensor>
inline constexpr bool is_sparse_tensor = std::is_base_of_v<AnySparseTensor, std::remove_cvref_t<Tensor>>;

/// The elements' type of Tensor<T> and SparseTensor<T>.
template <class Tensor>
struct ElementOf;
template <class T>
struct ElementOf<Tensor<T>> {
    using type = T;
};
template <class T>
struct ElementOf<SparseTensor<T>> {
    using type = T;
};
template <class Tensor>
using element_of = typename ElementOf<std::remove_cvref_t<Tensor>>::type;

/// A dense or sparse tensor, which is moved in: copying one would copy its elements. Copies of a handle refer to the same elements until
/// one is assigned another tensor.
class TensorHandle {
public:
    /// All that can be held, dense ones first, both in the order of ElementType.
    using Held = std::variant<Tensor<float>, Tensor<double>, Tensor<std::complex<float>>, Tensor<std::complex<double>>,
                              Tensor<std::int16_t>, Tensor<std::int32_t>, Tensor<std::int64_t>, Tensor<bool>, SparseTensor<float>,
                              SparseTensor<double>, SparseTensor<std::complex<float>>, SparseTensor<std::complex<double>>,
                              SparseTensor<std::int16_t>, SparseTensor<std::int32_t>, SparseTensor<std::int64_t>, SparseTensor<bool>>;

    template <class T>
    TensorHandle(Tensor<T>&& tensor) : held_(std::move(tensor)) {}  // NOLINT: implicit on purpose
    template <class T>
    TensorHandle(SparseTensor<T>&& tensor) : held_(std::move(tensor)) {}  // NOLINT: implicit on purpose
    TensorHandle(const TensorHandle& other) : TensorHandle(other.shared()) {}
    TensorHandle(TensorHandle&&) noexcept = default;
    TensorHandle& operator=(const TensorHandle& other) { return *this = other.shared(); }
    TensorHandle& operator=(TensorHandle&&) noexcept = default;
    ~TensorHandle() = default;

    /// f(tensor) of the tensor's own type.
    template <class F>
    decltype(auto) visit(F&& f) {
        return std::visit(std::forward<F>(f), held_);
    }
    template <class F>
    decltype(auto) visit(F&& f) const {
        return std::visit(std::forward<F>(f), held_);
    }
    /// f(tensor) of a dense tensor. @throws InvalidArgument for a sparse one: `what` needs a dense one
    template <class F>
    decltype(auto) visit_dense(const char* what, F&& f) const {
        using Result = decltype(f(std::get<Tensor<double>>(held_)));
        return visit([&](const auto& tensor) -> Result {
            if constexpr (is_sparse_tensor<decltype(tensor)>)
                refuse_form(what, "a dense tensor; make one with to_dense()");
            else
                return f(tensor);
        });
    }
    /// Likewise of one with floating-point elements.
    template <class F>
    decltype(auto) visit_floating(const char* what, F&& f) const {
        using Result = decltype(f(std::get<Tensor<double>>(held_)));
        return visit_dense(what, [&](const auto& tensor) -> Result {
            if constexpr (kernels::has_fractions<element_of<decltype(tensor)>>)
                return f(tensor);
            else
                refuse_form(what, ("floating-point elements, not " + to_string(element()) + "; convert the tensor").c_str());
        });
    }
    /// Likewise of a sparse tensor.
    template <class F>
    decltype(auto) visit_sparse(const char* what, F&& f) const {
        using Result = decltype(f(std::get<SparseTensor<double>>(held_)));
        return visit([&](const auto& tensor) -> Result {
            if constexpr (is_sparse_tensor<decltype(tensor)>)
                return f(tensor);
            else
                refuse_form(what, "a sparse tensor; make one with to_sparse()");
        });
    }

    ElementType element() const { return static_cast<ElementType>(held_.index() % 8); }
    bool is_sparse() const { return held_.index() >= 8; }
    const World& world() const {
        return visit([](const auto& t) -> const World& { return t.world(); });
    }
    int order() const {
        return visit([](const auto& t) { return t.order(); });
    }
    const std::vector<std::int64_t>& extents() const {
        return visit([](const auto& t) -> const std::vector<std::int64_t>& {
            if constexpr (is_sparse_tensor<decltype(t)>)
                return t.lengths();
            else
                return t.extents();
        });
    }
    const Symmetry& symmetry() const {
        return visit([](const auto& t) -> const Symmetry& { return t.symmetry(); });
    }
    const std::string& name() const {
        return visit([](const auto& t) -> const std::string& { return t.name(); });
    }
    /// "tensor" or its name, for messages.
    std::string title() const { return name().empty() ? "tensor" : name(); }
    Factor factor(const Labels& labels) const {
        return visit([&](const auto& t) { return t[labels].factor(); });
    }
    const ElementKernels& kernels() const {
        return with_element_type(element(), []<class T>() -> const ElementKernels& { return element_kernels<T>(); });
    }

private:
    TensorHandle shared() const {
        return visit([](const auto& t) { return TensorHandle(std::remove_cvref_t<decltype(t)>(t.state())); });
    }
    [[noreturn]] void refuse_form(const char* what, const char* cure) const;

    Held held_;
};

/// Zeros, or a sparse tensor without elements. Collective. @throws as the constructors of Tensor and SparseTensor
TensorHandle made_tensor(ElementType element, bool is_sparse, const World& world, std::vector<std::int64_t> extents,
                         const Symmetry& symmetry, std::string name);

/// A copy with elements of its own. Collective.
TensorHandle copied(const TensorHandle& tensor);

/// The same elements in another type, rounded where it holds less; imaginary parts are not dropped. Collective.
/// @throws InvalidArgument for complex elements as real ones, or an integer that the type does not have
TensorHandle converted(const TensorHandle& tensor, ElementType element);

/// The other form. Collective.
TensorHandle to_dense(const TensorHandle& tensor);
/// The elements over a cutoff, all that are not zero for a negative one. Collective.
TensorHandle to_sparse(const TensorHandle& tensor, double cutoff);

/// whole[begin + x] = part[x]. Collective. @throws InvalidArgument also for a part of another type or form; as set_slice()
void set_slice(const TensorHandle& whole, const std::vector<std::int64_t>& begin, const TensorHandle& part);

/// Labels for all dimensions, none of them repeated.
Labels all_labels(int order);

/// The number as an element. @throws InvalidArgument if the type does not have it: a fraction of an integer type, an imaginary part
template <class T>
T element_from(const Number& number);

/// An element as a number.
template <class T>
Number number_from(const T& element) {
    if constexpr (std::is_integral_v<T>)
        return element;
    else if constexpr (std::is_floating_point_v<T>)
        return element;
    else
        return std::complex<double>(element.real(), element.imag());
}

}  // namespace arges::handles
