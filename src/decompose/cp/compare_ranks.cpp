// Which rank: core consistency (Bro, Kiers, J. Chemometrics 17, 2003), agreement of starts, and the error of held-out elements, of which
// the simplest model is taken that is within one standard error of the best (Hastie, Tibshirani, Friedman, Elements of Statistical
// Learning, section 7.10).
#include "arges/cp_ranks.hpp"

#include "arges/core_consistency.hpp"
#include "arges/error.hpp"
#include "arges/predict.hpp"
#include "base/splitmix.hpp"
#include "comm/collective_call.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/completion/held_out.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace arges {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double consistent = 50, agreed = 0.8;

/// Elements of this rank that are held out, and the tensor without them.
template <class Tensor, class T>
struct Parts {
    std::optional<Tensor> fitted{};
    std::vector<std::vector<std::int64_t>> indices{};  ///< by mode
    std::vector<T> values{};
};

template <class T>
Parts<SparseTensor<T>, T> hold_out(const SparseTensor<T>& tensor, double part, std::uint64_t seed) {
    const auto& source = *tensor.state();
    Parts<SparseTensor<T>, T> parts;
    source.comm().agree([&] {
        auto rest = source.template nonzeros<T>();
        auto held = decompose::split_off(rest, part, seed);
        parts.fitted = decompose::tensor_of(source, std::move(rest));
        parts.indices = std::move(held.indices);
        parts.values = std::move(held.values);
    });
    return parts;
}

template <class T>
Parts<Tensor<T>, T> hold_out(const Tensor<T>& tensor, double part, std::uint64_t seed) {
    const auto& comm = tensor.world().state()->communicator();
    Parts<Tensor<T>, T> parts;
    parts.fitted = tensor;
    parts.indices.resize(tensor.extents().size());
    const bool is_first_copy = tensor.state()->shape().is_first_copy(comm.rank());
    comm.agree([&] {
        std::vector<std::int64_t> index(tensor.extents().size());
        parts.fitted->for_each_local([&](Index at, T& value) {
            std::copy(at.begin(), at.end(), index.begin());
            if (std::isnan(value) || unit_interval(decompose::element_hash(seed, index)) >= part) return;
            for (std::size_t m = 0; is_first_copy && m < index.size(); ++m) parts.indices[m].push_back(index[m]);
            if (is_first_copy) parts.values.push_back(value);
            value = std::numeric_limits<T>::quiet_NaN();
        });
    });
    return parts;
}

/// Fits, starts and core of one decomposition.
template <class Tensor, class Result>
CpRankTrial trial_of(const Tensor& tensor, int rank, const CpOptions& options, const Result& result) {
    constexpr double near = 1e-3, most_core_elements = 1 << 24;
    CpRankTrial trial{rank, result.fit, static_cast<int>(result.starts.size()), 0, 0, unknown, unknown, unknown, 0};
    for (std::size_t s = 0; s < result.starts.size(); ++s) {
        const auto& start = result.starts[s];
        trial.seconds += start.seconds;
        if (start.stop_reason == StopReason::diverged || start.fit < result.fit - near) continue;
        ++trial.near_best;
        if (s != result.best_start) trial.agreement += start.score;
    }
    trial.agreement = trial.near_best > 1 ? trial.agreement / (trial.near_best - 1) : unknown;
    const bool has_core = !options.missing && options.loss.kind == LossKind::gaussian;
    if (has_core && std::pow(static_cast<double>(rank), tensor.order()) <= most_core_elements)
        trial.consistency = core_consistency(tensor, result.model);
    return trial;
}

/// The errors of the elements that were held out.
template <class Parts, class Model>
void judge(const Communicator& comm, const Parts& parts, const Model& model, CpRankTrial& trial) {
    const auto predictions = predict(model, parts.indices);
    double sums[] = {0, 0, 0};
    for (std::size_t x = 0; x < predictions.size(); ++x) {
        const double e = static_cast<double>(parts.values[x]) - predictions[x];
        sums[0] += 1;
        sums[1] += e * e;
        sums[2] += e * e * e * e;
    }
    comm.sum(sums, 3);
    if (sums[0] == 0) throw InvalidArgument("compare_ranks: no element is held out; use a larger part");
    const double mean = sums[1] / sums[0], variance = std::max(0.0, sums[2] / sums[0] - mean * mean);
    trial.held_out_rmse = std::sqrt(mean);
    trial.held_out_spread = mean > 0 ? std::sqrt(variance / sums[0]) / (2 * trial.held_out_rmse) : 0;
}

int recommended_rank(const std::vector<CpRankTrial>& trials) {
    const auto best =
        std::min_element(trials.begin(), trials.end(), [](const auto& a, const auto& b) { return a.held_out_rmse < b.held_out_rmse; });
    const bool is_judged = best != trials.end() && std::isfinite(best->held_out_rmse);
    int most = std::numeric_limits<int>::max();
    if (is_judged)
        for (const auto& trial : trials)
            if (trial.held_out_rmse <= best->held_out_rmse + best->held_out_spread) most = std::min(most, trial.rank);
    const bool has_cores = std::any_of(trials.begin(), trials.end(), [](const auto& trial) { return !std::isnan(trial.consistency); });
    if (is_judged && !has_cores) return most;
    int rank = 0;
    for (const auto& trial : trials) {
        const bool is_found_once_of_many = trial.starts > 1 && trial.near_best < 2;
        if (trial.rank <= most && trial.consistency >= consistent && !is_found_once_of_many && !(trial.agreement < agreed))
            rank = std::max(rank, trial.rank);
    }
    return rank;
}

template <class T, class Tensor>
CpRanks compare(const Tensor& tensor, const WorldState& world, const std::string& title, int first, int last, CpOptions options,
                double holdout, const std::function<void(int, const CpIteration&)>& progress) {
    constexpr bool is_sparse = std::is_same_v<Tensor, SparseTensor<T>>;
    const CollectiveCall call(world.movement_communicator(), "compare_ranks", decompose::digest_of(options), first, last, holdout);
    const auto& comm = world.communicator();
    comm.agree([&] {
        if (first < 1 || last < first)
            throw InvalidArgument("compare_ranks: ranks from " + std::to_string(first) + " to " + std::to_string(last) +
                                  "; give the smaller one first, from 1 on");
        if (!(holdout >= 0) || !(holdout < 1)) throw InvalidArgument("compare_ranks: the part to hold out must be from 0 to below 1");
        if (holdout > 0 && is_sparse && !options.missing)
            throw InvalidArgument("compare_ranks: " + title +
                                  " has zeros where no elements are stored, and elements are held out of such tensors only whose other "
                                  "elements are missing; say that they are (--missing), or hold nothing out");
        if (holdout > 0 && options.algorithm == CpAlgorithm::sgd && !is_sparse)
            throw InvalidArgument("compare_ranks: " + title + " is dense; sgd is for sparse tensors, use opt");
        if (!options.save_partition.empty())
            throw InvalidArgument("compare_ranks: there are several decompositions, but one file for a distribution; leave it out");
    });
    Parts<Tensor, T> parts;
    auto judged = options;
    if (holdout > 0) {
        parts = hold_out(tensor, holdout, options.seed);
        judged.missing = true;
        judged.init = CpInit::random;
    }
    CpRanks found;
    const auto wants_stop = [&] { return options.stop && options.stop(); };
    for (int rank = first; rank <= last && !wants_stop(); ++rank) {
        const CpProgress<T> each = [&](const CpIteration& now, const auto&) {
            if (progress) progress(rank, now);
        };
        options.rank = judged.rank = rank;
        const auto result = cp_decompose(tensor, options, each);
        auto trial = trial_of(tensor, rank, options, result);
        if (holdout > 0 && !wants_stop()) judge(comm, parts, cp_decompose(*parts.fitted, judged, each).model, trial);
        found.trials.push_back(trial);
    }
    found.recommended = recommended_rank(found.trials);
    return found;
}

template <class T>
CpRanks compare_of(const SparseTensor<T>& tensor, int first, int last, const CpOptions& options, double holdout,
                   const std::function<void(int, const CpIteration&)>& progress) {
    const auto& source = state_of(tensor, "compare_ranks");
    if (!source.symmetry.trivial()) return compare_of<T>(tensor.with_symmetry({}), first, last, options, holdout, progress);
    return compare<T>(tensor, *source.world, source.title(), first, last, options, holdout, progress);
}

template <class T>
CpRanks compare_of(const Tensor<T>& tensor, int first, int last, const CpOptions& options, double holdout,
                   const std::function<void(int, const CpIteration&)>& progress) {
    const auto& source = state_of(tensor, "compare_ranks");
    return compare<T>(tensor, *source.world, source.title(), first, last, options, holdout, progress);
}

}  // namespace

template <class Tensor>
CpRanks compare_ranks(const Tensor& tensor, int first, int last, const CpOptions& options, double holdout,
                      const std::function<void(int rank, const CpIteration&)>& progress) {
    return compare_of(tensor, first, last, options, holdout, progress);
}

#define ARGES_INSTANTIATE(Tensor)                                                                                                          \
    template CpRanks compare_ranks(const Tensor&, int, int, const CpOptions&, double, const std::function<void(int, const CpIteration&)>&);
ARGES_INSTANTIATE(SparseTensor<float>)
ARGES_INSTANTIATE(SparseTensor<double>)
ARGES_INSTANTIATE(Tensor<float>)
ARGES_INSTANTIATE(Tensor<double>)
#undef ARGES_INSTANTIATE

}  // namespace arges
