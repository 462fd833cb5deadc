// Bytes of movements rank by rank, over a sample of the ranks where there are many.
#include "plan/product/count_bytes.hpp"

#include "base/math.hpp"
#include "plan/movement/movement.hpp"

#include <algorithm>
#include <cmath>

namespace arges {

namespace {

constexpr std::int64_t max_counted_ranks = 64;

void add_to(Volume& sum, const Volume& more) {
    sum.sent = saturated_sum(sum.sent, more.sent);
    sum.received = saturated_sum(sum.received, more.received);
}

}  // namespace

ByteCount::ByteCount(std::int64_t ranks, std::int64_t element_bytes) : all_ranks_(ranks), element_bytes_(element_bytes) {
    const auto counted = std::min(ranks, max_counted_ranks);
    for (std::int64_t i = 0; i < counted; ++i) ranks_.push_back(counted == ranks ? i : i * (ranks - 1) / (counted - 1));
    needed_.resize(ranks_.size());
    moved_.resize(ranks_.size());
}

std::vector<Volume> ByteCount::add(const Movement& movement, bool of_result, std::int64_t times) {
    const auto bytes = movement.message_bytes(element_bytes_);
    std::vector<Volume> result;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        auto volume = movement_volume(movement, ranks_[i]);
        volume.sent = saturated_product(volume.sent, bytes * times);
        volume.received = saturated_product(volume.received, bytes * times);
        needed_[i] = saturated_sum(needed_[i], of_result ? volume.sent : volume.received);
        add_to(moved_[i], volume);
        result.push_back(volume);
    }
    return result;
}

void ByteCount::add(const ByteCount& other) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        needed_[i] = saturated_sum(needed_[i], other.needed_[i]);
        add_to(moved_[i], other.moved_[i]);
    }
}

std::int64_t ByteCount::most_needed() const { return *std::max_element(needed_.begin(), needed_.end()); }

std::int64_t ByteCount::most_sent() const {
    return std::max_element(moved_.begin(), moved_.end(), [](const auto& a, const auto& b) { return a.sent < b.sent; })->sent;
}

std::int64_t ByteCount::total() const { return total(moved_); }

std::int64_t ByteCount::total(const std::vector<Volume>& volumes) const {
    std::int64_t sum = 0;
    for (const auto& v : volumes) sum = saturated_sum(sum, v.sent);
    if (counted_ranks() == all_ranks_) return sum;
    const auto mean = static_cast<double>(sum) / counted_ranks();
    return saturated(std::round(mean * static_cast<double>(all_ranks_)));
}

}  // namespace arges
