/// @file sparse_tensor.hpp
/// The distributed sparse tensor.
#pragma once

#include "arges/tensor.hpp"
#include "arges/world.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace arges {

/// @cond
template <class T>
class SparseState;
/// @endcond

/// What to do when several values are given for one element.
enum class Duplicates {
    refuse,      ///< an error that names the element
    sum,         ///< the element is their sum, added in the order given (by rank, then by place)
    keep_first,  ///< the first one counts; a value that is stored already comes before all new ones
};

/// Nonzeros with their indices, all in one place.
template <class T>
struct SparseEntries {
    std::vector<std::vector<std::int64_t>> indices;  ///< by mode, one for each nonzero, counted from 0
    std::vector<T> values;                           ///< one for each nonzero
    /// Same elements with the same values in the same order.
    bool operator==(const SparseEntries&) const = default;
};

/// A tensor of which only some elements are stored, spread over the ranks of a world. Elements that are not stored are zero; a
/// stored element may be zero as well, until drop() removes it. Element types: float, double.
///
/// No rank holds anything as long as a mode, so lengths may be up to 2^62 and their product may be over 2^63; elements are then
/// reached by index tuples only, since there are no 64-bit keys for them. Keys are as for Tensor: first index fastest.
/// Which rank holds which nonzero is unspecified: file order in equal parts after reading, by a hash of the indices after
/// write(). Calls are collective over the world unless marked local.
template <class T>
class SparseTensor {
public:
    /// No tensor; assign one before use. Local.
    SparseTensor();
    /// A tensor without nonzeros.
    /// @param world   where the nonzeros live
    /// @param lengths of the modes: 1 to 16 numbers from 0 to 2^62
    /// @param name    used in error messages
    /// @throws InvalidArgument for other lengths, or a world without data (dry run, outside)
    SparseTensor(const World& world, std::vector<std::int64_t> lengths, std::string name = "");
    SparseTensor(const SparseTensor& other);                 ///< Copies the nonzeros. Collective.
    SparseTensor(SparseTensor&& other) noexcept;             ///< Leaves `other` without a tensor. Local.
    SparseTensor& operator=(const SparseTensor& other);      ///< Replaces world, lengths and nonzeros. Collective.
    SparseTensor& operator=(SparseTensor&& other) noexcept;  ///< Likewise by moving. Local.
    ~SparseTensor();

    /// A tensor of the nonzeros that the ranks have: each rank gives its own, any number of any of them, as one array of indices
    /// for each mode and one of values.
    /// @param world      where the nonzeros live
    /// @param lengths    of the modes
    /// @param mine       nonzeros of this rank, indices counted from 0; order and division among the ranks do not matter
    /// @param duplicates what to do with several values for one element, on one rank or on several
    /// @param name       used in error messages
    /// @throws InvalidArgument for an index out of range, arrays of different sizes, or as the constructor
    static SparseTensor from_entries(const World& world, std::vector<std::int64_t> lengths, const SparseEntries<T>& mine,
                                     Duplicates duplicates = Duplicates::sum, std::string name = "");
    /// The elements of a dense tensor whose absolute value is over `cutoff`. Symmetric tensors give all elements of an orbit.
    static SparseTensor from_dense(const Tensor<T>& dense, T cutoff = T(0));
    /// All elements, without symmetry.
    /// @throws InvalidArgument if there are more than 2^63 - 1; OutOfMemory if a rank's part is over the limit
    Tensor<T> to_dense() const;

    /// Number of modes. Local.
    int order() const;
    /// Length of each mode. Local.
    const std::vector<std::int64_t>& lengths() const;
    /// The world. Local.
    const World& world() const;
    /// The name given at construction. Local.
    const std::string& name() const;
    /// Changes the name. Local.
    void set_name(std::string name);
    /// Stored elements over all ranks.
    std::int64_t nonzeros() const;
    /// nonzeros() divided by the product of the lengths, at most 1; 0 for a tensor without elements.
    double density() const;
    /// True if 64-bit keys reach every element. Local.
    bool has_keys() const;

    /// Stores values by key; any rank may give any number of pairs. The nonzeros move to ranks given by a hash of their indices.
    /// What to do with several values, stored ones included, has no default here: for new tensors it is Duplicates::sum, but a
    /// second write of the same values would double them.
    /// @throws InvalidArgument for a key out of range, a tensor without keys, or several values for one element where the
    ///         policy refuses them (a stored value counts, too); the tensor is then as it was before
    void write(std::span<const std::int64_t> keys, std::span<const T> values, Duplicates duplicates);
    /// Likewise by index tuples, one after the other: the first order() numbers are the indices of the first value.
    void write_at(std::span<const std::int64_t> tuples, std::span<const T> values, Duplicates duplicates);
    /// Sets every stored value.
    void fill(T value);
    /// Removes all nonzeros.
    void erase();
    /// Removes the stored elements whose absolute value is at most `cutoff`.
    void drop(T cutoff = T(0));

    /// Nonzeros stored on this rank. Local.
    std::int64_t local_nonzeros() const;
    /// Indices in one mode of the nonzeros on this rank, counted from 0; valid until the tensor is changed. Local.
    std::span<const std::int64_t> local_indices(int mode) const;
    /// Their values, in the same order. Local.
    std::span<const T> local_values() const;
    /// Their values, to be changed in place. Local.
    std::span<T> local_values();

    /// All nonzeros on every rank, by ascending index, the last mode first (the order of keys): the same for any distribution.
    SparseEntries<T> gather() const;
    /// Sum of all elements.
    double sum() const;
    /// Square root of the sum of squares, which may be too large or too small for a double.
    double norm() const;

    /// @cond
    explicit SparseTensor(std::shared_ptr<SparseState<T>> state);
    const std::shared_ptr<SparseState<T>>& state() const;
    /// @endcond

private:
    std::shared_ptr<SparseState<T>> state_;
};

extern template class SparseTensor<float>;
extern template class SparseTensor<double>;

}  // namespace arges
