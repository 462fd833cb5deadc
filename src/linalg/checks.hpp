/// How good factors are, and the singular value decomposition by random vectors, in statements of the library.
#pragma once

#include "linalg/matricization.hpp"
#include "linalg/matrix_kernels.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace arges::linalg {

/// A dense tensor whose element type is known at run time.
class DenseTensor : public AnyTensor {
public:
    DenseTensor() = default;
    explicit DenseTensor(std::shared_ptr<TensorState> state) : AnyTensor(std::move(state)) {}
    /// Zeros. Collective.
    DenseTensor(const MatrixKernels& kernels, const World& world, std::vector<std::int64_t> extents, const std::string& name)
        : AnyTensor(kernels.elements(), Storage::dense, world, std::move(extents), GivenSymmetry(), name) {}
    std::shared_ptr<TensorState> state() const { return dense_state(); }
    Factor operator[](const Labels& labels) const { return labelled(labels); }
    const MatrixKernels& kernels() const { return matrix_kernels(AnyTensor::kernels()); }
    /// Elements begin <= index < end. Collective.
    DenseTensor slice(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end) const {
        return DenseTensor(AnyTensor::slice(begin, end).dense_state());
    }
    /// The complex conjugate. Collective.
    DenseTensor conjugated() const { return DenseTensor(AnyTensor::conjugated().dense_state()); }
    /// Without symmetry. Collective.
    DenseTensor unpacked() const { return DenseTensor(with_symmetry(Symmetry::none(order())).dense_state()); }
};

/// The complex conjugate; a real tensor is its own.
Factor conjugate(Factor tensor);
/// left = the product of tensors. Collective.
void assign(const Factor& left, std::vector<Factor> product);
/// left = left - the product of tensors. Collective.
void subtract(const Factor& left, std::vector<Factor> product);

/// Labels of a factor: those of some dimensions, and one for the index that joins factors.
std::vector<std::string> with_label(std::vector<std::string> labels, const std::string& last);
/// The same with the joining label in front.
std::vector<std::string> label_first(const std::string& first, const std::vector<std::string>& labels);
/// Labels with a bar between those of rows and columns.
std::vector<std::string> barred(const std::vector<std::string>& rows, const std::vector<std::string>& columns);
/// Labels by dimension of the tensor.
std::vector<std::string> labels_by_dimension(const Matricization& matrix);

/// A label that users cannot have chosen by accident.
inline const std::string joint = "_k";

/// |Q^H Q - 1| for a tensor whose last index (or first, if `rows`) numbers orthonormal vectors. Collective.
double orthogonality(const DenseTensor& Q, bool rows = false);

/// |A - U diag(s) V| / |A| with `joint` between U and V; without `s` it is 1. Collective.
double residual(const DenseTensor& A, const Matricization& labels, const DenseTensor& U, const std::vector<double>* s,
                const DenseTensor& V);

/// A vector on every rank as a tensor.
DenseTensor as_tensor(const MatrixKernels& kernels, const World& world, const std::vector<double>& values);

/// a / b; 0 for 0 / 0.
inline double ratio(double a, double b) { return a == 0 ? 0 : a / b; }

/// Halko, Martinsson, Tropp, SIAM Review 53 (2011): the range by algorithm 4.4 (powers with orthonormalization after each
/// product), then the SVD of the matrix projected on it, algorithm 5.1. Options have been checked; the matrix is not empty.
/// Collective. @param A dense or sparse; its labels do not matter  @param norm of A
AnySvd randomized_svd(const MatrixKernels& kernels, const World& world, const Factor& A, double norm, const Matricization& labels,
                      const SvdOptions& options);

}  // namespace arges::linalg
