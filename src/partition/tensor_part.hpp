/// A tensor whose nonzeros lie on several ranks, seen from one of them, and layers cut from it. Pure: what ranks tell each
/// other goes through Team.
#pragma once

#include "partition/layers_of_tensor.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace arges::partition {

/// Nonempty slices of a mode, ascending, with their nonzeros on all ranks. Each rank has some; those of a rank lie above those
/// of the ranks before.
struct SlicePart {
    std::vector<std::int64_t> slices;
    std::vector<std::int64_t> start{0};  ///< slice i has start[i + 1] - start[i] nonzeros
};

/// The ranks that hold a tensor's nonzeros and work together. This one is alone; others override how numbers move. All calls
/// are collective.
class Team {
public:
    using Numbers = std::vector<std::int64_t>;
    virtual ~Team() = default;
    virtual std::int64_t size() const { return 1; }
    virtual std::int64_t rank() const { return 0; }
    /// Runs work that may throw; every rank throws if one does.
    virtual void agree(const std::function<void()>& work) const { work(); }
    /// Sums over the ranks, of as many numbers on each.
    virtual void sum(Numbers& /*values*/) const {}
    /// The numbers of all ranks, by rank, one list behind the other.
    virtual Numbers all_gather(const Numbers& mine) const { return mine; }
    /// Numbers for each rank; returns what each rank sends to this one.
    virtual std::vector<Numbers> all_to_all(std::vector<Numbers> to_rank) const { return to_rank; }
    /// The slices of a mode that the indices of all ranks name.
    virtual SlicePart count(std::span<const std::int64_t> indices) const;
    /// Each rank in turn makes a new state of the one that it gets from the rank before; returns the last one, on all ranks.
    virtual Numbers pass_along(Numbers state, const std::function<Numbers(const Numbers&)>& step) const { return step(state); }
};

/// What a rank has of a tensor.
struct TensorPart {
    IndexView view;                ///< lengths of the tensor, indices of the rank's nonzeros
    std::vector<SlicePart> modes;  ///< its part of the nonempty slices, whichever rank their nonzeros are on
    double share = 1;              ///< of the nonzeros, from which the slices were counted; counts are scaled
    int order() const { return view.order(); }
};

/// A tensor that lies on one rank.
TensorPart whole_tensor(const IndexView& view, const SliceTable& table);

/// The slices of all modes, counted from a share of the nonzeros: those whose hash is small, wherever they lie. Looks at the indices of
/// `view` as long as it lives. Collective.
TensorPart counted_tensor(const Team& team, const IndexView& view, double share = 1);

/// Nonzeros of each of `layers` equal layers of a mode, on all ranks. Collective.
std::vector<std::int64_t> count_layers(const Team& team, const TensorPart& tensor, std::size_t mode, std::int64_t layers);

/// A mode to cut.
struct LayerCut {
    std::size_t mode = 0;
    std::int64_t layers = 1;
    LayerRule rule;
    auto operator<=>(const LayerCut&) const = default;
};

/// The boundaries of cuts, the same on all ranks, and the same as those of cut_mode() on one. One sum over the ranks and one
/// pass along them, whatever the number of cuts. Collective.
std::vector<Boundaries> cut_modes(const Team& team, const TensorPart& tensor, const std::vector<LayerCut>& cuts);

/// The boundaries of all modes of a grid; slices of modes that it does not cut are not counted. Collective.
std::vector<Boundaries> cut_grid(const Team& team, const IndexView& view, const Grid& grid, const LayerRule& rule);

}  // namespace arges::partition
