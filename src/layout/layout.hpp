/// The layout of a tensor: which rank stores which element, and where; and layouts whose arrays are plain ones. Pure arithmetic; no MPI, no
/// data.
#pragma once

#include "arges/symmetry.hpp"
#include "layout/slot_layout.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace arges {

/// The ranks as a torus of unfolded (mostly prime) dimensions, first fastest; rank = c0 + l0 * (c1 + l1 * ...).
/// Example: lengths {2, 3}; rank 5 has the coordinates (1, 2). Ranks from ranks() on are idle: they hold nothing.
struct RankGrid {
    std::vector<std::int64_t> lengths;

    std::int64_t ranks() const;
    bool is_idle(std::int64_t rank) const { return rank >= ranks(); }
    int dimensions() const { return lengths.size(); }
    std::int64_t coordinate(std::int64_t rank, int dimension) const;
    /// Ranks that lie between neighbours along a dimension.
    std::int64_t stride(int dimension) const;
    /// The coordinate of a rank along some dimensions, the first fastest.
    std::int64_t coordinate_of(std::span<const int> along, std::int64_t rank) const;
    bool operator==(const RankGrid&) const = default;
};

/// Torus dimensions from longest to shortest; ties keep their order, so that the outcome does not depend on anything else.
std::vector<int> longest_first(const RankGrid& grid);

/// How one slot is put on the torus: the packed index (or the rows) of the slot over an ordered list of torus dimensions, or each
/// dimension of the slot (by position) over a list of its own with a virtual factor.
struct SlotMapping {
    std::vector<int> torus;                           ///< packed way
    std::vector<std::vector<int>> torus_by_position;  ///< block way, if not empty
    std::vector<std::int64_t> virtual_factor;         ///< block way: by position
    std::int64_t begin = 0, end = -1;                 ///< window of packed indices, or in the block way of local ones, see SlotLayout
    bool rows = false;                                ///< `torus` distributes the rows of a node over two children

    bool is_blocks() const { return !torus_by_position.empty(); }
    /// All torus dimensions, in the order in which they make up the coordinate.
    std::vector<int> all() const;
    bool operator==(const SlotMapping&) const = default;
};

/// Which torus dimensions hold copies and which hold parts of a sum, where no slot uses them.
enum class Spread : std::uint8_t { replicated, partial };

/// Extents, symmetry and mapping of each slot. Elements at a rank form a dense array over the slots, first slot fastest,
/// whose lengths are the slots' local sizes. A value that never changes: copies share what they hold, so that they cost nothing.
class Layout {
public:
    Layout();
    /// @param mapping one entry per slot of `symmetry`
    /// @param partial torus dimensions, used by no slot, along which ranks hold parts of a sum; along the other
    ///                unused ones they hold copies
    /// @throws InvalidArgument if a torus dimension is used twice
    Layout(RankGrid grid, std::vector<std::int64_t> extents, Symmetry symmetry, std::vector<SlotMapping> mapping,
           const std::vector<int>& partial = {});

    const RankGrid& grid() const { return held_->grid; }
    const std::vector<std::int64_t>& extents() const { return held_->extents; }
    const Symmetry& symmetry() const { return held_->symmetry; }
    int order() const { return held_->extents.size(); }
    int slots() const { return held_->slots.size(); }
    const SlotLayout& slot(int s) const { return held_slot(s).layout; }
    const std::vector<int>& slot_dimensions(int s) const { return held_slot(s).dimensions; }
    const SlotMapping& mapping(int s) const { return held_->mapping[s]; }
    /// The slot that uses a torus dimension, or -1.
    int slot_of_torus(int torus_dimension) const { return held_->user[torus_dimension]; }
    bool is_partial(int torus_dimension) const { return held_->partial[torus_dimension]; }

    /// Coordinate of a rank in a slot; the rank must not be idle.
    std::int64_t coordinate(std::int64_t rank, int s) const;
    /// The first rank at a coordinate of a slot, at coordinate 0 of all others: what the coordinate adds to the number of a rank.
    std::int64_t rank_at(std::int64_t coordinate, int s) const;
    /// How far a rank is behind the first of those that hold the same elements (copies or parts) as it; 0 at an idle one.
    std::int64_t copy_offset(std::int64_t rank) const;
    /// Local sizes of the slots at a rank; zeros at an idle one.
    std::vector<std::int64_t> local_sizes(std::int64_t rank) const;
    /// Number of elements in a rank's array, padding included; none at an idle rank.
    std::int64_t local_size(std::int64_t rank) const;
    /// Largest local_size() over the ranks.
    std::int64_t max_local_size() const;
    /// A slot is in blocks, so that a rank's array may have places beside those of elements.
    bool has_padding() const;
    /// Strides of the slots in a rank's array.
    std::vector<std::int64_t> strides(std::int64_t rank) const;
    /// Ranks that hold the same elements (copies or parts): product of the unused torus dimensions.
    std::int64_t copies() const;
    /// True if the rank is the first of those that hold copies.
    bool is_first_copy(std::int64_t rank) const;
    /// Elements of the full tensor.
    std::int64_t full_size() const;
    /// Elements stored over all ranks, each orbit once; equal to the packed size of the symmetry.
    std::int64_t packed_size() const;

    bool operator==(const Layout& other) const;
    /// The same for copies of one layout; WorldState::intern() makes it the same for equal layouts.
    const void* identity() const { return held_.get(); }
    /// Text such as "abij: (ab)/4 (ij)/2" for messages and explain().
    std::string to_string(const std::vector<std::string>& names = {}) const;

private:
    /// A torus dimension that a slot lies along: ranks between neighbours, and ranks along it.
    struct TorusStep {
        std::int64_t stride, length;
    };
    struct Slot {
        SlotLayout layout;
        std::vector<int> dimensions;   // of the tensor, by position
        std::vector<TorusStep> torus;  // in the order in which they make up the coordinate
    };
    struct Held {
        RankGrid grid;
        std::vector<std::int64_t> extents;
        Symmetry symmetry;
        std::vector<SlotMapping> mapping;
        std::vector<Slot> slots;
        std::vector<int> user;      // per torus dimension: slot or -1
        std::vector<bool> partial;  // per torus dimension
    };
    const Slot& held_slot(int s) const { return held_->slots[s]; }

    std::shared_ptr<const Held> held_;
};

/// A balanced layout for a tensor at rest: torus dimensions are given to the slots that are longest per coordinate; those that no
/// slot can use without leaving coordinates empty hold copies. A node over two composite children is distributed by rows where that is
/// balanced to a few percent.
Layout default_layout(const RankGrid& grid, const std::vector<std::int64_t>& extents, const Symmetry& symmetry);

/// default_layout() on the first of some grids, or, if that leaves copies of a large tensor on its ranks, on the one of them where a rank
/// holds least: 13 ranks cannot share 10 x 10 x 10 x 10 elements as they are, 12 of them can.
Layout spread_layout(std::span<const RankGrid> grids, const std::vector<std::int64_t>& extents, const Symmetry& symmetry);

/// Like default_layout(), in the block way: each dimension of a slot is spread by itself and virtual factors make up equal
/// phases (the layout of cyclops-2012).
Layout block_layout(const RankGrid& grid, const std::vector<std::int64_t>& extents, const Symmetry& symmetry);

/// The mapping of a slot in the block way with the smallest virtual factors for given torus dimensions by position.
SlotMapping block_mapping(const RankGrid& grid, const SymmetryNode& slot, std::vector<std::vector<int>> torus_by_position);

/// Is the array of each rank a plain one over the tensor's dimensions, the first fastest? Without symmetry, slots may still be in another
/// order: a slice of a tensor with sym(b,a) has the slots 1, 0. Whoever reads elements by strides of dimensions asks this, not for
/// symmetry.
bool is_plain(const Layout& layout);

/// The index of an element of a rank in a plain layout; each dimension has every grid_length()-th index there.
std::vector<std::int64_t> plain_index(const Layout& layout, std::int64_t rank, std::int64_t offset);

}  // namespace arges
