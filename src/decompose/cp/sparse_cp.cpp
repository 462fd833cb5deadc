#include "arges/cpd.hpp"

#include "arges/error.hpp"
#include "base/stopwatch.hpp"
#include "comm/collective_call.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/cp/sparse_operator.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/model_arguments.hpp"
#include "decompose/sparse_memory.hpp"
#include "interface/sparse_state.hpp"

#include <omp.h>

namespace arges {

namespace {

using decompose::CpState;
using decompose::Factors;
using decompose::SparseOperator;

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
template <class T>
CpResult<T> decompose_tensor(const SparseTensor<T>& tensor, bool gives_up, const CpOptions& options, const CpProgress<T>& progress,
                             const CpModel<T>* start) {
    auto& source = state_of(tensor, "cp_decompose");
    if (!source.symmetry.trivial()) return decompose_tensor(tensor.with_symmetry({}), true, options, progress, start);
    const CollectiveCall call(source.world->movement_communicator(), "cp_decompose", source, decompose::digest_of(options),
                              ModelArgument{start});
    const auto& comm = source.comm();
    const auto nonzeros = source.pattern()->total;
    comm.agree([&] {
        decompose::check_cp_options(options);
        if (nonzeros == 0) throw InvalidArgument(source.title() + " has no nonzeros; there is nothing to decompose");
        if (tensor.order() < 2) throw InvalidArgument(source.title() + " has one mode; a CP decomposition needs at least two");
        sparse::parse_format(options.format);
        if (options.pairwise_perturbation)
            throw InvalidArgument("CP decomposition: pairwise perturbation is for dense tensors; leave it out");
        if (start) decompose::check_cp_start(tensor.lengths(), options.rank, start->lengths(), start->rank());
    });
    Stopwatch watch;
    const auto weights = options.algorithm == CpAlgorithm::opt ? partition::CoarseWeights::summed : partition::CoarseWeights::by_mode;
    auto distributed = decompose::distribute_tensor<T>(
        source, gives_up,
        {options.distribution, options.grid, options.policy, options.rows, options.partition_file, options.rank, options.seed, weights});
    const auto& chosen = distributed.chosen;
    const auto& share = distributed.share;
    const auto forecast = comm.maximum(decompose::cp_memory(share, options, omp_get_max_threads()).peak());
    decompose::check_forecast(*source.world, source.title(), forecast, share.keeps_source ? share.source_bytes() : 0,
                              "use more ranks, fewer components, another format");
    const auto model_bytes = comm.maximum(decompose::model_memory({{}, share.owned}, options.rank, sizeof(T)));
    comm.agree([&] {
        if (options.planned) options.planned(forecast, model_bytes);
    });
    const bool folds = distributed.nonzeros.folds;
    SparseOperator<T> op(comm, std::move(distributed.nonzeros), sparse::parse_format(options.format), options.rank);
    decompose::check_norm(source.title(), op.norm_squared());
    CpState<T> state{Factors<T>(op, options.seed), std::vector<double>(options.rank, 1), 0};
    if (start) decompose::start_from(*start, op, state);
    CpResult<T> result{CpModel<T>(tensor.world(), {}, {}, {}, {})};
    result.setup_seconds = watch.lap();
    result.forecast_bytes = forecast;
    result.choose_seconds = chosen.seconds;
    result.distribution = chosen.distribution;
    result.grid = chosen.grid;
    result.policy = chosen.policy;
    result.rows = chosen.rows;
    const std::function<CpModel<T>()> model = [&] { return decompose::model_of<T>(tensor.world(), tensor.lengths(), op, state); };
    decompose::run_iterations<T>(op, state, options, progress, model, result);
    fill_figures(comm, op, state.factors, folds, result);
    op.drop_nonzeros();
    comm.agree([&] { result.model = decompose::model_of<T>(tensor.world(), tensor.lengths(), op, state, true); });
    return result;
}

}  // namespace

template <class T>
CpResult<T> cp_decompose(const SparseTensor<T>& tensor, const CpOptions& options, const std::type_identity_t<CpProgress<T>>& progress,
                         const std::type_identity_t<CpModel<T>>* start) {
    return decompose_tensor(tensor, false, options, progress, start);
}

template <class T>
CpResult<T> cp_decompose(SparseTensor<T>&& tensor, const CpOptions& options, const std::type_identity_t<CpProgress<T>>& progress,
                         const std::type_identity_t<CpModel<T>>* start) {
    return decompose_tensor(tensor, true, options, progress, start);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template CpResult<T> cp_decompose(const SparseTensor<T>&, const CpOptions&, const CpProgress<T>&, const CpModel<T>*);                  \
    template CpResult<T> cp_decompose(SparseTensor<T>&&, const CpOptions&, const CpProgress<T>&, const CpModel<T>*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
