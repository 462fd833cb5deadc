/// What a SparseTensor holds.
#pragma once

#include "arges/sparse_tensor.hpp"
#include "base/digest.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_pattern.hpp"
#include "interface/sparse/sparse_values.hpp"

#include <cassert>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace arges {

inline constexpr std::int64_t max_sparse_length = std::int64_t{1} << 62;

/// The nonzeros of one sparse tensor on this rank, whose type is known at run time.
class SparseState : public AnyTensorState {
public:
    /// No nonzeros. Takes a number for the pattern: all ranks make it together.
    /// @throws InvalidArgument if the lengths do not make a sparse tensor, or the world has no data
    SparseState(const ElementKernels& kernels, World handle, std::vector<std::int64_t> lengths, const Symmetry& symmetry,
                std::string title);
    ~SparseState() override { world->hold(-held_); }

    const std::vector<std::int64_t>& lengths() const { return pattern_->lengths; }
    int order() const { return pattern_->order(); }
    const std::shared_ptr<const SparsePattern>& pattern() const { return pattern_; }
    /// Nonzeros of this rank.
    std::int64_t count() const { return values_.count(); }
    /// Bytes of them, with their indices.
    std::int64_t bytes() const { return SparsePattern::bytes(order(), count()) + count() * kernels->size; }
    /// Values on this rank, in the order of the pattern.
    const SparseValues& values() const { return values_; }
    /// Likewise, to be changed in place.
    SparseValues& values() { return values_; }
    /// Values of their type.
    template <class T>
    std::span<const T> values_of() const {
        assert(*kernels->type == typeid(T));
        return {reinterpret_cast<const T*>(values_.data()), static_cast<std::size_t>(values_.count())};
    }
    const Communicator& comm() const { return world->communicator(); }

    /// Takes over nonzeros of this tensor, each coordinate on one rank only. Collective.
    /// @throws OutOfMemory if a rank has more than the memory limit allows
    void replace(AnyNonzeros nonzeros, SparsePattern::Place place);
    /// Likewise of float or double, without a copy.
    template <class T>
    void replace(sparse::Nonzeros<T> nonzeros, SparsePattern::Place place) {
        replace(AnyNonzeros(std::move(nonzeros)), place);
    }
    /// Takes over values for a pattern, which is on all ranks the same one. Local.
    void adopt(std::shared_ptr<const SparsePattern> pattern, SparseValues values);
    /// The pattern of nonzeros that a statement has put where a layout says; none: anywhere. Collective. @throws OutOfMemory
    static std::shared_ptr<const SparsePattern> pattern_of(const std::shared_ptr<WorldState>& world, sparse::NonzeroIndices indices,
                                                           const std::optional<SparseLayout>& layout);
    /// Gives the nonzeros away and keeps none; coordinates that another tensor has, too, are copied. Collective.
    AnyNonzeros take();
    /// Likewise of float or double.
    template <class T>
    sparse::Nonzeros<T> take() {
        return take().take<T>();
    }
    /// Copies of the nonzeros. Local.
    AnyNonzeros nonzeros() const { return {*pattern_, values_.copy()}; }
    /// Likewise of float or double.
    template <class T>
    sparse::Nonzeros<T> nonzeros() const {
        return nonzeros().take<T>();
    }
    /// A tensor with the same pattern and copies of the values. Collective.
    std::shared_ptr<SparseState> copy() const;

    const Symmetry symmetry;  // the nonzeros are representatives of its orbits

private:
    /// With the pattern of another tensor. Local.
    SparseState(const SparseState& other, std::uint64_t number, SparseValues values);

    std::shared_ptr<const SparsePattern> pattern_;  // made by replace(); where no other tensor has it, take() takes it apart
    SparseValues values_;
    std::int64_t held_ = 0;  // by values, of the rank that has most, so that accounts are equal on all ranks
};

/// Which tensor it is.
inline void add_to(Digest& digest, const SparseState& tensor) { digest.add(tensor.number).add(tensor.pattern()->identity); }

/// No coordinates, with columns for the modes.
inline sparse::NonzeroIndices no_indices(std::vector<std::int64_t> lengths) {
    const auto order = lengths.size();
    return {std::move(lengths), std::vector<std::vector<std::int64_t>>(order)};
}

/// The tensor with all its elements, itself where it has no symmetry. Collective. @throws InvalidArgument if there is none
std::shared_ptr<SparseState> whole_state_of(const AnyTensor& tensor, const char* where);

/// The state of a sparse tensor. @throws InvalidArgument if there is none, or it is dense
SparseState& sparse_state_of(const AnyTensor& tensor, const char* where);
template <class T>
SparseState& state_of(const SparseTensor<T>& tensor, const char* where) {
    return sparse_state_of(tensor, where);
}

}  // namespace arges
