// What the algorithms of tensor completion take of memory.
#include "decompose/completion/completion_method.hpp"

#include "decompose/completion/row_equations.hpp"
#include "sparse/thread_rows.hpp"

#include <algorithm>

namespace arges::decompose {

MemoryTally by_row_memory(const SparseShare& share) {
    MemoryTally tally;
    for (int m = 0; m < share.order(); ++m) {
        const auto count = share.nonzeros[share.nonzeros.size() == 1 ? 0 : static_cast<std::size_t>(m)];
        tally.add(row_elements_memory(share.element_bytes(), count, share.order(), share.rows[m]));
        if (share.nonzeros.size() > 1) tally.hold(-count * share.local_bytes());
    }
    if (share.nonzeros.size() == 1) tally.hold(-share.nonzeros[0] * share.local_bytes());
    return tally;
}

std::int64_t row_updates_memory(const SparseShare& share, std::int64_t numbers) {
    const auto bytes = numbers * std::int64_t{sizeof(double)};
    return array_memory(*std::max_element(share.rows.begin(), share.rows.end()) * bytes) +
           *std::max_element(share.shared.begin(), share.shared.end()) * bytes;
}

namespace {

MemoryTally als_memory(const SparseShare& share, bool folds, int threads) {
    MemoryTally tally;
    tally.hold(threads * RowEquations::memory(share.columns));
    if (folds) tally.hold(row_updates_memory(share, RowEquations::packed_count(share.columns)));
    tally.add(by_row_memory(share));
    return tally;
}

MemoryTally sgd_memory(const SparseShare& share, bool folds, const CompletionOptions& options) {
    constexpr std::int64_t row = 2 * (sizeof(std::int64_t) + sizeof(std::uint32_t));
    MemoryTally tally;
    if (folds) tally.hold(row_updates_memory(share, RowGradient::packed_count(share.columns)));
    // The elements of a mode are distributed over lists, which grow to twice of what they need.
    const auto most = *std::max_element(share.nonzeros.begin(), share.nonzeros.end());
    tally.pass(3 * most * share.local_bytes());
    tally.add(by_row_memory(share));
    for (int m = 0; m < share.order(); ++m)  // each batch has rows of its own
        tally.hold((options.batches - 1) * row * std::min(most, share.rows[m]));
    tally.pass(3 * most * share.local_bytes());
    if (options.decay == 0) tally.hold(2 * completion_factors_memory(share));  // copies, of which a new one is made beside the old one
    return tally;
}

MemoryTally ccd_memory(const SparseShare& share, int threads) {
    constexpr std::int64_t number = sizeof(double);
    const auto element = share.value_bytes;
    auto tally = elements_memory(share.element_bytes(), share.nonzeros[0], share.order());
    tally.hold(-share.nonzeros[0] * share.local_bytes());
    for (std::size_t m = 0; m < share.rows.size(); ++m)
        tally.hold(array_memory(share.rows[m] * share.columns * element) + share.shared[m] * (2 * number + element) +
                   sparse::thread_rows_memory(number, threads, share.rows[m], share.nonzeros[0], 2));
    tally.hold(array_memory(2 * number * *std::max_element(share.rows.begin(), share.rows.end())));
    return tally;
}

}  // namespace

MemoryTally method_memory(const SparseShare& share, const CompletionOptions& options, int threads) {
    const bool folds = share.nonzeros.size() == 1 && share.ranks > 1;
    if (options.algorithm == CompletionAlgorithm::als) return als_memory(share, folds, threads);
    if (options.algorithm == CompletionAlgorithm::ccd) return ccd_memory(share, threads);
    return sgd_memory(share, folds, options);
}

}  // namespace arges::decompose
