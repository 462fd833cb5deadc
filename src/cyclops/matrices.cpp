// Factorizations of matrices. This is a file of its own so that programs without them need no ScaLAPACK.
#include "arges/linalg.hpp"
#include "cyclops/body.hpp"

#include <algorithm>

namespace CTF_int {

using arges::AnyTensor;

namespace {

AnyTensor matrix_of(const tensor& A) {
    A.require_order(2);
    return to_dense(of(A));
}

const arges::Labels matrix{"i", "|", "j"};

void become(tensor& result, AnyTensor elements, const tensor& like) {
    result.become(std::make_shared<Body>(Body{std::move(elements)}), like, nullptr);
}

/// Numbers that all ranks have, as a vector of the type of A.
AnyTensor vector_of(const std::vector<double>& numbers, const AnyTensor& A) {
    const auto bytes = A.kernels().size;
    AnyTensor result(A.element(), arges::Storage::dense, A.world(), {std::ssize(numbers)});
    auto pairs = pairs_of(result);
    for (std::size_t i = 0; i < pairs.keys.size(); ++i) {
        const auto value = arges::element_from(arges::Number(numbers[pairs.keys[i]]), A.element());
        std::copy_n(static_cast<const char*>(value.data()), bytes, pairs.values.at(static_cast<std::int64_t>(i)));
    }
    put_back(result, pairs);
    return result;
}

}  // namespace

void qr(const tensor& A, tensor& Q, tensor& R) {
    auto result = arges::qr(matrix_of(A)[matrix]);
    become(Q, std::move(result.Q), A);
    become(R, std::move(result.R), A);
}

namespace {

void svd(const tensor& A, tensor& U, tensor& S, tensor& VT, const arges::SvdOptions& options, double threshold) {
    auto result = arges::svd(matrix_of(A)[matrix], options);
    auto& s = result.s;
    const auto all = std::ssize(s);
    while (!s.empty() && s.back() < threshold) s.pop_back();
    const auto kept = std::ssize(s);
    become(U, kept == all ? std::move(result.U) : result.U.slice({0, 0}, {A.lens[0], kept}), A);
    become(VT, kept == all ? std::move(result.Vh) : result.Vh.slice({0, 0}, {kept, A.lens[1]}), A);
    become(S, vector_of(s, of(A)), A);
}

}  // namespace

void svd(const tensor& A, tensor& U, tensor& S, tensor& VT, std::int64_t rank, double threshold) {
    arges::SvdOptions options;
    if (rank > 0) options.rank = rank;
    svd(A, U, S, VT, options, threshold);
}

void svd_rand(const tensor& A, tensor& U, tensor& S, tensor& VT, std::int64_t rank, int iterations, std::int64_t more) {
    arges::SvdOptions options;
    options.rank = rank;
    options.method = arges::SvdMethod::randomized;
    options.power_iterations = iterations;
    options.oversampling = more;
    svd(A, U, S, VT, options, 0);
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
