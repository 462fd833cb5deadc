/// @file ctf_functions.hpp
/// Functions and transforms of elements, by the names that Cyclops has for them. C++11.
#pragma once

#include "ctf_int.hpp"

namespace CTF {

using CTF_int::Term;

template <class T>
class Typ_Idx_Tensor;

/// f(a), or f(a, b): elements of a new type, in a statement.
template <class A = double, class B = A, class C = A>
class Function {
public:
    /// Is not called for elements that a sparse operand does not store, also where it gives something there.
    bool intersect_only = false;

    Function(std::function<B(A)> f)
        : result_(&CTF_int::DefaultAlgebra<B>::get()), loop_([f](std::int64_t count, void const* const* in, void* out) {
              for (std::int64_t i = 0; i < count; ++i) static_cast<B*>(out)[i] = f(static_cast<A const*>(in[0])[i]);
          }) {}
    Function(std::function<C(A, B)> f, bool = false)
        : result_(&CTF_int::DefaultAlgebra<C>::get()), loop_([f](std::int64_t count, void const* const* in, void* out) {
              for (std::int64_t i = 0; i < count; ++i)
                  static_cast<C*>(out)[i] = f(static_cast<A const*>(in[0])[i], static_cast<B const*>(in[1])[i]);
          }) {}
    Term operator()(Term const& a) const { return Term::of_function(*result_, std::vector<Term>(1, a), loop_, intersect_only); }
    Term operator()(Term const& a, Term const& b) const {
        Term const operands[] = {a, b};
        return Term::of_function(*result_, std::vector<Term>(operands, operands + 2), loop_, intersect_only);
    }
    /// c += f(a, b).
    void operator()(Term const& a, Term const& b, Term const& c) const { c += (*this)(a, b); }
    virtual ~Function() {}

private:
    CTF_int::algstrct const* result_;
    CTF_int::Loop loop_;
};

/// f(a), f(a, b) or f(a, b, c), which changes its last argument: done at once.
template <class A = double, class B = A, class C = A>
class Transform {
public:
    Transform(std::function<void(A&)> f)
        : loop_([f](std::int64_t count, void const* const*, void* out) {
              for (std::int64_t i = 0; i < count; ++i) f(static_cast<A*>(out)[i]);
          }) {}
    Transform(std::function<void(A, B&)> f)
        : loop_([f](std::int64_t count, void const* const* in, void* out) {
              for (std::int64_t i = 0; i < count; ++i) f(static_cast<A const*>(in[0])[i], static_cast<B*>(out)[i]);
          }) {}
    Transform(std::function<void(A, B, C&)> f)
        : loop_([f](std::int64_t count, void const* const* in, void* out) {
              for (std::int64_t i = 0; i < count; ++i)
                  f(static_cast<A const*>(in[0])[i], static_cast<B const*>(in[1])[i], static_cast<C*>(out)[i]);
          }) {}
    void operator()(Term const& a) const { Term::transform(std::vector<Term>(1, a), loop_); }
    void operator()(Term const& a, Term const& b) const {
        Term const operands[] = {a, b};
        Term::transform(std::vector<Term>(operands, operands + 2), loop_);
    }
    void operator()(Term const& a, Term const& b, Term const& c) const {
        Term const operands[] = {a, b, c};
        Term::transform(std::vector<Term>(operands, operands + 3), loop_);
    }

private:
    CTF_int::Loop loop_;
};

/// `A["ij"], [](double& a) { ... };` is a Transform.
template <class A, class F, class = typename std::enable_if<std::is_convertible<F, std::function<void(A&)>>::value>::type>
void operator,(Typ_Idx_Tensor<A> const& a, F f) {
    Transform<A>(std::function<void(A&)>(f))(a);
}

template <class A = double, class B = A>
using Univar_Function = Function<A, B>;
template <class A = double, class B = A, class C = A>
using Bivar_Function = Function<A, B, C>;
/// A function that is known at compile time. What it gives is added as the algebra of the output adds.
template <class A, class B, class C, C (*f)(A, B), void (*g)(C, C&) = nullptr>
class Bivar_Kernel : public Function<A, B, C> {
public:
    Bivar_Kernel() : Function<A, B, C>(std::function<C(A, B)>(f)) { this->intersect_only = true; }
};
template <class A = double>
using Endomorphism = Transform<A>;
template <class A = double, class B = A>
using Univar_Transform = Transform<A, B>;
template <class A = double, class B = A, class C = A>
using Bivar_Transform = Transform<A, B, C>;

}  // namespace CTF
