/// Products of two tensors with joint pair symmetry, A(ab,ef) = A(ba,fe) and B(ef,ij) = B(fe,ji): the parts that are symmetric
/// and antisymmetric in the summed pair do not mix, so R = A+ B+ + A- B-, with A+-(ab,ef) = (A(ab,ef) +- A(ab,fe)) / 2. Each part
/// is packed in both pairs: a quarter of the flops of the full product, and no operand is unpacked.
#pragma once

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
std::optional<std::array<PairOperand, 2>> joint_pair(const OperandSpec& a, const OperandSpec& b, const std::vector<int>& output_labels);

/// The symmetry of a part: the pair node replaced by one node over the first and one over the second pair.
Symmetry part_symmetry(const OperandSpec& operand, const PairOperand& pair, bool symmetric);

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

}  // namespace arges
