#include "interface/check_labels.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace arges {

namespace {

class LabelChecker {
public:
    std::vector<int> add(const PlannedOperand& operand) {
        const auto& extents = operand.layout->extents();
        if (operand.labels.size() != extents.size())
            throw InvalidArgument(described(operand) + ": " + std::to_string(operand.labels.size()) + " labels for a tensor of order " +
                                  std::to_string(extents.size()) + "; give one label per dimension");
        std::vector<int> result;
        for (std::size_t d = 0; d < extents.size(); ++d) {
            const auto& label = operand.labels[d];
            const bool valid = !label.empty() && std::all_of(label.begin(), label.end(), [](unsigned char c) {
                return std::isalnum(c) != 0 || c == '_';
            });
            if (!valid)
                throw InvalidArgument(described(operand) + ": \"" + label +
                                      "\" is not a label; use letters, digits and underscores, one character per dimension or a "
                                      "list of names");
            const auto known = std::find(labels.names.begin(), labels.names.end(), label);
            const auto l = static_cast<std::size_t>(known - labels.names.begin());
            if (known == labels.names.end()) {
                labels.names.push_back(label);
                labels.extents.push_back(extents[d]);
                first_.emplace_back(&operand, d);
            }
            if (labels.extents[l] != extents[d])
                throw InvalidArgument("label '" + label + "' has extent " + std::to_string(labels.extents[l]) + " in " +
                                      place(*first_[l].first, first_[l].second) + " but " + std::to_string(extents[d]) + " in " +
                                      place(operand, d) + "; a label needs one extent, so correct the index string or the tensor");
            result.push_back(static_cast<int>(l));
        }
        return result;
    }

    CheckedLabels labels;

private:
    static std::string described(const PlannedOperand& operand) {
        return operand.name + "[\"" + Labels(operand.labels).to_string() + "\"]";
    }
    static std::string place(const PlannedOperand& operand, std::size_t dimension) {
        return "dimension " + std::to_string(dimension) + " of " + described(operand);
    }
    std::vector<std::pair<const PlannedOperand*, std::size_t>> first_;  // where each label is first
};

}  // namespace

CheckedLabels check_labels(const TermRequest& request) {
    LabelChecker checker;
    for (const auto& factor : request.factors) checker.labels.factors.push_back(checker.add(factor));
    checker.labels.output = checker.add(request.output);
    return std::move(checker.labels);
}

}  // namespace arges
