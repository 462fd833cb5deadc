#include "decompose/cp/cp_known.hpp"

#include "arges/error.hpp"
#include "arges/known_elements.hpp"
#include "base/stopwatch.hpp"
#include "decompose/completion/completion_method.hpp"
#include "decompose/completion/device_elements.hpp"
#include "decompose/completion/row_equations.hpp"
#include "decompose/cp/constrained_rows.hpp"
#include "decompose/cp/constraints.hpp"
#include "decompose/cp/element_operator.hpp"
#include "decompose/cp/known_block.hpp"
#include "decompose/cp/row_loss.hpp"
#include "decompose/dense_memory.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/finite_elements.hpp"
#include "decompose/sparse_device.hpp"
#include "decompose/sparse_memory.hpp"
#include "decompose/tucker/dense_unfolding.hpp"
#include "sparse/mttkrp.hpp"

#include <omp.h>

#include <algorithm>
#include <optional>

namespace arges::decompose {

namespace {

/// Rows of slices without elements are between those of their neighbours.
bool needs_empty_slices(const CpOptions& options, const std::vector<CpConstraint>& constraints) {
    return options.missing && std::ranges::any_of(constraints, [](const auto& one) {
               return one.kind == CpConstraintKind::smooth || one.kind == CpConstraintKind::unimodal;
           });
}

/// @throws InvalidArgument for what elements of a sparse tensor cannot be decomposed by
void check_for_elements(const std::string& title, const CpOptions& options, const std::vector<CpConstraint>& constraints) {
    const bool has_sum = options.loss.kind == LossKind::gaussian || options.loss.kind == LossKind::poisson;
    if (!options.missing && options.algorithm == CpAlgorithm::opt && !has_sum)
        throw InvalidArgument("CP decomposition: the elements of " + title + " that are not stored are zeros, over which the loss " +
                              to_string(options.loss) + " has no sum in closed form; use sgd, or say that they are missing");
    if (!constraints.empty() && std::ranges::all_of(constraints, [](const auto& one) { return fixes_scale(one.kind); }))
        throw InvalidArgument("CP decomposition: with missing elements of a sparse tensor, one factor at least must be free to have the "
                              "scale of the tensor; leave the constraint of a mode out, or make it nonnegative");
    const auto& distribution = options.distribution;
    if (!needs_empty_slices(options, constraints) && options.algorithm != CpAlgorithm::sgd) return;
    if ((distribution != "auto" && distribution != "coarse-allgather") || !options.partition_file.empty() || !options.grid.empty() ||
        !options.policy.empty())
        throw InvalidArgument(
            std::string("CP decomposition: ") +
            (options.algorithm == CpAlgorithm::sgd ? "sgd has" : "smooth and unimodal factors of tensors with missing elements have") +
            " the distribution coarse-allgather; leave out others, grid, policy and partition files");
}

bool is_by_rows(const CpOptions& options) { return options.algorithm == CpAlgorithm::als || options.algorithm == CpAlgorithm::nonnegative; }

/// Equations are summed in double; stochastic gradients have few elements at a time.
bool sums_on_device(const CpOptions& options, std::int64_t value_bytes) {
    return options.algorithm == CpAlgorithm::opt || (is_by_rows(options) && value_bytes == sizeof(double));
}

template <class T>
CpIterations<T> element_iterations(ElementOperator<T>& op, const KnownElements& known, const CpOptions& options,
                                   const std::vector<CpConstraint>& constraints, const std::vector<std::int64_t>& lengths) {
    return [&](CpState<T>& state, const IterationOptions& iteration, const AfterIteration& after) {
        if (options.algorithm == CpAlgorithm::opt) {
            const auto objective = element_objective(op, state.factors, known, !options.missing, options.regularization);
            return run_loss(*objective, op, state, options.max_iterations, after);
        }
        if (options.algorithm == CpAlgorithm::sgd) return run_sgd(op, state, known, !options.missing, options.seed, iteration, after);
        if (!constraints.empty()) return run_constrained_rows(op, state, known, iteration, constraints, lengths, after);
        run_rows(op, state, known, options.algorithm == CpAlgorithm::nonnegative, iteration, after);
    };
}

template <class T>
void fill_figures(const ElementOperator<T>& op, const ChosenDistribution& chosen, const Factors<T>& factors, CpResult<T>& result) {
    const auto& comm = op.comm();
    std::int64_t sent = 0, received = 0;
    for (int m = 0; m < op.order(); ++m) {
        const auto& rows = op.rows(m);
        sent += rows.rows_shared() + (op.folds() ? rows.rows_needed() : 0);
        received += rows.rows_needed() + (op.folds() ? rows.rows_shared() : 0);
    }
    result.volume_rows_max = comm.maximum(sent + received);
    result.volume_rows_total = comm.sum(sent);
    result.nonzeros_max = comm.maximum(op.count());
    result.memory_bytes_max = comm.maximum(op.bytes() + factors.bytes());
    result.choose_seconds = chosen.seconds;
    result.distribution = chosen.distribution;
    result.grid = chosen.grid;
    result.policy = chosen.policy;
    result.rows = chosen.rows;
    result.format = op.device() != nullptr ? to_string(sparse::Format::device) : "rows";
}

}  // namespace

std::string element_distribution(const CpOptions& options, std::int64_t ranks) {
    const bool is_smooth = needs_empty_slices(options, options.constraints);
    if (options.algorithm == CpAlgorithm::sgd || is_smooth) return "coarse-allgather";
    if (options.distribution != "auto" || !options.partition_file.empty() || !options.grid.empty() || !options.policy.empty())
        return options.distribution;
    return options.algorithm == CpAlgorithm::opt || ranks == 1 ? "medium" : "coarse";
}

template <class T>
CpResult<T> decompose_elements(SparseState& source, bool gives_up, KnownWeights<T>* weights, const CpTask<T>& task) {
    const auto& comm = source.comm();
    const auto& options = task.options;
    const auto constraints = constraints_of(options, static_cast<int>(task.lengths.size()));
    comm.agree([&] { check_for_elements(task.title, options, constraints); });
    double zeros = options.missing ? 0 : 1;
    for (auto length : task.lengths) zeros *= static_cast<double>(length);
    const auto stored = source.pattern()->total;
    if (!options.missing) zeros -= static_cast<double>(stored);
    const auto known = known_elements(comm, task.title, source.values_of<T>(), false, zeros, options.loss,
                                      weights ? std::optional<std::span<const T>>(weights->values) : std::nullopt);
    Stopwatch watch;
    auto request = request_of(options, options.rank);
    request.distribution = element_distribution(options, comm.size());
    request.empty_slices = options.missing ? needs_empty_slices(options, constraints) : has_rows_of_zeros(options.loss.kind);
    if (options.algorithm == CpAlgorithm::opt) request.coarse_weights = partition::CoarseWeights::summed;
    auto distributed = distribute_tensor<T>(source, gives_up, request, weights ? &weights->values : nullptr);
    const auto& share = distributed.share;
    auto& world = *source.world;
    const auto held = (weights ? weights->held : 0) + (share.keeps_source ? share.source_bytes() : 0);
    const auto taken = [&](bool on_device) {
        const auto bytes = element_cp_memory(share, options, omp_get_max_threads(), on_device).peak();
        return weights ? weights->with(bytes) : bytes;
    };
    std::optional<DeviceRoom> device;
    // As checked_forecast() has it: what a rank takes, and what the rank with least room has.
    if (sums_on_device(options, sizeof(T)) && taken(true) <= comm.minimum(world.free_bytes() + held))
        device.emplace(world, element_kernels<T>(),
                       options.algorithm == CpAlgorithm::opt ? device_losses(share, options.rank, world.machine())
                                                             : device_row_equations(share, options.rank, world.machine()));
    const auto* const table = device ? device->table() : nullptr;
    const auto forecast = checked_forecast(world, task.title, taken(table != nullptr), held, "use more ranks, fewer components",
                                           model_memory({{}, share.owned}, options.rank, sizeof(T)), options.planned);
    const int batches = options.algorithm == CpAlgorithm::sgd ? sgd_batches(stored) : 1;
    ElementOperator<T> op(comm, std::move(distributed.nonzeros), options.rank, batches, options.seed, table);
    return run_cp<T>(op, task, watch, element_iterations(op, known, options, constraints, task.lengths),
                     [&](CpResult<T>& result, const Factors<T>& factors, std::int64_t) {
                         result.forecast_bytes = forecast;
                         result.known = static_cast<std::int64_t>(known.elements);
                         fill_figures(op, distributed.chosen, factors, result);
                         op.drop();
                     });
}

template <class T>
CpResult<T> decompose_block(const Tensor<T>& given, const Tensor<T>* weights, const CpTask<T>& task) {
    const auto tensor = weights ? masked(given, *weights) : Tensor<T>(given.state());
    const auto& source = *tensor.state();
    const auto& comm = source.world->communicator();
    const auto& options = task.options;
    if (options.algorithm == CpAlgorithm::sgd)
        throw InvalidArgument("CP decomposition: " + task.title + " is dense; sgd is for sparse tensors, use opt");
    Stopwatch watch;
    const auto plain = with_plain_blocks(tensor);
    const auto of_plain = weights ? on_layout_of(*weights, plain).tensor : Tensor<T>();
    const auto place = plain_layout(tensor);
    const auto block_bytes = source.shape().max_local_size() * std::int64_t{sizeof(T)};
    const auto held = (weights ? 4 : 1) * block_bytes;  // the tensor and its weights as they were given, too
    const auto forecast =
        checked_forecast(*source.world, task.title,
                         place.original_bytes + held - block_bytes +
                             dense_cp_memory(sizeof(T), place.layout, comm.rank(), options, omp_get_max_threads()).peak(),
                         held, "use more ranks, fewer components",
                         model_memory(dense_factor_rows(place.layout, comm.rank()), options.rank, sizeof(T)), options.planned);
    const HostElements here(*plain.state());
    const auto& layout = plain.state()->layout;
    const T* const elements = here.of<T>();
    const std::span<const T> block(elements, static_cast<std::size_t>(block_position(layout, comm.rank()).count()));
    if (!options.missing) {
        double squares = sum_of_squares(block);
        comm.sum(&squares, 1);
        check_elements(tensor, squares);
    }
    std::optional<HostElements> weights_here;
    if (weights) weights_here.emplace(*of_plain.state());
    const T* const of_elements = weights ? weights_here->of<T>() : nullptr;
    const auto known = known_elements(comm, task.title, block, true, 0, options.loss,
                                      weights ? std::optional(std::span(of_elements, block.size())) : std::nullopt);
    KnownBlock<T> op(comm, layout, elements, of_elements, options.rank, known);
    auto scaled = options;  // for squares that count at most once
    scaled.regularization /= known.largest_weight;
    for (auto& constraint : scaled.constraints) constraint.weight /= known.largest_weight;
    const CpIterations<T> iterate = [&](CpState<T>& state, const IterationOptions& iteration, const AfterIteration& after) {
        if (options.algorithm == CpAlgorithm::opt) {
            const auto objective = block_objective(op, state.factors, known, options.regularization);
            return run_loss(*objective, op, state, options.max_iterations, after);
        }
        auto of_scaled = iteration;
        of_scaled.regularization = scaled.regularization;
        iterations_of<T>(op, scaled, task.lengths)(state, of_scaled, after);
    };
    return run_cp<T>(op, task, watch, iterate, [&](CpResult<T>& result, const Factors<T>& factors, std::int64_t sent) {
        result.forecast_bytes = forecast;
        result.known = static_cast<std::int64_t>(known.elements);
        result.sent_bytes_max = comm.maximum(sent);
        result.nonzeros_max = comm.maximum(op.position().count());
        result.memory_bytes_max = comm.maximum(2 * op.position().count() * std::int64_t{sizeof(T)} + op.bytes() + factors.bytes());
        result.distribution = result.format = "dense";
        result.grid = grid_text(layout);
        result.rows = "even";
    });
}

MemoryTally element_cp_memory(const SparseShare& share, const CpOptions& options, int threads, bool on_device) {
    constexpr std::int64_t number = sizeof(double);
    const auto distribution = element_distribution(options, share.ranks);
    const bool is_sgd = options.algorithm == CpAlgorithm::sgd, folds = share.nonzeros.size() == 1 && share.ranks > 1;
    auto tally = distributing_memory(share, distribution, !options.partition_file.empty());
    if (on_device) tally.add(device_elements_memory(share));
    const auto most = *std::max_element(share.nonzeros.begin(), share.nonzeros.end());
    const auto elements = by_row_memory(share);
    tally.add(elements);
    if (is_sgd) {  // lists of batches grow to twice of what they need, and are copied then
        tally.pass(3 * most * share.local_bytes());
        tally.hold(share.order() * most * share.local_bytes());
        for (int m = 0; m < share.order(); ++m) tally.hold((sgd_batches(share.before) - 1) * 24 * std::min(most, share.rows[m]));
        tally.hold(sgd_memory(share, share.before * share.ranks));
    }
    for (auto rows : share.shared) tally.hold(rows * share.columns * share.value_bytes);
    const bool is_rows = is_by_rows(options);
    const auto numbers = is_rows ? RowEquations::packed_count(share.columns) : RowLoss::packed_count(share.columns);
    tally.hold(threads * (is_rows ? RowEquations::memory(share.columns) : 2 * RowLoss::memory(share.columns)));
    if (folds) tally.hold(row_updates_memory(share, numbers));
    if (on_device) tally.hold(device_rows_memory(share, numbers));
    if (!share.owned.empty()) tally.pass(share.owned[0] * number);  // losses of rows
    if (const auto constraints = constraints_of(options, share.order()); !constraints.empty())
        tally.hold(constrained_rows_memory(share, constraints, options.regularization));
    tally.add(factors_memory({share.rows, share.owned, share.lengths, share.ranks}, options, share.value_bytes, threads, elements.held()));
    return tally;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template CpResult<T> decompose_elements(SparseState&, bool, KnownWeights<T>*, const CpTask<T>&);                                       \
    template CpResult<T> decompose_block(const Tensor<T>&, const Tensor<T>*, const CpTask<T>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
