/// The algorithms of tensor completion.
#pragma once

#include "arges/complete.hpp"
#include "decompose/completion/completion_factors.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/distribution/distribute.hpp"

#include <memory>

namespace arges::decompose {

/// One algorithm on the elements of all ranks. All calls are collective unless marked local.
template <class T>
class CompletionMethod {
public:
    CompletionMethod() = default;
    virtual ~CompletionMethod() = default;
    CompletionMethod(const CompletionMethod&) = delete;
    CompletionMethod& operator=(const CompletionMethod&) = delete;

    /// Sums over the elements of all ranks, with the factors as they are before the first iteration.
    virtual FitSums start_sums() = 0;
    /// Called when the start is complete.
    virtual void begin() {}
    /// Improves the factors and balances them; returns the sum of the squares of the residual.
    virtual double iterate() = 0;
    /// The last iteration has changed the factors. Local.
    virtual bool has_moved() const { return true; }
    /// Of the last iteration; 0: it has none. Local.
    virtual double learning_rate() const { return 0; }
};

/// Memory of make_completion() and of the iterations beside the factors, an upper bound. Pure.
/// @param share with what distribute() leaves, which is given up
MemoryTally method_memory(const SparseShare& share, const CompletionOptions& options, int threads);

/// Memory of the elements of every mode by row, made of the sets that distribute() leaves. Pure.
MemoryTally by_row_memory(const SparseShare& share);
/// Memory of RowUpdates, but for the sums of threads; so many numbers for each row. Pure.
std::int64_t row_updates_memory(const SparseShare& share, std::int64_t numbers);

/// The elements that serve a mode.
template <class T>
sparse::LocalNonzeros<T>& set_of(Distributed<T>& nonzeros, int mode) {
    return nonzeros.sets[nonzeros.sets.size() == 1 ? 0 : static_cast<std::size_t>(mode)].nonzeros;
}

template <class T>
const sparse::LocalNonzeros<T>& set_of(const Distributed<T>& nonzeros, int mode) {
    return nonzeros.sets[nonzeros.sets.size() == 1 ? 0 : static_cast<std::size_t>(mode)].nonzeros;
}

/// The algorithms; they hold on to the options, whose regularization is for one element of a row, and to the factors.
template <class T>
std::unique_ptr<CompletionMethod<T>> make_als(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros,
                                              const ElementKernels* device);
template <class T>
std::unique_ptr<CompletionMethod<T>> make_ccd(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros);
template <class T>
std::unique_ptr<CompletionMethod<T>> make_sgd(const CompletionOptions& options, CompletionFactors<T>& factors, Distributed<T>& nonzeros);

/// Makes the algorithm that the options name; `nonzeros` gives its elements up, and keeps the rows. Collective.
/// @param device  that makes the sums of als; null: the host does
template <class T>
std::unique_ptr<CompletionMethod<T>> make_completion(const CompletionOptions& options, CompletionFactors<T>& factors,
                                                     Distributed<T>& nonzeros, const ElementKernels* device) {
    if (options.algorithm == CompletionAlgorithm::als) return make_als(options, factors, nonzeros, device);
    if (options.algorithm == CompletionAlgorithm::ccd) return make_ccd(options, factors, nonzeros);
    return make_sgd(options, factors, nonzeros);
}

/// Sums of all ranks.
inline FitSums summed(const Communicator& comm, FitSums sums) {
    double both[] = {sums.residual, sums.model};
    comm.sum(both, 2);
    return {both[0], both[1]};
}

}  // namespace arges::decompose
