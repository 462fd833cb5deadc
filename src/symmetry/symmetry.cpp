#include "arges/symmetry.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>

namespace arges {

namespace {

/// Levels of a tree and dimensions of a tensor: far more than make sense, and few enough for functions that call themselves.
constexpr int max_levels = 64, max_order = 1024;

/// Throws if a tree has more levels than `left`.
void check_levels(const SymmetryNode& node, int left = max_levels) {
    if (left == 0)
        throw InvalidArgument("symmetry: the tree has more than " + std::to_string(max_levels) +
                              " levels; leave out products within products, and nodes with a single child");
    for (const auto& child : node.children) check_levels(child, left - 1);
}

void check_order(std::int64_t order) {
    if (order < 0 || order > max_order)
        throw InvalidArgument("symmetry: order " + std::to_string(order) + "; a tensor has from 0 to " + std::to_string(max_order) +
                              " dimensions");
}

const std::map<NodeKind, std::string>& kind_names() {
    static const std::map<NodeKind, std::string> names{{NodeKind::product, "product"},
                                                       {NodeKind::symmetric, "sym"},
                                                       {NodeKind::antisymmetric, "antisym"},
                                                       {NodeKind::hollow, "hollow"},
                                                       {NodeKind::hermitian, "hermitian"}};
    return names;
}

bool same_shape(const SymmetryNode& a, const SymmetryNode& b) {
    if (a.kind != b.kind || a.children.size() != b.children.size()) return false;
    for (std::size_t i = 0; i < a.children.size(); ++i)
        if (!same_shape(a.children[i], b.children[i])) return false;
    return true;
}

/// Removes products within products and nodes with a single child.
SymmetryNode simplified(const SymmetryNode& node) {
    if (node.kind == NodeKind::leaf) return node;
    SymmetryNode result{node.kind, -1, {}};
    for (const auto& child : node.children) {
        auto simple = simplified(child);
        if (node.kind == NodeKind::product && simple.kind == NodeKind::product)
            result.children.insert(result.children.end(), simple.children.begin(), simple.children.end());
        else
            result.children.push_back(std::move(simple));
    }
    if (result.children.size() == 1 && node.kind != NodeKind::hermitian) return result.children[0];
    return result;
}

void check_node(const SymmetryNode& node) {
    if (node.kind == NodeKind::leaf) return;
    for (const auto& child : node.children) check_node(child);
    if (node.kind == NodeKind::product) return;
    const auto known = kind_names().find(node.kind);
    if (known == kind_names().end())
        throw InvalidArgument("symmetry: " + std::to_string(static_cast<int>(node.kind)) +
                              " is no kind of node; use leaf(), product(), symmetric(), antisymmetric(), hollow(), hermitian()");
    const auto& name = known->second;
    if (node.kind == NodeKind::hermitian && node.children.size() != 2)
        throw InvalidArgument("symmetry: hermitian needs exactly two children, got " + std::to_string(node.children.size()));
    if (node.children.size() < 2)
        throw InvalidArgument("symmetry: " + name + " needs at least two children, got " + std::to_string(node.children.size()));
    if (node.dimensions().empty()) throw InvalidArgument("symmetry: " + name + " over no dimensions; give it leaves");
    for (const auto& child : node.children)
        if (!same_shape(child, node.children[0]))
            throw InvalidArgument("symmetry: the children of " + name + " must have the same shape, e.g. sym(product(a,i),product(b,j))");
}

SymmetryNode make(NodeKind kind, std::vector<SymmetryNode> children) {
    for (const auto& child : children) check_levels(child, max_levels - 1);
    return SymmetryNode{kind, -1, std::move(children)};
}

std::string node_text(const SymmetryNode& node, std::string_view names) {
    if (node.kind == NodeKind::leaf) {
        const std::size_t d = node.dimension;
        if (!names.empty() && d < names.size()) return std::string(1, names[d]);
        return d < 26 ? std::string(1, static_cast<char>('a' + d)) : std::to_string(d);
    }
    std::string text = kind_names().at(node.kind) + "(";
    for (std::size_t i = 0; i < node.children.size(); ++i) text += (i ? "," : "") + node_text(node.children[i], names);
    return text + ")";
}

/// Recursive-descent reader of "antisym(a,b) sym(product(c,d),product(e,f))".
class Parser {
public:
    Parser(std::string_view names, std::string_view text) : names_(names), text_(text) {}

    SymmetryNode parse_all() {
        SymmetryNode root = make(NodeKind::product, {});
        for (skip(); position_ < text_.size(); skip()) root.children.push_back(parse_node());
        return root;
    }

private:
    [[noreturn]] void fail(const std::string& what) const { fail(what, position_); }
    [[noreturn]] void fail(const std::string& what, std::size_t position) const {
        constexpr std::size_t most = 200;  // characters shown
        const auto shown = text_.size() > most ? std::string(text_.substr(0, most)) + "..." : std::string(text_);
        throw InvalidArgument("symmetry \"" + shown + "\": " + what + " at position " + std::to_string(position + 1) +
                              "; write e.g. antisym(a,b) sym(product(c,i),product(d,j)) with letters of \"" + std::string(names_) + "\"");
    }
    void skip() {
        while (position_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[position_])) != 0)) ++position_;
    }
    std::string word() {
        skip();
        const auto start = position_;
        while (position_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[position_])) != 0)) ++position_;
        return std::string(text_.substr(start, position_ - start));
    }
    SymmetryNode parse_node() {
        const auto name = word();
        const auto start = position_ - name.size();
        skip();
        if (position_ < text_.size() && text_[position_] == '(') {
            if (++level_ > max_levels - 2) fail("more than " + std::to_string(max_levels - 2) + " nodes within each other");
            auto node = parse_children(kind_of(name, start));
            --level_;
            return node;
        }
        if (name.size() != 1 || names_.find(name[0]) == std::string_view::npos)
            fail(name.empty() ? "a dimension or a node is missing" : "unknown dimension \"" + name + "\"", start);
        return leaf(names_.find(name[0]));
    }
    SymmetryNode parse_children(NodeKind kind) {
        SymmetryNode node{kind, -1, {}};
        do {
            ++position_;  // the opening parenthesis or a comma
            node.children.push_back(parse_node());
            skip();
        } while (position_ < text_.size() && text_[position_] == ',');
        if (position_ >= text_.size() || text_[position_] != ')') fail("a closing parenthesis is missing");
        ++position_;
        return node;
    }
    NodeKind kind_of(const std::string& name, std::size_t start) const {
        for (const auto& [kind, text] : kind_names())
            if (text == name) return kind;
        fail("unknown node \"" + name + "\" (known: product, sym, antisym, hollow, hermitian)", start);
    }

    std::string_view names_, text_;
    std::size_t position_ = 0;
    int level_ = 0;
};

std::string relations_text(const std::vector<Relation>& relations) {
    static const char* const names[] = {"NS", "SY", "AS", "SH"};
    std::string text = "{";
    for (std::size_t i = 0; i < relations.size(); ++i) text += (i ? ", " : "") + std::string(names[static_cast<int>(relations[i])]);
    return text + "}";
}

NodeKind kind_of(Relation relation) {
    switch (relation) {
    case Relation::SY: return NodeKind::symmetric;
    case Relation::AS: return NodeKind::antisymmetric;
    case Relation::SH: return NodeKind::hollow;
    default: return NodeKind::leaf;
    }
}

/// The vector with each group's last entry NS and one kind per group: what the caller probably meant.
std::vector<Relation> corrected(std::vector<Relation> relations) {
    for (std::size_t i = 0; i < relations.size(); ++i) {
        if (i > 0 && relations[i - 1] != NS && relations[i] != NS) relations[i] = relations[i - 1];
        if (i + 1 == relations.size()) relations[i] = NS;
    }
    return relations;
}

}  // namespace

std::vector<int> SymmetryNode::dimensions() const {
    std::vector<int> all;
    std::vector<const SymmetryNode*> open{this};  // of a tree with any number of levels
    while (!open.empty()) {
        const auto& node = *open.back();
        open.pop_back();
        if (node.kind == NodeKind::leaf)
            all.push_back(node.dimension);
        else
            for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) open.push_back(&*child);
    }
    return all;
}

SymmetryNode leaf(int d) { return SymmetryNode{NodeKind::leaf, d, {}}; }
SymmetryNode product(std::vector<SymmetryNode> children) { return make(NodeKind::product, std::move(children)); }
SymmetryNode symmetric(std::vector<SymmetryNode> children) { return make(NodeKind::symmetric, std::move(children)); }
SymmetryNode antisymmetric(std::vector<SymmetryNode> children) { return make(NodeKind::antisymmetric, std::move(children)); }
SymmetryNode hollow(std::vector<SymmetryNode> children) { return make(NodeKind::hollow, std::move(children)); }
SymmetryNode hermitian(SymmetryNode first, SymmetryNode second) { return make(NodeKind::hermitian, {std::move(first), std::move(second)}); }

Symmetry::Symmetry(int order, const SymmetryNode& root) : order_(order) {
    check_order(order);
    check_levels(root, root.kind == NodeKind::product ? max_levels : max_levels - 1);  // slots are within a product
    check_node(root);
    const auto simple = simplified(root);
    if (simple.kind == NodeKind::product)
        slots_ = simple.children;
    else
        slots_ = {simple};
    std::vector<bool> seen(order, false);
    for (int d : root.dimensions()) {
        if (d < 0 || d >= order)
            throw InvalidArgument("symmetry: dimension " + std::to_string(d) + " of a tensor of order " + std::to_string(order) +
                                  "; dimensions are counted from 0");
        if (seen[d]) throw InvalidArgument("symmetry: dimension " + std::to_string(d) + " is named twice; name each dimension once");
        seen[d] = true;
    }
    for (int d = 0; d < order; ++d)
        if (!seen[d]) slots_.push_back(leaf(d));
}

Symmetry::Symmetry(const SymmetryNode& root)
    : Symmetry(
          [&] {
              const auto dims = root.dimensions();
              const std::int64_t order = dims.empty() ? 0 : std::int64_t{*std::max_element(dims.begin(), dims.end())} + 1;
              check_order(order);
              return static_cast<int>(order);
          }(),
          root) {}

Symmetry Symmetry::none(int order) { return Symmetry(order, make(NodeKind::product, {})); }

Symmetry Symmetry::parse(std::string_view names, std::string_view text) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names.find(names[i]) != i)
            throw InvalidArgument("symmetry: the letter '" + std::string(1, names[i]) + "' names two dimensions in \"" +
                                  std::string(names) + "\"; give each dimension its own letter");
    auto symmetry = Symmetry(names.size(), Parser(names, text).parse_all());
    auto first = [](const SymmetryNode& node) {
        const auto dims = node.dimensions();
        return *std::min_element(dims.begin(), dims.end());
    };
    std::stable_sort(symmetry.slots_.begin(), symmetry.slots_.end(), [&](const auto& a, const auto& b) { return first(a) < first(b); });
    return symmetry;
}

Symmetry Symmetry::from_relations(const std::vector<Relation>& relations) {
    for (auto relation : relations)
        if (relation < NS || relation > SH)
            throw InvalidArgument("symmetry vector: " + std::to_string(static_cast<int>(relation)) +
                                  " is no relation; use NS, SY, AS or SH");
    const auto better = corrected(relations);
    if (better != relations)
        throw InvalidArgument("symmetry vector " + relations_text(relations) +
                              " is not valid: an entry ties a dimension to the next one, so the last of a group is NS and a "
                              "group has one kind; did you mean " +
                              relations_text(better) + "?");
    SymmetryNode root = make(NodeKind::product, {});
    for (std::size_t i = 0; i < relations.size(); ++i) {
        const auto kind = kind_of(relations[i]);
        SymmetryNode node = make(kind, {leaf(i)});
        while (relations[i] != NS) node.children.push_back(leaf(++i));
        root.children.push_back(kind == NodeKind::leaf ? node.children[0] : node);
    }
    return Symmetry(relations.size(), root);
}

std::string Symmetry::to_string(std::string_view names) const {
    std::string text;
    for (const auto& slot : slots_)
        if (slot.kind != NodeKind::leaf) text += (text.empty() ? "" : " ") + node_text(slot, names);
    return text.empty() ? "none" : text;
}

bool Symmetry::trivial() const {
    return std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) { return slot.kind == NodeKind::leaf; });
}

}  // namespace arges
