/// What functions do with their operands first, labels of factors, how good factors are, and the singular value decomposition by random
/// vectors, in statements of the library.
#pragma once

#include "base/digest.hpp"
#include "interface/world/call_arguments.hpp"
#include "linalg/distributed_matrix.hpp"
#include "linalg/matricization.hpp"

#include <string>
#include <vector>

namespace arges {

/// What must be the same on all ranks, for CollectiveCall.
inline void add_to(Digest& digest, const MatrixGrid& grid) { digest.add(grid.rows).add(grid.columns).add(grid.block); }
inline void add_to(Digest& digest, const AnyIndexedTensor& tensor) { digest.add(tensor.factor()); }

}  // namespace arges

namespace arges::linalg {

/// Null where there is no tensor.
const Communicator* ranks_of(const AnyIndexedTensor& A);

/// An operand: its state, its labels, and an unpacked copy where it has symmetry.
class MatrixOperand {
public:
    /// @throws Unsupported in a dry run; InvalidArgument for labels that do not fit, and sparse tensors
    MatrixOperand(const AnyIndexedTensor& A, const std::string& what);
    /// Without symmetry, each dimension a slot by itself. Collective.
    const TensorState& plain();
    const World& world() const { return state.world_handle; }
    /// A layout of this matrix's shape. @throws as load()
    DistributedMatrix loaded(const MatrixLayout& layout, bool adjoint = false, Part part = Part::all) {
        return load(plain(), labels, layout, adjoint, part);
    }

    const AnyTensor tensor;  ///< shares the elements
    const TensorState& state;
    Matricization labels;
    const MatrixKernels& kernels;

private:
    AnyTensor copy_;
};

/// @throws InvalidArgument if their worlds or element types differ
void check_alike(const MatrixOperand& A, const MatrixOperand& B, const std::string& what);

/// A tensor on the world of another one, with elements of the same type, without symmetry. Collective.
AnyTensor zeros_like(const AnyTensor& like, std::vector<std::int64_t> extents, const char* name);
/// A vector on every rank, likewise.
AnyTensor as_tensor(const AnyTensor& like, const std::vector<double>& values);

/// Labels with a bar between those of rows and columns.
std::vector<std::string> barred(const std::vector<std::string>& rows, const std::vector<std::string>& columns);
/// Labels by dimension of the tensor.
std::vector<std::string> labels_by_dimension(const Matricization& matrix);

/// A label that users cannot have chosen by accident.
inline const std::string joint = "_k";

/// |Q^H Q - 1| for a tensor whose last index (or first, if `rows`) numbers orthonormal vectors. Collective.
double orthogonality(const AnyTensor& Q, bool rows = false);

/// |A - U diag(s) V| / |A| with `joint` between U and V; without `s` it is 1. Collective.
double residual(const AnyTensor& A, const Matricization& labels, const AnyTensor& U, const std::vector<double>* s, const AnyTensor& V);

/// a / b; 0 for 0 / 0.
inline double ratio(double a, double b) { return a == 0 ? 0 : a / b; }

/// Halko, Martinsson, Tropp, SIAM Review 53 (2011): the range by algorithm 4.4 (powers with orthonormalization after each
/// product), then the SVD of the matrix projected on it, algorithm 5.1. Options have been checked; the matrix is not empty.
/// Collective. @param A dense or sparse  @param norm of A
AnySvd randomized_svd(const AnyTensor& A, double norm, const Matricization& labels, const SvdOptions& options);

}  // namespace arges::linalg
