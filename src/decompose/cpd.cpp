#include "arges/cpd.hpp"

#include "arges/error.hpp"
#include "base/stopwatch.hpp"
#include "decompose/choose_distribution.hpp"
#include "decompose/cp_opt.hpp"
#include "interface/sparse_state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arges {

namespace {

using decompose::CpState;
using decompose::Factors;
using decompose::SparseOperator;

constexpr int max_rank = 1024;

void check(const CpOptions& options) {
    auto refuse = [](const std::string& text) { throw InvalidArgument("CP decomposition: " + text); };
    if (options.rank < 1 || options.rank > max_rank)
        refuse("the rank is " + std::to_string(options.rank) + "; it must be from 1 to " + std::to_string(max_rank));
    if (options.max_iterations < 1) refuse(std::to_string(options.max_iterations) + " iterations; there must be at least one");
    if (!(options.tolerance >= 0)) refuse("the tolerance must be 0 or a positive number");
    if (!(options.regularization >= 0) || !std::isfinite(options.regularization)) refuse("the regularization must be 0 or a positive number");
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

/// Order of the components by falling weight.
std::vector<std::size_t> falling(const std::vector<double>& lambda) {
    std::vector<std::size_t> order(lambda.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lambda[a] > lambda[b]; });
    return order;
}

/// @param releases the factors' memory, one after the other
template <class T>
CpModel<T> model_of(const World& world, const std::vector<std::int64_t>& lengths, SparseOperator<T>& tensor, CpState<T>& state,
                    bool releases = false) {
    const auto order = falling(state.lambda);
    std::vector<double> lambda;
    for (auto c : order) lambda.push_back(state.lambda[c]);
    std::vector<std::vector<std::int64_t>> rows;
    std::vector<std::vector<T>> factors;
    for (int m = 0; m < tensor.order(); ++m) {
        const auto& index = tensor.rows(m).index;
        const auto owned = state.factors.owned(m);
        rows.emplace_back(index.begin(), index.begin() + owned.rows);
        factors.emplace_back();
        factors.back().reserve(static_cast<std::size_t>(owned.rows * owned.columns));
        for (std::int64_t i = 0; i < owned.rows; ++i)
            for (auto c : order) factors.back().push_back(owned.row(i)[c]);
        if (releases) state.factors.release(m);
    }
    return {world, lengths, std::move(lambda), std::move(rows), std::move(factors)};
}

/// Takes the rows of a given model; other ranks may have them. Collective.
template <class T>
void start_from(const Communicator& comm, const CpModel<T>& model, SparseOperator<T>& tensor, CpState<T>& state) {
    state.lambda = model.lambda();
    for (int m = 0; m < tensor.order(); ++m) {
        const auto rows = from_bytes<std::int64_t>(comm.all_gather(to_bytes(model.rows(m))));
        const auto values = from_bytes<T>(comm.all_gather(to_bytes(model.factor(m))));
        std::vector<std::pair<std::int64_t, std::size_t>> place;
        for (std::size_t i = 0; i < rows.size(); ++i) place.emplace_back(rows[i], i);
        std::sort(place.begin(), place.end());
        const auto columns = static_cast<std::size_t>(tensor.columns());
        auto matrix = state.factors.matrix(m);
        for (std::int64_t i = 0; i < matrix.rows; ++i) {
            const auto wanted = tensor.rows(m).index[static_cast<std::size_t>(i)];
            const auto found = std::lower_bound(place.begin(), place.end(), std::pair(wanted, std::size_t{0}));
            if (found == place.end() || found->first != wanted)
                std::fill_n(matrix.row(i), columns, T(0));
            else
                std::copy_n(values.data() + found->second * columns, columns, matrix.row(i));
        }
        auto gram = decompose::gram_of<T>(state.factors.owned(m));
        decompose::sum_over_ranks(comm, gram);
        state.factors.set_gram(m, std::move(gram));
    }
}

std::string shape_text(const std::vector<std::int64_t>& lengths, int rank) {
    std::string text;
    for (auto n : lengths) text += (text.empty() ? "" : " x ") + std::to_string(n);
    return text + " of rank " + std::to_string(rank);
}

void check_start(const std::vector<std::int64_t>& lengths, int rank, const std::vector<std::int64_t>& start_lengths, int start_rank) {
    if (start_lengths != lengths || start_rank != rank)
        throw InvalidArgument("CP decomposition: the factors to start from are for " + shape_text(start_lengths, start_rank) + ", not for " +
                              shape_text(lengths, rank) + "; give those of this tensor and rank, or start from a seed");
}

/// Runs the iterations and keeps times.
template <class T>
class Runner {
public:
    Runner(SparseOperator<T>& tensor, CpState<T>& state, const CpOptions& options, const CpProgress<T>& progress,
           std::function<CpModel<T>()> model)
        : tensor_(tensor), state_(state), options_(options), progress_(progress), model_(std::move(model)) {}

    void run(CpResult<T>& result) {
        const decompose::IterationOptions iteration{options_.max_iterations, options_.tolerance, options_.regularization};
        const auto after = [&](int number, double fit) { return note(result, number, fit); };
        watch_.lap();
        if (options_.algorithm == CpAlgorithm::als) run_als(tensor_, state_, iteration, after);
        if (options_.algorithm == CpAlgorithm::nonnegative) run_nonnegative(tensor_, state_, iteration, after);
        if (options_.algorithm == CpAlgorithm::opt) run_opt(tensor_, state_, iteration, after);
        result.fit = state_.fit;
    }

private:
    bool note(CpResult<T>& result, int number, double fit) {
        const auto& spent = tensor_.seconds();
        CpIteration now{number, fit, number == 1 ? fit : fit - last_fit_, watch_.lap(), spent.mttkrp - before_.mttkrp, spent.solve - before_.solve,
                        spent.communication - before_.communication};
        before_ = spent;
        last_fit_ = fit;
        auto& total = result.total;
        total.number = number;
        total.fit = fit;
        total.seconds += now.seconds;
        total.mttkrp_seconds += now.mttkrp_seconds;
        total.solve_seconds += now.solve_seconds;
        total.communication_seconds += now.communication_seconds;
        result.iterations = number;
        result.seconds_per_iteration = total.seconds / number;
        result.converged = number > 1 && std::abs(now.change) < options_.tolerance;
        if (progress_) progress_(now, model_);
        watch_.lap();
        return !result.converged;
    }

    SparseOperator<T>& tensor_;
    CpState<T>& state_;
    const CpOptions& options_;
    const CpProgress<T>& progress_;
    std::function<CpModel<T>()> model_;
    decompose::Seconds before_;
    double last_fit_ = 0;
    Stopwatch watch_;
};

/// What both forms of cp_decompose() do; `gives_up`: the tensor loses its nonzeros when they have been dealt out.
template <class T>
CpResult<T> decompose_tensor(const SparseTensor<T>& tensor, bool gives_up, const CpOptions& options, const CpProgress<T>& progress,
                             const CpModel<T>* start) {
    auto& source = state_of(tensor, "cp_decompose");
    const auto& comm = source.comm();
    const auto nonzeros = comm.sum(source.local().count());
    comm.agree([&] {
        check(options);
        if (nonzeros == 0) throw InvalidArgument(source.title() + " has no nonzeros; there is nothing to decompose");
        if (tensor.order() < 2) throw InvalidArgument(source.title() + " has one mode; a CP decomposition needs at least two");
        sparse::parse_format(options.format);
        if (start) check_start(tensor.lengths(), options.rank, start->lengths(), start->rank());
    });
    Stopwatch watch;
    auto chosen = decompose::choose_distribution(
        comm, source.local(),
        {options.distribution, options.grid, options.policy, options.rows, options.partition_file, options.rank, options.seed});
    auto distributed = decompose::distribute(comm, source.local(), chosen.plan);
    const bool folds = distributed.folds;
    if (gives_up) source.take();
    SparseOperator<T> op(comm, std::move(distributed), sparse::parse_format(options.format), options.rank);
    if (!(op.norm_squared() > 0) || !std::isfinite(op.norm_squared()))
        throw InvalidArgument(source.title() + ": the sum of the squares of its values is " + (op.norm_squared() > 0 ? "infinite" : "zero") +
                              "; scale the values, or give some that are not zero");
    CpState<T> state{Factors<T>(op, options.seed), std::vector<double>(static_cast<std::size_t>(options.rank), 1), 0};
    if (start) start_from(comm, *start, op, state);
    CpResult<T> result{CpModel<T>(tensor.world(), {}, {}, {}, {})};
    result.setup_seconds = watch.lap();
    result.distribution = chosen.distribution;
    result.grid = chosen.grid;
    result.policy = chosen.policy;
    result.rows = chosen.rows;
    const std::function<CpModel<T>()> model = [&] { return model_of(tensor.world(), tensor.lengths(), op, state); };
    Runner<T>(op, state, options, progress, model).run(result);
    fill_figures(comm, op, state.factors, folds, result);
    op.drop_nonzeros();
    result.model = model_of(tensor.world(), tensor.lengths(), op, state, true);
    return result;
}

}  // namespace

template <class T>
CpModel<T>::CpModel(World world, std::vector<std::int64_t> lengths, std::vector<double> lambda, std::vector<std::vector<std::int64_t>> rows,
                    std::vector<std::vector<T>> factors)
    : world_(std::move(world)), lengths_(std::move(lengths)), lambda_(std::move(lambda)), rows_(std::move(rows)), factors_(std::move(factors)) {}

template <class T>
std::vector<T> CpModel<T>::gather(int mode) const {
    const auto& comm = world_.state()->communicator();
    const auto m = static_cast<std::size_t>(mode);
    comm.agree([&] {
        if (mode < 0 || mode >= order())
            throw InvalidArgument("CP model: there is no mode " + std::to_string(mode) + "; modes are 0 to " + std::to_string(order() - 1));
    });
    const auto all_rows = from_bytes<std::int64_t>(comm.all_gather(to_bytes(rows_[m])));
    const auto all_values = from_bytes<T>(comm.all_gather(to_bytes(factors_[m])));
    std::vector<T> result;
    comm.agree([&] { result.assign(static_cast<std::size_t>(lengths_[m]) * lambda_.size(), T(0)); });
    for (std::size_t i = 0; i < all_rows.size(); ++i)
        std::copy_n(all_values.data() + i * lambda_.size(), lambda_.size(), result.data() + static_cast<std::size_t>(all_rows[i]) * lambda_.size());
    return result;
}

template <class T>
CpResult<T> cp_decompose(const SparseTensor<T>& tensor, const CpOptions& options, const CpProgress<T>& progress, const CpModel<T>* start) {
    return decompose_tensor(tensor, false, options, progress, start);
}

template <class T>
CpResult<T> cp_decompose(SparseTensor<T>&& tensor, const CpOptions& options, const CpProgress<T>& progress, const CpModel<T>* start) {
    return decompose_tensor(tensor, true, options, progress, start);
}

#define ARGES_INSTANTIATE(T)                                                                                                             \
    template class CpModel<T>;                                                                                                           \
    template CpResult<T> cp_decompose(const SparseTensor<T>&, const CpOptions&, const CpProgress<T>&, const CpModel<T>*); \
    template CpResult<T> cp_decompose(SparseTensor<T>&&, const CpOptions&, const CpProgress<T>&, const CpModel<T>*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)

}  // namespace arges
