/// Copies of operands with dense strides.
#pragma once

#include "base/buffer.hpp"
#include "local/fold.hpp"
#include "local/transfer.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace arges::local {

/// The numbers of a contraction: C = alpha * A * B + beta * C.
template <class T>
struct Operands {
    T alpha;
    const T* a;
    const T* b;
    T beta;
    T* c;
};

/// Room for the copies of the operands.
template <class T>
struct Workspace {
    Buffer<T> a, b, c;
};

/// The axes of an operand in the order in which a copy stores them. Axes that the operand lacks or
/// repeats along (stride 0) are left out of the copy, except among the first `kept` ones, along
/// which the copy repeats the elements.
struct CopyOrder {
    std::vector<FoldAxis*> axes;
    std::size_t kept = 0;

    void append(std::vector<FoldAxis>& more) {
        for (FoldAxis& axis : more) axes.push_back(&axis);
    }
};

/// Gives the axes the operand's strides in the copy. The result has the operand's strides on its
/// `from` side and the copy's on its `to` side.
std::vector<TransferAxis> use_copy(const CopyOrder& order, OperandStride stride);

/// Number of elements that a transfer moves.
std::int64_t count(std::span<const TransferAxis> axes);

/// Copies an input and gives its axes the strides of the copy.
template <class T>
const T* pack(const CopyOrder& order, OperandStride stride, const T* data, Buffer<T>& buffer) {
    const std::vector<TransferAxis> axes = use_copy(order, stride);
    T* copy = buffer.reserve(count(axes));
    transfer<T>(axes, data, copy, 1, {});
    return copy;
}

/// C = beta * C; for beta = 0 what C held is not read.
template <class T>
void scale_result(std::span<const FoldAxis> axes, T beta, T* c);

/// A result that is computed in a buffer and then written to its place.
template <class T>
class PackedResult {
public:
    /// Lets `x` and the axes refer to the buffer, which is overwritten; scales the result by beta.
    PackedResult(const CopyOrder& order, Operands<T>& x, Buffer<T>& buffer)
        : axes_(use_copy(order, &FoldAxis::stride_c)), buffer_(buffer.reserve(count(axes_))), result_(x.c), accumulate_(x.beta != T(0)) {
        for (TransferAxis& axis : axes_) std::swap(axis.from_stride, axis.to_stride);
        if (accumulate_) scale(x.beta);
        x.c = buffer_;
        x.beta = 0;
    }

    /// Moves the buffer to the result.
    void write() const { transfer<T>(axes_, buffer_, result_, 1, {.accumulate = accumulate_}); }

private:
    void scale(T beta) {
        std::vector<TransferAxis> in_place = axes_;
        for (TransferAxis& axis : in_place) axis.from_stride = axis.to_stride;
        if (beta != T(1)) transfer<T>(in_place, result_, result_, beta, {});
    }

    std::vector<TransferAxis> axes_;
    T* buffer_;
    T* result_;
    bool accumulate_;
};

}  // namespace arges::local
