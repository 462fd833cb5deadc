#include "plan/operand_names.hpp"

namespace arges {

bool makes_part(const PlannedStep& step) { return step.movement && step.output != output_operand; }

std::map<int, std::string> operand_names(const std::vector<PlannedStep>& steps, const ProductSpec& spec) {
    std::map<int, std::string> names{{output_operand, spec.output.name}};
    for (std::size_t f = 0; f < spec.factors.size(); ++f) names[static_cast<int>(f)] = spec.factors[f].name;
    int count = 0;
    for (const auto& step : steps) {
        if (step.output == output_operand) continue;
        if (makes_part(step))
            names[step.output] = names[step.inputs[0]] + (step.movement->terms.back().negative ? "-" : "+");
        else
            names[step.output] = "intermediate " + std::to_string(++count) + " for " + spec.output.name;
    }
    return names;
}

}  // namespace arges
