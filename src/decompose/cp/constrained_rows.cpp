// AO-ADMM (Huang, Sidiropoulos and Liavas, IEEE Trans. Signal Process. 64, 2016) where some elements are missing: each row has a Gram
// matrix of its own. Constraints on columns keep those of all rows of a mode. Orthogonal columns: |A H - B| with the Gram matrix H of each
// row is bounded from above by the same matrix L I for all rows, whose minimum is a polar factor (Procrustes problem).
#include "decompose/cp/constrained_rows.hpp"

#include "base/first_error.hpp"
#include "base/math.hpp"
#include "base/stopwatch.hpp"
#include "comm/values.hpp"
#include "decompose/completion/row_equations.hpp"
#include "decompose/completion/row_updates.hpp"
#include "decompose/cp/admm.hpp"
#include "decompose/cp/feasible_factors.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace arges::decompose {

namespace {

constexpr int orthogonal_steps = 5;

/// The equations of all rows are kept, because rows do not stop by themselves.
bool keeps_equations(FactorUpdate how) { return how != FactorUpdate::solve && how != FactorUpdate::rows; }

template <class T>
class ConstrainedRowSweep {
public:
    ConstrainedRowSweep(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known, double regularization,
                        const std::vector<CpConstraint>& constraints, const std::vector<std::int64_t>& lengths)
        : data_(data), state_(state), known_(known), regularization_(regularization), constraints_(constraints), lengths_(lengths),
          totals_(rows_over_ranks(data, constraints)), updates_(data.comm(), data.all_rows(), data.columns(), data.folds()) {
        make_room();
        begin();
    }

    void iterate() {
        for (int m = 0; m < data_.order(); ++m) {
            Stopwatch watch;
            const double before = data_.seconds().communication;
            improve(m);
            data_.seconds().solve += watch.lap() - (data_.seconds().communication - before);
            refresh(m);
        }
        note_fit(data_, state_, known_);
    }

private:
    const Communicator& comm() const { return data_.comm(); }
    bool is_bounded(int mode) const { return decompose::is_bounded(constraints_, regularization_, mode); }
    FactorPlace place_of(int mode) const { return {data_.rows(mode), mode, totals_[mode]}; }
    FactorUpdate update(int mode) const { return update_of(constraints_[mode].kind, is_bounded(mode)); }

    void make_room() {
        const std::int64_t columns = data_.columns();
        comm().agree([&] {
            std::int64_t most = 0, most_kept = 0;
            whole_.resize(data_.order());
            for (int m = 0; m < data_.order(); ++m) {
                const auto owned = data_.rows(m).owned;
                const bool has_dual = update(m) != FactorUpdate::solve && update(m) != FactorUpdate::orthogonal;
                dual_.push_back(Buffer<T>::zeros(has_dual ? owned * columns : 0));
                most = std::max(most, owned);
                if (keeps_equations(update(m))) most_kept = std::max(most_kept, owned);
            }
            product_ = Buffer<T>(most * columns);
            grams_ = Buffer<double>(most_kept * columns * columns);
            for (auto& scratch : scratch_) scratch = Buffer<T>(most_kept * columns);
        });
        for (int m = 0; m < data_.order(); ++m)
            if (const auto kind = constraints_[m].kind; kind == CpConstraintKind::unimodal || kind == CpConstraintKind::smooth)
                whole_[m].emplace(comm(), data_.rows(m));
    }

    /// Weights go to the first factor that may have them, the others meet their constraints.
    void begin() {
        int free = 0;
        while (fixes_scale(constraints_[free].kind)) ++free;
        for (int m = 0; m < data_.order(); ++m) {
            if (m == free)
                scale_columns(state_.factors.matrix(m), state_.lambda);
            else if (fixes_scale(constraints_[m].kind))
                make_feasible(comm(), state_.factors.owned(m), constraints_[m].kind, place_of(m));
            refresh(m);
        }
        state_.lambda.assign(state_.lambda.size(), 1);
    }

    /// The Gram matrix of a factor that has changed, and its rows where they are needed. Collective.
    void refresh(int mode) {
        data_.start_expand(mode, state_.factors.matrix(mode));
        state_.factors.make_gram(data_, mode);
        data_.finish_expand(mode);
    }

    sparse::RowMatrix<T> matrix_of(Buffer<T>& buffer, std::int64_t rows) const {
        return {buffer.data(), rows, data_.columns(), data_.columns()};
    }

    std::span<double> gram_of_row(std::int64_t row) {
        const auto size = static_cast<std::size_t>(data_.columns()) * static_cast<std::size_t>(data_.columns());
        return {grams_.data() + static_cast<std::size_t>(row) * size, size};
    }

    void improve(int mode) {
        const std::size_t n = data_.columns();
        const auto owned = state_.factors.owned(mode);
        const auto how = update(mode);
        const auto& constraint = constraints_[mode];
        AdmmRows<T> rows{owned, matrix_of(dual_[mode], owned.rows), matrix_of(product_, owned.rows)};
        for (std::size_t c = 0; c < n; ++c) rows.typical += state_.factors.gram(mode)[c * (n + 1)] / static_cast<double>(totals_[mode]);
        const double penalty = regularization_ + (constraint.kind == CpConstraintKind::l2 ? constraint.weight : 0);
        std::vector<char> is_known(owned.rows, 0);
        const auto improve_known = [&](RowEquations& equations, std::int64_t row, T* numbers) {
            is_known[row] = 1;
            if (how == FactorUpdate::solve) return equations.solve(penalty, numbers);
            auto gram = equations.whole(penalty);
            std::ranges::copy(equations.right(), rows.product.row(row));
            if (how != FactorUpdate::rows) {
                std::ranges::copy(gram, gram_of_row(row).begin());
                return;
            }
            std::vector<T> scratch(2 * n);
            improve_row(rows, AdmmMatrix<T>(std::move(gram), data_.columns()), constraint, row, scratch.data());
        };
        updates_.run(data_.by_row(mode), state_.factors, data_.seconds().communication, improve_known,
                     equations_of(data_.device(), mode, state_.factors));
        for (std::int64_t i = 0; i < owned.rows; ++i)
            if (!is_known[i]) forget(mode, i, penalty);
        if (how == FactorUpdate::orthogonal) return improve_orthogonal(mode);
        if (!keeps_equations(how)) return;
        const auto matrix = row_matrices(mode);
        const ColumnConstraint of_columns{constraint, is_bounded(mode), whole_[mode] ? &*whole_[mode] : nullptr, lengths_[mode]};
        improve_columns<T>(comm(), rows, matrix, of_columns, {matrix_of(scratch_[0], owned.rows), matrix_of(scratch_[1], owned.rows)});
    }

    /// A row of an empty slice, whose equations are 0 = 0.
    void forget(int mode, std::int64_t row, double penalty) {
        const std::size_t n = data_.columns();
        if (keeps_equations(update(mode))) {
            std::fill_n(product_.data() + static_cast<std::size_t>(row) * n, n, T(0));
            const auto gram = gram_of_row(row);
            std::ranges::fill(gram, 0);
            for (std::size_t c = 0; c < n; ++c) gram[c * (n + 1)] = penalty;
            return;
        }
        T* const numbers = state_.factors.owned(mode).row(row);
        std::fill_n(numbers, n, T(0));
        apply_row_constraint(constraints_[mode], 1, std::span<T>(numbers, n));
    }

    /// With the same rho for all rows, so that constraints mean the same for each. Collective.
    AdmmMatrix<T> row_matrices(int mode) {
        const std::size_t n = data_.columns();
        const auto owned = data_.rows(mode).owned;
        auto trace = sums_over_rows(owned, 1, [&](std::int64_t i, double* sum) {
            for (std::size_t c = 0; c < n; ++c) *sum += gram_of_row(i)[c * (n + 1)];
        })[0];
        comm().sum(&trace, 1);
        std::optional<AdmmMatrix<T>> result;
        comm().agree([&] {
            result.emplace(admm_rho(trace / static_cast<double>(totals_[mode]), data_.columns()), owned, data_.columns());
            FirstError error;
#pragma omp parallel for schedule(static)
            for (std::int64_t i = 0; i < owned; ++i)
                error.run([&] {
                    const auto gram = gram_of_row(i);
                    result->set(i, Gram(gram.begin(), gram.end()), data_.columns());
                });
            error.rethrow();
        });
        return std::move(*result);
    }

    /// Collective.
    void improve_orthogonal(int mode) {
        const std::size_t n = data_.columns();
        const auto rows = state_.factors.owned(mode);
        std::vector<double> bounds(comm().size(), 0);  // of the largest eigenvalues: by rank, the longest sum of a line
        for (std::int64_t i = 0; i < rows.rows; ++i)
            for (std::size_t c = 0; c < n; ++c) {
                double sum = 0;
                for (std::size_t r = 0; r < n; ++r) sum += std::abs(gram_of_row(i)[c * n + r]);
                bounds[comm().rank()] = std::max(bounds[comm().rank()], sum);
            }
        comm().sum(bounds.data(), std::ssize(bounds));
        const double bound = *std::max_element(bounds.begin(), bounds.end());
        if (!(bound > 0)) return;
        const auto product = matrix_of(product_, rows.rows);
        for (int step = 0; step < orthogonal_steps; ++step) {
#pragma omp parallel for schedule(static)
            for (std::int64_t i = 0; i < rows.rows; ++i) {
                T* const to = matrix_of(scratch_[0], rows.rows).row(i);
                for (std::size_t c = 0; c < n; ++c) {
                    double gradient = -static_cast<double>(product.row(i)[c]);
                    for (std::size_t r = 0; r < n; ++r) gradient += static_cast<double>(rows.row(i)[r]) * gram_of_row(i)[r * n + c];
                    to[c] = static_cast<T>(static_cast<double>(rows.row(i)[c]) - gradient / bound);
                }
                std::copy_n(to, n, rows.row(i));
            }
            make_orthogonal(comm(), rows, place_of(mode));
        }
    }

    ElementOperator<T>& data_;
    CpState<T>& state_;
    const KnownElements& known_;
    double regularization_;
    const std::vector<CpConstraint>& constraints_;
    const std::vector<std::int64_t>& lengths_;
    std::vector<std::int64_t> totals_;
    RowUpdates<RowEquations, T> updates_;
    Buffer<T> product_, scratch_[2];
    Buffer<double> grams_;  // of the rows of one mode
    std::vector<Buffer<T>> dual_;
    std::vector<std::optional<WholeColumns>> whole_;
};

}  // namespace

template <class T>
void run_constrained_rows(ElementOperator<T>& data, CpState<T>& state, const KnownElements& known, const IterationOptions& options,
                          const std::vector<CpConstraint>& constraints, const std::vector<std::int64_t>& lengths,
                          const AfterIteration& after) {
    ConstrainedRowSweep<T> sweep(data, state, known, options.regularization, constraints, lengths);
    for (int it = 1; it <= options.max_iterations; ++it) {
        sweep.iterate();
        if (!after(it, state.fit)) break;
    }
    move_lengths_to_lambda(state, constraints);
}

std::int64_t constrained_rows_memory(const SparseShare& share, const std::vector<CpConstraint>& constraints, double regularization) {
    const std::int64_t columns = share.columns;
    std::int64_t duals = 0, kept = 0;
    for (std::size_t m = 0; m < constraints.size(); ++m) {
        if (!keeps_equations(update_of(constraints[m].kind, is_bounded(constraints, regularization, static_cast<int>(m))))) continue;
        kept = std::max(kept, share.owned[m]);
        duals += array_memory(share.owned[m] * columns * share.value_bytes);
    }
    const auto most = *std::max_element(share.owned.begin(), share.owned.end());
    return duals + array_memory(kept * columns * columns * std::int64_t{sizeof(double)}) +
           array_memory(kept * columns * columns * share.value_bytes) + 2 * array_memory(kept * columns * share.value_bytes) + most;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void run_constrained_rows(ElementOperator<T>&, CpState<T>&, const KnownElements&, const IterationOptions&,                    \
                                       const std::vector<CpConstraint>&, const std::vector<std::int64_t>&, const AfterIteration&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
