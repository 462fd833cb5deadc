/// Bytes that the movements of a step send and receive, rank by rank.
#pragma once

#include "plan/movement/movement.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// Counts over all ranks, or over a sample of them where there are many.
class ByteCount {
public:
    ByteCount(std::int64_t ranks, std::int64_t element_bytes);

    /// Counts a movement that is made so many times. @return what each counted rank sends and receives, in bytes
    std::vector<Volume> add(const Movement& movement, bool of_result, std::int64_t times = 1);
    /// Adds the counts of another step on the same ranks.
    void add(const ByteCount& other);

    std::int64_t counted_ranks() const { return std::ssize(ranks_); }
    /// Inputs received and results sent by the busiest rank.
    std::int64_t most_needed() const;
    /// Everything sent by the busiest rank.
    std::int64_t most_sent() const;
    /// Everything sent by all ranks; from the mean of a sample where not all are counted.
    std::int64_t total() const;
    /// The same of one movement.
    std::int64_t total(const std::vector<Volume>& volumes) const;

private:
    std::int64_t all_ranks_, element_bytes_;
    std::vector<std::int64_t> ranks_;   // that are counted
    std::vector<std::int64_t> needed_;  // by counted rank
    std::vector<Volume> moved_;         // by counted rank
};

}  // namespace arges
