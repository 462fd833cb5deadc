/// Modelled time and memory of a plan, fast enough for a search over thousands of grids.
#pragma once

#include "plan/movement/moved_words.hpp"
#include "plan/product/product_plan.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace arges {

/// What the busiest rank does for a product, as far as it is known: what its time depends on.
struct RankWork {
    double multiplying = 0;  ///< seconds, see CostModel::multiplying_seconds()
    double sending = 0;      ///< seconds of messages
    double copied = 0;       ///< elements
};

/// A way to run a product, as far as its time and memory depend on it: a value, which the search compares with others.
struct Candidate {
    struct Operand {
        bool in_place = false;             ///< the tensor's own array is used; nothing moves
        bool as_stored = false;            ///< the tensor's own array is mapped as the axes are
        Moved moved{};                     ///< see MovedWords; no words in place
        std::span<const Links::Way> ways;  ///< in which it may move; none where every rank is equally far from every other
    };
    std::vector<double> length;              ///< by axis: indices of the busiest rank
    std::vector<std::int64_t> grid_lengths;  ///< by axis: ranks along it
    std::vector<Operand> operands;
    double out_of_order = 0;  ///< elements of operands in place that products read in another order than they lie
    std::vector<Window> windows;
    bool streams = false;  ///< where there are windows
    bool is_streamed() const { return streams && !windows.empty(); }
};

/// Prices candidates of one product.
class CostModel {
public:
    /// @param unmapped see unmapped_plan(); it and the machine must outlive this
    CostModel(const ProductPlan& unmapped, const MachineModel& machine);

    /// Modelled seconds: what all estimates, bounds and rankings are made of.
    double seconds(const RankWork& work) const { return work.multiplying + work.sending + copying_seconds(work.copied); }
    double seconds(const Candidate& candidate) const {
        const auto own = work(candidate);
        return seconds(own) - hidden_seconds(own, candidate);
    }
    /// A lower bound, whether windows hide a part of it or not.
    double least_seconds(const RankWork& work) const { return seconds(work) - (on_device_ ? most_hidden(work) : 0); }
    /// Bytes of working copies and messages on the busiest rank, also where they are too many for an integer.
    double memory(const Candidate& candidate) const { return memory(candidate, doubles_arrays(candidate) ? 2 : 1); }
    /// With so many rooms for parts of an operand.
    double memory(const Candidate& candidate, int rooms) const;
    /// Both, with what they are made of.
    PlanCost cost(const Candidate& candidate) const;
    /// The same, if pairs are read by rows.
    PlanCost cost_by_rows(const ProductPlan& plan, const Candidate& candidate) const;

    /// Seconds of multiplications that read and write so many elements.
    double multiplying_seconds(double products, double accessed) const;
    /// Seconds in which a rank sends so much, if every rank is equally far from every other.
    double sending_seconds(const Moved& moved) const {
        return moved.words * element_bytes_ / machine_.bytes_per_second +
               std::min(moved.messages, std::ceil(moved.words)) * machine_.message_seconds;
    }
    /// The same in the fastest of some ways.
    double sending_seconds(const Moved& moved, std::span<const Links::Way> ways) const;
    double copying_seconds(double elements) const { return elements * element_bytes_ / machine_.copied_bytes_per_second; }
    /// Multiplications of all local products with so many indices of each axis, in all windows.
    double products(const std::vector<double>& length, const std::vector<Window>& windows = {}) const;

private:
    struct LocalSpace {
        std::vector<int> all, first, second, result;  // axes
        bool has_buffer;
    };
    RankWork work(const Candidate& candidate) const;
    /// Seconds of products during which parts of operands come and go, see ProductPlan::doubles_arrays().
    double most_hidden(const RankWork& work) const { return std::min(work.multiplying, work.sending + copying_seconds(work.copied)); }
    double hidden_seconds(const RankWork& work, const Candidate& candidate) const;
    bool doubles_arrays(const Candidate& candidate) const { return on_device_ && candidate.is_streamed(); }
    double moving_seconds(const Candidate& candidate, std::size_t o, const WindowParts& parts) const;
    WindowParts parts(const Candidate& candidate, std::size_t o) const { return window_parts(candidate.windows, axes_, o); }

    const std::vector<Axis>& axes_;
    const MachineModel& machine_;
    std::vector<LocalSpace> spaces_;
    std::vector<std::vector<int>> operands_;
    std::vector<bool> crosses_;  // by operand: it lies in another memory
    bool on_device_;
    double call_seconds_ = 0;  // of a kernel on the device
    double element_bytes_, flops_per_product_, useful_products_ = 0;
};

/// Elements of a block over some axes.
inline double block_size(const std::vector<int>& axes, const std::vector<double>& length) {
    double product = 1;
    for (int a : axes) product *= length[a];
    return product;
}

/// The stages of the fastest way of a movement between all ranks, if it may be relayed. @param bytes  that a rank receives
std::vector<RelayStage> fastest_stages(const Movement& movement, double bytes, const PlanOptions& options);

/// Seconds in which ranks agree that they do the same, or that none of them has failed.
double agreement_seconds(std::int64_t ranks, const PlanOptions& options);

/// Seconds in which so many elements pass between the memories of host and device, in one copy.
double crossing_seconds(double elements, std::int64_t element_bytes, const MachineModel& machine);

/// Seconds of a movement along lists, of elements that all change ranks.
double estimated_seconds(const Movement& movement, std::int64_t element_bytes, const PlanOptions& options);

/// Seconds that the first run of a movement takes in addition: where groups are packed or unpacked, elements are looked up one by one.
double preparing_seconds(const Movement& movement, const MachineModel& machine);

/// Fewest words that some rank must receive or send for an (m, n, k) product on P ranks when each operand is kept once, from
/// the memory-independent bound for three-index terms (Al Daas et al., arXiv 2205.13407).
double matmul_lower_bound_words(double m, double n, double k, double ranks);

}  // namespace arges
