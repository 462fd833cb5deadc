/// @file symmetry.hpp
/// Permutational symmetry of a tensor, as a tree over its dimensions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace arges {

/// What a node of a symmetry tree does with its children.
enum class NodeKind {
    leaf,           ///< one dimension
    product,        ///< children are independent of each other
    symmetric,      ///< exchanging two children leaves the value as it is
    antisymmetric,  ///< exchanging two children changes the sign; equal children give zero
    hollow,         ///< symmetric, and equal children give zero
    hermitian       ///< two children; exchanging them gives the complex conjugate
};

/// How a dimension is tied to the next one in Cyclops' vector form of a symmetry.
enum class Relation { NS, SY, AS, SH };
/// @cond
inline constexpr Relation NS = Relation::NS, SY = Relation::SY, AS = Relation::AS, SH = Relation::SH;
/// @endcond

/// One node of a symmetry tree, of 64 levels at most. Build trees with leaf(), product(), symmetric(), antisymmetric(),
/// hollow(), hermitian() or Symmetry::parse(); the members are for those who walk a tree.
struct SymmetryNode {
    NodeKind kind = NodeKind::product;   ///< what the node does with its children
    int dimension = -1;                  ///< the tensor dimension of a leaf, else -1
    std::vector<SymmetryNode> children;  ///< empty for a leaf

    /// Dimensions of the leaves below this node, in tree order.
    std::vector<int> dimensions() const;
    /// Equal kind, dimensions and children.
    bool operator==(const SymmetryNode&) const = default;
};

/// A leaf: dimension `d` (counted from 0) of the tensor.
SymmetryNode leaf(int d);
/// Independent children.
SymmetryNode product(std::vector<SymmetryNode> children);
/// Children (at least two, of identical shape) that may be exchanged freely.
SymmetryNode symmetric(std::vector<SymmetryNode> children);
/// Children that change the sign when two of them are exchanged.
SymmetryNode antisymmetric(std::vector<SymmetryNode> children);
/// Symmetric children, zero where two of them are equal.
SymmetryNode hollow(std::vector<SymmetryNode> children);
/// Two children whose exchange conjugates the value.
SymmetryNode hermitian(SymmetryNode first, SymmetryNode second);

/// The permutational symmetry of a tensor: a tree whose root is a product over *slots*. Each
/// dimension is in exactly one leaf; dimensions that are not mentioned are independent.
///
/// Example: the spin-orbital amplitude T(abij) is `Symmetry::parse("abij", "antisym(a,b) antisym(i,j)")`,
/// the spin-adapted one `Symmetry::parse("abij", "sym(product(a,i),product(b,j))")`.
class Symmetry {
public:
    /// No symmetry; the order is taken from the tensor that uses it.
    Symmetry() = default;
    /// A tree for a tensor of the given order.
    /// @throws InvalidArgument if a dimension is out of range or named twice, if children of one
    ///         node differ in shape, or a node has fewer children than it needs; for an order over 1024 or more than 64 levels
    Symmetry(int order, const SymmetryNode& root);
    /// One node, of the order that its leaves need.
    Symmetry(const SymmetryNode& root);  // NOLINT: implicit on purpose

    /// No symmetry among `order` dimensions.
    static Symmetry none(int order);
    /// Reads a text such as "antisym(a,b) antisym(i,j)", where each dimension is the letter in `names`.
    /// Nodes: product, sym, antisym, hollow, hermitian.
    /// @throws InvalidArgument with the position of the mistake; 62 nodes may be within each other
    static Symmetry parse(std::string_view names, std::string_view text);
    /// Cyclops' form: entry i ties dimension i to i+1; the last of a group is NS.
    /// @throws InvalidArgument that shows the right vector, e.g. {AS, NS} for {AS, AS}
    static Symmetry from_relations(const std::vector<Relation>& relations);

    /// Number of dimensions; -1 while it is still open (default-constructed).
    int order() const { return order_; }
    /// The slots: children of the root, which cover every dimension once.
    const std::vector<SymmetryNode>& slots() const { return slots_; }
    /// Text of the tree with a letter for each dimension, e.g. "antisym(a,b) antisym(c,d)"; "none" if trivial.
    std::string to_string(std::string_view names = {}) const;
    /// True if no two dimensions are related.
    bool trivial() const;
    /// Same order and slots.
    bool operator==(const Symmetry&) const = default;

private:
    int order_ = -1;
    std::vector<SymmetryNode> slots_;
};

/// How a right-hand side R is made to fit the symmetry of the left-hand side.
enum class Projection {
    none,             ///< R must have the symmetry by structure, else the statement is refused
    antisymmetrized,  ///< signed sum over distinct permutations, see antisymmetrized()
    symmetrized,      ///< sum over distinct permutations, see symmetrized()
    canonical         ///< the caller's word that R has the symmetry
};

}  // namespace arges
