// CP decompositions of sparse tensors, and of dense ones with MTTKRP by a dimension tree (Phan, Tichavsky, Cichocki, IEEE Trans. Signal
// Process. 61, 2013).
#include "arges/cpd.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "decompose/cp/constraints.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/cp/cp_known.hpp"
#include "decompose/cp/cp_start.hpp"
#include "decompose/cp/dense_cp_operator.hpp"
#include "decompose/cp/sparse_operator.hpp"
#include "decompose/cp/starts_in_groups.hpp"
#include "decompose/dense_memory.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/distribution/movement_bounds.hpp"
#include "decompose/finite_elements.hpp"
#include "decompose/known_weights.hpp"
#include "decompose/model_arguments.hpp"
#include "decompose/sparse_device.hpp"
#include "decompose/sparse_memory.hpp"
#include "layout/layout.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace arges {

void check_layer_policy(const std::string& text) { partition::parse_layer_rule(text); }
void check_row_rule(const std::string& text) { partition::parse_row_rule(text); }
void check_nonzero_format(const std::string& text) { sparse::parse_format(text); }

namespace {

/// @param start  null: none @throws InvalidArgument if it does not fit
template <class T>
void check_start(const std::vector<std::int64_t>& lengths, int rank, const CpModel<T>* start) {
    if (!start) return;
    decompose::check_cp_start(lengths, rank, start->lengths(), start->rank());
    if (start->has_biases())
        throw InvalidArgument(
            "CP decomposition: the model to start from has a mean and biases, which would be lost; go on with complete(), "
            "or start from a seed");
}

using decompose::DenseCpOperator;
using decompose::Factors;
using decompose::SparseOperator;

constexpr std::int64_t max_counted_ranks = 1 << 24;  // of explain_cp(), which counts for each

void check_dense(const std::string& title, const std::vector<std::int64_t>& lengths, const CpOptions& options) {
    decompose::check_cp_options(options);
    decompose::check_dense_shape(title, lengths, 2, "CP");
    decompose::check_constraints(options, static_cast<int>(lengths.size()));
    if (options.distribution != "auto" || !options.grid.empty() || !options.policy.empty() || !options.partition_file.empty() ||
        !options.save_partition.empty() || options.format != "auto" || options.rows != "holders")
        throw InvalidArgument("CP decomposition: " + title +
                              " is dense; distribution, grid, policy, rows, format and partition files are for sparse tensors");
}

/// Bytes that each rank sends in a sweep, by mode: rows of factors to those that need them, parts of products to the owners of
/// rows, and the sums of a Gram matrix and an inner product.
std::vector<std::vector<std::int64_t>> sweep_bytes(const Layout& layout, std::int64_t columns, std::int64_t element_bytes) {
    std::vector<std::vector<std::int64_t>> result;
    const auto ranks = layout.grid().ranks();
    for (int m = 0; m < layout.order(); ++m) {
        const auto traffic = decompose::row_traffic(layout, m);
        result.emplace_back();
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            const auto& rows = traffic[rank];
            result.back().push_back((rows.shared + rows.needed) * columns * element_bytes +
                                    decompose::sum_bytes(ranks, rank, decompose::row_sum_count(columns)));
        }
    }
    return result;
}

/// Sums over the modes, by rank.
std::vector<std::int64_t> over_modes(const std::vector<std::vector<std::int64_t>>& by_mode) {
    auto sums = by_mode[0];
    for (std::size_t m = 1; m < by_mode.size(); ++m)
        for (std::size_t rank = 0; rank < sums.size(); ++rank) sums[rank] += by_mode[m][rank];
    return sums;
}

/// The fewest bytes that ranks send and get on average, for one product by any algorithm, and for a sweep if the tensor stays.
struct MovementBounds {
    std::int64_t product, sweep;

    MovementBounds(const Layout& layout, std::int64_t columns, std::int64_t element_bytes) {
        const double count = columns, ranks = layout.grid().ranks();
        const auto bytes = [&](double words) { return static_cast<std::int64_t>(words * static_cast<double>(element_bytes)); };
        product = bytes(decompose::mttkrp_bound(layout.extents(), count, ranks));
        sweep = bytes(decompose::sweep_bound(layout.extents(), count, ranks));
    }
};

template <class T>
void fill_figures(DenseCpOperator<T>& op, const Layout& layout, const Factors<T>& factors, CpResult<T>& result) {
    const auto& comm = op.comm();
    std::int64_t rows = 0, sent = 0;
    for (int m = 0; m < op.order(); ++m) {
        rows += 2 * (op.rows(m).rows_shared() + op.rows(m).rows_needed());
        sent += op.rows(m).rows_shared() + op.rows(m).rows_needed();
    }
    result.volume_rows_max = comm.maximum(rows);
    result.volume_rows_total = comm.sum(sent);
    result.nonzeros_max = comm.maximum(op.position().count());
    result.memory_bytes_max = comm.maximum(op.position().count() * std::int64_t{sizeof(T)} + op.bytes() + factors.bytes());
    const auto planned = over_modes(sweep_bytes(layout, op.columns(), sizeof(T)));
    result.planned_bytes_max = *std::max_element(planned.begin(), planned.end());
    const MovementBounds bounds(layout, op.columns(), sizeof(T));
    result.bound_bytes = bounds.product;
    result.sweep_bound_bytes = bounds.sweep;
    result.distribution = "dense";
    result.grid = decompose::grid_text(layout);
    result.rows = "even";
    result.format = "dense";
}

/// Adds and maximizes figures of all ranks.
template <class T>
void fill_figures(const Communicator& comm, SparseOperator<T>& tensor, const Factors<T>& factors, bool folds, CpResult<T>& result) {
    std::int64_t sent = 0, received = 0;
    for (int m = 0; m < tensor.order(); ++m) {
        const auto& rows = tensor.rows(m);
        sent += rows.rows_shared() + (folds ? rows.rows_needed() : 0);
        received += rows.rows_needed() + (folds ? rows.rows_shared() : 0);
    }
    result.volume_rows_max = comm.maximum(sent + received);
    result.volume_rows_total = comm.sum(sent);
    result.nonzeros_max = comm.maximum(tensor.nonzeros());
    result.memory_bytes_max = comm.maximum(tensor.bytes() + factors.bytes());
    result.format = to_string(tensor.format());
}

/// What both forms of cp_decompose() do; `gives_up`: the tensor loses its nonzeros when they have been distributed.
/// @param number  of the first start, see decompose::CpTask
template <class T>
CpResult<T> decompose_tensor(const SparseTensor<T>& tensor, bool gives_up, const CpOptions& given, const CpProgress<T>& progress,
                             const CpModel<T>* start, const SparseTensor<T>* weights, int number = 0) {
    auto& whole = state_of(tensor, "cp_decompose");
    if (!whole.symmetry.trivial()) return decompose_tensor(tensor.with_symmetry({}), true, given, progress, start, weights, number);
    const std::vector all_weights{weights};
    const CollectiveCall call(whole.world->movement_communicator(), "cp_decompose", whole, decompose::digest_of(given),
                              ModelArgument{start}, TensorArguments{all_weights});
    const auto asked = decompose::with_missing(given, weights);
    whole.comm().agree([&] {
        decompose::check_cp_options(asked);
        decompose::check_constraints(asked, tensor.order());
        if (tensor.order() < 2) throw InvalidArgument(whole.title() + " has one mode; a CP decomposition needs at least two");
        if (sparse::parse_format(asked.format) == sparse::Format::device)
            decompose::check_has_device(*whole.world, element_kernels<T>(), "the format 'device'");
        if (asked.pairwise_perturbation)
            throw InvalidArgument("CP decomposition: pairwise perturbation is for dense tensors; leave it out");
        check_start(tensor.lengths(), asked.rank, start);
    });
    std::optional<decompose::WeightedElements<T>> known;
    if (weights) known.emplace(decompose::weighted_elements(tensor, gives_up, *weights));
    auto& source = known ? *known->tensor.state() : whole;
    const auto& comm = source.comm();
    const auto nonzeros = source.pattern()->total;
    const auto options = decompose::with_starts(asked, tensor.lengths().size(), nonzeros, start != nullptr);
    comm.agree([&] {
        if (nonzeros == 0)
            throw InvalidArgument(whole.title() + " has no " + (weights ? "elements with a weight" : "nonzeros") +
                                  "; there is nothing to decompose");
        decompose::check_groups(options, comm.size(), weights != nullptr);
    });
    if (const auto groups = weights ? std::nullopt : decompose::rank_groups<T>(tensor, gives_up, options))
        return decompose::starts_in_groups<T, SparseTensor<T>>(
            tensor, gives_up, *groups, options, progress, [](const auto& copy, const auto& one, const auto& each, int start_number) {
                return decompose_tensor<T>(copy, false, one, each, nullptr, nullptr, start_number);
            });
    const auto lengths = tensor.lengths();
    if (weights && gives_up) whole.template take<T>();
    decompose::CpTask<T> task{tensor.world(), whole.title(), lengths, options, progress, start, nullptr, number};
    if (decompose::has_loss(options))
        return decompose::decompose_elements<T>(source, gives_up || weights, known ? &known->weights : nullptr, task);
    Stopwatch watch;
    const auto hosvd = start ? decompose::HosvdStart<T>() : decompose::hosvd_start<T>(tensor, lengths, options);
    if (hosvd.model) task.first = &*hosvd.model;
    auto request = decompose::request_of(options, options.rank);
    if (options.algorithm == CpAlgorithm::opt) request.coarse_weights = partition::CoarseWeights::summed;
    auto distributed = decompose::distribute_tensor<T>(source, gives_up, request);
    const auto& share = distributed.share;
    auto placed = options;
    std::optional<decompose::DeviceRoom> device;
    comm.agree([&] {
        const bool is_there = options.format == to_string(sparse::Format::device);
        if (!is_there && options.format != "auto") return;
        device.emplace(*source.world, element_kernels<T>(), decompose::device_mttkrp(share, options.rank, source.world->machine()),
                       is_there);
        if (device->table() != nullptr) placed.format = to_string(sparse::Format::device);
    });
    const auto forecast = decompose::checked_forecast(
        *source.world, source.title(), hosvd.with(decompose::cp_memory(share, placed, omp_get_max_threads()).peak()),
        share.keeps_source ? share.source_bytes() : 0, "use more ranks, fewer components, another format",
        decompose::model_memory({{}, share.owned}, options.rank, sizeof(T)), options.planned);
    const bool folds = distributed.nonzeros.folds;
    SparseOperator<T> op(comm, std::move(distributed.nonzeros), sparse::parse_format(placed.format), options.rank,
                         device ? device->table() : nullptr);
    decompose::check_norm(source.title(), op.norm_squared());
    return decompose::run_cp<T>(op, task, watch, decompose::iterations_of<T>(op, options, task.lengths),
                                [&](CpResult<T>& result, const Factors<T>& factors, std::int64_t) {
                                    const auto& chosen = distributed.chosen;
                                    result.forecast_bytes = forecast;
                                    result.choose_seconds = chosen.seconds;
                                    result.distribution = chosen.distribution;
                                    result.grid = chosen.grid;
                                    result.policy = chosen.policy;
                                    result.rows = chosen.rows;
                                    fill_figures(comm, op, factors, folds, result);
                                    op.drop_nonzeros();
                                });
}

/// Likewise.
template <class T>
CpResult<T> decompose_tensor(const Tensor<T>& tensor, const CpOptions& given, const CpProgress<T>& progress, const CpModel<T>* start,
                             const Tensor<T>* weights, int number = 0) {
    const std::vector all_weights{weights};
    const auto& source = state_of(tensor, "cp_decompose");
    const CollectiveCall call(source.world->movement_communicator(), "cp_decompose", source, decompose::digest_of(given),
                              ModelArgument{start}, TensorArguments{all_weights});
    const auto options =
        decompose::with_starts(decompose::with_missing(given, weights), tensor.extents().size(), tensor.size(), start != nullptr);
    if (source.world->dry())
        throw Unsupported("cp_decompose needs the elements of " + source.title() + ", which a dry run has not; explain_cp() does without");
    const auto& comm = source.world->communicator();
    comm.agree([&] {
        check_dense(source.title(), tensor.extents(), options);
        check_start(tensor.extents(), options.rank, start);
        decompose::check_groups(options, comm.size(), weights != nullptr);
    });
    if (const auto groups = weights ? std::nullopt : decompose::rank_groups<T>(tensor, false, options))
        return decompose::starts_in_groups<T, Tensor<T>>(tensor, false, *groups, options, progress,
                                                         [](const auto& copy, const auto& one, const auto& each, int start_number) {
                                                             return decompose_tensor<T>(copy, one, each, nullptr, nullptr, start_number);
                                                         });
    const auto lengths = tensor.extents();
    decompose::CpTask<T> task{tensor.world(), source.title(), lengths, options, progress, start, nullptr, number};
    if (decompose::has_loss(options)) return decompose::decompose_block(tensor, weights, task);
    Stopwatch watch;
    const auto hosvd = start ? decompose::HosvdStart<T>() : decompose::hosvd_start<T>(tensor, lengths, options);
    if (hosvd.model) task.first = &*hosvd.model;
    const auto plain = decompose::with_plain_blocks(tensor);
    const auto place = decompose::plain_layout(tensor);
    const auto forecast = decompose::checked_forecast(
        *source.world, source.title(),
        hosvd.with(place.original_bytes +
                   decompose::dense_cp_memory(sizeof(T), place.layout, comm.rank(), options, omp_get_max_threads()).peak()),
        source.shape().max_local_size() * std::int64_t{sizeof(T)}, "use more ranks, fewer components",
        decompose::model_memory(decompose::dense_factor_rows(place.layout, comm.rank()), options.rank, sizeof(T)), options.planned);
    const HostElements here(*plain.state());
    DenseCpOperator<T> op(comm, plain.state()->layout, here.of<T>(), options.rank,
                          options.pairwise_perturbation ? options.perturbation_threshold : 0);
    decompose::check_elements(tensor, op.norm_squared());
    return decompose::run_cp<T>(op, task, watch, decompose::iterations_of<T>(op, options, task.lengths),
                                [&](CpResult<T>& result, const Factors<T>& factors, std::int64_t sent) {
                                    result.forecast_bytes = forecast;
                                    result.sent_bytes_max = comm.maximum(sent);
                                    fill_figures(op, plain.state()->layout, factors, result);
                                });
}

}  // namespace

template <class T>
CpResult<T> cp_decompose(const SparseTensor<T>& tensor, const CpOptions& options, const std::type_identity_t<CpProgress<T>>& progress,
                         const std::type_identity_t<CpModel<T>>* start, const std::type_identity_t<SparseTensor<T>>* weights) {
    return decompose_tensor(tensor, false, options, progress, start, weights);
}

template <class T>
CpResult<T> cp_decompose(SparseTensor<T>&& tensor, const CpOptions& options, const std::type_identity_t<CpProgress<T>>& progress,
                         const std::type_identity_t<CpModel<T>>* start, const std::type_identity_t<SparseTensor<T>>* weights) {
    return decompose_tensor(tensor, true, options, progress, start, weights);
}

template <class T>
CpResult<T> cp_decompose(const Tensor<T>& tensor, const CpOptions& options, const std::type_identity_t<CpProgress<T>>& progress,
                         const std::type_identity_t<CpModel<T>>* start, const std::type_identity_t<Tensor<T>>* weights) {
    return decompose_tensor(tensor, options, progress, start, weights);
}

template <class T>
std::string explain_cp(const Tensor<T>& tensor, const CpOptions& options) {
    const auto& source = state_of(tensor, "explain_cp");
    check_dense(source.title(), tensor.extents(), options);
    if (tensor.world().size() > max_counted_ranks)
        throw Unsupported("explain_cp: " + std::to_string(tensor.world().size()) + " ranks are too many to count bytes for each; use " +
                          std::to_string(max_counted_ranks) + " or fewer");
    const auto layout =
        is_plain(source.shape()) ? source.shape() : new_layout(*source.world, tensor.extents(), Symmetry::none(tensor.order()));
    const auto by_mode = sweep_bytes(layout, options.rank, sizeof(T));
    const auto sums = over_modes(by_mode);
    const MovementBounds bounds(layout, options.rank, sizeof(T));
    std::string text = "CP sweep of " + source.title() + " with " + std::to_string(options.rank) + " components on a grid of " +
                       decompose::grid_text(layout) + " ranks\n  " + source.title() + " stays; bytes sent (busiest rank):\n";
    for (std::size_t m = 0; m < by_mode.size(); ++m)
        text += "  mode " + std::to_string(m + 1) + ": rows of the factor, parts of the product, sums " +
                pad_left(with_commas(*std::max_element(by_mode[m].begin(), by_mode[m].end())), 16) + "\n";
    return text + "  sweep " + with_commas(*std::max_element(sums.begin(), sums.end())) + ", all ranks " +
           with_commas(std::accumulate(sums.begin(), sums.end(), std::int64_t{0})) +
           "\n  lower bounds per rank: " + with_commas(bounds.sweep) + " for a sweep if " + source.title() + " stays, " +
           with_commas(bounds.product) + " for one product by any algorithm\n";
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template CpResult<T> cp_decompose(const SparseTensor<T>&, const CpOptions&, const CpProgress<T>&, const CpModel<T>*,                   \
                                      const SparseTensor<T>*);                                                                             \
    template CpResult<T> cp_decompose(SparseTensor<T>&&, const CpOptions&, const CpProgress<T>&, const CpModel<T>*,                        \
                                      const SparseTensor<T>*);                                                                             \
    template CpResult<T> cp_decompose(const Tensor<T>&, const CpOptions&, const CpProgress<T>&, const CpModel<T>*, const Tensor<T>*);      \
    template std::string explain_cp(const Tensor<T>&, const CpOptions&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
