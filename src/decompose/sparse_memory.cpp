// Memory forecast of CP and Tucker decompositions and completions of sparse tensors: their steps gone through in order, as a tally of what
// each takes.
#include "decompose/sparse_memory.hpp"

#include "base/buffer.hpp"
#include "decompose/completion/biases.hpp"
#include "decompose/completion/completion_method.hpp"
#include "decompose/completion/completion_options.hpp"
#include "decompose/completion/held_out.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/cp/cp_known.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/tucker/smallest_core.hpp"
#include "sparse/mttkrp.hpp"
#include "sparse/ttmc.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace arges::decompose {

MemoryTally distributing_memory(const SparseShare& share, const std::string& distribution, bool from_file) {
    const auto choice = choice_memory(share, distribution, from_file);
    MemoryTally tally;
    tally.pass(share.source_bytes() + choice.peak());
    tally.hold(choice.held());
    tally.add(distribution_memory(share));
    return tally;
}

namespace {

sparse::Format format_of(const SparseShare& share, std::size_t set, sparse::Format wanted) {
    if (wanted != sparse::Format::automatic) return wanted;
    return sparse::choose_format(share.value_bytes, share.rows, share.nonzeros[set], share.modes_of(set));
}

std::int64_t thread_memory(const SparseShare& share, std::size_t set, sparse::Format format, int threads) {
    return sparse::thread_buffer_memory(share.value_bytes, share.rows, share.nonzeros[set], format_of(share, set, format),
                                        share.modes_of(set), share.columns, threads);
}

MemoryTally format_memory(const SparseShare& share, std::size_t set, sparse::Format format) {
    return sparse::mttkrp_memory(share.value_bytes, share.rows, share.nonzeros[set], format_of(share, set, format), share.modes_of(set));
}

/// What the constructor of a SparseOperator takes, which is given what distribute() leaves, and what threads add to later.
MemoryTally sparse_operator_memory(const SparseShare& share, sparse::Format format, int threads) {
    MemoryTally tally;
    for (std::size_t s = 0; s < share.nonzeros.size(); ++s) {
        tally.add(format_memory(share, s, format));
        tally.hold(-share.nonzeros[s] * share.local_bytes());
    }
    for (auto rows : share.shared) tally.hold(rows * share.columns * share.value_bytes);
    for (std::size_t s = 0; s < share.nonzeros.size(); ++s) tally.hold(thread_memory(share, s, format, threads));
    return tally;
}

/// What drop_nonzeros() gives back of it.
std::int64_t kernel_memory(const SparseShare& share, sparse::Format format, int threads) {
    std::int64_t sum = 0;
    for (std::size_t s = 0; s < share.nonzeros.size(); ++s)
        sum += format_memory(share, s, format).held() + thread_memory(share, s, format, threads);
    return sum;
}

}  // namespace

MemoryTally cp_memory(const SparseShare& share, const CpOptions& options, int threads) {
    if (has_loss(options)) return element_cp_memory(share, options, threads);
    const auto format = sparse::parse_format(options.format);
    auto tally = distributing_memory(share, options.distribution, !options.partition_file.empty());
    tally.add(sparse_operator_memory(share, format, threads));
    std::vector<std::int64_t> slices;
    for (auto length : share.lengths) slices.push_back(std::min(share.before * share.ranks, length));
    tally.add(factors_memory({share.rows, share.owned, slices, share.ranks}, options, share.value_bytes, threads,
                             kernel_memory(share, format, threads)));
    return tally;
}

MemoryTally tucker_memory(const SparseShare& share, const TuckerOptions& options, int threads) {
    constexpr std::int64_t number = sizeof(std::int64_t);
    const auto element = share.value_bytes;
    const auto core = std::accumulate(options.ranks.begin(), options.ranks.end(), std::int64_t{1}, std::multiplies<>());
    auto tally = distributing_memory(share, options.distribution, !options.partition_file.empty());
    std::int64_t sets = 0;
    for (auto count : share.nonzeros) sets += count * share.local_bytes();
    for (int m = 0; m < share.order(); ++m) {
        const auto set = share.nonzeros.size() == 1 ? std::size_t{0} : static_cast<std::size_t>(m);
        tally.add(sparse::ttmc_memory(share.element_bytes(), share.rows, share.nonzeros[set], m));
        if (share.nonzeros.size() > 1) tally.hold(-share.nonzeros[set] * share.local_bytes());
    }
    if (share.nonzeros.size() == 1) tally.hold(-sets);
    std::int64_t product = 0, width = 0, before = 0, model = 0, partial = 0, owned = 0;
    for (std::size_t m = 0; m < share.rows.size(); ++m) {
        const std::int64_t columns = options.ranks[m], others = core / columns;
        tally.hold(array_memory(share.rows[m] * columns * element) + share.shared[m] * (columns + others) * element);
        product = std::max(product, share.rows[m] * others);
        width = std::max(width, std::max(others, columns));
        before = std::max(before, share.owned[m] * columns);
        owned += share.owned[m] * columns * element;
        model += share.owned[m] * (number + columns * element);
        partial = std::max(partial, sparse::ttmc_product_memory(element, share.rows[m], others, threads));
    }
    tally.pass(before * element);
    tally.hold(array_memory(product * element));
    if (options.missing)
        for (std::size_t m = 0; m < share.rows.size(); ++m)
            tally.hold(sparse::ttmc_values_memory(element, share.nonzeros[share.nonzeros.size() == 1 ? 0 : m]));
    if (options.missing) tally.hold(owned + 4 * core * std::int64_t{sizeof(double)});
    // While ranks are looked for: what was before a change, twice, and sums over the core.
    if (options.relative_error > 0)
        tally.hold(2 * (owned + core * std::int64_t{sizeof(double)}) + smallest_core_memory({options.ranks.begin(), options.ranks.end()}));
    // Sums of threads, their sum, a message of it, and its eigenvectors with their work.
    tally.pass(std::max((threads + 3) * width * width * std::int64_t{sizeof(double)}, partial));
    if (options.method == TuckerMethod::nonnegative) tally.pass(before * element + 16 * core * std::int64_t{sizeof(double)});
    tally.pass(model + 3 * core * std::int64_t{sizeof(double)});
    return tally;
}

MemoryTally completion_memory(const SparseShare& share, const CompletionOptions& options, std::int64_t held_out, int threads) {
    const auto factors = completion_factors_memory(share);
    const auto held = held_out * share.global_bytes();
    MemoryTally tally;
    tally.hold(share.keeps_source ? 2 * held : held);
    // While elements are held out, the list of a mode is copied, and there is a bit for each element.
    if (held_out > 0) tally.pass(share.source_bytes() * (share.keeps_source ? 2 : 1) + 9 * (share.before + held_out));
    tally.add(distributing_memory(share, completion_distribution(options, share.ranks), !options.partition_file.empty()));
    tally.add(biases_memory(share, threads));
    tally.hold(factors);
    tally.add(method_memory(share, options, threads));
    if (held_out > 0) {
        tally.hold(-held);
        tally.add(held_out_memory(share, held_out));
        tally.hold(2 * factors);  // the best model, of which a new one is made beside the old one
    }
    tally.pass(model_memory({{}, share.owned}, share.columns + 1, share.value_bytes));
    return tally;
}

}  // namespace arges::decompose
