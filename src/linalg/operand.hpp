/// What functions do with their operands first.
#pragma once

#include "base/digest.hpp"
#include "interface/world/call_arguments.hpp"
#include "linalg/checks.hpp"
#include "linalg/distributed_matrix.hpp"
#include "linalg/matricization.hpp"

#include <memory>
#include <string>

namespace arges {

/// What must be the same on all ranks, for CollectiveCall.
inline void add_to(Digest& digest, const MatrixGrid& grid) { digest.add(grid.rows).add(grid.columns).add(grid.block); }

}  // namespace arges

namespace arges::linalg {

inline const Communicator* ranks_of(const Factor& A) {
    return A.sparse ? A.sparse->world->movement_communicator() : A.tensor ? A.tensor->world->movement_communicator() : nullptr;
}

/// An operand: its state, its labels, and an unpacked copy where it has symmetry.
class Operand {
public:
    /// @throws Unsupported in a dry run; InvalidArgument for labels that do not fit
    Operand(const Factor& A, const std::string& what);
    /// Without symmetry, each dimension a slot by itself. Collective.
    const TensorState& plain();
    /// With symmetry, if there is any.
    DenseTensor tensor() const { return DenseTensor(pointer_); }
    const World& world() const { return state.world_handle; }
    /// A layout of this matrix's shape. @throws as load()
    DistributedMatrix loaded(const MatrixLayout& layout, bool adjoint = false, Part part = Part::all) {
        return load(plain(), labels, layout, adjoint, part);
    }

    const TensorState& state;
    Matricization labels;
    const MatrixKernels& kernels;

private:
    std::shared_ptr<TensorState> pointer_;
    DenseTensor copy_;
};

/// @throws InvalidArgument if they live on different worlds
void check_same_world(const Operand& A, const Operand& B, const std::string& what);

}  // namespace arges::linalg
