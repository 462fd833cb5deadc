/// The counting core of statistics.hpp and choose.hpp: who holds and owns which rows, and what they send. Pure.
#pragma once

#include "partition/grid.hpp"
#include "partition/layers.hpp"
#include "partition/rows.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace arges::partition {

/// Counts of one mode by rank. A row is one unit, whatever the number of columns.
struct ModeCounts {
    std::vector<std::int64_t> nonzeros;  ///< that the rank multiplies in this mode's MTTKRP
    std::vector<std::int64_t> owned;     ///< rows that the rank owns
    std::vector<std::int64_t> held;      ///< rows that the rank has nonzeros of
    std::vector<std::int64_t> sent;      ///< rows sent in one iteration, over both phases where there are two
    std::vector<std::int64_t> received;  ///< rows received
    std::vector<std::int64_t> messages;  ///< messages sent in one iteration: the other ranks of each phase
    std::int64_t connectivity = 0;       ///< sum over the rows of (number of holders - 1)

    /// SPLATT's communication volume of a rank: rows sent and received.
    std::int64_t volume(std::size_t rank) const { return sent[rank] + received[rank]; }
};

/// For some rows of a mode, the ranks that hold them.
struct HolderLists {
    std::vector<std::int64_t> rows;      ///< ascending
    std::vector<std::int64_t> start{0};  ///< row r has the ranks [start[r], start[r + 1])
    std::vector<std::int32_t> ranks;     ///< distinct for a row
};

/// Collects holder lists row by row; adding a rank twice to a row is adding it once.
class HolderCollector {
public:
    explicit HolderCollector(std::int64_t ranks) : last_(ranks, -1) {}
    void add(std::int32_t rank) {
        auto& last = last_[rank];
        if (last == row_) return;
        last = row_;
        lists_.ranks.push_back(rank);
    }
    /// Ends a row: what was added since the row before are its holders.
    void end_row(std::int64_t row) {
        lists_.rows.push_back(row);
        lists_.start.push_back(std::ssize(lists_.ranks));
        ++row_;
    }
    HolderLists take() { return std::move(lists_); }

private:
    HolderLists lists_;
    std::vector<std::int64_t> last_;  // by rank, the last row that it was added to
    std::int64_t row_ = 0;
};

/// The layers of one mode of a grid.
struct ModeLayers {
    Boundaries boundaries;
    std::int64_t inner = 1;  ///< product of the grid's numbers of the modes after: the last mode is fastest
    std::int64_t ranks = 1;  ///< of the whole grid

    std::int64_t layers() const { return std::ssize(boundaries) - 1; }
    std::int64_t ranks_in_layer() const { return ranks / layers(); }
    /// A rank's number among the ranks of its layer; 2 (coordinates 0, 1, 0) is number 0 of layer 1 in mode 1 of a 2x2x2 grid.
    std::int64_t number_in_layer(std::int64_t rank) const { return rank / (layers() * inner) * inner + rank % inner; }
    std::int64_t rank_of(std::int64_t layer, std::int64_t number) const {
        return (number / inner * layers() + layer) * inner + number % inner;
    }
};

/// The layers of a mode of a grid.
ModeLayers mode_layers(const Grid& grid, std::size_t mode, Boundaries boundaries);

/// Owners of rows by a rule, layer by layer. The holders of a row are ranks of its layer.
std::vector<std::int32_t> row_owners(const HolderLists& holders, const ModeLayers& layers, RowRule rule, double excess);

/// Phases of communication in one mode of an iteration.
enum class Phases : std::uint8_t {
    expand,          ///< owners send rows to holders
    fold_and_expand  ///< holders send partial rows to owners, too
};

/// Counts the rows of a mode; ModeCounts::nonzeros stays empty.
ModeCounts count_rows(const HolderLists& holders, std::span<const std::int32_t> owners, std::int64_t ranks, Phases phases);

}  // namespace arges::partition
