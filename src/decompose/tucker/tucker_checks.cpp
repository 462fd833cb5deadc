#include "decompose/tucker/tucker_checks.hpp"

#include "base/digest.hpp"
#include "decompose/cp/cp_driver.hpp"

#include <algorithm>

namespace arges::decompose {

namespace {

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("Tucker decomposition: " + text); }

void check_mode_order(const std::vector<int>& order, std::size_t modes) {
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t m = 0; m < sorted.size(); ++m)
        if (sorted.size() != modes || sorted[m] != static_cast<int>(m))
            refuse("the order must name each of the " + std::to_string(modes) + " modes once");
}

}  // namespace

void check_tucker_options(const TuckerOptions& options, const std::vector<std::int64_t>& lengths) {
    if (!(options.relative_error >= 0) || !(options.relative_error < 1)) refuse("the relative error must be 0 or more, and less than 1");
    if (options.ranks.empty() && options.relative_error == 0) refuse("neither ranks nor a relative error is given; give one of them");
    if (!options.ranks.empty() && options.ranks.size() != lengths.size())
        refuse(std::to_string(options.ranks.size()) + " ranks for " + std::to_string(lengths.size()) + " modes; give one for each mode");
    for (std::size_t m = 0; m < options.ranks.size(); ++m)
        if (options.ranks[m] < 1 || options.ranks[m] > lengths[m])
            refuse("the rank of mode " + std::to_string(m + 1) + " is " + std::to_string(options.ranks[m]) +
                   "; it must be from 1 to the length " + std::to_string(lengths[m]));
    if (options.method > TuckerMethod::nonnegative || options.kernel > TuckerKernel::qr)
        refuse("method " + std::to_string(static_cast<int>(options.method)) + " and kernel " +
               std::to_string(static_cast<int>(options.kernel)) + "; use those of TuckerMethod and TuckerKernel");
    if (options.max_iterations < 1) refuse("there must be at least one iteration");
    if (!(options.tolerance >= 0)) refuse("the tolerance must be 0 or a positive number");
    if (!(options.seconds >= 0)) refuse("the seconds of the iterations must be 0 or a positive number");
    if (options.method == TuckerMethod::nonnegative && (options.ranks.empty() || options.relative_error > 0 || options.missing))
        refuse("non-negative models are for given ranks and elements that are all known; give ranks, or choose hooi");
    if (options.missing && (options.ranks.empty() || options.relative_error > 0))
        refuse("missing elements are for given ranks; give them instead of a relative error");
}

std::uint64_t digest_of(const TuckerOptions& options) {
    Digest digest;
    digest.add(options.ranks).add(options.relative_error).add(options.method).add(options.kernel).add(options.order);
    digest.add(options.max_iterations).add(options.tolerance).add(options.seed).add(options.distribution).add(options.grid);
    digest.add(options.policy).add(options.rows).add(options.partition_file).add(options.save_partition).add(options.stop != nullptr);
    digest.add(options.seconds).add(options.missing);
    return digest.value();
}

void check_dense_tucker(const std::string& title, const std::vector<std::int64_t>& lengths, const TuckerOptions& options) {
    check_dense_shape(title, lengths, 1, "Tucker");
    check_tucker_options(options, lengths);
    if (options.missing && options.method != TuckerMethod::automatic && options.method != TuckerMethod::hooi)
        refuse("missing elements are found by iterations; choose hooi");
    if (!options.order.empty()) check_mode_order(options.order, lengths.size());
    if (options.distribution != "auto" || !options.grid.empty() || !options.policy.empty() || !options.partition_file.empty() ||
        !options.save_partition.empty() || options.rows != "holders")
        refuse(title + " is dense; distribution, grid, policy, rows and partition file are for sparse tensors");
}

}  // namespace arges::decompose
