/// Modelled time and memory of a plan, fast enough for a search over thousands of grids.
#pragma once

#include "plan/product/product_plan.hpp"

#include <span>
#include <vector>

namespace arges {

/// What the cost of a plan depends on beside its description.
struct WorkingSizes {
    std::vector<double> length;  ///< by axis: indices of the busiest rank
    std::vector<double> words;   ///< by operand, see MovedWords; none in place
    /// By operand: in which ways it may move; none where every rank is equally far from every other.
    std::vector<std::span<const Links::Way>> ways;
    double out_of_order = 0;  ///< elements of operands in place that products read in another order than they lie
};

/// Estimates plans of one product.
class CostModel {
public:
    /// @param unmapped see unmapped_plan()
    explicit CostModel(const ProductPlan& unmapped);
    /// Fills plan.cost; needs no working layouts unless pairs are read by rows. @return the working bytes, also where they are too many for
    /// an integer
    double estimate(ProductPlan& plan, const PlanOptions& options, const WorkingSizes& sizes) const;

private:
    struct LocalSpace {
        std::vector<int> all, first, second, result;  // axes
        bool has_buffer;
    };
    std::vector<LocalSpace> spaces_;
    std::vector<std::vector<int>> operands_;
    double useful_products_ = 0;
};

/// The fastest of some ways to move so many bytes. @param ways  at least one
const Links::Way& fastest_way(std::span<const Links::Way> ways, double bytes, const MachineModel& machine);

/// The stages of the fastest way of a movement between all ranks, if it may be relayed. @param bytes  that a rank receives
std::vector<RelayStage> fastest_stages(const Movement& movement, double bytes, const PlanOptions& options);

/// Seconds in which ranks agree that they do the same, or that none of them has failed.
double agreement_seconds(std::int64_t ranks, const PlanOptions& options);

/// Seconds of a movement along lists, of elements that all change ranks.
double estimated_seconds(const Movement& movement, std::int64_t element_bytes, const PlanOptions& options);

/// Seconds that the first run of a movement takes in addition: where groups are packed or unpacked, elements are looked up one by one.
double preparing_seconds(const Movement& movement, const MachineModel& machine);

/// Fewest words that some rank must receive or send for an (m, n, k) product on P ranks when each operand is kept once, from
/// the memory-independent bound for three-index terms (Al Daas et al., arXiv 2205.13407).
double matmul_lower_bound_words(double m, double n, double k, double ranks);

}  // namespace arges
