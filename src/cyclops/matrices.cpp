// Factorizations of matrices and matricizations. This is a file of its own so that programs without them need no ScaLAPACK.
#include "arges/error.hpp"
#include "arges/linalg.hpp"
#include "cyclops/body.hpp"

#include <algorithm>

namespace CTF_int {

using arges::AnyTensor;
using arges::InvalidArgument;

namespace {

AnyTensor matrix_of(const tensor& A) {
    A.require_order(2);
    return to_dense(of(A));
}

const arges::Labels matrix{"i", "|", "j"};

void become(tensor& result, AnyTensor elements, const tensor& like) { result.become(held(std::move(elements)), like, nullptr); }

/// Numbers as a vector of some type. Collective.
AnyTensor vector_of(const std::vector<double>& values, const AnyTensor& like) {
    auto result = made(like.kernels(), arges::Storage::dense, like.world(), {std::ssize(values)});
    std::vector<std::int64_t> keys;
    Values elements(like.kernels());
    for (auto k = like.world().rank(); k < std::ssize(values); k += like.world().size()) {
        keys.push_back(k);
        elements.add(element_of(values[k], like.kernels()).data());
    }
    result.accumulate_pairs(keys, elements.data(), std::ssize(keys), nullptr, like.kernels().zero);
    return result;
}

/// The first entries along a dimension.
AnyTensor cut(const AnyTensor& tensor, int dimension, std::int64_t count) {
    auto end = tensor.extents();
    end[dimension] = count;
    return tensor.slice(std::vector<std::int64_t>(end.size(), 0), end);
}

/// How singular values are computed. @param rank  at most so many; 0: all
arges::SvdOptions options_of(std::int64_t rank, bool randomized, int iterations, std::int64_t more) {
    arges::SvdOptions options;
    if (rank > 0) options.rank = rank;
    if (!randomized) return options;
    options.method = arges::SvdMethod::randomized;
    options.power_iterations = iterations;
    options.oversampling = more;
    return options;
}

/// Without singular values below a threshold.
arges::AnySvd svd_over(const arges::AnyIndexedTensor& A, const arges::SvdOptions& options, double threshold) {
    auto result = arges::svd(A, options);
    const auto all = result.s.size();
    while (!result.s.empty() && result.s.back() < threshold) result.s.pop_back();
    if (result.s.size() == all) return result;
    const auto kept = std::ssize(result.s);
    result.U = cut(result.U, result.U.order() - 1, kept);
    result.Vh = cut(result.Vh, 0, kept);
    return result;
}

void svd(const tensor& A, tensor& U, tensor& S, tensor& VT, const arges::SvdOptions& options, double threshold) {
    auto result = svd_over(matrix_of(A)[matrix], options, threshold);
    become(U, std::move(result.U), A);
    become(VT, std::move(result.Vh), A);
    become(S, vector_of(result.s, of(A)), A);
}

/// Labels and values of an operand that is written as one tensor.
const Operand& operand_of(const CTF::Idx_Tensor& indexed) { return indexed.formula()->sum.at(0).operands.at(0); }

std::string without(std::string labels, char label) {
    labels.erase(std::remove(labels.begin(), labels.end(), label), labels.end());
    return labels;
}

/// A tensor with its dimensions in another order. Collective.
AnyTensor ordered(const AnyTensor& tensor, const std::string& labels, const std::string& wanted) {
    std::vector<std::int64_t> extents;
    for (char label : wanted) {
        const auto place = labels.find(label);
        if (place == std::string::npos || labels.size() != wanted.size())
            throw InvalidArgument("a decomposition with labels \"" + labels + "\" and \"" + wanted +
                                  "\"; both factors together have those of the tensor, and the label of the singular values");
        extents.push_back(tensor.extents()[place]);
    }
    auto result = made(tensor.kernels(), arges::Storage::dense, tensor.world(), extents);
    result[names_of(wanted)] = tensor[names_of(labels)];
    return result;
}

/// Labels of a matrix: rows, bar, columns.
arges::Labels sides(const std::string& rows, const std::string& columns) {
    auto names = names_of(rows).names();
    const auto more = names_of(columns);
    names.emplace_back("|");
    names.insert(names.end(), more.names().begin(), more.names().end());
    return {names};
}

}  // namespace

void qr(const tensor& A, tensor& Q, tensor& R) {
    auto result = arges::qr(matrix_of(A)[matrix]);
    become(Q, std::move(result.Q), A);
    become(R, std::move(result.R), A);
}

void svd(const tensor& A, tensor& U, tensor& S, tensor& VT, std::int64_t rank, double threshold) {
    svd(A, U, S, VT, options_of(rank, false, 0, 0), threshold);
}

void svd_rand(const tensor& A, tensor& U, tensor& S, tensor& VT, std::int64_t rank, int iterations, std::int64_t more) {
    svd(A, U, S, VT, options_of(rank, true, iterations, more), 0);
}

void svd(const CTF::Idx_Tensor& A, const CTF::Idx_Tensor& U, const CTF::Idx_Tensor& S, const CTF::Idx_Tensor& VT, int rank,
         double threshold, bool randomized, int iterations, int oversampling) {
    const auto bond = operand_of(S).labels;
    const auto left = operand_of(U).labels, right = operand_of(VT).labels;
    if (bond.size() != 1) throw InvalidArgument("svd: the singular values have labels \"" + bond + "\"; give one");
    const auto rows = without(left, bond[0]), columns = without(right, bond[0]);
    const auto whole = ordered(unpacked(of(*A.parent)), operand_of(A).labels, rows + columns);
    const auto result = svd_over(whole[sides(rows, columns)], options_of(rank, randomized, iterations, oversampling), threshold);
    become(*U.parent, ordered(result.U, rows + bond, left), *A.parent);
    become(*S.parent, vector_of(result.s, whole), *A.parent);
    become(*VT.parent, ordered(result.Vh, bond + columns, right), *A.parent);
}

void eigh(const tensor& A, tensor& U, tensor& D) {
    auto result = arges::eigh(matrix_of(A)[matrix]);
    become(U, std::move(result.vectors), A);
    become(D, vector_of(result.values, of(A)), A);
}

void cholesky(const tensor& A, tensor& L, bool lower) {
    auto result = arges::cholesky(matrix_of(A)[matrix]);
    if (!lower) {
        auto upper = result;
        upper["ij"] = conj(arges::AnyExpression(result["ji"]));
        result = std::move(upper);
    }
    become(L, std::move(result), A);
}

void solve_spd(const tensor& A, const tensor& B, tensor& X) {
    become(X, arges::solve_positive(matrix_of(A)[matrix], matrix_of(B)["i|k"]), B);
}

void solve_tri(const tensor& L, const tensor& B, tensor& X, bool lower, bool from_left, bool transposed) {
    arges::TriangularOptions options;
    options.side = from_left ? arges::Side::left : arges::Side::right;
    options.triangle = lower ? arges::Triangle::lower : arges::Triangle::upper;
    options.operation = transposed ? arges::Operation::transposed : arges::Operation::none;
    // The labels that B shares with L are those of the rows of what L is taken as, or from the right of its columns.
    const arges::Labels right =
        from_left == transposed ? arges::Labels(from_left ? "j|k" : "k|j") : arges::Labels(from_left ? "i|k" : "k|i");
    become(X, arges::solve_triangular(matrix_of(L)[matrix], matrix_of(B)[right], options), B);
}

}  // namespace CTF_int
