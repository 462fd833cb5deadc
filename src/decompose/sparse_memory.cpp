// Memory forecast of CP and Tucker decompositions and completions of sparse tensors: their steps gone through in order, as a tally of what
// each takes.
#include "decompose/sparse_memory.hpp"

#include "base/buffer.hpp"
#include "decompose/completion/completion_method.hpp"
#include "decompose/completion/completion_options.hpp"
#include "decompose/completion/held_out.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/cp/sparse_operator.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "sparse/ttmc.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace arges::decompose {

namespace {

/// Choosing a distribution and bringing nonzeros into it.
MemoryTally distributing_memory(const SparseShare& share, const std::string& distribution, bool from_file) {
    const auto choice = choice_memory(share, distribution, from_file);
    MemoryTally tally;
    tally.pass(share.source_bytes() + choice.peak());
    tally.hold(choice.held());
    tally.add(distribution_memory(share));
    return tally;
}

}  // namespace

template <class T>
MemoryTally cp_memory(const SparseShare& share, const CpOptions& options, int threads) {
    const auto format = sparse::parse_format(options.format);
    auto tally = distributing_memory(share, options.distribution, !options.partition_file.empty());
    tally.add(SparseOperator<T>::memory(share, format, threads));
    tally.add(
        factors_memory({share.rows, share.owned}, options, sizeof(T), threads, SparseOperator<T>::nonzeros_memory(share, format, threads)));
    return tally;
}

template <class T>
MemoryTally tucker_memory(const SparseShare& share, const TuckerOptions& options, int threads) {
    constexpr std::int64_t element = sizeof(T), number = sizeof(std::int64_t);
    const auto core = std::accumulate(options.ranks.begin(), options.ranks.end(), std::int64_t{1}, std::multiplies<>());
    auto tally = distributing_memory(share, options.distribution, !options.partition_file.empty());
    std::int64_t sets = 0;
    for (auto count : share.nonzeros) sets += count * share.local_bytes();
    for (int m = 0; m < share.order(); ++m) {
        const auto set = share.nonzeros.size() == 1 ? std::size_t{0} : static_cast<std::size_t>(m);
        tally.add(sparse::Ttmc<T>::memory(share.rows, share.nonzeros[set], m));
        if (share.nonzeros.size() > 1) tally.hold(-share.nonzeros[set] * share.local_bytes());
    }
    if (share.nonzeros.size() == 1) tally.hold(-sets);
    std::int64_t product = 0, width = 0, before = 0, model = 0, partial = 0;
    for (std::size_t m = 0; m < share.rows.size(); ++m) {
        const std::int64_t columns = options.ranks[m], others = core / columns;
        tally.hold(array_memory(share.rows[m] * columns * element) + share.shared[m] * (columns + others) * element);
        product = std::max(product, share.rows[m] * others);
        width = std::max(width, std::max(others, columns));
        before = std::max(before, share.owned[m] * columns);
        model += share.owned[m] * (number + columns * element);
        partial = std::max(partial, sparse::Ttmc<T>::product_memory(share.rows[m], others, threads));
    }
    tally.pass(before * element);
    tally.hold(array_memory(product * element));
    // Sums of threads, their sum, a message of it, and its eigenvectors with their work.
    tally.pass(std::max((threads + 3) * width * width * std::int64_t{sizeof(double)}, partial));
    tally.pass(model + 3 * core * std::int64_t{sizeof(double)});
    return tally;
}

template <class T>
MemoryTally completion_memory(const SparseShare& share, const CompletionOptions& options, std::int64_t held_out, int threads) {
    const auto factors = CompletionFactors<T>::memory(share.rows, share.shared, share.columns);
    const auto held = held_out * share.global_bytes();
    MemoryTally tally;
    tally.hold(share.keeps_source ? 2 * held : held);
    // While elements are held out, the list of a mode is copied, and there is a bit for each element.
    if (held_out > 0) tally.pass(share.source_bytes() * (share.keeps_source ? 2 : 1) + 9 * (share.before + held_out));
    tally.add(distributing_memory(share, completion_distribution(options, share.ranks), false));
    tally.hold(factors);
    tally.add(method_memory<T>(share, options, threads));
    if (held_out > 0) {
        tally.hold(-held);
        tally.add(HeldOut<T>::memory(share.lengths, held_out, share.columns));
        tally.hold(2 * factors);  // the best model, of which a new one is made beside the old one
    }
    tally.pass(model_memory({{}, share.owned}, share.columns, sizeof(T)));
    return tally;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template MemoryTally cp_memory<T>(const SparseShare&, const CpOptions&, int);                                                          \
    template MemoryTally tucker_memory<T>(const SparseShare&, const TuckerOptions&, int);                                                  \
    template MemoryTally completion_memory<T>(const SparseShare&, const CompletionOptions&, std::int64_t, int);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
