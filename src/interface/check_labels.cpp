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

/// The first of `all` that is not in `some`; empty: there is none.
std::string first_beside(const std::vector<std::string>& all, const std::vector<std::string>& some) {
    const auto place = std::find_if(all.begin(), all.end(), [&](const auto& name) { return std::find(some.begin(), some.end(), name) == some.end(); });
    return place == all.end() ? std::string() : *place;
}

/// A label in the wrong place leaves two traces: the output is repeated along one label, and another is summed that occurs once.
void check_unusual(const TermRequest& request, const CheckedLabels& labels) {
    if (request.number || request.factors.empty()) return;
    const auto unusual = unusual_labels(request, labels);
    const auto output = request.output.name + "[\"" + Labels(request.output.labels).to_string() + "\"]";
    if (const auto wrong = first_beside(request.repeated, unusual.repeated); !wrong.empty())
        throw InvalidArgument(output + ": broadcast(\"" + wrong + "\"), but that is not a label of the output that no factor of the term has; leave it out");
    if (const auto wrong = first_beside(request.summed, unusual.summed); !wrong.empty())
        throw InvalidArgument(output + ": sum(\"" + wrong + "\"), but that is not a label which occurs once in the term, and not in the output; leave it out");
    const auto repeated = first_beside(unusual.repeated, request.repeated), summed = first_beside(unusual.summed, request.summed);
    if (!repeated.empty() && !summed.empty())
        throw InvalidArgument(output + ": no factor has the label '" + repeated + "' of the output, and label '" + summed +
                              "' occurs only once; correct the one that is mistyped, or write broadcast(\"" + repeated +
                              "\", ...) if the result is to be repeated along '" + repeated + "', or sum(\"" + summed + "\", ...) if '" + summed +
                              "' is to be summed");
}

}  // namespace

UnusualLabels unusual_labels(const TermRequest& request, const CheckedLabels& labels) {
    std::vector<int> in_factors(labels.names.size(), 0), in_output(labels.names.size(), 0);
    for (const auto& factor : labels.factors)
        for (int label : factor) ++in_factors[static_cast<std::size_t>(label)];
    for (int label : labels.output) ++in_output[static_cast<std::size_t>(label)];
    UnusualLabels result;
    for (std::size_t l = 0; l < labels.names.size(); ++l) {
        if (in_factors[l] == 0) result.repeated.push_back(labels.names[l]);
        if (in_factors[l] == 1 && in_output[l] == 0) result.summed.push_back(labels.names[l]);
    }
    return request.number ? UnusualLabels{} : result;
}

CheckedLabels check_labels(const TermRequest& request) {
    LabelChecker checker;
    for (const auto& factor : request.factors) checker.labels.factors.push_back(checker.add(factor));
    checker.labels.output = checker.add(request.output);
    check_unusual(request, checker.labels);
    return std::move(checker.labels);
}

}  // namespace arges
