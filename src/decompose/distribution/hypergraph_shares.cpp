// The coarse- and fine-grain hypergraphs (hypertensor-sc15, section 3), made where the nonzeros are; slices get their numbers from the
// ranks that their lists are spread over.
#include "decompose/distribution/given_parts.hpp"

#include "base/memory_tally.hpp"
#include "comm/values.hpp"
#include "decompose/distribution/slice_counts.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace arges::decompose {

namespace {

/// A vertex of this rank, by its place among them, as a pin of a net.
struct Pin {
    std::int64_t net = 0;
    std::int64_t vertex = 0;
    auto operator<=>(const Pin&) const = default;
};

/// Numbers of slices of two modes that share a nonzero.
struct SlicePair {
    std::int64_t first = 0;
    std::int64_t second = 0;
    auto operator<=>(const SlicePair&) const = default;
};

std::vector<SlicePair> distinct_pairs(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& second) {
    std::vector<SlicePair> pairs(first.size());
    for (std::size_t x = 0; x < pairs.size(); ++x) pairs[x] = {first[x], second[x]};
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    return pairs;
}

/// The slices of all modes as vertices: those of a mode behind those of the modes before.
class SliceVertices {
public:
    SliceVertices(const Communicator& comm, std::vector<SliceList> lists)
        : comm_(comm), lists_(std::move(lists)), first_{0}, first_mine_{0} {
        for (const auto& list : lists_) {
            first_.push_back(first_.back() + list.total());
            first_mine_.push_back(first_mine_.back() + std::ssize(list.mine));
        }
    }
    std::int64_t all() const { return first_.back(); }
    std::int64_t mine() const { return first_mine_.back(); }
    const SliceList& list(std::size_t mode) const { return lists_[mode]; }
    std::int64_t first(std::size_t mode) const { return first_[mode]; }
    /// Place among the vertices of the owner, and its number, of the slice that is the i-th of this rank's part of a list.
    std::int64_t place(std::size_t mode, std::size_t i) const { return first_mine_[mode] + static_cast<std::int64_t>(i); }
    std::int64_t number(std::size_t mode, std::size_t i) const { return first_number(mode) + static_cast<std::int64_t>(i); }
    /// Place of a vertex of this rank by its number.
    std::int64_t place_of(std::size_t mode, std::int64_t number) const { return first_mine_[mode] + number - first_number(mode); }
    /// The rank that has a vertex.
    std::size_t owner(std::size_t mode, std::int64_t number) const {
        const auto& first = lists_[mode].first;
        return std::upper_bound(first.begin(), first.end(), number - first_[mode]) - first.begin() - 1;
    }

private:
    std::int64_t first_number(std::size_t mode) const { return first_[mode] + lists_[mode].first[comm_.rank()]; }

    const Communicator& comm_;
    std::vector<SliceList> lists_;
    std::vector<std::int64_t> first_, first_mine_;
};

/// Tells the owners of slices of `mode` with which slices of another mode they share nonzeros.
void add_pins(const Communicator& comm, const SliceVertices& vertices, std::size_t mode, const std::vector<SlicePair>& pairs,
              std::vector<Pin>& pins) {
    std::vector<std::vector<SlicePair>> outgoing(comm.size());
    comm.agree([&] {
        for (const auto& pair : pairs) outgoing[vertices.owner(mode, pair.first)].push_back(pair);
    });
    const auto incoming = exchanged(comm, std::move(outgoing));
    comm.agree([&] {
        for (const auto& list : incoming)
            for (const auto& [mine, other] : list) pins.push_back({other, vertices.place_of(mode, mine)});
    });
}

/// The hypergraph of this rank's vertices, without weights, and the numbers of its nets.
partition::HypergraphData data_of(std::vector<Pin> pins, std::int64_t vertices, std::vector<std::int64_t>& nets) {
    std::sort(pins.begin(), pins.end());
    pins.erase(std::unique(pins.begin(), pins.end()), pins.end());
    partition::HypergraphData data;
    data.vertices = vertices;
    for (std::size_t i = 0; i < pins.size(); ++i) {
        data.pins.push_back(pins[i].vertex);
        if (i + 1 < pins.size() && pins[i + 1].net == pins[i].net) continue;
        nets.push_back(pins[i].net);
        data.net_begin.push_back(std::ssize(data.pins));
    }
    return data;
}

}  // namespace

partition::HypergraphShare fine_grain_share(const Communicator& comm, const sparse::NonzeroIndices& nonzeros) {
    partition::HypergraphShare result;
    std::vector<std::vector<std::int64_t>> slices;
    const auto counts = gathered(comm, std::vector<std::int64_t>{nonzeros.count()});
    comm.agree([&] {
        partition::SliceTable table(view_of(nonzeros));
        result.hypergraph = partition::fine_grain_hypergraph(table);
        for (auto& mode : table.modes) slices.push_back(std::move(mode.slices));
        result.vertices.resize(nonzeros.count());
        std::iota(result.vertices.begin(), result.vertices.end(),
                  std::accumulate(counts.begin(), counts.begin() + comm.rank(), std::int64_t{0}));
    });
    for (const auto& mine : slices) {
        const auto list = nonempty_slices(comm, mine);
        const auto numbers = renumbered(comm, list, mine);
        comm.agree([&] {
            for (auto number : numbers) result.nets.push_back(result.all_nets + number);
        });
        result.all_nets += list.total();
    }
    return result;
}

CoarseGrainShare coarse_grain_share(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, partition::CoarseWeights weights) {
    const auto order = nonzeros.indices.size();
    std::vector<SliceList> lists;
    for (const auto& indices : nonzeros.indices) lists.push_back(nonempty_slices(comm, indices));
    const SliceVertices vertices(comm, std::move(lists));
    std::vector<std::vector<std::int64_t>> numbers(order);
    for (std::size_t m = 0; m < order; ++m) {
        numbers[m] = renumbered(comm, vertices.list(m), nonzeros.indices[m]);
        for (auto& number : numbers[m]) number += vertices.first(m);
    }

    std::vector<Pin> pins;
    for (std::size_t a = 0; a < order; ++a)
        for (std::size_t b = a + 1; b < order; ++b) {
            std::vector<SlicePair> pairs;
            comm.agree([&] { pairs = distinct_pairs(numbers[a], numbers[b]); });
            add_pins(comm, vertices, a, pairs, pins);
            for (auto& pair : pairs) std::swap(pair.first, pair.second);
            add_pins(comm, vertices, b, pairs, pins);
        }
    release(numbers);

    CoarseGrainShare result;
    comm.agree([&] {
        const bool by_mode = weights == partition::CoarseWeights::by_mode && order > 0;
        const auto constraints = by_mode ? order : 1;
        std::vector<std::int64_t> counts(static_cast<std::size_t>(vertices.mine()) * constraints, 0);
        for (std::size_t m = 0; m < order; ++m) {
            const auto& list = vertices.list(m);
            for (std::size_t i = 0; i < list.mine.size(); ++i) {
                const auto place = vertices.place(m, i);
                pins.push_back({vertices.number(m, i), place});
                result.share.vertices.push_back(vertices.number(m, i));
                counts[static_cast<std::size_t>(place) * constraints + (by_mode ? m : 0)] = list.counts[i];
            }
            result.slices.push_back(list.mine);
        }
        auto data = data_of(std::move(pins), vertices.mine(), result.share.nets);
        data.constraints = constraints;
        data.weights = std::move(counts);
        result.share.hypergraph = partition::Hypergraph(std::move(data));
        result.share.all_nets = vertices.all();
    });
    return result;
}

}  // namespace arges::decompose
