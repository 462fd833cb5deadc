/// Products for tests of plans, from text.
#pragma once

#include "plan/product/plan_product.hpp"
#include "topology/unfold.hpp"

#include <map>
#include <string>

namespace arges::test {

/// "ijk,ja,ka->ia" with extents by letter, tensors in the layouts that new ones get. `trees` gives
/// symmetry, by the operand's letters.
inline Product product_of(const std::string& text, const std::map<char, std::int64_t>& extents, std::int64_t ranks,
                          const std::map<std::string, std::string>& trees = {}) {
    Product spec;
    std::map<char, int> number;
    for (const auto& [letter, extent] : extents) {
        number[letter] = static_cast<int>(number.size());
        spec.label_extents.push_back(extent);
        spec.label_names.emplace_back(1, letter);
    }
    const auto grid = unfold(Torus({ranks}));
    auto operand = [&](const std::string& letters) {
        Operand result;
        std::vector<std::int64_t> shape;
        for (char l : letters) {
            result.labels.push_back(number.at(l));
            shape.push_back(extents.at(l));
        }
        const auto tree = trees.find(letters);
        result.layout = default_layout(
            grid, shape, tree == trees.end() ? Symmetry::none(static_cast<int>(shape.size())) : Symmetry::parse(letters, tree->second));
        result.name = letters;
        return result;
    };
    const auto arrow = text.find("->");
    for (std::size_t begin = 0; begin < arrow;) {
        const auto end = std::min(text.find(',', begin), arrow);
        spec.factors.push_back(operand(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    spec.output = operand(text.substr(arrow + 2));
    spec.output_is_free = true;
    LabelTerm identity;
    for (std::size_t l = 0; l < extents.size(); ++l) identity.image.push_back(static_cast<int>(l));
    spec.terms = {identity};
    return spec;
}

}  // namespace arges::test
