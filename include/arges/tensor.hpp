/// @file tensor.hpp
/// The distributed tensor.
#pragma once

#include "arges/any_tensor.hpp"
#include "arges/scalar.hpp"
#include "arges/symmetry.hpp"
#include "arges/world.hpp"

#include <complex>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace arges {

/// @cond
namespace kernels {

/// What a call writes to the room that it asks for; bool has no array in a vector.
template <class T, class Call>
std::vector<T> received(Call&& call) {
    if constexpr (std::is_same_v<T, bool>) {
        std::vector<char> bytes;
        call([&](std::int64_t count) -> void* {
            bytes.resize(count, 0);
            return bytes.data();
        });
        return {bytes.begin(), bytes.end()};
    } else {
        std::vector<T> result;
        call([&](std::int64_t count) -> void* {
            result.resize(count, *static_cast<const T*>(element_kernels<T>().zero));
            return result.data();
        });
        return result;
    }
}

}  // namespace kernels
/// @endcond

/// Types in which sums over elements are made and norms are told.
template <class T>
using norm_of = std::conditional_t<std::is_integral_v<T>, double, real_of<T>>;

/// A tensor spread over the ranks of a world, stored packed by its symmetry. It stands for the full tensor: reading
/// any element gives its value, sign included; sums, norms and extrema run over the full tensor.
/// NaN is never hidden: where an element is NaN, sums, norms and extrema are NaN, and infinities of both signs add up to NaN.
/// Element types: float, double, long double, std::complex<float>, std::complex<double>, std::int16_t, std::int32_t, std::int64_t, bool,
/// and any trivially copyable type of the user's. Integers wrap around; bool adds by "or" and multiplies by "and". Tensors of a user's type
/// are stored, moved, read and written; statements that add or multiply their elements name an algebra, see over().
///
/// Keys are linear indices into the full tensor, first index fastest: key = i0 + n0 * (i1 + n1 * (i2 + ...)).
/// Copying copies the elements; moving does not. Calls are collective over the world unless marked local.
template <class T>
class Tensor : public AnyTensor {
public:
    /// No tensor; assign one before use. Local.
    Tensor() = default;
    /// Zeros.
    /// @param world    where the elements live
    /// @param extents  length of each dimension; 0 is allowed; none makes a scalar
    /// @param symmetry tree over the dimensions
    /// @param name     used in error messages
    /// @throws InvalidArgument if dimensions related by symmetry differ in extent, an extent is negative, the full
    ///         tensor has more than 2^63 - 1 elements, extents or symmetry differ between ranks, or the tree is antisymmetric and elements
    ///         have no negatives; OutOfMemory if a rank's part is over the limit
    Tensor(const World& world, std::vector<std::int64_t> extents, const Symmetry& symmetry = {}, std::string name = "")
        : AnyTensor(element_kernels<T>(), Storage::dense, world, std::move(extents), symmetry, std::move(name)) {}
    /// Zeros without symmetry, with a name.
    /// @throws InvalidArgument also for a name with a parenthesis: it is meant as a symmetry, which needs letters for the dimensions
    Tensor(const World& world, std::vector<std::int64_t> extents, std::string name)
        : AnyTensor(element_kernels<T>(), Storage::dense, world, std::move(extents), GivenSymmetry(), std::move(name)) {}
    /// Zeros, with the symmetry in Cyclops' vector form, e.g. {AS, NS, AS, NS}.
    Tensor(const World& world, std::vector<std::int64_t> extents, const std::vector<Relation>& relations, std::string name = "")
        : AnyTensor(element_kernels<T>(), Storage::dense, world, std::move(extents), GivenSymmetry(relations), std::move(name)) {}
    /// Zeros, with the symmetry as text over letters, e.g. Tensor<double>(w, {v,v,o,o}, "abij", "antisym(a,b) antisym(i,j)").
    Tensor(const World& world, std::vector<std::int64_t> extents, std::string_view names, std::string_view symmetry, std::string name = "")
        : AnyTensor(element_kernels<T>(), Storage::dense, world, std::move(extents), GivenSymmetry(names, symmetry), std::move(name)) {}
    /// Elements of a tensor of another type whose values T has, too, with its symmetry. Collective.
    template <class S>
    requires(!std::is_same_v<S, T> && is_lossless<S, T>) explicit Tensor(const Tensor<S>& other)
        : Tensor(other.template converted_to<T>()) {}
    Tensor(const Tensor& other) = default;      ///< Copies the elements, not the name. Collective, also for small tensors.
    Tensor(Tensor&& other) noexcept = default;  ///< Leaves `other` without a tensor. Local.
    Tensor&
    operator=(const Tensor& other) = default;  ///< Replaces shape, symmetry, world and elements, and keeps its own name. Collective.
    Tensor& operator=(Tensor&& other) noexcept = default;  ///< Likewise by moving. Local.
    ~Tensor() = default;

    /// A dense tensor whose element type is known at run time, which moves in. Local. @throws InvalidArgument for another type or storage
    template <std::same_as<AnyTensor> Any>
    explicit Tensor(Any tensor) : AnyTensor(std::move(tensor).checked(element_kernels<T>(), Storage::dense)) {}

    /// Elements stored over all ranks, each orbit of the symmetry once. Local.
    std::int64_t packed_size() const { return stored(); }
    /// Labels the dimensions. Local; the statement that uses it is collective.
    IndexedTensor<T> operator[](const Labels& labels) const { return IndexedTensor<T>(labelled(labels)); }

    /// Sets every element (with antisymmetry: refused unless zero).
    void fill(T value) requires(!std::is_same_v<T, bool>) { fill_with(&value); }
    /// Likewise; a function is none.
    template <std::same_as<bool> Value>
    requires std::is_same_v<T, bool>
    void fill(Value value) { fill_with(&value); }
    /// Likewise with a number of another type, as in fill(0) of a complex tensor.
    template <class N>
    requires(std::is_arithmetic_v<N> && !std::is_same_v<N, T> && kernels::is_number<T>) void fill(N value) { fill(static_cast<T>(value)); }
    /// Sets each canonical element to f(indices); f must have the symmetry, and give the same on every rank. Imaginary parts are
    /// dropped where a hermitian node makes the element real.
    void fill(const std::function<T(Index)>& f) {
        for_each_element_here("fill", [&](Index x, void* element) { *static_cast<T*>(element) = f(x); });
        keep_real();
    }
    /// Uniform random values in [low, high), the same for any number of ranks; real and imaginary part for complex types (the
    /// imaginary part is zero where a hermitian node makes the element real). Where low and high are equal, that value.
    /// @throws InvalidArgument unless low <= high, both finite
    void fill_random(std::uint64_t seed, real_of<T> low = -0.5, real_of<T> high = 0.5) requires kernels::has_fractions<T> {
        fill_random_between(seed, low, high);
    }

    /// Writes value by key; any rank may give any number of pairs. An element may be written several times, by keys that the symmetry
    /// relates too (sign and conjugation considered), if the values agree: they differ by no more than 8 units in the last place of the
    /// larger one plus `tolerance`, or all are NaN; integers and elements of other types are the same. The one of largest magnitude is then
    /// taken.
    /// @throws InvalidArgument for a key out of range, contradictory values (with key, index, both values and their ranks), a value other
    /// than zero on the
    ///         diagonal of an antisymmetric or hollow group, or one that is not real where a hermitian group makes the element real; for a
    ///         tolerance that is negative or not a number
    void write(std::span<const std::int64_t> keys, std::span<const T> values, double tolerance = 0) {
        write_pairs(keys, values.data(), std::ssize(values), Duplicates::refuse, tolerance);
    }
    /// A few pairs, as in write({A.key({0, 1})}, {2.5}).
    void write(std::initializer_list<std::int64_t> keys, std::initializer_list<T> values) {
        write(std::span(keys.begin(), keys.size()), std::span(values.begin(), values.size()));
    }
    /// Adds alpha * value to beta * element: element = beta * element + alpha * (sum of the values given for it); for beta = 0
    /// the element is replaced, and not read. Elements for which no rank gives a key are left as they are.
    /// @throws InvalidArgument also if ranks that give keys differ in alpha, or any ranks in beta
    void accumulate(std::span<const std::int64_t> keys, std::span<const T> values, T alpha = T(1),
                    T beta = T(1)) requires kernels::is_number<T> {
        accumulate_pairs(keys, values.data(), std::ssize(values), &alpha, &beta);
    }
    /// Values of any elements, in the order of the keys given on this rank.
    std::vector<T> read(std::span<const std::int64_t> keys) const {
        return kernels::received<T>([&](const auto& room) { read_pairs(keys, room); });
    }
    /// A few values, as in read({A.key({0, 1})}).
    std::vector<T> read(std::initializer_list<std::int64_t> keys) const { return read(std::span(keys.begin(), keys.size())); }
    /// Keys and values of the elements that this rank stores, each orbit once over all ranks, by ascending key. Local.
    std::pair<std::vector<std::int64_t>, std::vector<T>> local_pairs() const {
        std::pair<std::vector<std::int64_t>, std::vector<T>> result;
        result.second = kernels::received<T>([&](const auto& room) { result.first = pairs_here(room); });
        return result;
    }
    /// Calls f(indices, value) for each element that this rank stores, one of each orbit; f may change the value, and the other
    /// elements of the orbit change with it; an imaginary part is dropped where a hermitian node makes the element real. A tensor
    /// too small to be spread over all ranks is stored several times; f is called for every copy and must do the same to each.
    /// No communication. Local, but call it on all ranks.
    void for_each_local(const std::function<void(Index, T&)>& f) {
        for_each_element_here("for_each_local", [&](Index x, void* element) { f(x, *static_cast<T*>(element)); });
        keep_real();
    }
    /// Read-only form. Local.
    void for_each_local(const std::function<void(Index, const T&)>& f) const {
        for_each_element_here("for_each_local", [&](Index x, const void* element) { f(x, *static_cast<const T*>(element)); });
    }

    /// The full tensor in key order, on every rank.
    std::vector<T> gather() const {
        return kernels::received<T>([&](const auto& room) { gather_all(room); });
    }
    /// The full tensor in key order on rank `root`, empty elsewhere.
    std::vector<T> gather_to(std::int64_t root) const {
        return kernels::received<T>([&](const auto& room) { gather_at(root, room); });
    }
    /// Copies an array that every rank has, whole, into a tensor without symmetry: element x is data[sum of x[d] * strides[d]]. A rank
    /// reads the elements that it stores; nothing is sent. Collective.
    /// @param data    the element with indices zero
    /// @param strides one for each dimension, in elements, of any sign
    /// @throws InvalidArgument for another number of strides, or a tensor with symmetry
    void set_array(const T* data, std::span<const std::int64_t> strides) { write_array(data, strides); }
    /// The elements as an array, first index fastest, where this rank has all of them in that order: on a world of one rank, without
    /// symmetry, in the host's memory. Else null. They stay there as long as the tensor is not assigned as a whole; statements write to
    /// them. Local.
    T* array() { return static_cast<T*>(array_here()); }
    /// A tensor on a world of one rank whose elements are an array of the caller, first index fastest; nothing is copied. Its memory counts
    /// as that of any tensor.
    /// @param world   of one rank
    /// @param extents length of each dimension
    /// @param data    aligned as its elements are
    /// @param owner   keeps the array for as long as the tensor has it
    /// @param name    used in error messages
    /// @throws InvalidArgument for a world of several ranks or without data, or an address that is not so aligned
    static Tensor over_array(const World& world, std::vector<std::int64_t> extents, T* data, std::shared_ptr<const void> owner,
                             std::string name = "") {
        return typed(adopted(element_kernels<T>(), world, std::move(extents), data, std::move(owner), std::move(name)));
    }
    /// Elements begin <= index < end of each dimension as a new tensor; it keeps the symmetry where related dimensions
    /// have the same range, else loses it there.
    Tensor slice(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end) const {
        return typed(AnyTensor::slice(begin, end));
    }
    /// this[begin + x] = alpha * part[x] + beta * this[begin + x]; for beta = 0 elements are replaced, and not read. With symmetry
    /// among the dimensions written the same rules hold as for a statement: related dimensions need the same range and `part` the
    /// same symmetry, or ranges that do not overlap.
    void set_slice(const std::vector<std::int64_t>& begin, const Tensor& part, T alpha, T beta = T(0)) requires kernels::is_number<T> {
        write_slice(begin, part, &alpha, &beta);
    }
    /// Likewise with alpha = 1 and beta = 0.
    void set_slice(const std::vector<std::int64_t>& begin, const Tensor& part) {
        write_slice(begin, part, nullptr, element_kernels<T>().zero);
    }
    /// The same elements in a tensor of other extents, without symmetry. Elements keep their keys; or their places in the order in which
    /// the last index is fastest, as in NumPy.
    /// @throws InvalidArgument unless the product of the extents is the same
    Tensor reshaped(const std::vector<std::int64_t>& extents, bool last_fastest = false) const {
        return typed(AnyTensor::reshaped(extents, last_fastest));
    }
    /// Same elements with another symmetry tree. With a larger symmetry one element of each orbit is taken
    /// (canonical()); with a smaller one the tensor is unpacked.
    Tensor with_symmetry(const Symmetry& symmetry) const { return typed(AnyTensor::with_symmetry(symmetry)); }

    /// Sum over the full tensor.
    T sum() const requires kernels::has_negative<T> {
        T result;
        sum_to(&result);
        return result;
    }
    /// Sum of absolute values.
    norm_of<T> norm1() const requires kernels::has_negative<T> { return static_cast<norm_of<T>>(norm1_of_all()); }
    /// Square root of the sum of squared absolute values; squares may be too large or too small for their type.
    norm_of<T> norm() const requires kernels::has_negative<T> { return static_cast<norm_of<T>>(norm_of_all()); }
    /// Largest absolute value.
    norm_of<T> norm_max() const requires kernels::has_negative<T> { return static_cast<norm_of<T>>(norm_max_of_all()); }
    /// Sum over the full tensor of conj(this) * other; extents must agree, symmetries may differ.
    T dot(const Tensor& other) const requires kernels::has_negative<T> {
        T result;
        dot_to(other, &result);
        return result;
    }
    /// The only element of an order-0 tensor, on every rank.
    T scalar() const {
        const auto element = only_element();
        return *static_cast<const T*>(element.data());
    }
    /// Largest element by absolute value, with its canonical indices; the first NaN by key if there is one.
    Extremum<T> largest_magnitude() const requires kernels::has_negative<T> {
        Extremum<T> best;
        best.index = largest_magnitude_to(&best.value);
        return best;
    }
    /// Smallest element of a real tensor; the first NaN by key if there is one. Complex types: not available.
    Extremum<T> minimum() const requires kernels::has_negative<T> {
        Extremum<T> best;
        best.index = least_or_largest_to(false, &best.value);
        return best;
    }
    /// Largest element of a real tensor; the first NaN by key if there is one. Complex types: not available.
    Extremum<T> maximum() const requires kernels::has_negative<T> {
        Extremum<T> best;
        best.index = least_or_largest_to(true, &best.value);
        return best;
    }
    /// Prints elements with |value| >= cutoff, and NaN, as "i j k value" lines in key order on rank 0's stream: those that are stored. With
    /// a symmetry the first line begins with # and says that they are one of each orbit.
    void print(std::ostream& stream, norm_of<T> cutoff = 0) const requires kernels::is_number<T> { AnyTensor::print(stream, cutoff); }

    /// @cond
    explicit Tensor(std::shared_ptr<TensorState> state) : AnyTensor(std::move(state)) {}
    std::shared_ptr<TensorState> state() const { return dense_state(); }
    template <class S>
    Tensor<S> converted_to() const {
        return Tensor<S>(AnyTensor::converted_to(element_kernels<S>()));
    }

private:
    /// What a call of the untyped tensor makes has this type.
    static Tensor typed(AnyTensor tensor) { return Tensor(std::move(tensor)); }
    /// @endcond
};

/// Tensors one behind the other along a dimension, in which alone their extents may differ. The result keeps the slots of the symmetry that
/// all parts have and that do not contain the dimension. Collective.
/// @throws InvalidArgument if orders, other extents or worlds differ, or there is no such dimension
template <class T, class... More>
Tensor<T> concatenated(int dimension, const Tensor<T>& first, const More&... others) requires(std::is_same_v<Tensor<T>, More>&&...) {
    return Tensor<T>(AnyTensor::joined(dimension, {&first, &others...}));
}

/// A copy of a tensor on another world. Collective over `meeting`, which holds the ranks of both worlds. On ranks outside the
/// source's world `source` is a default-constructed tensor; ranks outside the target pass World::outside() and get a
/// default-constructed tensor. On dry runs all three worlds are such, and the copy has shape, symmetry and name.
/// @throws InvalidArgument if no rank has the source, a rank of it is not in `meeting`, or only some of the worlds are dry runs
template <class T>
Tensor<T> transfer(const World& meeting, const Tensor<T>& source, const World& target) {
    return Tensor<T>(AnyTensor::transferred(element_kernels<T>(), meeting, source, target));
}

/// Complex conjugate of every element; keeps the symmetry. Collective.
template <class T>
Tensor<T> conj(const Tensor<T>& A) {
    return Tensor<T>(A.conjugated());
}
/// Real part; a hermitian tree becomes symmetric. Collective.
template <class T>
Tensor<T> real(const Tensor<std::complex<T>>& A) {
    return Tensor<T>(A.part_of_complex(false, element_kernels<T>()));
}
/// Imaginary part; a hermitian node becomes antisymmetric. Collective.
template <class T>
Tensor<T> imag(const Tensor<std::complex<T>>& A) {
    return Tensor<T>(A.part_of_complex(true, element_kernels<T>()));
}

}  // namespace arges
