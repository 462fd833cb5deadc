#include "interface/check_labels.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace arges {

namespace {

class LabelChecker {
public:
    std::vector<int> add(const PlannedOperand& operand) {
        const auto& extents = operand.layout->extents();
        const auto text = described(operand);
        if (operand.labels.size() != extents.size())
            throw InvalidArgument(text + ": " + std::to_string(operand.labels.size()) + " labels for a tensor of order " +
                                  std::to_string(extents.size()) + "; give one label per dimension");
        std::vector<int> result;
        for (std::size_t d = 0; d < extents.size(); ++d) {
            const auto& label = operand.labels[d];
            const bool valid = !label.empty() && std::all_of(label.begin(), label.end(), [](unsigned char c) {
                return std::isalnum(c) != 0 || c == '_';
            });
            if (!valid)
                throw InvalidArgument(text + ": \"" + label +
                                      "\" is not a label; use letters, digits and underscores, one character per dimension or a "
                                      "list of names");
            auto [it, is_new] = number_.try_emplace(label, static_cast<int>(labels.names.size()));
            if (is_new) {
                labels.names.push_back(label);
                labels.extents.push_back(extents[d]);
                first_.push_back("dimension " + std::to_string(d) + " of " + text);
            }
            const auto l = static_cast<std::size_t>(it->second);
            if (labels.extents[l] != extents[d])
                throw InvalidArgument("label '" + label + "' has extent " + std::to_string(labels.extents[l]) + " in " + first_[l] +
                                      " but " + std::to_string(extents[d]) + " in dimension " + std::to_string(d) + " of " + text +
                                      "; a label needs one extent, so correct the index string or the tensor");
            result.push_back(it->second);
        }
        return result;
    }

    CheckedLabels labels;

private:
    static std::string described(const PlannedOperand& operand) {
        return operand.name + "[\"" + Labels(operand.labels).to_string() + "\"]";
    }
    std::map<std::string, int> number_;
    std::vector<std::string> first_;
};

}  // namespace

CheckedLabels check_labels(const TermRequest& request) {
    LabelChecker checker;
    for (const auto& factor : request.factors) checker.labels.factors.push_back(checker.add(factor));
    checker.labels.output = checker.add(request.output);
    return std::move(checker.labels);
}

}  // namespace arges
