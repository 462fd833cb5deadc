#include "plan/count_bytes.hpp"

#include "plan/exchange_volume.hpp"

#include <algorithm>
#include <cmath>

namespace arges {

namespace {

constexpr std::int64_t max_counted_ranks = 64;

}  // namespace

ByteCount::ByteCount(std::int64_t ranks, std::int64_t element_bytes) : all_ranks_(ranks), element_bytes_(element_bytes) {
    const auto counted = std::min(ranks, max_counted_ranks);
    for (std::int64_t i = 0; i < counted; ++i) ranks_.push_back(counted == ranks ? i : i * (ranks - 1) / (counted - 1));
    needed_.resize(ranks_.size());
    moved_.resize(ranks_.size());
}

std::vector<Volume> ByteCount::add(const ExchangeSpec& movement, bool of_result) {
    std::vector<Volume> result;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        auto volume = exchange_volume(movement, ranks_[i]);
        volume.sent *= element_bytes_;
        volume.received *= element_bytes_;
        needed_[i] += of_result ? volume.sent : volume.received;
        moved_[i].sent += volume.sent;
        moved_[i].received += volume.received;
        result.push_back(volume);
    }
    return result;
}

void ByteCount::add(const ByteCount& other) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        needed_[i] += other.needed_[i];
        moved_[i].sent += other.moved_[i].sent;
        moved_[i].received += other.moved_[i].received;
    }
}

std::int64_t ByteCount::most_needed() const {
    return *std::max_element(needed_.begin(), needed_.end());
}

std::int64_t ByteCount::most_sent() const {
    return std::max_element(moved_.begin(), moved_.end(), [](const auto& a, const auto& b) { return a.sent < b.sent; })->sent;
}

std::int64_t ByteCount::total() const {
    return total(moved_);
}

std::int64_t ByteCount::total(const std::vector<Volume>& volumes) const {
    std::int64_t sum = 0;
    for (const auto& v : volumes) sum += v.sent;
    if (counted_ranks() == all_ranks_) return sum;
    return std::llround(static_cast<double>(sum) / static_cast<double>(counted_ranks()) * static_cast<double>(all_ranks_));
}

}  // namespace arges
