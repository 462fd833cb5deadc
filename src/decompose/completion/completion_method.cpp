#include "decompose/completion/completion_method.hpp"

#include "decompose/completion/row_equations.hpp"
#include "decompose/completion/row_updates.hpp"
#include "sparse/thread_rows.hpp"

#include <algorithm>

namespace arges::decompose {

namespace {

/// Elements of every mode by row, from the sets that distribute() leaves.
template <class T>
MemoryTally by_row_memory(const SparseShare& share) {
    MemoryTally tally;
    for (int m = 0; m < share.order(); ++m) {
        const auto count = share.nonzeros[share.nonzeros.size() == 1 ? 0 : static_cast<std::size_t>(m)];
        tally.add(row_elements_memory<T>(count, share.order(), share.rows[m]));
        if (share.nonzeros.size() > 1) tally.hold(-count * share.local_bytes());
    }
    if (share.nonzeros.size() == 1) tally.hold(-share.nonzeros[0] * share.local_bytes());
    return tally;
}

template <class T>
MemoryTally als_memory(const SparseShare& share, bool folds, int threads) {
    MemoryTally tally;
    tally.hold(threads * RowEquations::memory(share.columns));
    if (folds) tally.hold(RowUpdates<RowEquations, T>::memory(share.rows, share.shared, share.columns));
    tally.add(by_row_memory<T>(share));
    return tally;
}

template <class T>
MemoryTally sgd_memory(const SparseShare& share, bool folds, std::int64_t factors_bytes, const CompletionOptions& options) {
    constexpr std::int64_t number = sizeof(double), row = 2 * (sizeof(std::int64_t) + sizeof(std::uint32_t));
    MemoryTally tally;
    if (folds) tally.hold(RowUpdates<RowGradient, T>::memory(share.rows, share.shared, share.columns));
    // The elements of a mode are distributed over lists, which grow to twice of what they need.
    const auto most = *std::max_element(share.nonzeros.begin(), share.nonzeros.end());
    tally.pass(3 * most * share.local_bytes());
    tally.add(by_row_memory<T>(share));
    for (int m = 0; m < share.order(); ++m)  // each batch has rows of its own
        tally.hold(share.rows[m] * number + (options.batches - 1) * row * std::min(most, share.rows[m]));
    tally.pass(3 * most * share.local_bytes());
    if (options.decay == 0) tally.hold(2 * factors_bytes);  // copies, of which a new one is made beside the old one
    return tally;
}

template <class T>
MemoryTally ccd_memory(const SparseShare& share, int threads) {
    constexpr std::int64_t number = sizeof(double), element = sizeof(T);
    auto tally = elements_memory<T>(share.nonzeros[0], share.order());
    tally.hold(-share.nonzeros[0] * share.local_bytes());
    for (std::size_t m = 0; m < share.rows.size(); ++m)
        tally.hold(array_memory(share.rows[m] * share.columns * element) + share.shared[m] * (2 * number + element) +
                   sparse::ThreadRows<double>::memory(threads, share.rows[m], share.nonzeros[0], 2));
    tally.hold(array_memory(2 * number * *std::max_element(share.rows.begin(), share.rows.end())));
    return tally;
}

}  // namespace

template <class T>
MemoryTally method_memory(const SparseShare& share, const CompletionOptions& options, int threads) {
    const bool folds = share.nonzeros.size() == 1 && share.ranks > 1;
    if (options.algorithm == CompletionAlgorithm::als) return als_memory<T>(share, folds, threads);
    if (options.algorithm == CompletionAlgorithm::ccd) return ccd_memory<T>(share, threads);
    return sgd_memory<T>(share, folds, CompletionFactors<T>::memory(share.rows, share.shared, share.columns), options);
}

template <class T>
std::unique_ptr<CompletionMethod<T>> make_completion(const CompletionOptions& options, CompletionFactors<T>& factors,
                                                     Distributed<T>& nonzeros) {
    if (options.algorithm == CompletionAlgorithm::als) return make_als(options, factors, nonzeros);
    if (options.algorithm == CompletionAlgorithm::ccd) return make_ccd(options, factors, nonzeros);
    return make_sgd(options, factors, nonzeros);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template MemoryTally method_memory<T>(const SparseShare&, const CompletionOptions&, int);                                              \
    template std::unique_ptr<CompletionMethod<T>> make_completion(const CompletionOptions&, CompletionFactors<T>&, Distributed<T>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
