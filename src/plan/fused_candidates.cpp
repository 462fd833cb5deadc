#include "plan/fused_candidates.hpp"

#include "plan/fused_cost.hpp"

#include <algorithm>

namespace arges {

FusedCandidates::FusedCandidates(const Product& spec, const PairOrder& order, const RankGrid& grid, std::vector<SlotMapping> mapping,
                                 const PlanOptions& options)
    : spec_(spec), options_(options), plan_(fused_with_mapping(spec, order, grid, std::move(mapping), options)), result_(raw_result(spec)), ranks_(grid) {
    for (std::size_t i = 0; i <= outputs_place(); ++i) moved_.emplace_back(i < outputs_place() ? spec.factors[i] : spec.output, grid, ranks_);
    known_.resize(spec.label_extents.size());
    words_.resize(spec.factors.size() + 1);
}

const FusedCandidates::MappedLabel& FusedCandidates::mapped(int label, const SlotMapping& mapping) {
    auto& known = known_[static_cast<std::size_t>(label)];
    for (const auto& one : known)
        if (one.mapping == mapping) return one;
    auto& result = known.emplace_back();
    result.mapping = mapping;
    result.places = ranks_.places(mapping.torus);
    for (const auto& moved : moved_)
        result.share.push_back(moved.share(moved.match({label}, NodeKind::leaf), {result.mapping, spec_.label_extents[static_cast<std::size_t>(label)]}));
    return result;
}

/// What an operand lacks of its block where it is.
double FusedCandidates::words(std::size_t i) {
    std::vector<const SlotShare*> shares;
    for (int l : working(i).labels) shares.push_back(&mapped(l, plan_.label_mapping[static_cast<std::size_t>(l)]).share[i]);
    return moved_[i].count(shares);
}

/// What a tensor that is dealt out as scattered_mapping() says lacks of its block: all but its own part.
double FusedCandidates::words_from(std::size_t i, const OperandSpec& tensor, const std::vector<SlotMapping>& scattered) {
    if (plan_.grid.ranks() == 1) return 0;
    const auto& labels = working(i).labels;
    double cut = 1;  // places along labels that are broadcast
    std::vector<const SlotShare*> wanted, owned;
    for (int s = 0; s < tensor.layout.slots(); ++s) {
        const int label = tensor.labels[static_cast<std::size_t>(tensor.layout.slot_dimensions(s)[0])];
        const auto& part = mapped(label, scattered[static_cast<std::size_t>(s)]);
        if (std::find(labels.begin(), labels.end(), label) == labels.end()) {
            cut *= static_cast<double>(part.places);
            continue;
        }
        owned.push_back(&part.share[i]);
        wanted.push_back(&mapped(label, plan_.label_mapping[static_cast<std::size_t>(label)]).share[i]);
    }
    return moved_[i].count_lacking(wanted, owned, cut);
}

/// True if the slots of a tensor with these mappings are the blocks that the plan wants.
bool FusedCandidates::is_as_wanted(const OperandSpec& tensor, const std::vector<SlotMapping>& mapping) const {
    for (int s = 0; s < tensor.layout.slots(); ++s)
        if (const int label = tensor.labels[static_cast<std::size_t>(tensor.layout.slot_dimensions(s)[0])];
            !(mapping[static_cast<std::size_t>(s)] == plan_.label_mapping[static_cast<std::size_t>(label)]))
            return false;
    return true;
}

const PlanCost& FusedCandidates::look_at(std::vector<SlotMapping> mapping) {
    plan_.label_mapping = std::move(mapping);
    for (std::size_t i = 0; i <= outputs_place(); ++i) {
        auto& in_place = working(i).in_place;
        words_[i] = 0;
        if (i == outputs_place() && spec_.output_is_free) {
            const auto scattered = *scattered_mapping(plan_, spec_.output);
            in_place = may_form_in_place(plan_) && !spec_.output.conjugated && is_as_wanted(spec_.output, scattered);
            if (!in_place) words_[i] = words_from(i, spec_.output, scattered);
            continue;
        }
        in_place = (i < outputs_place() || may_form_in_place(plan_)) && lies_right(plan_, tensor(i));
        if (!in_place) words_[i] = words(i);
    }
    estimate_cost(plan_, options_, words_);
    return plan_.cost;
}

double FusedCandidates::average_seconds() {
    const double first = plan_.cost.seconds;
    if (options_.expected_runs == 1) return first;
    const auto words = words_;
    std::vector<bool> were_in_place;
    for (std::size_t i = 0; i < spec_.factors.size(); ++i) {
        const auto& input = spec_.factors[i];
        auto& in_place = plan_.inputs[i].in_place;
        were_in_place.push_back(in_place);
        if (in_place || input.conjugated || !input.is_lasting) continue;
        const auto scattered = scattered_mapping(plan_, input);
        if (!scattered) continue;
        const double later = words_from(i, input, *scattered);
        if (static_cast<std::int64_t>(later) >= static_cast<std::int64_t>(words[i])) continue;
        in_place = is_as_wanted(input, *scattered);
        words_[i] = in_place ? 0 : later;
    }
    estimate_cost(plan_, options_, words_);
    const double later = plan_.cost.seconds;
    words_ = words;
    for (std::size_t i = 0; i < spec_.factors.size(); ++i) plan_.inputs[i].in_place = were_in_place[i];
    const auto runs = static_cast<double>(options_.expected_runs);
    return (first + (runs - 1) * later) / runs;
}

}  // namespace arges
