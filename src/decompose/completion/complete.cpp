#include "arges/complete.hpp"

#include "arges/error.hpp"
#include "base/stopwatch.hpp"
#include "comm/collective_call.hpp"
#include "decompose/completion/biases.hpp"
#include "decompose/completion/complete_parts.hpp"
#include "decompose/completion/completion_iterations.hpp"
#include "decompose/completion/completion_method.hpp"
#include "decompose/completion/completion_options.hpp"
#include "decompose/completion/device_elements.hpp"
#include "decompose/completion/held_out.hpp"
#include "decompose/completion/row_equations.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/different_values.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/model_arguments.hpp"
#include "decompose/sparse_device.hpp"
#include "decompose/sparse_memory.hpp"
#include "interface/sparse/known_elements.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "sparse/blocked_sum.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace arges {

namespace {

using decompose::CompletionFactors;
using decompose::CompletionMethod;
using decompose::CompletionParts;
using decompose::HeldOut;

/// @throws InvalidArgument on all ranks unless both are usable
template <class T>
void check_tensors(const SparseState& source, const SparseTensor<T>* validation) {
    if (source.pattern()->total == 0) throw InvalidArgument(source.title() + " has no elements; there is nothing to complete");
    if (source.order() < 2) throw InvalidArgument(source.title() + " has one mode; a completion needs at least two");
    if (!validation) return;
    const auto& held = state_of(*validation, "complete");
    if (held.world != source.world) throw InvalidArgument(held.title() + ", which is held out, is on another world than " + source.title());
    if (held.lengths() != source.lengths())
        throw InvalidArgument(held.title() + ", which is held out, has other lengths than " + source.title());
    if (held.pattern()->total == 0) throw InvalidArgument(held.title() + ", which is held out, has no elements");
}

/// Sum of the squares of the elements. Collective. @throws InvalidArgument unless that is a number
template <class T>
double checked_squares(const SparseState& state) {
    double squares = decompose::sum_of_squares(state.values_of<T>());
    state.comm().sum(&squares, 1);
    decompose::check_finite(state.title(), squares);
    return squares;
}

/// Divides the weights by the mean of those of the fitted elements. Collective.
template <class T>
void scale_weights(const Communicator& comm, CompletionParts<T>& parts, std::int64_t elements) {
    auto& fitted = parts.weights->values;
    double sum = sparse::blocked_sum(std::ssize(fitted), [&](std::int64_t x) { return static_cast<double>(fitted[x]); });
    comm.sum(&sum, 1);
    const double mean = sum / static_cast<double>(elements);
    for (auto* weights : {&fitted, &parts.held.weights})
        for (auto& weight : *weights) weight = static_cast<T>(static_cast<double>(weight) / mean);
}

/// Fills in the mean of the fitted elements, and how well it predicts those that are held out. Collective.
template <class T>
void judge_mean(const CompletionParts<T>& parts, CompletionResult<T>& result) {
    const auto& fitted = *parts.fitted.state();
    const auto values = fitted.template values_of<T>();
    double sum = sparse::blocked_sum(std::ssize(values), [&](std::int64_t x) {
        return (parts.weights ? static_cast<double>(parts.weights->values[x]) : 1) * static_cast<double>(values[x]);
    });
    fitted.comm().sum(&sum, 1);
    const double mean = result.fitted_mean = sum / static_cast<double>(result.elements);
    if (result.held_out == 0) return;
    const auto& held = parts.held;
    auto sums = sparse::blocked_sums<2>(held.count(), [&](std::int64_t x) -> std::array<double, 2> {
        const double e = static_cast<double>(held.values[x]) - mean, weight = held.weight(x);
        return {weight * e * e, weight};
    });
    fitted.comm().sum(sums.data(), 2);
    result.held_out_mean_rmse = std::sqrt(sums[0] / sums[1]);
}

/// Brings the factors to the start: a model's, or random ones scaled to the norm of what they are fitted to. Collective.
template <class T>
void set_start(CompletionFactors<T>& factors, CompletionMethod<T>& method, const CpModel<T>* start, double squares) {
    if (start)
        factors.start_from(*start);
    else
        factors.scale(std::pow(squares / method.start_sums().model, 0.5 / factors.order()));
    factors.balance();
    method.begin();
}

/// What predicts elements without factors.
template <class T>
struct Baseline {
    std::vector<Buffer<double>> counts{};  ///< of elements, by mode and row
    decompose::Biases<T> biases{};
    double squares = 0;   ///< of what factors are fitted to
    double variance = 0;  ///< of the elements, or what biases leave of it
};

/// Finds biases where somebody asks for them, decides whether the model has them, and takes them from the elements then. Collective.
template <class T>
Baseline<T> take_baseline(const Communicator& comm, decompose::Distributed<T>& nonzeros, const CompletionOptions& options,
                          const CpModel<T>* start, CompletionResult<T>& result) {
    constexpr std::int64_t least_repeated = 10;
    Baseline<T> found{.counts = decompose::count_elements(comm, nonzeros), .biases = {result.fitted_mean}};
    const auto elements = static_cast<double>(result.elements);
    const double of_mean = decompose::squares_beyond(comm, nonzeros, found.biases);
    double of_biases = of_mean;
    result.different_values =
        std::ssize(decompose::different_values(comm, std::span<const T>(decompose::set_of(nonzeros, 0).values), rating_values));
    const bool are_asked = options.biases == CompletionBiases::on || (start && start->has_biases());
    const bool may_be = !start && !options.nonnegative && options.biases == CompletionBiases::detect &&
                        result.different_values <= rating_values && least_repeated * result.different_values <= result.elements;
    if (start && start->has_biases())
        found.biases = decompose::biases_of(comm, nonzeros.rows, *start);
    else if (are_asked || may_be || result.held_out > 0)
        found.biases = decompose::fit_biases(comm, nonzeros, found.counts, result.fitted_mean);
    if (!found.biases.rows.empty()) of_biases = decompose::squares_beyond(comm, nonzeros, found.biases);
    result.fitted_deviation = std::sqrt(of_mean / elements);
    result.fitted_bias_rmse = std::sqrt(of_biases / elements);
    const double by_chance = decompose::free_numbers(comm, found.counts) * of_mean / elements;
    result.has_biases = are_asked || (may_be && of_mean - of_biases > 2 * by_chance);
    if (result.has_biases) decompose::subtract_biases(nonzeros, found.biases);
    found.squares = result.has_biases ? of_biases : decompose::squares_beyond(comm, nonzeros, decompose::Biases<T>{});
    constexpr double rounding = 1e-12;
    const double mean_squared = result.fitted_mean * result.fitted_mean;
    found.variance = (result.has_biases ? of_biases : of_mean) / elements;
    if (found.variance <= rounding * mean_squared) found.variance = mean_squared;
    return found;
}

/// The model of the factors, with the biases if it has some. Local.
template <class T>
CpModel<T> model_of(CompletionFactors<T>& factors, const World& world, const std::vector<std::int64_t>& lengths,
                    const decompose::Biases<T>& biases, bool has_biases) {
    auto model = factors.model(world, lengths);
    if (!has_biases) return model;
    std::vector<std::vector<T>> mine;
    for (int m = 0; m < model.order(); ++m) {
        const T* const first = biases.rows[m].data();
        mine.emplace_back(first, first + factors.rows(m).owned);
    }
    model.set_biases(biases.mean, std::move(mine));
    return model;
}

/// Distributes the elements that are fitted, and fits them. Collective.
template <class T>
void fit(const std::string& title, CompletionParts<T> parts, CompletionOptions options, const CompletionProgress<T>& progress,
         const CpModel<T>* start, CompletionResult<T>& result) {
    Stopwatch watch;
    auto& fitted = *parts.fitted.state();
    const auto& comm = fitted.comm();
    auto request = decompose::request_of(options, options.rank);
    request.distribution = decompose::completion_distribution(options, comm.size());
    auto distributed = decompose::distribute_tensor<T>(fitted, parts.gives_up, request, parts.weights ? &parts.weights->values : nullptr);
    comm.agree([&] { decompose::check_completion_distribution(distributed.chosen.distribution, options.algorithm); });
    auto& share = distributed.share;
    share.keeps_source = parts.keeps_source;
    const auto known = (parts.weights ? parts.weights->held : 0) + (parts.keeps_source ? share.source_bytes() : 0);
    const auto taken = [&](bool on_device) {
        const auto bytes = decompose::completion_memory(share, options, parts.held.count(), omp_get_max_threads()).peak() +
                           (on_device ? decompose::device_rows_memory(share, decompose::RowEquations::packed_count(options.rank)) : 0);
        return parts.weights ? parts.weights->with(bytes) : bytes;
    };
    std::optional<decompose::DeviceRoom> device;
    // Equations are summed in double, and those of all rows need room on the host, too: as checked_forecast() has it, what the rank with
    // least room has.
    if (options.algorithm == CompletionAlgorithm::als && std::is_same_v<T, double> &&
        taken(true) <= comm.minimum(fitted.world->free_bytes() + known))
        device.emplace(*fitted.world, element_kernels<T>(), decompose::device_row_equations(share, options.rank, fitted.world->machine()));
    const auto* const table = device ? device->table() : nullptr;
    result.device_ranks = static_cast<int>(comm.sum(table != nullptr ? 1 : 0));
    result.forecast_bytes = decompose::checked_forecast(
        *fitted.world, title, taken(table != nullptr), known, "use more ranks, fewer components, another distribution",
        decompose::model_memory({{}, share.owned}, options.rank + 1, sizeof(T)), options.planned);
    auto& nonzeros = distributed.nonzeros;
    result.elements_max = comm.maximum(*std::max_element(share.nonzeros.begin(), share.nonzeros.end()));
    auto baseline = take_baseline(comm, nonzeros, options, start, result);
    options.regularization *= std::pow(baseline.variance, 1 - 1.0 / fitted.order());
    CompletionFactors<T> factors(comm, nonzeros.rows, std::move(baseline.counts), options.rank, options.seed, result.has_biases ? 0.5 : 0);
    const auto method = decompose::make_completion<T>(options, factors, nonzeros, table);
    set_start(factors, *method, start, baseline.squares);
    std::optional<HeldOut<T>> held_out;
    if (result.held_out > 0) {
        held_out.emplace(factors, std::move(parts.held), baseline.biases, result.has_biases);
        result.unknown = held_out->unknown();
        result.held_out_bias_rmse = held_out->bias_rmse();
    }
    result.setup_seconds += watch.lap();
    const auto& chosen = distributed.chosen;
    result.distribution = chosen.distribution;
    result.grid = chosen.grid;
    result.policy = chosen.policy;
    result.rows = chosen.rows;
    const std::function<CpModel<T>()> model = [&] {
        return model_of(factors, fitted.world_handle, share.lengths, baseline.biases, result.has_biases);
    };
    decompose::Iterations<T>(options, factors, *method, held_out ? &*held_out : nullptr, result).run(progress, model);
    comm.agree([&] { result.model = model(); });
}

/// What both forms of complete() do; `gives_up`: the tensor loses its elements when they have been distributed.
template <class T>
CompletionResult<T> complete_tensor(const SparseTensor<T>& tensor, bool gives_up, const CompletionOptions& options,
                                    const CompletionProgress<T>& progress, const CpModel<T>* start, const SparseTensor<T>* validation,
                                    const SparseTensor<T>* weights) {
    const SparseState& source = state_of(tensor, "complete");
    if (!source.symmetry.trivial()) return complete_tensor(tensor.with_symmetry({}), true, options, progress, start, validation, weights);
    if (validation && !state_of(*validation, "complete").symmetry.trivial()) {
        const auto whole = validation->with_symmetry({});
        return complete_tensor(tensor, gives_up, options, progress, start, &whole, weights);
    }
    const std::vector beside{validation, weights};
    const CollectiveCall call(source.world->movement_communicator(), "complete", source, decompose::digest_of(options),
                              ModelArgument{start}, TensorArguments{beside});
    const auto& comm = source.comm();
    comm.agree([&] {
        decompose::check_completion_options(options, comm.size());
        check_tensors(source, validation);
        if (validation && options.holdout > 0)
            throw InvalidArgument("completion: elements to hold out are given, and a part of the tensor is to be held out; choose one");
        if (start) decompose::check_cp_start(source.lengths(), options.rank, start->lengths(), start->rank());
        if (start && start->has_biases() && options.nonnegative)
            throw InvalidArgument(
                "completion: the model to start from has biases, and one without negative elements has none; start from a seed");
        if (start && start->has_biases() != (options.biases == CompletionBiases::on) && options.biases != CompletionBiases::detect)
            throw InvalidArgument(std::string("completion: the model to start from has ") + (start->has_biases() ? "" : "no ") +
                                  "biases; leave it to the model whether there are biases");
    });
    checked_squares<T>(source);
    if (validation) checked_squares<T>(*validation->state());
    const Stopwatch watch;
    auto parts = decompose::all_fitted(tensor, gives_up, weights);
    if (options.holdout > 0) parts = decompose::hold_out(std::move(parts), options.holdout, options.seed);
    if (validation) {
        parts.holds_out = true;
        comm.agree([&] { parts.held = validation->state()->template nonzeros<T>(); });
    }
    const double seconds = watch.seconds();
    auto result = decompose::complete_parts(source.title(), std::move(parts), options, progress, start);
    result.setup_seconds += seconds;
    return result;
}

}  // namespace

namespace decompose {

template <class T>
CompletionParts<T> all_fitted(const SparseTensor<T>& tensor, bool gives_up, const SparseTensor<T>* weights) {
    SparseState& source = state_of(tensor, "complete");
    if (!weights) return {.fitted = SparseTensor<T>(tensor.state()), .gives_up = gives_up, .keeps_source = !gives_up};
    KnownWeights<T> of_known;
    of_known.held = state_of(*weights, "complete").bytes() + (gives_up ? 0 : source.bytes());
    of_known.finding = masked_memory(*weights, tensor);
    auto of_all = weights_of_stored(tensor, *weights);
    sparse::Nonzeros<T> known;
    source.comm().agree([&] {
        known = gives_up ? source.take<T>() : source.nonzeros<T>();
        known.weights = std::move(of_all);
        std::vector<bool> goes;
        for (auto weight : known.weights) goes.push_back(!(weight > 0));
        split_off(known, goes);
        of_known.values = std::move(known.weights);
    });
    CompletionParts<T> parts{.fitted = tensor_of(source, std::move(known)), .weights = std::move(of_known), .gives_up = true};
    if (parts.fitted.nonzeros() == 0)
        throw InvalidArgument(source.title() + " has no elements with a weight; there is nothing to complete");
    return parts;
}

template <class T>
CompletionParts<T> hold_out(CompletionParts<T> all, double part, std::uint64_t seed) {
    SparseState& source = *all.fitted.state();
    CompletionParts<T> parts{.weights = std::move(all.weights), .gives_up = true, .keeps_source = all.keeps_source, .holds_out = true};
    sparse::Nonzeros<T> fitted;
    source.comm().agree([&] {
        fitted = all.gives_up ? source.take<T>() : source.nonzeros<T>();
        if (parts.weights) fitted.weights = std::move(parts.weights->values);
        parts.held = split_off(fitted, part, seed);
        if (parts.weights) parts.weights->values = std::move(fitted.weights);
    });
    parts.fitted = tensor_of(source, std::move(fitted));
    return parts;
}

template <class T>
CompletionResult<T> complete_parts(const std::string& title, CompletionParts<T> parts, const CompletionOptions& options,
                                   const CompletionProgress<T>& progress, const CpModel<T>* start) {
    const Stopwatch watch;
    const auto& fitted = *parts.fitted.state();
    const auto& comm = fitted.comm();
    CompletionResult<T> result{CpModel<T>(fitted.world_handle, {}, {}, {}, {})};
    result.elements = fitted.pattern()->total;
    if (parts.holds_out) result.held_out = comm.sum(parts.held.count());
    if (parts.holds_out && (result.elements == 0 || result.held_out == 0))
        throw InvalidArgument("completion: of " + std::to_string(result.elements + result.held_out) + " elements " +
                              (result.elements == 0 ? "all" : "none") + " would be held out; use another part or another seed");
    check_norm(title + (parts.holds_out ? ", the elements that are fitted" : ""), checked_squares<T>(fitted));
    if (parts.weights) scale_weights(comm, parts, result.elements);
    judge_mean(parts, result);
    result.setup_seconds = watch.seconds();
    fit(title, std::move(parts), options, progress, start, result);
    return result;
}

}  // namespace decompose

template <class T>
CompletionResult<T> complete(const SparseTensor<T>& tensor, const CompletionOptions& options,
                             const std::type_identity_t<CompletionProgress<T>>& progress, const std::type_identity_t<CpModel<T>>* start,
                             const std::type_identity_t<SparseTensor<T>>* validation,
                             const std::type_identity_t<SparseTensor<T>>* weights) {
    return complete_tensor(tensor, false, options, progress, start, validation, weights);
}

template <class T>
CompletionResult<T> complete(SparseTensor<T>&& tensor, const CompletionOptions& options,
                             const std::type_identity_t<CompletionProgress<T>>& progress, const std::type_identity_t<CpModel<T>>* start,
                             const std::type_identity_t<SparseTensor<T>>* validation,
                             const std::type_identity_t<SparseTensor<T>>* weights) {
    return complete_tensor(tensor, true, options, progress, start, validation, weights);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template CompletionResult<T> complete(const SparseTensor<T>&, const CompletionOptions&, const CompletionProgress<T>&,                  \
                                          const CpModel<T>*, const SparseTensor<T>*, const SparseTensor<T>*);                              \
    template CompletionResult<T> complete(SparseTensor<T>&&, const CompletionOptions&, const CompletionProgress<T>&, const CpModel<T>*,    \
                                          const SparseTensor<T>*, const SparseTensor<T>*);                                                 \
    template decompose::CompletionParts<T> decompose::all_fitted(const SparseTensor<T>&, bool, const SparseTensor<T>*);                    \
    template decompose::CompletionParts<T> decompose::hold_out(CompletionParts<T>, double, std::uint64_t);                                 \
    template CompletionResult<T> decompose::complete_parts(const std::string&, CompletionParts<T>, const CompletionOptions&,               \
                                                           const CompletionProgress<T>&, const CpModel<T>*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
