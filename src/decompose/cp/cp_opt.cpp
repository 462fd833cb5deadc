// CP by L-BFGS over all factors at once: the squared residual, which norm, products and Gram matrices say (Acar, Dunlavy, Kolda, J.
// Chemometrics 25, 2011).
#include "decompose/cp/cp_als.hpp"

#include "base/stopwatch.hpp"
#include "decompose/cp/lbfgs.hpp"

#include <numeric>

namespace arges::decompose {

namespace {

/// |X - model|^2 / 2 and the regularization's part.
template <class T>
class SquaredResidual : public FactorObjective<T> {
public:
    SquaredResidual(CpOperator<T>& tensor, Factors<T>& factors, double regularization)
        : FactorObjective<T>(tensor, factors), tensor_(tensor), regularization_(regularization) {}

    double evaluate(const FactorVector<T>& x, FactorVector<T>& gradient) override {
        auto& factors = this->factors_;
        this->place(x, true);
        gradient.resize(x.size());
        auto* g = gradient.data();
        double inner = 0, squares = 0;
        tensor_.mttkrp_all(factors.views(), this->products_);
        Stopwatch watch;
        for (int m = 0; m < tensor_.order(); ++m) {
            const auto owned = factors.owned(m);
            const auto& product = this->products_[m];
            const auto others = factors.gram_product(m);
            tensor_.seconds().gram += watch.lap();
            if (m == 0) inner = this->local_dot(owned.data, product.data, owned.rows * owned.columns);
            g = subtract_product(owned, product, others, g);
            for (int c = 0; c < owned.columns; ++c)
                squares += factors.gram(m)[static_cast<std::size_t>(c) * static_cast<std::size_t>(owned.columns + 1)];
            tensor_.seconds().solve += watch.lap();
        }
        tensor_.comm().sum(&inner, 1);
        tensor_.seconds().communication += watch.lap();
        const auto whole = factors.gram_product(-1);
        const double model = std::accumulate(whole.begin(), whole.end(), 0.0);
        tensor_.seconds().gram += watch.lap();
        inner_ = inner;
        model_ = model;
        return (tensor_.norm_squared() + model) / 2 - inner + regularization_ / 2 * squares;
    }

    double fit() const override { return fit_of(tensor_.norm_squared(), model_, inner_); }
    /// So that the model is as near as a multiple of it can be.
    double best_scale() const override { return model_ > 0 && inner_ > 0 ? inner_ / model_ : 1; }

private:
    /// g = A V + regularization * A - M, row by row.
    T* subtract_product(sparse::RowMatrix<T> a, sparse::RowMatrix<T> product, const Gram& v, T* g) const {
        const std::size_t n = a.columns;
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < a.rows; ++i) {
            T* const out = g + i * a.columns;
            for (std::size_t c = 0; c < n; ++c) {
                double sum = regularization_ * static_cast<double>(a.row(i)[c]) - static_cast<double>(product.row(i)[c]);
                for (std::size_t r = 0; r < n; ++r) sum += static_cast<double>(a.row(i)[r]) * v[r + c * n];
                out[c] = static_cast<T>(sum);
            }
        }
        return g + a.rows * a.columns;
    }

    CpOperator<T>& tensor_;
    double regularization_;
    double inner_ = 0, model_ = 0;
};

}  // namespace

template <class T>
void run_opt(CpOperator<T>& tensor, CpState<T>& state, const IterationOptions& options, const AfterIteration& after) {
    SquaredResidual<T> objective(tensor, state.factors, options.regularization);
    run_lbfgs(objective, tensor, state, options.max_iterations, after);
}

#define ARGES_INSTANTIATE(T) template void run_opt(CpOperator<T>&, CpState<T>&, const IterationOptions&, const AfterIteration&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
