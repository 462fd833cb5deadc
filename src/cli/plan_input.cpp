#include "cli/plan_input.hpp"

#include "arges/einsum.hpp"
#include "arges/error.hpp"
#include "topology/unfold.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

namespace arges::cli {

namespace {

std::string operand_name(std::size_t number) {
    constexpr std::size_t letters = 17;  // A to Q; R is the result
    return number < letters ? std::string(1, static_cast<char>('A' + number)) : "A" + std::to_string(number + 1);
}

/// The trees of "B: antisym(i,j)", by operand.
std::map<std::string, std::string> parse_symmetries(const std::vector<std::string>& texts, std::size_t operands) {
    std::map<std::string, std::string> result;
    for (const auto& text : texts) {
        const auto colon = text.find(':');
        if (colon == std::string::npos) throw InvalidArgument("--symmetry: '" + text + "' must be like \"A: sym(i,j)\"");
        const auto name = text.substr(0, colon);
        bool known = false;
        for (std::size_t o = 0; o < operands; ++o) known = known || name == operand_name(o);
        if (!known)
            throw InvalidArgument("--symmetry: there is no operand '" + name + "'; the operands are called A, B, ... in their order");
        if (!result.emplace(name, text.substr(colon + 1)).second) throw InvalidArgument("--symmetry: operand " + name + " is given twice");
    }
    return result;
}

/// Label names and extents of a product, by first appearance.
class LabelNumbers {
public:
    LabelNumbers(Product& spec, const PlanInput& input) : spec_(spec), input_(input) {}

    std::vector<int> numbers(const std::string& letters) {
        std::vector<int> result;
        for (char letter : letters) {
            const auto size = input_.sizes.find(letter);
            if (size == input_.sizes.end())
                throw InvalidArgument(std::string("label '") + letter + "' has no size; add " + letter + "=N to --sizes");
            const auto [it, is_new] = number_.emplace(letter, static_cast<int>(spec_.label_names.size()));
            if (is_new) {
                spec_.label_names.emplace_back(1, letter);
                spec_.label_extents.push_back(size->second);
            }
            result.push_back(it->second);
        }
        return result;
    }

    /// @throws InvalidArgument if a size is of no use
    void check_all_used() const {
        for (const auto& [letter, size] : input_.sizes)
            if (!number_.contains(letter)) throw InvalidArgument(std::string("--sizes: the einsum has no label '") + letter + "'");
    }

private:
    Product& spec_;
    const PlanInput& input_;
    std::map<char, int> number_;
};

std::vector<std::int64_t> extents_of(const Product& spec, const Operand& operand) {
    std::vector<std::int64_t> result;
    double elements = 1;
    for (int label : operand.labels) {
        result.push_back(spec.label_extents[label]);
        elements *= result.back();
    }
    if (elements > 1e18) throw InvalidArgument("operand " + operand.name + " has more than 10^18 elements");
    return result;
}

void set_type(Product& spec, const std::string& type) {
    spec.complex = type == "complex";
    spec.element_bytes = type == "float" ? 4 : spec.complex ? 16 : 8;
}

}  // namespace

std::map<char, std::int64_t> parse_sizes(const std::string& text) {
    std::map<char, std::int64_t> result;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        std::int64_t size = 0;
        const char* const end = part.data() + part.size();
        const bool form = part.size() > 2 && part[1] == '=' && std::isalpha(static_cast<unsigned char>(part[0])) != 0;
        const auto read = form ? std::from_chars(part.data() + 2, end, size) : std::from_chars_result{};
        if (!form || read.ec != std::errc() || read.ptr != end || size < 1)
            throw InvalidArgument("'" + part + "' must be a label and its size, as in i=100");
        if (!result.emplace(part[0], size).second) throw InvalidArgument(std::string("label '") + part[0] + "' has two sizes");
    }
    return result;
}

Product product_of(const PlanInput& input) {
    const auto text = parse_einsum(input.einsum);
    const auto grids = grids_for_products(input.topology.torus);
    const auto symmetries = parse_symmetries(input.symmetries, text.operands.size());
    Product spec;
    set_type(spec, input.type);
    LabelNumbers labels(spec, input);
    for (std::size_t o = 0; o < text.operands.size(); ++o) {
        Operand operand;
        operand.name = operand_name(o);
        operand.labels = labels.numbers(text.operands[o]);
        const auto tree = symmetries.find(operand.name);
        const auto symmetry =
            tree == symmetries.end() ? Symmetry::none(operand.labels.size()) : Symmetry::parse(text.operands[o], tree->second);
        operand.layout = input.group_mapping == GroupMapping::blocks ? block_layout(grids.front(), extents_of(spec, operand), symmetry)
                                                                     : spread_layout(grids, extents_of(spec, operand), symmetry);
        spec.factors.push_back(operand);
    }
    spec.output.name = "R";
    spec.output.labels = labels.numbers(text.output);
    labels.check_all_used();
    spec.output.layout = spread_layout(grids, extents_of(spec, spec.output), Symmetry::none(text.output.size()));
    spec.output_is_free = true;
    LabelTerm identity;
    for (std::size_t l = 0; l < spec.label_names.size(); ++l) identity.image.push_back(l);
    spec.terms = {identity};
    return spec;
}

}  // namespace arges::cli
