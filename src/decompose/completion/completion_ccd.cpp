// Completion by CCD++ (Yu, Hsieh, Si, Dhillon, ICDM 2012, for matrices; Karlsson, Kressner, Uschmajew, 2016, and Smith, Park, Karypis,
// SC16, for tensors): one component after the other, with the residual kept. Elements stream by; a component is a few vectors.
#include "base/math.hpp"
#include "base/stopwatch.hpp"
#include "decompose/completion/completion_method.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "sparse/blocked_sum.hpp"
#include "sparse/thread_rows.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <type_traits>

namespace arges::decompose {

namespace {

/// Calls f with constants: an order, for others than usual ones 0, an order that is known when running; and whether there are weights.
template <class F>
void for_order(int order, bool has_weights, F&& f) {
    if (has_weights) return f(std::integral_constant<int, 0>(), std::true_type());
    if (order == 3) return f(std::integral_constant<int, 3>(), std::false_type());
    if (order == 4) return f(std::integral_constant<int, 4>(), std::false_type());
    f(std::integral_constant<int, 0>(), std::false_type());
}

template <class T>
class Ccd : public CompletionMethod<T> {
public:
    Ccd(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros)
        : factors_(factors), regularization_(options.regularization), is_nonnegative_(options.nonnegative),
          folds_(nonzeros.folds && factors.comm().size() > 1) {
        const auto& comm = factors.comm();
        comm.agree([&] {
            auto& set = nonzeros.sets[0].nonzeros;
            std::vector<int> modes(factors.order());
            std::iota(modes.begin(), modes.end(), 0);
            std::stable_sort(modes.begin(), modes.end(), [&](int a, int b) { return factors.rows(a).count() > factors.rows(b).count(); });
            residual_ = sorted_elements(set, modes);
            nonzeros.sets.clear();
            std::int64_t most = 0;
            for (int m = 0; m < factors.order(); ++m) {
                const auto& rows = factors.rows(m);
                most = std::max(most, rows.count());
                columns_.emplace_back(rows.count() * factors.columns());
                fold_.push_back(std::make_unique<RowExchange<double>>(comm, rows, 2));
                expand_.push_back(std::make_unique<RowExchange<T>>(comm, rows, 1));
                threads_.push_back(std::make_unique<sparse::ThreadRows<double>>(parts_, rows.count(), [&](int part, const auto& add) {
                    for (auto x = first_of(part); x < first_of(part + 1); ++x) add(residual_.index(x) + m, 1);
                }));
            }
            sums_ = Buffer<double>(2 * most);
        });
    }

    FitSums start_sums() override { return summed(factors_.comm(), fit_sums(residual_, factors_.views())); }

    void begin() override { subtract_model(residual_, factors_.views()); }

    double iterate() override {
        double squares = 0;
        transpose([](T& column, T& row) { column = row; });
        for (auto component : falling_weights(factors_.weights())) squares = improve(component);
        transpose([](T& column, T& row) { row = column; });
        factors_.comm().sum(&squares, 1);
        factors_.balance();
        return squares;
    }

private:
    std::int64_t first_of(int part) const { return residual_.count() * part / parts_; }

    /// Calls move(element of a column, the same of a row) for all elements of the factors.
    template <class F>
    void transpose(F&& move) {
        for (int m = 0; m < factors_.order(); ++m) {
            const auto matrix = factors_.matrix(m);
            auto& columns = columns_[m];
#pragma omp parallel for schedule(static)
            for (std::int64_t i = 0; i < matrix.rows; ++i)
                for (int c = 0; c < matrix.columns; ++c) move(columns[c * matrix.rows + i], matrix.row(i)[c]);
        }
    }

    /// Improves a column of each factor; returns the sum of the squares of this rank's residual.
    double improve(std::int64_t component) {
        column_.clear();
        for (int m = 0; m < factors_.order(); ++m) column_.push_back(columns_[m].data() + component * factors_.rows(m).count());
        double squares = 0;
        for_order(factors_.order(), !residual_.weights.empty(), [&](auto order, auto has_weights) {
            for (int m = 0; m < factors_.order(); ++m) improve_column<order(), has_weights()>(m);
            squares = subtract<order(), has_weights()>();
        });
        return squares;
    }

    /// Sums w (residual + component) h and w h^2, with weights w, for the rows of a mode; the first mode adds the component to the
    /// residual.
    template <int fixed, bool has_weights>
    void improve_column(int mode) {
        const auto& rows = factors_.rows(mode);
        const sparse::RowMatrix<double> sums{sums_.data(), rows.count(), 2, 2};
        const int order = fixed > 0 ? fixed : residual_.order;
        T* const mine = column_[mode];
        threads_[mode]->run(sums, [&](int part, const sparse::RowTarget<double>& target) {
            const std::uint32_t* index = residual_.index(first_of(part));
            T* const values = residual_.values.data();
            for (auto x = first_of(part); x < first_of(part + 1); ++x, index += order) {
                T h = 1;
                for (int m = 0; m < order; ++m) h *= m == mode ? T(1) : column_[m][index[m]];
                if (mode == 0) values[x] += mine[index[mode]] * h;
                double* const to = target.row(index[mode]);
                const double weighted = has_weights ? residual_.weight(x) * h : h;
                to[0] += static_cast<double>(values[x]) * weighted;
                to[1] += weighted * h;
            }
        });
        Stopwatch watch;
        if (folds_) fold_[mode]->fold(sums);
        factors_.communication_seconds() += watch.lap();
        const auto& counts = factors_.counts(mode);
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < rows.owned; ++i) {
            const double divisor = sums.row(i)[1] + regularization_ * counts[i];
            if (divisor > 0) mine[i] = static_cast<T>(is_nonnegative_ ? at_least_zero(sums.row(i)[0] / divisor) : sums.row(i)[0] / divisor);
        }
        watch.lap();
        expand_[mode]->expand({mine, rows.count(), 1, 1});
        factors_.communication_seconds() += watch.lap();
    }

    /// Takes the component from the residual.
    template <int fixed, bool has_weights>
    double subtract() {
        const int order = fixed > 0 ? fixed : residual_.order;
        return sparse::blocked_sum(residual_.count(), [&](std::int64_t x) {
            const auto* const index = residual_.index(x);
            T product = 1;
            for (int m = 0; m < order; ++m) product *= column_[m][index[m]];
            auto& value = residual_.values[x];
            value -= product;
            return (has_weights ? residual_.weight(x) : 1.0) * value * value;
        });
    }

    CompletionFactors<T>& factors_;
    double regularization_;
    bool is_nonnegative_, folds_;
    const int parts_ = omp_get_max_threads();
    Elements<T> residual_;
    std::vector<Buffer<T>> columns_;  // of the factors, one after the other, by mode
    std::vector<T*> column_;          // of the component under way, by mode
    Buffer<double> sums_;
    std::vector<std::unique_ptr<RowExchange<double>>> fold_;
    std::vector<std::unique_ptr<RowExchange<T>>> expand_;
    std::vector<std::unique_ptr<sparse::ThreadRows<double>>> threads_;
};

}  // namespace

template <class T>
std::unique_ptr<CompletionMethod<T>> make_ccd(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros) {
    return std::make_unique<Ccd<T>>(options, factors, nonzeros);
}

template std::unique_ptr<CompletionMethod<float>> make_ccd(const CompletionOptions&, CompletionFactors<float>&, Distributed<float>&);
template std::unique_ptr<CompletionMethod<double>> make_ccd(const CompletionOptions&, CompletionFactors<double>&, Distributed<double>&);

}  // namespace arges::decompose
