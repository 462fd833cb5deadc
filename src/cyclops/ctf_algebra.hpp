/// @file ctf_algebra.hpp
/// Element types and algebras of ctf.hpp, as the opaque library has them: sizes, and operations by address. C++11.
#pragma once

#include <mpi.h>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace CTF_int {

/// Element types, in the order of arges::ElementType; other ones are bytes with operations.
enum class Element : int { float32, float64, complex64, complex128, int16, int32, int64, boolean, other };

/// The Element of a C++ type.
template <class T>
struct ElementOf {
    static constexpr Element value = Element::other;
};
#define CTF_ELEMENT(T, name)                                                                                                               \
    template <>                                                                                                                            \
    struct ElementOf<T> {                                                                                                                  \
        static constexpr Element value = Element::name;                                                                                    \
    };
CTF_ELEMENT(float, float32)
CTF_ELEMENT(double, float64)
CTF_ELEMENT(std::complex<float>, complex64)
CTF_ELEMENT(std::complex<double>, complex128)
CTF_ELEMENT(std::int16_t, int16)
CTF_ELEMENT(int, int32)
CTF_ELEMENT(std::int64_t, int64)
CTF_ELEMENT(bool, boolean)
#undef CTF_ELEMENT

template <class T>
struct is_number : std::is_arithmetic<T> {};
template <class T>
struct is_number<std::complex<T>> : std::true_type {};

/// A function of the program, to be called through one of the functions that take it.
typedef void (*Stored)();

/// Operations on elements. Functions are null where an algebra has none.
struct Operations {
    std::type_info const* type;
    std::size_t size;
    Element element;
    bool is_plain;  ///< plus and times of a number type
    Stored adds, multiplies, negates;
    void (*add)(Stored f, void const* a, void const* b, void* result);
    void (*multiply)(Stored f, void const* a, void const* b, void* result);
    void (*negate)(Stored f, void const* a, void* result);
    void (*of_whole)(std::int64_t number, void* result);
    void (*of_real)(double number, void* result);
    std::vector<char> zero, one;
};

/// Calls of operations on elements that are given by address.
template <class T>
struct Calls {
    /// An element, wherever its bytes lie.
    class Copy {
    public:
        explicit Copy(void const* bytes) { std::memcpy(&room_, bytes, sizeof(T)); }
        T const& get() const { return *reinterpret_cast<T const*>(&room_); }

    private:
        typename std::aligned_storage<sizeof(T), alignof(T)>::type room_;
    };
    static void give(T const& value, void* result) { std::memcpy(result, static_cast<void const*>(&value), sizeof(T)); }
    static std::vector<char> bytes(T const& value) {
        std::vector<char> result(sizeof(T));
        give(value, result.data());
        return result;
    }

    static void call(Stored f, void const* a, void const* b, void* result) {
        give(reinterpret_cast<T (*)(T, T)>(f)(Copy(a).get(), Copy(b).get()), result);
    }
    static void call_on_one(Stored f, void const* a, void* result) { give(reinterpret_cast<T (*)(T)>(f)(Copy(a).get()), result); }
    static void plus(Stored, void const* a, void const* b, void* result) { give(Copy(a).get() + Copy(b).get(), result); }
    static void times(Stored, void const* a, void const* b, void* result) { give(Copy(a).get() * Copy(b).get(), result); }
    static void minus(Stored, void const* a, void* result) { give(-Copy(a).get(), result); }
    template <class N>
    static void of(N number, void* result) {
        give(T(number), result);
    }
};

/// The storage and the operations of elements.
class algstrct {
public:
    int el_size;
    char const* addid() const { return operations.zero.data(); }
    /// Null where there is no product.
    char const* mulid() const { return operations.one.empty() ? nullptr : operations.one.data(); }
    virtual void print(char const*, FILE*) const = 0;
    virtual algstrct* clone() const = 0;
    virtual ~algstrct() {}

    Operations operations;

protected:
    template <class T>
    void start(std::false_type) {
        Operations const none = {
            &typeid(T), sizeof(T), ElementOf<T>::value, false, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
            {},         {}};
        el_size = sizeof(T);
        operations = none;
        operations.zero.resize(sizeof(T));
    }
    template <class T>
    void start(std::true_type) {
        start<T>(std::false_type());
        operations.of_whole = &of_whole<T>;
        operations.of_real = &of_real<T>;
    }
    template <class T>
    static void of_whole(std::int64_t number, void* result) {
        Calls<T>::give(static_cast<T>(number), result);
    }
    template <class T>
    static void of_real(double number, void* result) {
        Calls<T>::give(static_cast<T>(number), result);
    }
};

}  // namespace CTF_int

namespace CTF {

/// Elements that are only stored.
template <class T = double, bool is_ord = CTF_int::is_number<T>::value>
class Set : public CTF_int::algstrct {
public:
    Set() { this->template start<T>(CTF_int::is_number<T>()); }
    void print(char const*, FILE*) const {}
    CTF_int::algstrct* clone() const { return new Set(*this); }

protected:
    typedef CTF_int::Calls<T> Calls;
    static CTF_int::Stored stored(T (*f)(T, T)) { return reinterpret_cast<CTF_int::Stored>(f); }
};

/// With a sum, and its neutral element.
template <class T = double, bool is_ord = CTF_int::is_number<T>::value>
class Monoid : public Set<T, is_ord> {
public:
    Monoid() { adds(T()); }
    explicit Monoid(T addid) { adds(addid); }
    Monoid(T addid, T (*fadd)(T, T), MPI_Op = MPI_OP_NULL) {
        this->operations.zero = Set<T, is_ord>::Calls::bytes(addid);
        this->operations.adds = this->stored(fadd);
        this->operations.add = &Set<T, is_ord>::Calls::call;
    }
    CTF_int::algstrct* clone() const { return new Monoid(*this); }

private:
    void adds(T const& addid) {
        this->operations.zero = Set<T, is_ord>::Calls::bytes(addid);
        this->operations.add = &Set<T, is_ord>::Calls::plus;
    }
};

/// With negatives.
template <class T = double, bool is_ord = CTF_int::is_number<T>::value>
class Group : public Monoid<T, is_ord> {
public:
    Group() { this->operations.negate = &Set<T, is_ord>::Calls::minus; }
    Group(T addid, T (*fadd)(T, T), T (*finverse)(T), MPI_Op op = MPI_OP_NULL) : Monoid<T, is_ord>(addid, fadd, op) {
        this->operations.negates = reinterpret_cast<CTF_int::Stored>(finverse);
        this->operations.negate = &Set<T, is_ord>::Calls::call_on_one;
    }
    CTF_int::algstrct* clone() const { return new Group(*this); }
};

/// With a product, and its neutral element.
template <class T = double, bool is_ord = CTF_int::is_number<T>::value>
class Semiring : public Monoid<T, is_ord> {
public:
    Semiring() { multiplies(); }
    Semiring(T addid, T (*fadd)(T, T), MPI_Op op, T mulid, T (*fmul)(T, T)) : Monoid<T, is_ord>(addid, fadd, op) {
        this->operations.one = Set<T, is_ord>::Calls::bytes(mulid);
        this->operations.multiplies = this->stored(fmul);
        this->operations.multiply = &Set<T, is_ord>::Calls::call;
    }
    CTF_int::algstrct* clone() const { return new Semiring(*this); }

private:
    void multiplies() {
        this->operations.one = Set<T, is_ord>::Calls::bytes(T(1));
        this->operations.multiply = &Set<T, is_ord>::Calls::times;
    }
};

/// With a product and negatives: plus and times, unless others are given.
template <class T = double, bool is_ord = CTF_int::is_number<T>::value>
class Ring : public Semiring<T, is_ord> {
public:
    Ring() {
        this->operations.negate = &Set<T, is_ord>::Calls::minus;
        this->operations.is_plain = CTF_int::ElementOf<T>::value != CTF_int::Element::other;
    }
    Ring(T addid, T (*fadd)(T, T), MPI_Op op, T mulid, T (*fmul)(T, T), T (*finverse)(T))
        : Semiring<T, is_ord>(addid, fadd, op, mulid, fmul) {
        this->operations.negates = reinterpret_cast<CTF_int::Stored>(finverse);
        this->operations.negate = &Set<T, is_ord>::Calls::call_on_one;
    }
    CTF_int::algstrct* clone() const { return new Ring(*this); }
};

}  // namespace CTF

namespace CTF_int {

/// What the elements of a type are without an algebra that the program names.
template <class T, bool = is_number<T>::value>
struct DefaultAlgebra {
    static algstrct const& get() {
        static CTF::Ring<T> const algebra;
        return algebra;
    }
};
template <class T>
struct DefaultAlgebra<T, false> {
    static algstrct const& get() {
        static CTF::Set<T> const algebra;
        return algebra;
    }
};

}  // namespace CTF_int
