/// What functions do with their operands first.
#pragma once

#include "base/digest.hpp"
#include "interface/call_arguments.hpp"
#include "linalg/distributed_matrix.hpp"
#include "linalg/matricization.hpp"

#include <memory>
#include <string>

namespace arges::linalg {

/// What must be the same on all ranks, for CollectiveCall.
inline std::uint64_t digest_of(const MatrixGrid& grid) { return Digest().add(grid.rows).add(grid.columns).add(grid.block).value(); }
template <class T>
std::uint64_t digest_of(const IndexedTensor<T>& A) {
    return Digest().add(A.factor()).value();
}
template <class T>
const Communicator* ranks_of(const IndexedTensor<T>& A) {
    const auto& factor = A.factor();
    return factor.sparse   ? factor.sparse->world->movement_communicator()
           : factor.tensor ? factor.tensor->world->movement_communicator()
                           : nullptr;
}

/// An operand: its state, its labels, and an unpacked copy where it has symmetry.
template <class T>
class Operand {
public:
    /// @throws Unsupported in a dry run; InvalidArgument for labels that do not fit
    Operand(const IndexedTensor<T>& A, const std::string& what)
        : state(checked(A, what)), labels(parse_matricization(A.factor().labels, state.shape().extents(), state.title())),
          pointer_(A.factor().tensor) {
        if (state.world->dry())
            throw Unsupported(what + " of " + labels.text +
                              ": the world is a dry run, which has no elements; plan by statements, or use a world of real ranks");
    }
    /// Without symmetry. Collective.
    const TensorState& plain() { return unpacked(pointer_, copy_); }
    /// With symmetry, if there is any.
    Tensor<T> tensor() const { return Tensor<T>(pointer_); }
    const World& world() const { return state.world_handle; }

    const TensorState& state;
    Matricization labels;

private:
    static const TensorState& checked(const IndexedTensor<T>& A, const std::string& what) {
        if (A.factor().sparse)
            throw InvalidArgument(what + " of " + A.factor().sparse->title() +
                                  ", which is sparse: of sparse tensors there is svd() with SvdMethod::randomized; else take to_dense()");
        if (!A.factor().tensor) throw InvalidArgument(what + ": labels without a tensor; label one by Tensor::operator[]");
        return *A.factor().tensor;
    }
    std::shared_ptr<TensorState> pointer_;
    Tensor<T> copy_;
};

template <class T>
void check_same_world(const Operand<T>& A, const Operand<T>& B, const std::string& what) {
    if (A.state.world != B.state.world)
        throw InvalidArgument(what + ": " + A.labels.text + " and " + B.labels.text + " live on different worlds; use transfer() first");
}

}  // namespace arges::linalg
