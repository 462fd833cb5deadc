// Components of two CP models, matched by the factor match score.
#include "arges/cpd.hpp"

#include "arges/error.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "decompose/cp/assignment.hpp"
#include "decompose/factor_tensor.hpp"
#include "decompose/model_arguments.hpp"
#include "interface/world/world_state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arges {

namespace {

/// Inner products of the columns of two factors, a row after the other, then the squares of the columns of the first and of the second.
struct ColumnProducts {
    std::vector<double> numbers;
    std::size_t first, second;

    double cosine(std::size_t a, std::size_t b) const {
        const double length = std::sqrt(numbers[first * second + a]) * std::sqrt(numbers[first * second + first + b]);
        return length > 0 ? numbers[a * second + b] / length : 0;
    }
    double length_first(std::size_t a) const { return std::sqrt(numbers[first * second + a]); }
    double length_second(std::size_t b) const { return std::sqrt(numbers[first * second + first + b]); }
};

template <class T>
ColumnProducts column_products(const Communicator& comm, const CpModel<T>& a, const CpModel<T>& b, int mode) {
    const std::size_t n = a.rank(), m = b.rank();
    ColumnProducts result{std::vector<double>(n * m + n + m, 0), n, m};
    const auto& rows = a.rows(mode);
    const bool is_there = comm.minimum(rows == b.rows(mode) ? 1 : 0) > 0;
    std::vector<std::int64_t> places;
    std::vector<T> moved;
    if (!is_there) {
        places = decompose::places_of_rows(comm, b.rows(mode), rows);
        moved = gathered(comm, b.factor(mode));
    }
    const auto& own = a.factor(mode);
    const auto& other = is_there ? b.factor(mode) : moved;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto place = is_there ? static_cast<std::int64_t>(i) : places[i];
        if (place < 0) continue;
        const T* const x = own.data() + i * n;
        const T* const y = other.data() + static_cast<std::size_t>(place) * m;
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t q = 0; q < m; ++q) result.numbers[p * m + q] += static_cast<double>(x[p]) * static_cast<double>(y[q]);
    }
    const auto add_squares = [](const std::vector<T>& factor, std::size_t columns, double* sums) {
        for (std::size_t i = 0; i < factor.size(); ++i)
            sums[i % columns] += static_cast<double>(factor[i]) * static_cast<double>(factor[i]);
    };
    add_squares(own, n, result.numbers.data() + n * m);
    add_squares(b.factor(mode), m, result.numbers.data() + n * m + n);
    comm.sum(result.numbers.data(), std::ssize(result.numbers));
    return result;
}

}  // namespace

template <class T>
CpMatch match_components(const CpModel<T>& a, const CpModel<T>& b) {
    const CollectiveCall call(ranks_of(a.world()), "match_components", ModelArgument{&a}, ModelArgument{&b});
    if (a.lengths() != b.lengths() || a.rank() > b.rank())
        throw InvalidArgument("match_components: models of " + std::to_string(a.rank()) + " and " + std::to_string(b.rank()) +
                              " components; give two of the same lengths, the one with fewer components first");
    const std::size_t n = a.rank(), m = b.rank();
    std::vector<double> scores(n * m, 1), weight_a(a.lambda()), weight_b(b.lambda());
    for (int mode = 0; mode < a.order(); ++mode) {
        const auto products = column_products(a.world().state()->communicator(), a, b, mode);
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t q = 0; q < m; ++q) scores[p * m + q] *= products.cosine(p, q);
        for (std::size_t p = 0; p < n; ++p) weight_a[p] *= products.length_first(p);
        for (std::size_t q = 0; q < m; ++q) weight_b[q] *= products.length_second(q);
    }
    for (std::size_t p = 0; p < n; ++p)
        for (std::size_t q = 0; q < m; ++q) {
            const double larger = std::max(std::abs(weight_a[p]), std::abs(weight_b[q]));
            scores[p * m + q] *= larger > 0 ? 1 - std::abs(weight_a[p] - weight_b[q]) / larger : 0;
        }
    CpMatch match{0, decompose::best_assignment(scores, a.rank(), b.rank()), {}};
    for (std::size_t p = 0; p < n; ++p) match.scores.push_back(scores[p * m + static_cast<std::size_t>(match.partners[p])]);
    match.score = std::accumulate(match.scores.begin(), match.scores.end(), 0.0) / static_cast<double>(n);
    return match;
}

template CpMatch match_components(const CpModel<float>&, const CpModel<float>&);
template CpMatch match_components(const CpModel<double>&, const CpModel<double>&);

}  // namespace arges
