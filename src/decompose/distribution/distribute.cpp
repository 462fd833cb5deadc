// Nonzeros move once to the ranks of a medium-, coarse- or fine-grain distribution (SPLATT; hypertensor-sc15, section 3); for each layer
// one of its ranks sees who holds which rows and decides their owners.
#include "decompose/distribution/distribute.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "comm/values.hpp"
#include "partition/value_counts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace arges::decompose {

SparseShare expected_share(std::int64_t ranks, std::int64_t value_bytes, const std::vector<std::int64_t>& lengths, std::int64_t nonzeros,
                           bool is_coarse, int columns) {
    SparseShare share;
    share.ranks = ranks;
    share.value_bytes = value_bytes;
    share.lengths = lengths;
    share.before = ceil_div(nonzeros, ranks);
    share.columns = columns;
    const auto most = share.before + (ranks > 1 ? share.before / 10 : 0);
    share.nonzeros.assign(is_coarse ? lengths.size() : 1, most);
    for (auto length : lengths) {
        const auto rows = std::min(most, length);
        share.rows.push_back(rows);
        share.owned.push_back(ceil_div(rows, ranks));
        share.shared.push_back(ranks > 1 ? rows : 0);
    }
    return share;
}

namespace {

/// The ranks that share a layer of a mode: those of the same coordinate, or all.
struct LayerGroup {
    std::vector<std::int64_t> ranks;  ///< ascending
    std::int64_t begin = 0, end = 0;  ///< slices
};

LayerGroup group_of(const Communicator& comm, const DistributionPlan& plan, int mode, std::int64_t length) {
    LayerGroup group;
    if (plan.grain != Grain::medium) {
        group.ranks.resize(comm.size());
        std::iota(group.ranks.begin(), group.ranks.end(), 0);
        group.end = length;
        return group;
    }
    std::int64_t stride = 1;
    for (auto m = plan.grid.size(); m-- > static_cast<std::size_t>(mode) + 1;) stride *= plan.grid[m];
    const auto places = plan.grid[mode];
    const auto coordinate = comm.rank() / stride % places;
    for (std::int64_t r = 0; r < comm.size(); ++r)
        if (r / stride % places == coordinate) group.ranks.push_back(r);
    const auto& boundaries = plan.boundaries[mode];
    group.begin = boundaries[coordinate];
    group.end = boundaries[coordinate + 1];
    return group;
}

/// Owners of the rows that this rank holds, decided for each layer by one of its ranks, which sees what all of them hold.
std::vector<std::int64_t> owners_in_layers(const Communicator& comm, const DistributionPlan& plan, int mode, std::int64_t length,
                                           const std::vector<std::int64_t>& held) {
    const auto group = group_of(comm, plan, mode, length);
    const auto decider = group.ranks[static_cast<std::size_t>(mode) % group.ranks.size()];
    std::vector<std::vector<std::int64_t>> outgoing(comm.size()), answers(outgoing.size());
    comm.agree([&] { outgoing[decider] = held; });
    auto incoming = exchanged(comm, std::move(outgoing));
    comm.agree([&] {
        if (decider != comm.rank()) return;
        partition::LayerRows layer{group.begin, group.end, {}};
        for (auto r : group.ranks) layer.held.push_back(std::move(incoming[r]));
        const auto owners = partition::assign_rows(layer, plan.row_rule);
        for (std::size_t q = 0; q < group.ranks.size(); ++q) {
            auto& answer = answers[group.ranks[q]];
            auto at = owners.rows.begin();
            for (auto row : layer.held[q]) {
                at = std::lower_bound(at, owners.rows.end(), row);
                answer.push_back(group.ranks[owners.owner[at - owners.rows.begin()]]);
            }
        }
    });
    return std::move(exchanged(comm, std::move(answers))[decider]);
}

/// Coarse grain: the rank that owns a slice.
std::int32_t slice_owner(const DistributionPlan& plan, std::size_t mode, std::int64_t slice) {
    if (plan.owners.empty()) return partition::layer_of(plan.boundaries[mode], slice);
    const auto& owners = plan.owners[mode];
    return owners.owner[std::lower_bound(owners.slices.begin(), owners.slices.end(), slice) - owners.slices.begin()];
}

/// Where each nonzero goes for a set.
std::vector<std::int32_t> ranks_of(const sparse::NonzeroIndices& nonzeros, const DistributionPlan& plan, std::size_t mode) {
    if (plan.grain == Grain::fine) return plan.parts;
    std::vector<std::int32_t> result(nonzeros.count(), 0);
    if (plan.grain == Grain::coarse) {
        for (std::size_t x = 0; x < result.size(); ++x) result[x] = slice_owner(plan, mode, nonzeros.indices[mode][x]);
        return result;
    }
    for (std::size_t m = 0; m < nonzeros.indices.size(); ++m)
        for (std::size_t x = 0; x < result.size(); ++x)
            result[x] =
                static_cast<std::int32_t>(result[x] * plan.grid[m] + partition::layer_of(plan.boundaries[m], nonzeros.indices[m][x]));
    return result;
}

/// Rows of a mode that some set has nonzeros in, ascending; or those of all ranks.
std::vector<std::int64_t> held_rows(const Communicator& comm, const std::vector<sparse::NonzeroIndices>& sets, std::size_t mode,
                                    bool of_all_ranks) {
    std::vector<std::int64_t> held;
    comm.agree([&] {
        for (const auto& set : sets) {
            const auto more = partition::distinct(set.indices[mode]);
            held.insert(held.end(), more.begin(), more.end());
        }
        held = partition::distinct(held);
    });
    if (!of_all_ranks) return held;
    held = gathered(comm, held);
    comm.agree([&] { held = partition::distinct(held); });
    return held;
}

std::vector<std::int64_t> all_rows(const Communicator& comm, std::int64_t length) {
    std::vector<std::int64_t> rows;
    comm.agree([&] {
        rows.resize(length);
        std::iota(rows.begin(), rows.end(), 0);
    });
    return rows;
}

/// Positions of the rows of a ModeRows: by an array over their range where that is not much longer than their number, else by
/// bisection.
class RowFinder {
public:
    explicit RowFinder(const ModeRows& rows) {
        if (rows.index.empty()) return;
        const auto [least, largest] = std::minmax_element(rows.index.begin(), rows.index.end());
        begin_ = *least;
        if (*largest - begin_ < dense_range * rows.count()) {
            place_.resize(*largest - begin_ + 1);
            for (std::size_t i = 0; i < rows.index.size(); ++i) place_[rows.index[i] - begin_] = i;
            return;
        }
        sorted_.reserve(rows.index.size());
        for (std::size_t i = 0; i < rows.index.size(); ++i) sorted_.emplace_back(rows.index[i], static_cast<std::uint32_t>(i));
        std::sort(sorted_.begin(), sorted_.end());
    }
    std::vector<std::uint32_t> find(const std::vector<std::int64_t>& indices) const {
        std::vector<std::uint32_t> result(indices.size());
#pragma omp parallel for schedule(static)
        for (std::size_t x = 0; x < indices.size(); ++x)
            result[x] =
                sorted_.empty()
                    ? place_[indices[x] - begin_]
                    : std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<std::int64_t, std::uint32_t>(indices[x], 0))->second;
        return result;
    }

    /// Memory for so many rows, an upper bound. Pure.
    static std::int64_t bytes(std::int64_t rows) { return rows * dense_range * std::int64_t{sizeof(std::uint32_t)}; }

private:
    static constexpr std::int64_t dense_range = 8;
    std::int64_t begin_ = 0;
    std::vector<std::uint32_t> place_;
    std::vector<std::pair<std::int64_t, std::uint32_t>> sorted_;
};

void check_size(const ModeRows& rows, int mode) {
    if (rows.count() > std::numeric_limits<std::uint32_t>::max())
        throw Unsupported("mode " + std::to_string(mode + 1) + ": a rank needs " + std::to_string(rows.count()) +
                          " rows of a factor matrix, and at most 2^32 - 1 are supported; use more ranks");
}

}  // namespace

PlacedIndices place_nonzeros(const Communicator& comm, sparse::NonzeroIndices nonzeros, const DistributionPlan& plan,
                             const std::function<void(std::span<const std::int32_t> to, bool is_last)>& move_values) {
    const int order = nonzeros.order();
    const auto lengths = nonzeros.lengths;
    const bool coarse = plan.grain == Grain::coarse;
    PlacedIndices result;
    std::vector<sparse::NonzeroIndices> moved;
    const int sets = coarse ? order : 1;
    for (int s = 0; s < sets; ++s) {
        std::vector<std::int32_t> to;
        comm.agree([&] {
            to = ranks_of(nonzeros, plan, s);
            moved.push_back(s + 1 == sets ? std::move(nonzeros) : nonzeros);
        });
        for (auto& column : moved.back().indices) column = route_column(comm, to, std::move(column));
        move_values(to, s + 1 == sets);
        auto& set = result.sets.emplace_back();
        for (int m = coarse ? s : 0; m < (coarse ? s + 1 : order); ++m) set.modes.push_back(m);
    }
    for (int m = 0; m < order; ++m) {
        const auto held =
            coarse && plan.empty_slices ? all_rows(comm, lengths[m]) : held_rows(comm, moved, m, coarse && plan.rows_everywhere);
        std::vector<std::int64_t> owner;
        if (coarse)
            comm.agree([&] {
                for (auto row : held) owner.push_back(slice_owner(plan, m, row));
            });
        else
            owner = owners_in_layers(comm, plan, m, lengths[m], held);
        const auto& rows = result.rows.emplace_back(match_rows(comm, held, owner));
        comm.agree([&] {
            check_size(rows, m);
            const RowFinder finder(rows);
            for (std::size_t s = 0; s < moved.size(); ++s) {
                result.sets[s].rows.push_back(rows.count());
                result.sets[s].indices.push_back(finder.find(moved[s].indices[m]));
                release(moved[s].indices[m]);
            }
        });
    }
    return result;
}

MemoryTally distribution_memory(const SparseShare& share) {
    constexpr std::int64_t number = sizeof(std::int64_t), rank = sizeof(std::int32_t), index = sizeof(std::uint32_t);
    const auto sets = share.nonzeros.size();
    MemoryTally tally;
    tally.hold(share.before * share.global_bytes() * (share.keeps_source ? 2 : 1));
    for (std::size_t s = 0; s < sets; ++s) {
        const auto after = share.nonzeros[s];
        if (s + 1 < sets) tally.hold(share.before * share.global_bytes());
        tally.hold(share.before * rank);
        for (int m = 0; m < share.order(); ++m) tally.add(routing_memory(share.ranks, number, share.before, after));
        tally.add(routing_memory(share.ranks, share.element_bytes(), share.before, after));
        if (share.ranks == 1) tally.hold((after - share.before) * share.global_bytes());
        tally.hold(-share.before * rank);
    }
    const auto most = *std::max_element(share.nonzeros.begin(), share.nonzeros.end());
    for (std::size_t m = 0; m < share.lengths.size(); ++m) {
        const auto rows = share.rows[m];
        tally.pass(partition::counting_memory(most, share.lengths[m], true).peak() + 3 * number * rows);
        // The rank that decides for a layer gets the rows of all that share it: as messages, as lists, put together, and the answers.
        // Coarse grain has no such rank: owners of slices are known.
        const auto lists = share.ranks == 1 ? rows : rows + share.shared[m];
        tally.pass(number * (sets > 1 ? 7 * rows + 2 * share.shared[m] : 2 * rows + 9 * lists));
        tally.hold(number * rows + index * share.shared[m]);
        tally.hold(RowFinder::bytes(rows));
        for (auto count : share.nonzeros) {
            tally.hold(index * count);
            tally.hold(-number * count);
        }
        tally.hold(-RowFinder::bytes(rows));
    }
    return tally;
}

}  // namespace arges::decompose
