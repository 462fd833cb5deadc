// Left singular vectors from the eigenvectors of the Gram matrix on the first rank, as many as a rank or a tolerance keeps.
#include "decompose/tucker/dense_tucker_subspace.hpp"

#include "base/math.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "linalg/dense.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace arges::decompose {

template <class T>
Subspace<T>::Subspace(const std::vector<double>& squares, const RankRule& rule, std::int64_t length) : rank(std::ssize(squares)) {
    while (rank > 1) {
        const double next = discarded + squares[rank - 1];
        if (rank <= rule.most && (rule.allowed < 0 || next > rule.allowed)) break;
        discarded = next;
        --rank;
    }
    for (std::int64_t i = 0; i < rank; ++i) kept += squares[i];
    u.resize(length * rank);
}

template <class T>
void Subspace<T>::fix_signs() {
    for (auto column = u.begin(); column != u.end(); column += length()) {
        const auto largest = std::max_element(column, column + length(), [](T a, T b) { return std::abs(a) < std::abs(b); });
        if (*largest < T(0))
            for (auto x = column; x != column + length(); ++x) *x = -*x;
    }
}

template <class T>
void Subspace<T>::share(const WorldState& world) {
    const auto bytes = std::as_writable_bytes(std::span(u));
    share_from_first(world.communicator(), bytes);
    planned_bytes += share_from_first_bytes(world.size(), world.rank(), std::ssize(bytes));
}

template <class T>
Subspace<T> subspace_of_gram(const World& world, Gram gram, std::int64_t length, const RankRule& rule) {
    const auto layout = linalg::on_one_rank(length, length);
    Gram vectors(gram.size());
    const auto& kernels = linalg::matrix_kernels(element_kernels<double>());
    linalg::DistributedMatrix matrix(kernels, world.state(), layout, gram.data(), length);
    linalg::DistributedMatrix columns(kernels, world.state(), layout, vectors.data(), length);
    auto squares = linalg::eigh_dense(matrix, &columns);
    std::reverse(squares.begin(), squares.end());
    for (double& s : squares) s = at_least_zero(s);
    Subspace<T> result(squares, rule, length);
    if (world.rank() == 0) {
        for (std::int64_t c = 0; c < result.rank; ++c)
            std::transform(columns.column<double>(length - 1 - c), columns.column<double>(length - 1 - c) + length, result.u.begin() + c * length,
                           [](double x) { return static_cast<T>(x); });
        result.fix_signs();
    }
    result.share(*world.state());
    return result;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template struct Subspace<T>;                                                                                                           \
    template Subspace<T> subspace_of_gram(const World&, Gram, std::int64_t, const RankRule&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
