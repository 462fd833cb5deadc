// The coarse- and fine-grain hypergraphs of a sparse tensor, whose cut is the rows that are sent (hypertensor-sc15, sections 3.1 and 3.2),
// and slices and nonzeros by their partitions.
#include "partition/hypergraph/hypergraph_models.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace arges::partition {

namespace {

/// Fills rows and position of one mode.
void find_rows(std::span<const std::int64_t> indices, std::int64_t length, std::vector<std::int64_t>& rows,
               std::vector<std::uint32_t>& position) {
    position.resize(indices.size());
    if (length <= 4 * std::ssize(indices) + 1024) {
        std::vector<std::uint32_t> number(length, 0);
        for (auto i : indices) number[i] = 1;
        for (std::int64_t i = 0; i < length; ++i)
            if (auto& n = number[i]; n) {
                n = rows.size();
                rows.push_back(i);
            }
        for (std::size_t x = 0; x < indices.size(); ++x) position[x] = number[indices[x]];
        return;
    }
    rows.assign(indices.begin(), indices.end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    for (std::size_t x = 0; x < indices.size(); ++x) position[x] = std::lower_bound(rows.begin(), rows.end(), indices[x]) - rows.begin();
}

/// The nonzeros of each row of a mode, in their order.
struct RowNonzeros {
    std::vector<std::int64_t> begin;
    std::vector<std::uint32_t> nonzeros;
};

RowNonzeros nonzeros_by_row(const std::vector<std::uint32_t>& position, std::size_t rows) {
    RowNonzeros result{std::vector<std::int64_t>(rows + 1, 0), std::vector<std::uint32_t>(position.size())};
    for (auto row : position) ++result.begin[std::size_t{row} + 1];
    for (std::size_t r = 0; r < rows; ++r) result.begin[r + 1] += result.begin[r];
    auto next = result.begin;
    for (std::size_t x = 0; x < position.size(); ++x) result.nonzeros[next[position[x]]++] = x;
    return result;
}

/// Appends the net of every row of a mode: the row and all rows of other modes in its nonzeros.
void add_coarse_nets(const NonemptyRows& rows, std::size_t mode, HypergraphData& data) {
    const auto by_row = nonzeros_by_row(rows.position[mode], rows.rows[mode].size());
    std::vector<std::int64_t> seen_in(rows.first.back(), -1);
    for (std::size_t row = 0; row < rows.rows[mode].size(); ++row) {
        const auto net = rows.first[mode] + static_cast<std::int64_t>(row);
        const std::ptrdiff_t begin = data.pins.size();
        data.pins.push_back(net);
        for (auto x = by_row.begin[row]; x < by_row.begin[row + 1]; ++x)
            for (std::size_t other = 0; other < rows.rows.size(); ++other) {
                if (other == mode) continue;
                const auto nonzero = by_row.nonzeros[x];
                const auto vertex = rows.first[other] + rows.position[other][nonzero];
                if (std::exchange(seen_in[vertex], net) != net) data.pins.push_back(vertex);
            }
        std::sort(data.pins.begin() + begin, data.pins.end());
        data.net_begin.push_back(std::ssize(data.pins));
    }
}

}  // namespace

NonemptyRows nonempty_rows(const IndexView& tensor) {
    if (tensor.count() >= std::numeric_limits<std::uint32_t>::max())
        throw InvalidArgument("a hypergraph model of " + std::to_string(tensor.count()) +
                              " nonzeros was asked for; below 2^32 can be partitioned, use a grid or contiguous slices");
    const std::size_t order = tensor.order();
    NonemptyRows result;
    result.rows.resize(order);
    result.position.resize(order);
    result.first.assign(order + 1, 0);
    for (std::size_t m = 0; m < order; ++m) {
        for (auto i : tensor.indices[m])
            if (i < 0 || i >= tensor.lengths[m])
                throw InvalidArgument("index " + std::to_string(i) + " in mode " + std::to_string(m + 1) + " is not below the length " +
                                      std::to_string(tensor.lengths[m]) + "; indices start at 0 here");
        find_rows(tensor.indices[m], tensor.lengths[m], result.rows[m], result.position[m]);
        result.first[m + 1] = result.first[m] + std::ssize(result.rows[m]);
    }
    return result;
}

Hypergraph coarse_grain_hypergraph(const IndexView& tensor, const NonemptyRows& rows, CoarseWeights weights) {
    const std::size_t order = tensor.order();
    HypergraphData data;
    data.vertices = rows.first.back();
    data.constraints = weights == CoarseWeights::by_mode && order > 0 ? tensor.order() : 1;
    data.weights.assign(data.vertices * data.constraints, 0);
    for (std::size_t m = 0; m < order; ++m) {
        const auto constraint = weights == CoarseWeights::by_mode ? static_cast<std::int64_t>(m) : 0;
        for (auto row : rows.position[m]) ++data.weights[(rows.first[m] + row) * data.constraints + constraint];
        add_coarse_nets(rows, m, data);
    }
    return Hypergraph(std::move(data));
}

Hypergraph fine_grain_hypergraph(const IndexView& tensor, const NonemptyRows& rows, const FineGrainModel& model) {
    const std::size_t order = tensor.order();
    const auto count = tensor.count();
    std::int64_t slices = 0;
    for (auto length : tensor.lengths) slices += std::min(length, std::int64_t{1} << 32);
    if (model.all_slices && slices >= std::int64_t{1} << 32)
        throw InvalidArgument("a hypergraph with a net for each of " + std::to_string(slices) +
                              " slices or more was asked for; nets of nonempty slices only are needed, fewer than 2^32");
    HypergraphData data;
    data.vertices = count;
    for (std::size_t m = 0; m < order; ++m) {
        const auto by_row = nonzeros_by_row(rows.position[m], rows.rows[m].size());
        std::int64_t slice = 0;
        const auto empty_until = [&](std::int64_t end) {
            for (; model.all_slices && slice < end; ++slice) data.net_begin.push_back(std::ssize(data.pins));
        };
        for (std::size_t row = 0; row < rows.rows[m].size(); ++row) {
            empty_until(rows.rows[m][row]);
            data.pins.insert(data.pins.end(), by_row.nonzeros.begin() + by_row.begin[row], by_row.nonzeros.begin() + by_row.begin[row + 1]);
            if (model.row_vertices) data.pins.push_back(count + rows.first[m] + static_cast<std::int64_t>(row));
            data.net_begin.push_back(std::ssize(data.pins));
            ++slice;
        }
        empty_until(tensor.lengths[m]);
    }
    if (!model.row_vertices) return Hypergraph(std::move(data));

    data.vertices += rows.first.back();
    data.constraints = tensor.order() + 1;
    data.weights.assign(data.vertices * data.constraints, 0);
    for (std::int64_t x = 0; x < count; ++x) data.weights[x * data.constraints + tensor.order()] = tensor.order();
    for (std::size_t m = 0; m < order; ++m)
        for (auto row = rows.first[m]; row < rows.first[m + 1]; ++row)
            data.weights[static_cast<std::size_t>((count + row) * data.constraints) + m] = 1;
    return Hypergraph(std::move(data));
}

PartitionOptions distribution_options(std::uint64_t seed) {
    PartitionOptions options;
    options.imbalance = 0.05;
    options.seed = seed;
    return options;
}

CoarseGrain coarse_by_hypergraph(const IndexView& tensor, const NonemptyRows& rows, std::int64_t ranks, CoarseWeights weights,
                                 std::uint64_t seed) {
    const auto parts = partition_hypergraph(coarse_grain_hypergraph(tensor, rows, weights), ranks, distribution_options(seed));
    CoarseGrain result{ranks, {}};
    for (std::size_t m = 0; m < rows.rows.size(); ++m)
        result.owner.emplace_back(parts.begin() + rows.first[m], parts.begin() + rows.first[m + 1]);
    return result;
}

FineGrain fine_by_hypergraph(const IndexView& tensor, const NonemptyRows& rows, std::int64_t ranks, std::uint64_t seed) {
    FineGrain result;
    result.ranks = ranks;
    result.part = partition_hypergraph(fine_grain_hypergraph(tensor, rows), ranks, distribution_options(seed));
    return result;
}

}  // namespace arges::partition
