/// Products of two tensors with joint pair symmetry, A(ab,ef) = A(ba,fe) and B(ef,ij) = B(fe,ji): the parts that are symmetric
/// and antisymmetric in the summed pair do not mix, so R = A+ B+ + A- B-, with A+-(ab,ef) = (A(ab,ef) +- A(ab,fe)) / 2. Each part
/// is packed in both pairs: a quarter of the flops of the full product, and no operand is unpacked. Besides, unpacking of a pair node.
#pragma once

#include "plan/movement/components.hpp"
#include "plan/movement/lists.hpp"
#include "plan/product/product.hpp"

#include <array>
#include <optional>

namespace arges {

/// One operand of such a product: its pair node over children (p0, q0) and (p1, q1), one pair free and one summed.
struct PairOperand {
    int slot = 0;
    std::array<int, 2> first;   ///< labels p0, p1
    std::array<int, 2> second;  ///< labels q0, q1
};

/// Both operands, if the product has this form.
std::optional<std::array<PairOperand, 2>> joint_pair(const Operand& a, const Operand& b, const std::vector<int>& output_labels);

/// The symmetry of a part: the pair node replaced by one node over the first and one over the second pair.
Symmetry part_symmetry(const Operand& operand, const PairOperand& pair, bool symmetric);

/// The term that exchanges the second pair, for the movement into a part (with factor 1/2).
LabelTerm exchange_second(const PairOperand& pair, std::size_t labels, bool symmetric);

/// The relabelling of the output that exchanges the children of both pair nodes: it leaves the product as it is.
LabelTerm mirror_of(const std::array<PairOperand, 2>& pairs, const std::vector<int>& output_labels, std::size_t labels);

/// A movement into a part on one rank without element lists: for each q0 <= q1 the block over (p0, p1) is split.
struct PairSplit {
    std::int64_t p = 0, q = 0;                ///< extents of the pairs
    std::int64_t stride_p = 1, stride_q = 1;  ///< strides of the parts' slots in the target
    bool symmetric = true;
};

/// The block form of a movement, if it has one.
std::optional<PairSplit> pair_split(const Movement& spec);

/// Unpacking of a pair node without element lists: on one rank an element of sym(x, y) is found from the packed indices of its two
/// children, so that lists over the children are enough.
///
/// A movement on one rank from a tensor that is a single node over two children into slots that each belong to one child.
/// Element (e0, e1) of the target is at child[0].to[e0] + child[1].to[e1]; its source is the packed index of the child indices
/// child[0].from[e0] and child[1].from[e1]. Example: sym(product(a,i),product(b,j)) into plain dimensions a, b, i, j.
struct PairUnpack {
    NodeKind kind = NodeKind::symmetric;
    bool strict = false;  ///< equal children are not stored
    std::array<EntryGroup, 2> child;

    /// Number of target elements that are written.
    std::int64_t count() const;
};

/// The children's lists if the movement is of this form.
std::optional<PairUnpack> pair_unpack(const Movement& spec, const std::vector<MovementComponent>& components);

}  // namespace arges
