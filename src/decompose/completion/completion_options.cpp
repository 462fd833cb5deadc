#include "decompose/completion/completion_options.hpp"

#include "arges/error.hpp"
#include "base/digest.hpp"
#include "decompose/cp/cp_driver.hpp"

#include <algorithm>

namespace arges::decompose {

namespace {

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("completion: " + text); }

}  // namespace

void check_completion_options(const CompletionOptions& options, std::int64_t ranks) {
    constexpr int most_batches = 65536;
    CpOptions shared;
    shared.rank = options.rank;
    shared.max_iterations = options.max_iterations;
    shared.tolerance = options.tolerance;
    shared.regularization = options.regularization;
    shared.seconds = options.seconds;
    check_cp_options(shared);
    if (options.algorithm > CompletionAlgorithm::sgd)
        refuse("there is no algorithm " + std::to_string(static_cast<int>(options.algorithm)) + "; use one of CompletionAlgorithm");
    if (options.biases > CompletionBiases::off)
        refuse("there are no biases " + std::to_string(static_cast<int>(options.biases)) + "; use one of CompletionBiases");
    if (options.nonnegative && options.biases == CompletionBiases::on)
        refuse("biases may be negative, and the model is not to be; leave them to the model, or leave nonnegative out");
    if (!(options.holdout >= 0) || !(options.holdout < 1)) refuse("the part to hold out must be from 0 to below 1");
    if (options.patience < 1) refuse("the patience is " + std::to_string(options.patience) + " iterations; there must be at least one");
    if (!(options.learning_rate > 0) || !(options.learning_rate < 2)) refuse("the learning rate must be between 0 and 2");
    if (!(options.decay >= 0)) refuse("the decay of the learning rate must be 0 or a positive number");
    if (options.batches < 1 || options.batches > most_batches)
        refuse(std::to_string(options.batches) + " batches; there must be from 1 to " + std::to_string(most_batches));
    const auto distribution = completion_distribution(options, ranks);
    if (distribution != "auto") check_completion_distribution(distribution, options.algorithm);
}

void check_completion_distribution(const std::string& distribution, CompletionAlgorithm algorithm) {
    const std::string known[] = {"medium", "coarse", "fine"};
    if (std::find(std::begin(known), std::end(known), distribution) == std::end(known))
        refuse("there is no distribution '" + distribution + "' for it; use auto, medium, coarse or fine");
    if (distribution == "coarse" && algorithm == CompletionAlgorithm::ccd)
        refuse("CCD++ keeps a residual of each element on one rank, and a coarse distribution has several; use medium or fine");
}

std::string completion_distribution(const CompletionOptions& options, std::int64_t ranks) {
    if (options.distribution != "auto" || !options.partition_file.empty()) return options.distribution;
    const bool is_medium = ranks == 1 || options.algorithm == CompletionAlgorithm::ccd || !options.grid.empty() || !options.policy.empty();
    return is_medium ? "medium" : "coarse";
}

std::uint64_t digest_of(const CompletionOptions& options) {
    Digest digest;
    digest.add(options.rank).add(options.algorithm).add(options.max_iterations).add(options.tolerance).add(options.regularization);
    digest.add(options.biases).add(options.nonnegative);
    digest.add(options.seed).add(options.holdout).add(options.patience).add(options.learning_rate).add(options.decay);
    digest.add(options.batches).add(options.distribution).add(options.grid).add(options.policy).add(options.rows);
    digest.add(options.partition_file).add(options.save_partition);
    digest.add(options.stop != nullptr).add(options.seconds);
    return digest.value();
}

}  // namespace arges::decompose
