// Completion by alternating least squares: rows solve their own normal equations (Smith, Park, Karypis, SC16; Karlsson, Kressner,
// Uschmajew, Parallel Computing 57, 2016).
#include "decompose/completion/completion_method.hpp"
#include "decompose/completion/row_equations.hpp"
#include "decompose/completion/row_updates.hpp"

namespace arges::decompose {

namespace {

template <class T>
class Als : public CompletionMethod<T> {
public:
    Als(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros)
        : factors_(factors), regularization_(options.regularization), updates_(factors, nonzeros.folds && factors.comm().size() > 1) {
        factors.comm().agree([&] {
            for (int m = 0; m < factors.order(); ++m) {
                by_row_.push_back(elements_by_row(set_of(nonzeros, m), m));
                if (nonzeros.sets.size() > 1) set_of(nonzeros, m) = {};
            }
            nonzeros.sets.clear();
        });
    }

    FitSums start_sums() override { return summed(factors_.comm(), fit_sums(by_row_[0].elements, factors_.views())); }

    double iterate() override {
        for (const auto& by_row : by_row_)
            updates_.run(by_row, [&](RowEquations& equations, std::int64_t, T* row) { equations.solve(regularization_, row); });
        factors_.balance();
        return start_sums().residual;
    }

private:
    CompletionFactors<T>& factors_;
    double regularization_;
    RowUpdates<RowEquations, T> updates_;
    std::vector<RowElements<T>> by_row_;  // by mode
};

}  // namespace

template <class T>
std::unique_ptr<CompletionMethod<T>> make_als(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros) {
    return std::make_unique<Als<T>>(options, factors, nonzeros);
}

template std::unique_ptr<CompletionMethod<float>> make_als(const CompletionOptions&, CompletionFactors<float>&, Distributed<float>&);
template std::unique_ptr<CompletionMethod<double>> make_als(const CompletionOptions&, CompletionFactors<double>&, Distributed<double>&);

}  // namespace arges::decompose
