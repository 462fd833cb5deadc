/// Elements that a rank lacks of a working layout, and messages that bring them, estimated from sizes and from the overlap of present and
/// wanted layouts. Pure.
#pragma once

#include "plan/product/product_plan.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges {

/// Torus dimensions along which packed indices are distributed one by one.
struct RanksAlong {
    const RankGrid& grid;
    const std::vector<int>& torus;
    std::int64_t count() const;
};

/// Ranks that have some of the indices of a rank.
struct SourceRanks {
    double count = 1;
    bool has_itself = true;  ///< every rank is among its own
};

/// Of `size` indices that lie along `from` and come to lie along `to`, those that a rank gets are on so many ranks, at most.
/// Example: from 4 ranks to 6, every sixth index is on two ranks.
SourceRanks source_ranks(const RanksAlong& from, const RanksAlong& to, std::int64_t size);

/// Of so many ranks, those that have some of `elements` that lie on them at random, about.
double occupied_ranks(double ranks, double elements);

/// What a slot of a working layout is in a tensor.
struct SlotMatch {
    int slot = -1;      ///< of the tensor; -1: none
    int position = -1;  ///< of the one label in a group in blocks that is taken apart; -1: the slots are over the same labels
    int within = -1;    ///< the slot of the tensor that has its labels, or more
};

/// What the busiest rank moves for a working copy.
struct Moved {
    double words = 0;     ///< elements
    double messages = 0;  ///< to or from other ranks
};

/// The ranks whose elements are counted: all where they are few, else a sample.
class CountedRanks {
public:
    explicit CountedRanks(const RankGrid& grid);

    std::size_t count() const { return ranks_.size(); }
    std::int64_t rank(std::size_t r) const { return ranks_[r]; }
    /// Coordinate of a rank along torus dimensions.
    std::int64_t coordinate(std::size_t r, const std::vector<int>& torus) const;
    /// Ranks along them.
    std::int64_t grid_length(const std::vector<int>& torus) const;

private:
    std::vector<std::int64_t> lengths_, ranks_, coordinates_;  // coordinates by rank, then dimension
};

/// A slot of a working layout: what ranks want of it.
struct WantedSlot {
    /// @param layout  null: `size` packed indices are distributed one by one, all of them
    WantedSlot(const CountedRanks& ranks, SlotMapping mapping, std::int64_t size, const SlotLayout* layout);

    SlotMapping mapping;
    std::int64_t size, grid_length;
    bool is_uneven;                        ///< in blocks, or spread by rows
    std::vector<std::int64_t> coordinate;  ///< by counted rank
    std::vector<double> count;             ///< by counted rank: elements
    double largest = 0;                    ///< of these
};

/// What ranks have of a slot of a working layout.
struct SlotShare {
    SlotMatch match;
    const WantedSlot* wanted = nullptr;
    SourceRanks sources{};  ///< of the wanted elements, along the tensor's slot
    /// By counted rank the wanted elements that it has in the tensor already, about; exact for slots that match. Empty: all.
    std::vector<double> present;
    const std::vector<double>& owned() const { return present.empty() ? wanted->count : present; }
};

/// Counts what the busiest rank receives for working copies of a tensor (or sends of its parts of the result), and from how many ranks:
/// where extents are no shorter than grids, a product over slots. exact_volume() counts what is moved.
class MovedWords {
public:
    /// @param grid of the working layouts; it and `ranks` of it must outlive this
    MovedWords(const Operand& tensor, const RankGrid& grid, const CountedRanks& ranks);

    /// The slot of the tensor over these labels with such a node, or the place of a single label in a group in blocks.
    SlotMatch match(std::vector<int> labels, NodeKind tree) const;
    /// @param match see match()  @param slot must outlive what is returned
    SlotShare share(const SlotMatch& match, const WantedSlot& slot) const;
    /// For a working layout of these slots. @param copies  ranks that each element of a result goes to
    Moved count(std::span<const SlotShare* const> slots, double copies = 1) const;
    /// What ranks lack that have `owned` slots of the `wanted` ones, which lie along some of the same torus dimensions.
    Moved count_lacking(std::span<const WantedSlot* const> wanted, std::span<const WantedSlot* const> owned) const;

private:
    double images(int slot) const;

    const Layout present_;
    const std::vector<int> tensor_labels_;
    const RankGrid& grid_;
    const CountedRanks& ranks_;
    std::vector<std::vector<int>> labels_;                // of the tensor's slots, ascending
    std::vector<std::vector<std::int64_t>> coordinates_;  // by slot and counted rank
    bool one_rank_, one_grid_;
    std::int64_t present_ranks_;  // that hold something of the tensor
};

/// The same for one working layout.
Moved moved_words(const Operand& tensor, const WorkingOperand& working);

}  // namespace arges
