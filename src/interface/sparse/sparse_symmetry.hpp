/// Sparse tensors with symmetry store the representative of each orbit.
#pragma once

#include "execute/sparse_match.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "symmetry/permutation_group.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace arges {

/// How the values of elements follow from those of their representatives.
struct Representatives {
    std::vector<std::uint8_t> factors;  ///< by element: bit 0 negates, bit 1 conjugates, as in local::ListedTransfer
    std::vector<std::size_t> zeros;     ///< elements that are zero by symmetry
    std::vector<std::size_t> reals;     ///< and those that are real
};

/// Replaces the indices of elements by those of their representatives. Local.
Representatives to_representatives(const Symmetry& symmetry, sparse::NonzeroIndices& elements);

/// The same with values, which are those of the elements before and of the representatives afterwards; elements that are zero by symmetry
/// are left out. Local. @throws InvalidArgument for a value that the symmetry does not allow
void take_representatives(const Symmetry& symmetry, const ElementKernels& kernels, const std::string& title, AnyNonzeros& nonzeros);

/// Different elements that the permutations of a group make of one.
std::int64_t orbit_size(const std::vector<SignedPermutation>& group, const std::vector<std::int64_t>& index);

/// All elements of the orbits of a pattern's nonzeros, on the ranks of these.
class SparseOrbits {
public:
    /// Collective. @throws OutOfMemory
    SparseOrbits(const std::shared_ptr<WorldState>& world, const sparse::NonzeroIndices& representatives, const Symmetry& symmetry,
                 const std::string& title);

    const std::shared_ptr<const SparsePattern>& pattern() const { return pattern_; }
    /// Their values. Local.
    SparseValues values(const ElementKernels& kernels, const SparseValues& representatives) const;

private:
    std::shared_ptr<const SparsePattern> pattern_;
    std::vector<std::int64_t> from_;
    std::vector<std::uint8_t> factors_;
    std::optional<HeldMemory> held_;
};

/// The tensor with all its elements: itself without symmetry, else a tensor whose pattern is kept with its own. Collective.
std::shared_ptr<SparseState> whole_of(const std::shared_ptr<SparseState>& state);

/// A tensor with the elements of one without symmetry, which have the symmetry. Collective.
/// @throws InvalidArgument if they do not have it, to 8 units in the last place; OutOfMemory
std::shared_ptr<SparseState> representatives_of(const std::shared_ptr<SparseState>& whole, const Symmetry& symmetry);

/// The representatives of a tensor that was computed without symmetry: each is the sum of the elements that permutations of its indices
/// lead to. Found once for nonzeros that stay the same.
class SparseProjection {
public:
    /// Collective. @param comm null for one rank  @param terms permutations by which elements are counted; the identity alone takes
    /// representatives as they are
    SparseProjection(const Communicator* comm, const sparse::NonzeroIndices& from, const SparseLayout& layout, const Symmetry& symmetry,
                     const std::vector<SignedPermutation>& terms, const RequireBytes& require);

    /// Indices of the result, given away.
    IndexColumns take_indices() { return std::move(indices_); }
    /// What values() takes for elements of so many bytes, with the result. Local.
    std::int64_t working_bytes(std::int64_t element_bytes) const;
    /// Values of the result. Collective.
    Buffer<std::byte> values(const Communicator* comm, const ElementKernels& kernels, const std::byte* from) const;
    std::int64_t inspected_bytes() const { return match_ ? match_->inspected_bytes() : 0; }
    std::int64_t sent_bytes(std::int64_t element_bytes) const { return match_ ? match_->sent_bytes(0, element_bytes) : 0; }
    std::int64_t list_bytes() const;

private:
    std::vector<std::uint8_t> list_images(const sparse::NonzeroIndices& from, const std::vector<SignedPermutation>& terms,
                                          const std::vector<std::uint8_t>& flags, std::int64_t count);

    std::vector<std::int64_t> from_, reals_;
    std::vector<std::uint8_t> factors_;
    std::unique_ptr<SparseMatch> match_;  // null: nothing is added up
    IndexColumns indices_;
};

}  // namespace arges
