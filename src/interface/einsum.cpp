#include "arges/einsum.hpp"

#include "arges/error.hpp"
#include "base/instantiate.hpp"

#include <algorithm>
#include <map>

namespace arges {

namespace {

/// The letters of an einsum text.
struct EinsumText {
    std::vector<std::string> operands;
    std::string output;
};

std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts(1);
    for (char c : text) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

void check_letters(const std::string& text, const std::string& letters) {
    for (char c : letters)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
            throw InvalidArgument("einsum \"" + text + "\": '" + std::string(1, c) +
                                  "' is not a letter; labels are letters, operands are separated by commas, the output follows \"->\"");
}

/// The letters that occur once, sorted.
std::string implicit_output(const std::vector<std::string>& operands) {
    std::map<char, int> count;
    for (const auto& operand : operands)
        for (char c : operand) ++count[c];
    std::string result;
    for (const auto& [letter, times] : count)
        if (times == 1) result += letter;
    return result;
}

EinsumText parse(const std::string& given) {
    std::string text;
    std::copy_if(given.begin(), given.end(), std::back_inserter(text), [](char c) { return c != ' '; });
    EinsumText result;
    const auto arrow = text.find("->");
    result.operands = split_at_commas(text.substr(0, arrow));
    for (const auto& letters : result.operands) check_letters(given, letters);
    result.output = arrow == std::string::npos ? implicit_output(result.operands) : text.substr(arrow + 2);
    check_letters(given, result.output);
    for (char c : result.output) {
        if (std::count(result.output.begin(), result.output.end(), c) > 1)
            throw InvalidArgument("einsum \"" + given + "\": the output has the label '" + std::string(1, c) + "' twice");
        if (std::none_of(result.operands.begin(), result.operands.end(),
                         [&](const auto& letters) { return letters.find(c) != std::string::npos; }))
            throw InvalidArgument("einsum \"" + given + "\": no operand has the output's label '" + std::string(1, c) + "'");
    }
    return result;
}

}  // namespace

template <class T>
Tensor<T> einsum(const std::string& text, const std::vector<const Tensor<T>*>& operands) {
    const auto parsed = parse(text);
    if (operands.empty() || parsed.operands.size() != operands.size())
        throw InvalidArgument("einsum \"" + text + "\" names " + std::to_string(parsed.operands.size()) + " operands, but " +
                              std::to_string(operands.size()) + " are given");
    std::map<char, std::int64_t> extent;
    Expression<T> product(T(1));
    for (std::size_t o = 0; o < operands.size(); ++o) {
        const auto& letters = parsed.operands[o];
        const auto& extents = operands[o]->extents();
        if (letters.size() != extents.size())
            throw InvalidArgument("einsum \"" + text + "\": operand " + std::to_string(o + 1) + " has " +
                                  std::to_string(extents.size()) + " dimensions, but " + std::to_string(letters.size()) + " labels");
        for (std::size_t d = 0; d < letters.size(); ++d) extent.emplace(letters[d], extents[d]);
        product = product * (*operands[o])[letters];
    }
    std::vector<std::int64_t> extents;
    for (char c : parsed.output) extents.push_back(extent.at(c));
    Tensor<T> result(operands[0]->world(), extents, "einsum " + text);
    result[parsed.output] = product;
    return result;
}

#define ARGES_INSTANTIATE(T) template Tensor<T> einsum(const std::string&, const std::vector<const Tensor<T>*>&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges
