/// Estimates of many fused plans of one product on one grid, without their layouts. Pure.
#pragma once

#include "plan/fused_plan.hpp"
#include "plan/moved_words.hpp"

#include <deque>
#include <vector>

namespace arges {

/// Estimates as fused_with_mapping() does, for one mapping of the labels after the other. What is known of labels that are mapped alike is kept.
class FusedCandidates {
public:
    /// @param mapping any one
    FusedCandidates(const Product& spec, const PairOrder& order, const RankGrid& grid, std::vector<SlotMapping> mapping, const PlanOptions& options);
    FusedCandidates(const FusedCandidates&) = delete;
    FusedCandidates& operator=(const FusedCandidates&) = delete;

    /// The cost of the plan with a mapping.
    const PlanCost& look_at(std::vector<SlotMapping> mapping);
    /// Of the plan that was looked at last, seconds of one of the expected runs on average: for later ones, lasting inputs stay where the first
    /// leaves them.
    double average_seconds();

private:
    /// A label that is mapped in one way.
    struct MappedLabel {
        SlotMapping mapping;
        std::int64_t places = 1;
        std::vector<SlotShare> share;  // by operand
    };

    std::size_t outputs_place() const { return spec_.factors.size(); }
    const OperandSpec& tensor(std::size_t i) const { return i < spec_.factors.size() ? spec_.factors[i] : result_; }
    WorkingOperand& working(std::size_t i) { return i < spec_.factors.size() ? plan_.inputs[i] : plan_.result; }
    const MappedLabel& mapped(int label, const SlotMapping& mapping);
    double words(std::size_t i);
    double words_from(std::size_t i, const OperandSpec& tensor, const std::vector<SlotMapping>& scattered);
    bool is_as_wanted(const OperandSpec& tensor, const std::vector<SlotMapping>& mapping) const;

    const Product& spec_;
    const PlanOptions& options_;
    FusedPlan plan_;             // without layouts
    OperandSpec result_;         // see raw_result()
    CountedRanks ranks_;
    std::vector<MovedWords> moved_;                  // by operand
    std::vector<std::deque<MappedLabel>> known_;     // by label
    std::vector<double> words_;                      // of the plan that was looked at last
};

}  // namespace arges
