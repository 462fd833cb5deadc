#include "decompose/dense_tucker_subspace.hpp"

#include "arges/error.hpp"
#include "arges/linalg.hpp"
#include "decompose/factor_tensor.hpp"

#include <algorithm>
#include <cmath>

extern "C" {
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work, const int* lwork, int* iwork,
             const int* liwork, int* info);
}

namespace arges::decompose {

namespace {

/// Eigenvalues, rising; the matrix becomes the eigenvectors. By divide and conquer.
std::vector<double> eigen_in_place(Gram& matrix, int n) {
    std::vector<double> values(static_cast<std::size_t>(n)), work(1);
    std::vector<int> integers(1);
    int info = 0, query = -1;
    dsyevd_("V", "L", &n, matrix.data(), &n, values.data(), work.data(), &query, integers.data(), &query, &info);
    work.resize(static_cast<std::size_t>(work[0]) + 1);
    integers.resize(static_cast<std::size_t>(integers[0]));
    const int size = static_cast<int>(work.size()), integer_size = static_cast<int>(integers.size());
    dsyevd_("V", "L", &n, matrix.data(), &n, values.data(), work.data(), &size, integers.data(), &integer_size, &info);
    if (info != 0) throw Error("the eigenvalues of a Gram matrix were not found; scale the tensor's values");
    return values;
}

/// @param squares of singular values, falling
template <class T>
Subspace<T> choose(const std::vector<double>& squares, const RankRule& rule) {
    Subspace<T> result;
    auto rank = static_cast<std::int64_t>(squares.size());
    double discarded = 0;
    while (rank > 1) {
        const double next = discarded + squares[static_cast<std::size_t>(rank - 1)];
        if (rank <= rule.most && (rule.allowed < 0 || next > rule.allowed)) break;
        discarded = next;
        --rank;
    }
    result.rank = rank;
    result.discarded = discarded;
    for (std::int64_t i = 0; i < rank; ++i) result.kept += squares[static_cast<std::size_t>(i)];
    return result;
}

/// Makes the element of largest magnitude of each column positive.
template <class T>
void fix_signs(std::vector<T>& u, std::int64_t length) {
    for (auto column = u.begin(); column != u.end(); column += length) {
        const auto largest = std::max_element(column, column + length, [](T a, T b) { return std::abs(a) < std::abs(b); });
        if (*largest < T(0))
            for (auto x = column; x != column + length; ++x) *x = -*x;
    }
}

}  // namespace

template <class T>
Subspace<T> subspace_of_gram(const Communicator& comm, Gram gram, std::int64_t length, const RankRule& rule) {
    std::vector<double> squares(static_cast<std::size_t>(length));
    comm.agree([&] {
        if (comm.rank() != 0) return;
        squares = eigen_in_place(gram, static_cast<int>(length));
        std::reverse(squares.begin(), squares.end());
        for (double& s : squares) s = std::max(0.0, s);
    });
    comm.broadcast(squares, 0);
    auto result = choose<T>(squares, rule);
    result.u.resize(static_cast<std::size_t>(length * result.rank));
    if (comm.rank() == 0) {
        for (std::int64_t c = 0; c < result.rank; ++c)
            for (std::int64_t i = 0; i < length; ++i)
                result.u[static_cast<std::size_t>(i + c * length)] = static_cast<T>(gram[static_cast<std::size_t>(i + (length - 1 - c) * length)]);
        fix_signs(result.u, length);
    }
    comm.broadcast(result.u, 0);
    return result;
}

template <class T>
Subspace<T> subspace_by_svd(const Tensor<T>& tensor, int mode, const RankRule& rule) {
    const auto dimensions = numbered_labels('x', tensor.order());
    auto labels = dimensions;
    labels.insert(labels.end(), {"->", dimensions[static_cast<std::size_t>(mode)], "|"});
    for (int m = 0; m < tensor.order(); ++m)
        if (m != mode) labels.push_back(dimensions[static_cast<std::size_t>(m)]);
    SvdOptions options;
    options.right = false;
    const auto found = svd(tensor[Labels(labels)], options);
    std::vector<double> squares;
    for (auto s : found.s) squares.push_back(static_cast<double>(s) * static_cast<double>(s));
    auto result = choose<T>(squares, rule);
    result.u = found.U.gather();
    const auto length = tensor.extents()[static_cast<std::size_t>(mode)];
    result.u.resize(static_cast<std::size_t>(length * result.rank));
    fix_signs(result.u, length);
    return result;
}

#define ARGES_INSTANTIATE(T)                                                                                          \
    template Subspace<T> subspace_of_gram(const Communicator&, Gram, std::int64_t, const RankRule&);                  \
    template Subspace<T> subspace_by_svd(const Tensor<T>&, int, const RankRule&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)

}  // namespace arges::decompose
