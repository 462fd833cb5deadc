/// Arithmetic on the axes of a contraction.
#pragma once

#include "local/contract.hpp"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace arges::local {

/// The stride of an axis in one operand: &FoldAxis::stride_a, stride_b or stride_c.
using OperandStride = std::int64_t FoldAxis::*;

/// Product of the sizes.
std::int64_t entries(std::span<const FoldAxis> axes);

/// Elements of an operand that an axis group addresses: axes of stride 0 repeat them.
std::int64_t elements(std::span<const FoldAxis> axes, OperandStride stride);

/// Drops axes of size 1, sets the strides of operands that a group is not in to 0, and joins axes
/// of a group that continue each other in all operands: {4, 1, 0, 1} and {5, 4, 0, 4} become {20,
/// 1, 0, 1}.
FoldedContraction simplify(const FoldedContraction& f);

/// True if the axes, in this order, are one strided axis of an operand: each continues the one
/// before it.
bool is_chain(std::span<const FoldAxis> axes, OperandStride stride);

/// The axes ordered by their stride in an operand, smallest first.
std::vector<FoldAxis> sorted_by(std::span<const FoldAxis> axes, OperandStride stride);

/// The axes of several groups, one after the other.
std::vector<FoldAxis> join(std::initializer_list<std::span<const FoldAxis>> groups);

/// Where the axes of an operand are, and how many of their indices. Axes are numbers.
struct OperandBlock {
    std::vector<int> axes;
    std::vector<std::int64_t> sizes, strides;
    std::int64_t offset = 0;  ///< elements before it

    /// -1 for an axis that the operand lacks.
    std::int64_t stride_of(int axis) const;
};

/// A dense array over some axes, the first fastest. @param length  by axis
OperandBlock dense_block(const std::vector<int>& axes, const std::vector<std::int64_t>& length);

/// The contraction of two operands into a third. @param b null: A is summed alone, see reduce()
FoldedContraction folded(const OperandBlock& a, const OperandBlock* b, const OperandBlock& c);

/// Where the operands are at one combination of axis entries.
struct FoldOffset {
    std::int64_t a = 0, b = 0, c = 0;
};

/// Walks over all combinations of the entries of some axes, the first axis fastest.
class FoldWalker {
public:
    /// Starts at the combination with the given number.
    FoldWalker(std::span<const FoldAxis> axes, std::int64_t start) : axes_(axes), index_(axes.size()) {
        for (std::size_t i = 0; i < axes.size(); ++i) {
            index_[i] = start % axes[i].size;
            start /= axes[i].size;
            move(axes[i], index_[i]);
        }
    }

    const FoldOffset& at() const { return at_; }

    /// Goes to the next combination, from the last one to the first.
    void next() {
        for (std::size_t i = 0; i < axes_.size(); ++i) {
            move(axes_[i], 1);
            if (++index_[i] < axes_[i].size) return;
            move(axes_[i], -axes_[i].size);
            index_[i] = 0;
        }
    }

private:
    void move(const FoldAxis& axis, std::int64_t steps) {
        at_.a += steps * axis.stride_a;
        at_.b += steps * axis.stride_b;
        at_.c += steps * axis.stride_c;
    }

    std::span<const FoldAxis> axes_;
    std::vector<std::int64_t> index_;
    FoldOffset at_;
};

}  // namespace arges::local
