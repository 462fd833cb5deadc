#include "execute/sparse_move.hpp"

#include "base/large_vector.hpp"
#include "redistribute/movement_run.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace arges {

SparseMove::SparseMove(const Communicator* comm, const IndexSpans& columns, std::vector<std::int64_t>* wanted, const SparseLayout& to,
                       const std::vector<std::int64_t>& copies)
    : comm_(comm) {
    const std::size_t ranks = comm == nullptr ? 1 : comm->size();
    const std::size_t me = comm == nullptr ? 0 : comm->rank();
    if (ranks == 1 && wanted == nullptr && copies.size() == 1) {
        count_ = most_ = columns.empty() ? 0 : std::ssize(columns[0]);
        begin_ = {0, count_};
        source_ = {0};
        receives_ = {count_};
        in_order_ = stays_ = true;
        return;
    }
    std::vector<std::int64_t> sends(ranks, 0);
    bool all_here = false;
    agree(comm, [&] {
        const auto all = columns.empty() ? std::size_t{0} : columns[0].size();
        const auto count = wanted != nullptr ? wanted->size() : all;
        std::vector<std::int32_t> rank(count, 0);
        begin_.assign(ranks + 1, 0);
        for (std::size_t i = 0; i < count; ++i) {
            const auto position = wanted != nullptr ? static_cast<std::size_t>((*wanted)[i]) : i;
            rank[i] = to.rank_of([&](int mode) { return columns[mode][position]; });
            ++begin_[rank[i] + 1];
        }
        std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
        in_order_ = wanted == nullptr && std::is_sorted(rank.begin(), rank.end());
        all_here = wanted == nullptr && copies.size() == 1 && begin_[me + 1] - begin_[me] == static_cast<std::int64_t>(all);
        if (!in_order_) {
            order_.resize(count);
            auto next = begin_;
            for (std::size_t i = 0; i < count; ++i)
                order_[next[rank[i]]++] = wanted != nullptr ? (*wanted)[i] : static_cast<std::int64_t>(i);
        }
        source_.assign(ranks, -1);
        for (std::size_t r = 0; r < ranks; ++r)
            if (begin_[r + 1] > begin_[r])
                for (auto offset : copies) source_[r + static_cast<std::size_t>(offset)] = static_cast<std::int64_t>(r);
        for (std::size_t r = 0; r < ranks; ++r)
            if (source_[r] >= 0) {
                const std::size_t from = source_[r];
                sends[r] = begin_[from + 1] - begin_[from];
            }
    });
    receives_ = comm == nullptr ? sends : comm->all_to_all_counts(sends);
    count_ = std::accumulate(receives_.begin(), receives_.end(), std::int64_t{0});
    sent_ = std::accumulate(sends.begin(), sends.end(), std::int64_t{0}) - sends[me];
    std::int64_t minima[] = {all_here ? 1 : 0, -count_};
    if (comm != nullptr) comm->agree([] {}, minima);
    stays_ = minima[0] == 1;
    most_ = -minima[1];
    if (stays_) order_ = {};
}

void SparseMove::move(const std::byte* from, std::byte* to, std::int64_t element_bytes) const {
    const auto ranks = receives_.size(), me = static_cast<std::size_t>(comm_ == nullptr ? 0 : comm_->rank());
    const std::size_t size = element_bytes;
    Buffer<std::byte> packed;
    const std::byte* parts = from;
    agree(comm_, [&] {
        if (in_order_) return;
        packed = Buffer<std::byte>(std::ssize(order_) * element_bytes);
        const auto copy = [&](auto value) {
            using V = decltype(value);
            auto* const out = reinterpret_cast<V*>(packed.data());
            const auto* const in = reinterpret_cast<const V*>(from);
            const auto count = std::ssize(order_);
#pragma omp parallel for schedule(static)
            for (std::int64_t i = 0; i < count; ++i) out[i] = in[order_[i]];
        };
        if (size == sizeof(std::int64_t))
            copy(std::int64_t{});
        else if (size == sizeof(std::int32_t))
            copy(std::int32_t{});
        else
            for (std::size_t i = 0; i < order_.size(); ++i)
                std::memcpy(packed.data() + i * size, from + static_cast<std::size_t>(order_[i]) * size, size);
        parts = packed.data();
    });
    std::vector<Piece> sends, receives;
    std::size_t at = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        const auto bytes = static_cast<std::size_t>(receives_[r]) * size;
        if (r == me && bytes > 0)
            std::memcpy(to + at, parts + static_cast<std::size_t>(begin_[source_[me]]) * size, bytes);
        else if (bytes > 0)
            receives.push_back({static_cast<std::int64_t>(r), to + at, static_cast<std::int64_t>(bytes)});
        at += bytes;
        if (r == me || source_[r] < 0) continue;
        const std::size_t source = source_[r];
        const auto count = begin_[source + 1] - begin_[source];
        if (count > 0)
            sends.push_back({static_cast<std::int64_t>(r), const_cast<std::byte*>(parts) + static_cast<std::size_t>(begin_[source]) * size,
                             count * element_bytes});
    }
    if (comm_ != nullptr) comm_->exchange(sends, receives);
}

IndexColumns SparseMove::indices(const IndexSpans& columns) const {
    IndexColumns result(columns.size());
    agree(comm_, [&] {
        for (auto& column : result) column = large_vector<std::int64_t>(static_cast<std::size_t>(count_));
    });
    for (std::size_t m = 0; m < columns.size(); ++m)
        move(reinterpret_cast<const std::byte*>(columns[m].data()), reinterpret_cast<std::byte*>(result[m].data()), sizeof(std::int64_t));
    return result;
}

Buffer<std::byte> SparseMove::values(const std::byte* from, std::int64_t element_bytes) const {
    Buffer<std::byte> result;
    agree(comm_, [&] { result = Buffer<std::byte>(count_ * element_bytes); });
    move(from, result.data(), element_bytes);
    return result;
}

}  // namespace arges
