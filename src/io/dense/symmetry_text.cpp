#include "io/dense/tensor_files.hpp"

#include "arges/error.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace arges::io {

namespace {

constexpr std::array<std::pair<NodeKind, std::string_view>, 5> names{{{NodeKind::product, "product"},
                                                                      {NodeKind::symmetric, "sym"},
                                                                      {NodeKind::antisymmetric, "antisym"},
                                                                      {NodeKind::hollow, "hollow"},
                                                                      {NodeKind::hermitian, "hermitian"}}};
constexpr int deepest = 100;

std::string node_text(const SymmetryNode& node) {
    if (node.kind == NodeKind::leaf) return std::to_string(node.dimension);
    std::string text;
    for (const auto& [kind, name] : names)
        if (kind == node.kind) text = std::string(name) + "(";
    for (std::size_t i = 0; i < node.children.size(); ++i) text += (i > 0 ? "," : "") + node_text(node.children[i]);
    return text + ")";
}

class Parser {
public:
    explicit Parser(std::string_view text) : whole_(text), rest_(text) {}

    SymmetryNode parse() {
        auto root = node(0);
        if (!rest_.empty() || root.kind != NodeKind::product) fail();
        return root;
    }

private:
    [[noreturn]] void fail() const {
        throw InvalidArgument("the symmetry \"" + std::string(whole_) + "\" is not written like product(antisym(0,1),2)");
    }
    bool takes(std::string_view word) {
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }
    SymmetryNode node(int depth) {
        int dimension = -1;
        const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dimension);
        if (code == std::errc()) {
            rest_.remove_prefix(end - rest_.data());
            return leaf(dimension);
        }
        SymmetryNode result{NodeKind::leaf, -1, {}};
        for (const auto& [kind, name] : names)
            if (result.kind == NodeKind::leaf && takes(name)) result.kind = kind;
        if (result.kind == NodeKind::leaf || !takes("(") || depth == deepest) fail();
        if (takes(")")) return result;
        do result.children.push_back(node(depth + 1));
        while (takes(","));
        if (!takes(")")) fail();
        return result;
    }

    std::string_view whole_, rest_;
};

}  // namespace

std::string symmetry_text(const Symmetry& symmetry) { return node_text(SymmetryNode{NodeKind::product, -1, symmetry.slots()}); }

Symmetry symmetry_of_text(std::string_view text, int order) { return {order, Parser(text).parse()}; }

}  // namespace arges::io
