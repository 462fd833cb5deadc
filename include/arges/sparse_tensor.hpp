/// @file sparse_tensor.hpp
/// The distributed sparse tensor.
#pragma once

#include "arges/tensor.hpp"
#include "arges/world.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace arges {

/// Modes that a sparse tensor has at most.
inline constexpr int max_sparse_order = 16;

/// Nonzeros with their indices, all in one place.
template <class T>
struct SparseEntries {
    std::vector<std::vector<std::int64_t>> indices;  ///< by mode, one for each nonzero, counted from 0
    std::vector<T> values;                           ///< one for each nonzero
    /// Same elements with the same values in the same order.
    bool operator==(const SparseEntries&) const = default;
};

/// A tensor of which only some elements are stored, spread over the ranks of a world. Elements that are not stored are zero; a
/// stored element may be zero as well, until drop() removes it. Element types are those of Tensor: numbers, bool, and any trivially
/// copyable type of the user's, whose zero is T{}.
///
/// With a symmetry tree one element of each orbit is stored, that with sorted indices, and stands for all of them; elements that are zero
/// by symmetry are not stored. Any element of an orbit may be written and read. nonzeros(), local_indices(), local_values(), fill() and
/// drop() see what is stored; gather(), sum(), norm(), files and decompositions see all elements.
///
/// No rank holds anything as long as a mode, so lengths may be up to 2^62 and their product may be over 2^63; elements are then
/// reached by index tuples only, since there are no 64-bit keys for them. Keys are as for Tensor: first index fastest.
/// Which rank holds which nonzero is unspecified: file order in equal parts after reading, by a hash of the indices after
/// write(). Calls are collective over the world unless marked local.
template <class T>
class SparseTensor : public AnyTensor {
public:
    /// No tensor; assign one before use. Local.
    SparseTensor() = default;
    /// A tensor without nonzeros.
    /// @param world   where the nonzeros live
    /// @param lengths of the modes: 1 to 16 numbers from 0 to 2^62
    /// @param name    used in error messages
    /// @throws InvalidArgument for other lengths, or a world without data (dry run, outside)
    SparseTensor(const World& world, std::vector<std::int64_t> lengths, std::string name = "")
        : AnyTensor(element_kernels<T>(), Storage::sparse, world, std::move(lengths), GivenSymmetry(), std::move(name)) {}
    /// Likewise with a symmetry.
    /// @throws InvalidArgument also if modes related by symmetry differ in length, or for an antisymmetric tree of elements without
    /// negatives
    SparseTensor(const World& world, std::vector<std::int64_t> lengths, const Symmetry& symmetry, std::string name = "")
        : AnyTensor(element_kernels<T>(), Storage::sparse, world, std::move(lengths), symmetry, std::move(name)) {}
    /// Likewise with the symmetry as text over letters, e.g. SparseTensor<double>(w, {v,v,o,o}, "abij", "antisym(a,b) antisym(i,j)").
    SparseTensor(const World& world, std::vector<std::int64_t> lengths, std::string_view names, std::string_view symmetry,
                 std::string name = "")
        : AnyTensor(element_kernels<T>(), Storage::sparse, world, std::move(lengths), GivenSymmetry(names, symmetry), std::move(name)) {}
    SparseTensor(const SparseTensor& other) = default;                 ///< Copies the values and shares the indices. Collective.
    SparseTensor(SparseTensor&& other) noexcept = default;             ///< Leaves `other` without a tensor. Local.
    SparseTensor& operator=(const SparseTensor& other) = default;      ///< Replaces world, lengths, name and nonzeros. Collective.
    SparseTensor& operator=(SparseTensor&& other) noexcept = default;  ///< Likewise by moving. Local.
    ~SparseTensor() = default;

    /// A sparse tensor whose element type is known at run time, which moves in. Local. @throws InvalidArgument for another type or storage
    template <std::same_as<AnyTensor> Any>
    explicit SparseTensor(Any tensor) : AnyTensor(std::move(tensor).checked(element_kernels<T>(), Storage::sparse)) {}

    /// Length of each mode. Local.
    const std::vector<std::int64_t>& lengths() const { return extents(); }
    /// Stored elements over all ranks; with symmetry one of each orbit is stored. Local.
    std::int64_t nonzeros() const { return stored(); }
    /// The part of all elements that stored ones stand for, at most 1; 0 for a tensor without elements.
    double density() const { return AnyTensor::density(); }
    /// The tensor with a label for each mode, on either side of a statement: `y["i"] += A["ij"] * x["j"]`. Elements that are not stored are
    /// the zero of the statement's algebra. Local.
    IndexedTensor<T> operator[](const Labels& labels) const { return IndexedTensor<T>(Factor{nullptr, labels, false, sparse_state()}); }

    /// A tensor of the nonzeros that the ranks have: each rank gives its own, any number of any of them, as one array of indices
    /// for each mode and one of values.
    /// @param world      where the nonzeros live
    /// @param lengths    of the modes
    /// @param mine       nonzeros of this rank, indices counted from 0; order and division among the ranks do not matter
    /// @param duplicates what to do with several values for one element, on one rank or on several
    /// @param name       used in error messages
    /// @throws InvalidArgument for an index out of range, arrays of different sizes, Duplicates::sum of elements that have no sum, or as
    ///         the constructor
    static SparseTensor from_entries(const World& world, std::vector<std::int64_t> lengths, const SparseEntries<T>& mine,
                                     Duplicates duplicates = Duplicates::sum, std::string name = "") {
        const auto copy_values = [&](void* to) { std::copy(mine.values.begin(), mine.values.end(), static_cast<T*>(to)); };
        return typed(made_from(element_kernels<T>(), world, std::move(lengths), mine.indices, std::ssize(mine.values), copy_values,
                               duplicates, std::move(name)));
    }
    /// The elements of a dense tensor that are not the zero of their type, with its symmetry.
    static SparseTensor from_dense(const Tensor<T>& dense) { return typed(dense.sparse_where(is_not_zero, 0)); }
    /// The elements whose absolute value is over `cutoff`.
    static SparseTensor from_dense(const Tensor<T>& dense, real_of<T> cutoff) requires kernels::has_negative<T> {
        return typed(dense.sparse_where(is_over(cutoff), static_cast<double>(cutoff)));
    }
    /// All elements, with the same symmetry.
    /// @throws InvalidArgument if there are more than 2^63 - 1; OutOfMemory if a rank's part is over the limit
    Tensor<T> to_dense() const { return Tensor<T>(AnyTensor::to_dense()); }
    /// Same elements with another symmetry tree: none, which stores all of them, or one that they have.
    /// @throws InvalidArgument if they do not have it, to 8 units in the last place
    SparseTensor with_symmetry(const Symmetry& symmetry) const { return typed(AnyTensor::with_symmetry(symmetry)); }
    /// The elements begin <= index < end, counted from 0 in the result, without symmetry.
    /// @throws InvalidArgument for ranges that are not within the tensor
    SparseTensor slice(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end) const {
        return typed(AnyTensor::slice(begin, end));
    }
    /// this[begin + x] = part[x] for all elements of `part`: those that it does not store are removed here.
    /// @throws InvalidArgument for a part that does not fit, or if a tensor has symmetry
    void set_slice(const std::vector<std::int64_t>& begin, const SparseTensor& part) { AnyTensor::set_slice(begin, part); }

    /// Stores values by key; any rank may give any number of pairs. The nonzeros move to ranks given by a hash of their indices.
    /// What to do with several values, stored ones included, has no default here: for new tensors it is Duplicates::sum, but a
    /// second write of the same values would double them.
    /// @throws InvalidArgument for a key out of range, a tensor without keys, several values for one element where the policy refuses them
    ///         (a stored value counts, too), or Duplicates::sum of elements that have no sum; the tensor is then as it was before
    void write(std::span<const std::int64_t> keys, std::span<const T> values, Duplicates duplicates) {
        write_pairs(keys, values.data(), std::ssize(values), duplicates);
    }
    /// Likewise by index tuples, one after the other: the first order() numbers are the indices of the first value.
    void write_at(std::span<const std::int64_t> tuples, std::span<const T> values, Duplicates duplicates) {
        write_tuples(tuples, values.data(), std::ssize(values), duplicates);
    }
    /// Adds alpha * value to beta * element: element = beta * element + alpha * (sum of the values given for it); for beta = 0 the element
    /// is replaced, and not read. Any rank may give any number of pairs. An element that is not stored counts as zero, and is stored from
    /// now on; elements for which no rank gives a key are left as they are. The nonzeros move as in write().
    /// @throws InvalidArgument for a key out of range, a tensor without keys, or a beta that is not the same on all ranks, an alpha that
    ///         is not the same on those that give keys; the tensor is then as it was before
    void accumulate(std::span<const std::int64_t> keys, std::span<const T> values, T alpha = T(1),
                    T beta = T(1)) requires kernels::is_number<T> {
        accumulate_pairs(keys, values.data(), std::ssize(values), &alpha, &beta);
    }
    /// Likewise by index tuples, one after the other.
    void accumulate_at(std::span<const std::int64_t> tuples, std::span<const T> values, T alpha = T(1),
                       T beta = T(1)) requires kernels::is_number<T> {
        accumulate_tuples(tuples, values.data(), std::ssize(values), &alpha, &beta);
    }
    /// Values of any elements, in the order of the keys given on this rank; those that are not stored are the zero of their type. Every
    /// rank looks through its nonzeros once, and after reading a file or from_dense() sends them to where write() puts them: read many
    /// elements in one call.
    /// @throws InvalidArgument for a key out of range, or a tensor without keys; OutOfMemory if nonzeros on their way are over the limit
    std::vector<T> read(std::span<const std::int64_t> keys) const {
        return kernels::received<T>([&](const auto& room) { read_pairs(keys, room); });
    }
    /// Likewise by index tuples, one after the other: the first order() numbers are the indices of the first element.
    std::vector<T> read_at(std::span<const std::int64_t> tuples) const {
        return kernels::received<T>([&](const auto& room) { read_tuples(tuples, room); });
    }
    /// Sets every stored value.
    /// @throws InvalidArgument for a value that the symmetry does not allow: of antisymmetric tensors only zero, of hermitian ones only
    /// real
    void fill(T value) { fill_with(&value); }
    /// Removes the stored elements that are the zero of their type.
    void drop() {
        keep_if("SparseTensor::drop", [](Index, const void* element) { return is_not_zero(element); });
    }
    /// Removes the stored elements whose absolute value is at most `cutoff`.
    void drop(real_of<T> cutoff) requires kernels::has_negative<T> {
        keep_if(
            "SparseTensor::drop", [over = is_over(cutoff)](Index, const void* element) { return over(element); },
            static_cast<double>(cutoff));
    }
    /// Removes the stored elements for which predicate(const T&) is true; it must give the same on every rank.
    template <class F>
    void drop_if(F predicate) requires std::predicate<F&, const T&> {
        keep_if("SparseTensor::drop_if", [&](Index, const void* element) { return !predicate(*static_cast<const T*>(element)); });
    }
    /// Likewise for which predicate(index, value) is true, e.g. to keep one triangle: `[](Index x, double) { return x[0] <= x[1]; }`.
    template <class F>
    void drop_if(F predicate) requires std::predicate<F&, Index, const T&> {
        keep_if("SparseTensor::drop_if", [&](Index x, const void* element) { return !predicate(x, *static_cast<const T*>(element)); });
    }

    /// Values of the nonzeros on this rank, in the order of local_indices(). Local.
    std::span<const T> local_values() const { return {static_cast<const T*>(values_here()), static_cast<std::size_t>(local_nonzeros())}; }
    /// Their values, to be changed in place. Local.
    std::span<T> local_values() { return {static_cast<T*>(values_here()), static_cast<std::size_t>(local_nonzeros())}; }

    /// All nonzeros on every rank, by ascending index, the last mode first (the order of keys), or the first one, where the last index is
    /// the fastest: the same for any distribution. With symmetry all elements of each orbit.
    SparseEntries<T> gather(bool last_index_fastest = false) const {
        SparseEntries<T> all;
        all.values = kernels::received<T>([&](const auto& room) { all.indices = gather_entries(room, last_index_fastest); });
        return all;
    }
    /// Sum of all elements.
    double sum() const requires(kernels::has_negative<T> && !kernels::is_complex<T>) { return sum_of_stored().real(); }
    /// Likewise of complex ones.
    T sum() const requires kernels::is_complex<T> {
        const auto sum = sum_of_stored();
        return T(static_cast<real_of<T>>(sum.real()), static_cast<real_of<T>>(sum.imag()));
    }
    /// Square root of the sum of squared absolute values, which may be too large or too small for a double.
    double norm() const requires kernels::has_negative<T> { return AnyTensor::norm(); }

    /// @cond
    explicit SparseTensor(std::shared_ptr<SparseState> state) : AnyTensor(std::move(state)) {}
    std::shared_ptr<SparseState> state() const { return sparse_state(); }

private:
    /// What a call of the untyped tensor makes has this type.
    static SparseTensor typed(AnyTensor tensor) { return SparseTensor(std::move(tensor)); }
    static bool is_not_zero(const void* element) { return !element_kernels<T>().is_zero(element); }
    static auto is_over(real_of<T> cutoff) {
        return [cutoff](const void* element) {
            const T& value = *static_cast<const T*>(element);
            if constexpr (std::is_unsigned_v<T>)
                return value > cutoff;
            else if constexpr (std::is_integral_v<T>)
                return cutoff < 0 || value > cutoff || value < -cutoff;
            else
                return !(std::abs(value) <= cutoff);
        };
    }
    /// @endcond
};

/// A copy of a sparse tensor on another world, as that of a dense one. Collective over `meeting`.
/// @throws InvalidArgument also for a tensor without keys
template <class T>
SparseTensor<T> transfer(const World& meeting, const SparseTensor<T>& source, const World& target) {
    auto result = AnyTensor::transferred(element_kernels<T>(), meeting, source, target);
    return result.any_state() ? SparseTensor<T>(std::move(result)) : SparseTensor<T>();
}

}  // namespace arges
