#include "execute/sparse_match.hpp"

#include "base/large_vector.hpp"
#include "redistribute/movement_run.hpp"

#include <algorithm>

namespace arges {

SparseMatch::SparseMatch(const Communicator* comm, const std::vector<IndexSpans>& operands, const SparseLayout& to,
                         std::span<const std::int64_t> lengths, const RequireBytes& require)
    : all_(lengths.size()) {
    const auto width = static_cast<std::int64_t>(lengths.size() * sizeof(std::int64_t));
    std::int64_t most = 0;
    for (const auto& columns : operands) {
        moves_.emplace_back(comm, columns, nullptr, to, std::vector<std::int64_t>{0});
        most += moves_.back().most();
    }
    require(most * (2 * width + 48));  // moved, side by side, sorted; and lists of the moves
    std::int64_t here = 0;
    for (const auto& move : moves_) here += move.count();
    agree(comm, [&] {
        for (auto& column : all_) column = large_vector<std::int64_t>(static_cast<std::size_t>(here));
    });
    for (std::size_t o = 0; o < operands.size(); ++o) {
        IndexColumns moved;
        const bool stays = moves_[o].stays();
        if (!stays) {
            moved = moves_[o].indices(operands[o]);
            inspected_bytes_ += moves_[o].sent() * width;
        }
        const auto begin = begin_.back();
        begin_.push_back(begin + moves_[o].count());
        agree(comm, [&] {
            for (std::size_t m = 0; m < all_.size(); ++m) {
                const std::span<const std::int64_t> column = stays ? operands[o][m] : std::span<const std::int64_t>(moved[m]);
                std::copy(column.begin(), column.end(), all_[m].begin() + begin);
            }
        });
    }
    std::int64_t same[] = {1};
    agree(comm, [&] {
        runs_ = sparse::runs_of_equal(count(), {all_.begin(), all_.end()}, lengths);
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
    for (const auto& column : all_) {
        auto& to = result.emplace_back(large_vector<std::int64_t>(count));
#pragma omp parallel for schedule(static)
        for (std::size_t k = 0; k < count; ++k)
            to[k] = column[runs_.first(wanted != nullptr ? (*wanted)[k] : static_cast<std::int64_t>(k))];
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
    auto bytes = static_cast<std::int64_t>((runs_.order.size() + runs_.start.size()) * sizeof(std::int64_t));
    for (const auto& move : moves_) bytes += move.list_bytes();
    for (const auto& column : all_) bytes += static_cast<std::int64_t>(column.size() * sizeof(std::int64_t));
    return bytes;
}

}  // namespace arges
