#include "arges/einsum.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace arges {

namespace {

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

}  // namespace

EinsumText parse_einsum(const std::string& given) {
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

}  // namespace arges
