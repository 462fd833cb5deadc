#include "plan/report/operand_names.hpp"

namespace arges {

const Movement* part_movement(const PlannedStep& step) {
    const auto* const movement = std::get_if<PlannedMovement>(&step.work);
    return movement != nullptr && step.output != output_operand ? &movement->spec : nullptr;
}

bool is_antisymmetric_part(const Movement& part) { return part.terms.back().negative; }

std::map<int, std::string> operand_names(const std::vector<PlannedStep>& steps, const Product& spec) {
    std::map<int, std::string> names{{output_operand, spec.output.name}};
    for (std::size_t f = 0; f < spec.factors.size(); ++f) names[static_cast<int>(f)] = spec.factors[f].name;
    int count = 0;
    for (const auto& step : steps) {
        if (step.output == output_operand) continue;
        if (const auto* const part = part_movement(step))
            names[step.output] = names[step.inputs[0]] + (is_antisymmetric_part(*part) ? "-" : "+");
        else
            names[step.output] = "intermediate " + std::to_string(++count) + " for " + spec.output.name;
    }
    return names;
}

}  // namespace arges
