#include "execute/sparse_match.hpp"

#include "base/large_vector.hpp"
#include "redistribute/movement_run.hpp"

#include <algorithm>

namespace arges {

SparseMatch::SparseMatch(const Communicator* comm, const std::vector<IndexSpans>& operands, const SparseLayout& to,
                         std::span<const std::int64_t> lengths, const RequireBytes& require) {
    const std::int64_t width = lengths.size() * sizeof(std::int64_t);
    std::int64_t most = 0;
    for (const auto& columns : operands) {
        moves_.emplace_back(comm, columns, nullptr, to, std::vector<std::int64_t>{0});
        most += moves_.back().most();
    }
    require(most * (2 * width + 48));  // moved, side by side, sorted; and lists of the moves
    std::vector<sparse::Columns> lists;
    std::vector<std::int64_t> counts;
    for (std::size_t o = 0; o < operands.size(); ++o) {
        counts.push_back(moves_[o].count());
        if (moves_[o].stays()) {
            lists.push_back(operands[o]);
            continue;
        }
        lists.push_back(spans_of(moved_.emplace_back(moves_[o].indices(operands[o]))));
        inspected_bytes_ += moves_[o].sent() * width;
    }
    nonzeros_ = {std::move(lists), counts};
    std::int64_t same[] = {1};
    agree(comm, [&] {
        runs_ = sparse::runs_of_equal(nonzeros_, lengths);
        bool is_first = moves_[0].stays() && runs_.count() == moves_[0].count();
        for (std::int64_t run = 0; run < runs_.count() && is_first; ++run) is_first = runs_.first(run) == static_cast<std::size_t>(run);
        same[0] = is_first ? 1 : 0;
    });
    if (comm != nullptr) same[0] = comm->minimum(same[0]);
    has_pattern_of_first_ = same[0] == 1;
}

IndexColumns SparseMatch::indices_of(const std::vector<std::int64_t>* wanted) const {
    IndexColumns result;
    const auto count = wanted != nullptr ? wanted->size() : static_cast<std::size_t>(runs_.count());
    for (std::size_t m = 0; m < nonzeros_.modes(); ++m) {
        auto& to = result.emplace_back(large_vector<std::int64_t>(count));
#pragma omp parallel for schedule(static)
        for (std::size_t k = 0; k < count; ++k)
            to[k] =
                nonzeros_.index(m, static_cast<std::int64_t>(runs_.first(wanted != nullptr ? (*wanted)[k] : static_cast<std::int64_t>(k))));
    }
    return result;
}

const std::byte* SparseMatch::values(std::size_t operand, const std::byte* from, std::int64_t element_bytes,
                                     Buffer<std::byte>& room) const {
    if (moves_[operand].stays()) return from;
    room = moves_[operand].values(from, element_bytes);
    return room.data();
}

std::int64_t SparseMatch::sent_bytes(std::size_t operand, std::int64_t element_bytes) const {
    return moves_[operand].stays() ? 0 : moves_[operand].sent() * element_bytes;
}

std::int64_t SparseMatch::packed() const {
    std::int64_t most = 0;
    for (const auto& move : moves_) most = std::max(most, move.stays() ? 0 : move.packed());
    return most;
}

std::int64_t SparseMatch::list_bytes() const {
    std::int64_t bytes = (runs_.order.size() + runs_.start.size()) * sizeof(std::int64_t);
    for (const auto& move : moves_) bytes += move.list_bytes();
    for (const auto& columns : moved_)
        for (const auto& column : columns) bytes += static_cast<std::int64_t>(column.size() * sizeof(std::int64_t));
    return bytes;
}

}  // namespace arges
