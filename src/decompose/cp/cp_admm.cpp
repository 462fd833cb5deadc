// AO-ADMM (Huang, Sidiropoulos and Liavas, IEEE Trans. Signal Process. 64, 2016), with rows that stop by themselves (as blocks do in Smith,
// Beri and Karypis, ICPP 2017). Modes whose minimum is known take it: without a constraint, with squares as penalties, and orthogonal
// columns, where |A K^T| does not depend on A, so that the polar factor of the MTTKRP is the best (Procrustes problem).
#include "decompose/cp/cp_admm.hpp"

#include "base/math.hpp"
#include "base/stopwatch.hpp"
#include "decompose/cp/admm.hpp"
#include "decompose/cp/feasible_factors.hpp"
#include "linalg/small_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace arges::decompose {

namespace {

template <class T>
class ConstrainedSweep {
public:
    ConstrainedSweep(CpOperator<T>& tensor, CpState<T>& state, double regularization, const std::vector<CpConstraint>& constraints,
                     const std::vector<std::int64_t>& lengths)
        : tensor_(tensor), state_(state), regularization_(regularization), constraints_(constraints), lengths_(lengths),
          lambda_is_free_(std::all_of(constraints.begin(), constraints.end(), [](const auto& c) { return fixes_scale(c.kind); })) {
        totals_ = rows_over_ranks(tensor, constraints);
        make_room();
        begin();
    }

    double iterate() {
        double inner = 0, model = 0;
        for (int m = 0; m < tensor_.order(); ++m) {
            Stopwatch watch;
            auto others = state_.factors.gram_product(m);
            if (lambda_is_free_) scale_gram(others, state_.lambda);
            auto whole = others;
            add_to_diagonal(others, tensor_.columns(), regularization_);
            tensor_.seconds().gram += watch.lap();
            const auto product = owned_product(m);
            watch.lap();
            improve(m, others, product);
            tensor_.seconds().solve += watch.lap();
            const auto sums = refresh(m, &product);
            inner = sums.inner;
            multiply_into(whole, state_.factors.gram(m));
            model = std::accumulate(whole.begin(), whole.end(), 0.0);
            if (lambda_is_free_ && m + 1 == tensor_.order()) fit_lambda(product, inner, model);
        }
        return fit_of(tensor_.norm_squared(), model, inner);
    }

private:
    static constexpr double rounding = std::numeric_limits<T>::epsilon();

    const Communicator& comm() const { return tensor_.comm(); }
    bool is_kind(int mode, CpConstraintKind kind) const { return constraints_[mode].kind == kind; }
    bool is_bounded(int mode) const { return decompose::is_bounded(constraints_, regularization_, mode); }
    FactorPlace place_of(int mode) const { return {tensor_.rows(mode), mode, totals_[mode]}; }
    FactorUpdate update(int mode) const { return update_of(constraints_[mode].kind, is_bounded(mode)); }

    void make_room() {
        const std::int64_t columns = tensor_.columns();
        std::int64_t most = 0, most_owned = 0;
        for (int m = 0; m < tensor_.order(); ++m) most = std::max(most, tensor_.rows(m).count());
        comm().agree([&] {
            product_ = Buffer<T>(most * columns);
            for (int m = 0; m < tensor_.order(); ++m) {
                const auto owned = tensor_.rows(m).owned;
                const bool is_admm = update(m) == FactorUpdate::rows || update(m) == FactorUpdate::columns;
                dual_.push_back(Buffer<T>::zeros(is_admm ? owned * columns : 0));
                if (update(m) == FactorUpdate::columns) most_owned = std::max(most_owned, owned);
            }
            for (auto& scratch : scratch_) scratch = Buffer<T>(most_owned * columns);
            whole_.resize(tensor_.order());
        });
        for (int m = 0; m < tensor_.order(); ++m)
            if (is_kind(m, CpConstraintKind::unimodal) || is_kind(m, CpConstraintKind::smooth)) whole_[m].emplace(comm(), tensor_.rows(m));
    }

    /// Weights go to a factor that may have them; factors that fix their scale meet their constraints, and the model gets the scale that
    /// fits best.
    void begin() {
        int free = 0;
        while (free < tensor_.order() && fixes_scale(constraints_[free].kind)) ++free;
        bool is_fixed = false;
        for (int m = 0; m < tensor_.order(); ++m) {
            if (!fixes_scale(constraints_[m].kind)) continue;
            is_fixed = true;
            make_feasible(comm(), state_.factors.owned(m), constraints_[m].kind, place_of(m));
            refresh(m, nullptr);
        }
        if (is_fixed) {
            const double scale = best_scale();
            for (auto& weight : state_.lambda) weight *= scale;
        }
        if (lambda_is_free_) return;
        scale_columns(state_.factors.matrix(free), state_.lambda);
        auto gram = state_.factors.gram(free);
        scale_gram(gram, state_.lambda);
        state_.factors.set_gram(free, std::move(gram));
        state_.lambda.assign(state_.lambda.size(), 1);
        tensor_.forget_factors();
    }

    double best_scale() {
        const int last = tensor_.order() - 1;
        auto whole = state_.factors.gram_product(-1);
        scale_gram(whole, state_.lambda);
        const double model = std::accumulate(whole.begin(), whole.end(), 0.0);
        tensor_.mttkrp(last, state_.factors.views(), matrix_of(product_, tensor_.rows(last).count()));
        const auto product = matrix_of(product_, tensor_.rows(last).owned);
        const auto inner = inner_products(last, product);
        const double scale = std::inner_product(inner.begin(), inner.end(), state_.lambda.begin(), 0.0) / model;
        return std::isfinite(scale) && scale != 0 ? std::abs(scale) : 1;
    }

    /// Sums over all ranks of the rows' inner products, by column. Collective.
    std::vector<double> inner_products(int mode, sparse::RowMatrix<T> product) {
        const auto owned = state_.factors.owned(mode);
        auto sums = sums_over_rows(owned.rows, owned.columns, [&](std::int64_t i, double* sum) {
            for (int c = 0; c < owned.columns; ++c) sum[c] += static_cast<double>(owned.row(i)[c]) * product.row(i)[c];
        });
        comm().sum(sums.data(), std::ssize(sums));
        return sums;
    }

    sparse::RowMatrix<T> matrix_of(Buffer<T>& buffer, std::int64_t rows) {
        return {buffer.data(), rows, tensor_.columns(), tensor_.columns()};
    }

    /// The MTTKRP, with lambda where it is not part of a factor.
    sparse::RowMatrix<T> owned_product(int mode) {
        tensor_.mttkrp(mode, state_.factors.views(), matrix_of(product_, tensor_.rows(mode).count()));
        const auto product = matrix_of(product_, tensor_.rows(mode).owned);
        if (lambda_is_free_) scale_columns(product, state_.lambda);
        return product;
    }

    /// The Gram matrix of a factor that has changed, and its rows where they are needed. Collective.
    RowSums refresh(int mode, const sparse::RowMatrix<T>* product) {
        Stopwatch watch;
        tensor_.start_expand(mode, state_.factors.matrix(mode));
        watch.lap();
        const auto owned = state_.factors.owned(mode);
        RowSums sums;
        comm().agree([&] {
            sums.gram = gram_of<T>(owned);
            if (product == nullptr) return;
            sums.inner = sums_over_rows(owned.rows, 1, [&](std::int64_t i, double* sum) {
                for (int c = 0; c < owned.columns; ++c) *sum += static_cast<double>(owned.row(i)[c]) * product->row(i)[c];
            })[0];
        });
        tensor_.seconds().gram += watch.lap();
        sum_over_ranks(comm(), sums);
        tensor_.seconds().communication += watch.lap();
        tensor_.finish_expand(mode);
        state_.factors.set_gram(mode, sums.gram);
        return sums;
    }

    void improve(int mode, Gram& others, sparse::RowMatrix<T> product) {
        const auto owned = state_.factors.owned(mode);
        const auto how = update(mode);
        if (how == FactorUpdate::rows || how == FactorUpdate::columns) return run_admm(mode, others, product);
        std::copy_n(product.data, product.rows * product.columns, owned.data);
        if (how == FactorUpdate::orthogonal) return make_orthogonal(comm(), owned, place_of(mode));
        if (how == FactorUpdate::smooth) return make_smooth(mode, others);
        if (is_kind(mode, CpConstraintKind::l2)) add_to_diagonal(others, tensor_.columns(), constraints_[mode].weight);
        const GramSolver solver(others, tensor_.columns(), rounding);
        comm().agree([&] { solve_rows(solver, owned); });
    }

    void run_admm(int mode, const Gram& others, sparse::RowMatrix<T> product) {
        const std::size_t n = tensor_.columns();
        const auto owned = state_.factors.owned(mode);
        AdmmRows<T> rows{owned, matrix_of(dual_[mode], owned.rows), product};
        for (std::size_t c = 0; c < n; ++c) rows.typical += state_.factors.gram(mode)[c * (n + 1)] / static_cast<double>(totals_[mode]);
        const AdmmMatrix<T> matrix(others, tensor_.columns());
        if (update(mode) == FactorUpdate::rows) return improve_rows(rows, matrix, constraints_[mode]);
        const ColumnConstraint of_columns{constraints_[mode], is_bounded(mode), whole_[mode] ? &*whole_[mode] : nullptr, lengths_[mode]};
        improve_columns<T>(comm(), rows, matrix, of_columns, {matrix_of(scratch_[0], owned.rows), matrix_of(scratch_[1], owned.rows)});
    }

    /// Solves A G + weight D^T D A = M for A, which is M before: with G = Q S Q^T the columns of A Q do not depend on each other.
    void make_smooth(int mode, const Gram& others) {
        const std::size_t n = tensor_.columns();
        const auto rows = state_.factors.owned(mode);
        const auto [values, vectors] = linalg::symmetric_eigen(others, tensor_.columns());
        std::vector<T> to(n * n), back(n * n);
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t e = 0; e < n; ++e) to[r * n + e] = back[e * n + r] = static_cast<T>(vectors[r + e * n]);
        const double largest = values.back() > 0 ? values.back() : 1, least = 100 * rounding * largest;
        multiply_rows(rows, to);
        whole_[mode]->transform<T>(rows, [&, &shifts = values](int column, std::vector<double>& elements) {
            solve_smooth(whole_[mode]->index(), lengths_[mode], std::max(shifts[column], least), constraints_[mode].weight, elements);
        });
        multiply_rows(rows, back);
    }

    /// Weights >= 0 that fit best to the factors, by coordinate descent.
    void fit_lambda(sparse::RowMatrix<T> product, double& inner, double& model) {
        constexpr int sweeps = 20;
        constexpr double least = 1e-8;  // of the largest: weights that are zero could not grow again
        const std::size_t n = tensor_.columns();
        auto& lambda = state_.lambda;
        auto right = inner_products(tensor_.order() - 1, product);
        for (std::size_t c = 0; c < n; ++c) right[c] /= lambda[c];
        const auto gram = state_.factors.gram_product(-1);
        for (int sweep = 0; sweep < sweeps; ++sweep)
            for (std::size_t c = 0; c < n; ++c) {
                double gradient = -right[c];
                for (std::size_t r = 0; r < n; ++r) gradient += gram[r + c * n] * lambda[r];
                if (gram[c * (n + 1)] > 0) lambda[c] = at_least_zero(lambda[c] - gradient / gram[c * (n + 1)]);
            }
        const double largest = *std::max_element(lambda.begin(), lambda.end());
        for (double& weight : lambda) weight = largest > 0 ? std::max(weight, least * largest) : 1;
        auto whole = gram;
        scale_gram(whole, lambda);
        model = std::accumulate(whole.begin(), whole.end(), 0.0);
        inner = std::inner_product(lambda.begin(), lambda.end(), right.begin(), 0.0);
    }

    CpOperator<T>& tensor_;
    CpState<T>& state_;
    double regularization_;
    const std::vector<CpConstraint>& constraints_;
    const std::vector<std::int64_t>& lengths_;
    bool lambda_is_free_;  // all factors fix their scale
    std::vector<std::int64_t> totals_;
    Buffer<T> product_, scratch_[2];
    std::vector<Buffer<T>> dual_;
    std::vector<std::optional<WholeColumns>> whole_;
};

}  // namespace

template <class T>
void run_constrained(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options,
                     const std::vector<CpConstraint>& constraints, const std::vector<std::int64_t>& lengths, const AfterIteration& after) {
    ConstrainedSweep<T> sweep(tensor, state, options.regularization, constraints, lengths);
    alternate<T>(
        tensor, state, options, after, [&] { return sweep.iterate(); }, true);
    move_lengths_to_lambda(state, constraints);
}

std::int64_t constrained_memory(const ConstrainedRows& rows, const std::vector<CpConstraint>& constraints, double regularization,
                                std::int64_t columns, std::int64_t element_bytes, int threads) {
    std::int64_t held = 0, all = 0, scratch = 0, passing = 0;
    for (std::size_t m = 0; m < constraints.size(); ++m) {
        const auto kind = constraints[m].kind;
        const auto how = update_of(kind, is_bounded(constraints, regularization, static_cast<int>(m)));
        const auto matrix = array_memory(rows.owned[m] * columns * element_bytes);
        all = std::max(all, rows.all[m]);
        if (how == FactorUpdate::rows || how == FactorUpdate::columns) held += matrix;
        if (how == FactorUpdate::columns) scratch = std::max(scratch, 2 * matrix);
        if (kind == CpConstraintKind::smooth || kind == CpConstraintKind::unimodal)
            passing += whole_columns_memory(rows.ranks, rows.total[m], rows.owned[m], columns, element_bytes, threads);
    }
    return array_memory(all * columns * element_bytes) + held + scratch + passing + 8 * columns * columns * std::int64_t{sizeof(double)};
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void run_constrained(CpOperator<T>&, CpState<T>&, const IterationOptions&, const std::vector<CpConstraint>&,                  \
                                  const std::vector<std::int64_t>&, const AfterIteration&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
