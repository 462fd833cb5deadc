/// What the scaling harness times, and what it finds.
#pragma once

#include <arges/arges.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// Sizes and repetitions.
struct Setting {
    std::int64_t words = std::int64_t{1} << 18;  ///< elements of the largest tensor, for each of the ranks that it is sized for
    std::int64_t sized_for = 1;                  ///< ranks
    bool paper = false;                          ///< products of deinsum-2022 in the sizes of its Table V, whatever `words` says
    int settle = 7;                              ///< runs before those that are timed: plans are for more runs then
    int repetitions = 5;

    double total_words() const { return static_cast<double>(words) * static_cast<double>(sized_for); }
};

/// A case on the ranks of a world. Bytes are those of all ranks together.
struct Outcome {
    static constexpr double unknown = -1;

    std::string size, unit = "flop";
    double work = 0;                        ///< of one run, in this unit
    double first = 0, seconds = 0;          ///< of the first run, and the median of later ones, on the slowest rank
    double predicted = unknown;             ///< seconds
    double sent = 0, planned = unknown;     ///< bytes
    double messages = 0;                    ///< that were sent
    std::int64_t ranks_not_as_planned = 0;  ///< ranks that sent another number of bytes than was planned for them
};

struct ScalingCase {
    std::string name, about;
    std::function<Outcome(const arges::World&, const Setting&)> run;
};

/// Cyclops' model contractions, deinsum's products.
std::vector<ScalingCase> product_cases();
/// Changes of layout, and key-value pairs.
std::vector<ScalingCase> exchange_cases();
/// Coupled cluster and CP.
std::vector<ScalingCase> method_cases();

/// The largest number of any rank. Collective.
double largest(const arges::World& world, double value);
/// Of all ranks. Collective.
double sum(const arges::World& world, double value);

/// Runs `work` once, then Setting::settle times, then Setting::repetitions times, each after a barrier; the bytes are those of the last
/// run. What statements plan is noted; size and work are left to the caller. Collective.
Outcome timed(const arges::World& world, const Setting& setting, const std::function<void()>& work);

/// Says what this rank was to send in the last run, where no statement did. Collective.
void compare_with_plan(const arges::World& world, double planned, double sent, Outcome& outcome);

/// The smallest number from `from` on for which `size` gives as many elements as the setting wants.
std::int64_t extent_for(const Setting& setting, std::int64_t from, const std::function<double(std::int64_t)>& size);

}  // namespace bench
