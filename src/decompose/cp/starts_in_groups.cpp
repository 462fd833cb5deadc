#include "decompose/cp/starts_in_groups.hpp"

#include "arges/error.hpp"
#include "base/first_error.hpp"
#include "base/math.hpp"
#include "base/packed.hpp"
#include "base/stopwatch.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/cp/group_copies.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <typeinfo>
#include <utility>

namespace arges::decompose {

namespace {

/// Collective.
RankGroups grouped(const WorldState& world, std::int64_t count, std::int64_t free) {
    const auto& comm = world.communicator();
    RankGroups groups{{}, 0, World::outside()};
    for (std::int64_t g = 0; g <= count; ++g) groups.first.push_back(g * comm.size() / count);
    while (comm.rank() >= groups.first[groups.own + 1]) ++groups.own;
    const auto ranks = alike(comm, groups.own);
    comm.agree([&] {
        groups.world = World(ranks.raw(), Device(world.device().kind(), std::max<std::int64_t>(1, world.device().free_bytes())));
        groups.world.set_memory_limit(free);
    });
    return groups;
}

/// Bytes of the tensor on this rank.
template <class T>
std::int64_t original_bytes(const SparseTensor<T>& tensor) {
    return state_of(tensor, "cp_decompose").bytes();
}
template <class T>
std::int64_t original_bytes(const Tensor<T>&) {
    return 0;
}

/// What a start has come to.
struct Outcome {
    int number = 0;  ///< from 0
    StopReason reason = StopReason::iterations;
    double fit = 0, seconds = 0;
    CpIteration last{};
};

/// All starts, in rounds.
template <class T, class Tensor>
class GroupStarts {
public:
    GroupStarts(const Tensor& tensor, bool gives_up, const RankGroups& groups, const CpOptions& options, const CpProgress<T>& progress,
                const MakeStart<T, Tensor>& make)
        : world_(tensor.world()), comm_(world_.state()->communicator()), title_(tensor.any_state()->title()), lengths_(tensor.extents()),
          groups_(groups), options_(options), progress_(progress), make_(make) {
        const auto memory = copy_memory(tensor, groups, options_of_group(options, groups.count()));
        copying_ = memory.copying;
        original_ = gives_up ? 0 : memory.original;
        checked_forecast(*world_.state(), title_, copying_, memory.original, cures, 0, {});
        copy_ = copy_of_group(tensor, gives_up, groups);
    }

    CpResult<T> run() {
        const double copy_seconds = watch_.lap();
        for (int first = 0; first < options_.starts; first += groups_.count()) {
            const auto outcomes = make_round(first);
            for (const auto& one : outcomes) take(one);
            tell(outcomes);
            const bool is_late =
                options_.seconds > 0 && (spent_ >= options_.seconds || std::any_of(outcomes.begin(), outcomes.end(), [](const auto& one) {
                                             return one.reason == StopReason::seconds;
                                         }));
            if ((options_.stop && options_.stop()) || is_late) break;
        }
        comm_.agree([&] {
            if (!has_best_) throw Error(divergence_);
        });
        auto result = of_best();
        result.setup_seconds += copy_seconds;
        return result;
    }

private:
    static constexpr const char* cures = "use fewer groups of ranks, more ranks, fewer components";

    /// One start on each group for which there is one. Collective.
    std::vector<Outcome> make_round(int first) {
        Outcome mine{first + groups_.own};
        const bool has_one = mine.number < options_.starts;
        FirstError failure;
        failure.run([&] {
            if (has_one) make_one(mine);
        });
        if (has_failed_together_) failure.rethrow();
        settle([&] { failure.rethrow(); });
        const bool speaks = has_one && comm_.rank() == groups_.first[groups_.own];
        return gathered(comm_, speaks ? std::vector<Outcome>{mine} : std::vector<Outcome>());
    }

    /// All ranks hear of what one group throws, however long the others take. Collective.
    void settle(const std::function<void()>& work) {
        comm_.rest();
        comm_.agree(work);
    }

    void make_one(Outcome& mine) {
        auto one = options_;
        one.starts = one.groups = 1;
        one.stop = {};
        if (one.seconds > 0) one.seconds = std::max(one.seconds - spent_, std::numeric_limits<double>::min());
        if (mine.number > 0 && one.init == CpInit::hosvd) one.init = CpInit::random;
        bool iterates = false;
        one.planned = [&](std::int64_t bytes, std::int64_t model_bytes) {
            if (forecast_ == 0) forecast(bytes, model_bytes);
            iterates = true;
        };
        const CpProgress<T> note = [&](const CpIteration& now, const auto&) { mine.last = now; };
        try {
            found_.emplace(make_(copy_, one, note, mine.number));
        } catch (const OutOfMemory& error) {
            if (has_failed_together_) throw;
            throw OutOfMemory(std::string(error.what()) + ", or make fewer groups of ranks (CpOptions::groups, --groups)");
        } catch (const Error& error) {
            if (!iterates || typeid(error) != typeid(Error)) throw;
            divergence_ = error.what();
            mine.reason = StopReason::diverged;
            return;
        }
        mine.reason = found_->stop_reason;
        mine.fit = found_->fit;
        mine.seconds = found_->total.seconds;
    }

    /// In the first round, when each group knows what it takes: either all groups come here, or one has failed and all do. Collective.
    void forecast(std::int64_t bytes, std::int64_t model_bytes) {
        has_failed_together_ = true;
        settle([] {});
        const auto models = ceil_div(options_.starts, groups_.count()) * model_bytes;
        forecast_ = checked_forecast(*world_.state(), title_, std::max(copying_, original_ + bytes + models), original_, cures, model_bytes,
                                     options_.planned);
        has_failed_together_ = false;
    }

    /// Keeps the model as one of all ranks. Collective.
    void take(const Outcome& one) {
        starts_.push_back({options_.seed + static_cast<std::uint64_t>(one.number), one.fit, one.last.number, one.reason, one.seconds, 1});
        models_.emplace_back();
        spent_ = std::max(spent_, one.seconds);
        if (one.reason == StopReason::diverged) return;
        const int group = one.number % groups_.count();
        const bool is_own = group == groups_.own;
        std::vector<double> lambda;
        if (is_own) lambda = found_->model.lambda();
        comm_.broadcast(lambda, groups_.first[group]);
        comm_.agree([&] {
            std::vector<std::vector<std::int64_t>> rows(lengths_.size());
            std::vector<std::vector<T>> factors(lengths_.size());
            for (std::size_t m = 0; is_own && m < lengths_.size(); ++m) {
                rows[m] = found_->model.rows(m);
                factors[m] = found_->model.factor(m);
            }
            models_.back().emplace(world_, lengths_, std::move(lambda), std::move(rows), std::move(factors));
        });
        if (has_best_ && one.fit <= starts_[best_start_].fit) return;
        has_best_ = true;
        best_start_ = one.number;
        if (is_own) best_ = std::move(found_);
    }

    /// The user's progress function. Collective.
    void tell(const std::vector<Outcome>& outcomes) {
        const std::function<CpModel<T>()> model = [&] { return *models_[best_start_]; };
        for (const auto& one : outcomes) {
            if (one.reason == StopReason::diverged) continue;
            auto last = one.last;
            last.start = one.number + 1;
            last.starts = options_.starts;
            CollectiveCall::run_callback(comm_, [&] {
                if (progress_) progress_(last, model);
            });
        }
    }

    /// The result of the best start, the same on every rank. Collective.
    CpResult<T> of_best() {
        const auto giver = groups_.first[best_start_ % groups_.count()];
        CpResult<T> result{CpModel<T>(world_, {}, {}, {}, {})};
        const auto parts = [](Packed& packed, CpResult<T>& of) {
            packed(of.fit, of.loss, of.known, of.iterations, of.converged, of.stop_reason, of.fits, of.seconds_per_iteration,
                   of.setup_seconds, of.choose_seconds, of.distribution, of.grid, of.policy, of.rows, of.format, of.nonzeros_max,
                   of.volume_rows_max, of.volume_rows_total, of.memory_bytes_max, of.planned_bytes_max, of.sent_bytes_max, of.bound_bytes,
                   of.sweep_bound_bytes, of.perturbation_starts, of.total);
        };
        Packed packed;
        comm_.agree([&] {
            if (comm_.rank() == giver) parts(packed, *best_);
        });
        comm_.broadcast(packed.bytes(), giver);
        comm_.agree([&] {
            Packed given(std::move(packed.bytes()));
            parts(given, result);
        });
        result.forecast_bytes = forecast_;
        result.starts = std::move(starts_);
        result.best_start = best_start_;
        result.groups = groups_.count();
        result.stability = compared(models_, result);
        result.model = std::move(*models_[best_start_]);
        return result;
    }

    const World world_;
    const Communicator& comm_;
    const std::string title_;
    const std::vector<std::int64_t> lengths_;
    const RankGroups& groups_;
    const CpOptions& options_;
    const CpProgress<T>& progress_;
    const MakeStart<T, Tensor>& make_;
    Stopwatch watch_;
    std::int64_t original_ = 0, copying_ = 0, forecast_ = 0;
    Tensor copy_;
    bool has_failed_together_ = false;         // all ranks have the same exception, of which no other rank need hear
    std::optional<CpResult<T>> found_, best_;  // of this group in the round, and the best one of all, where this group has made it
    std::string divergence_;
    std::vector<CpStart> starts_;
    std::vector<std::optional<CpModel<T>>> models_;
    bool has_best_ = false;
    std::size_t best_start_ = 0;
    double spent_ = 0;  // seconds of the iterations
};

}  // namespace

CpOptions options_of_group(CpOptions options, int groups) {
    options.starts = static_cast<int>(ceil_div(options.starts, groups));
    return options;
}

void check_groups(const CpOptions& options, std::int64_t ranks, bool has_weights) {
    if (options.groups < 2) return;
    const auto refuse = [&](const std::string& text) {
        throw InvalidArgument("CP decomposition: " + std::to_string(options.groups) + " groups of ranks " + text);
    };
    if (options.groups > ranks)
        refuse("are more than the ranks, " + std::to_string(ranks) + "; use fewer, or 0 for as many as there can be");
    if (options.groups > options.starts)
        refuse("are more than the starts, " + std::to_string(options.starts) + "; make more starts, or use fewer groups");
    if (has_weights) refuse("are for tensors without weights of elements; leave these out, or the groups");
    if (!options.partition_file.empty() || !options.save_partition.empty())
        refuse("have a distribution of the tensor each; leave partition files out, or the groups");
}

template <class T, class Tensor>
std::optional<RankGroups> rank_groups(const Tensor& tensor, bool gives_up, const CpOptions& options) {
    const auto& world = *tensor.world().state();
    const bool has_files = !options.partition_file.empty() || !options.save_partition.empty();
    if (options.groups == 1 || options.starts == 1 || has_files) return std::nullopt;
    const auto ranks = world.size();
    // What gives its memory up is counted by the rank that has most, as accounts are.
    const auto free = world.free_bytes() + (gives_up ? world.communicator().minimum(original_bytes(tensor)) : 0);
    if (options.groups > 1) return grouped(world, options.groups, free);
    for (auto count = std::min<std::int64_t>(options.starts, ranks); count > 1; count = ranks / (ranks / count + 1)) {
        auto groups = grouped(world, count, free);
        std::int64_t left[] = {0};
        world.agree(
            [&] {
                const auto memory = copy_memory(tensor, groups, options_of_group(options, groups.count()));
                const auto kept = gives_up ? 0 : memory.original;
                left[0] = world.free_bytes() + memory.original - std::max(memory.copying, kept + memory.expected);
            },
            left);
        if (left[0] >= 0) return groups;
    }
    return std::nullopt;
}

template <class T, class Tensor>
CpResult<T> starts_in_groups(const Tensor& tensor, bool gives_up, const RankGroups& groups, const CpOptions& options,
                             const CpProgress<T>& progress, const MakeStart<T, Tensor>& make) {
    return GroupStarts<T, Tensor>(tensor, gives_up, groups, options, progress, make).run();
}

#define ARGES_INSTANTIATE(T, Tensor)                                                                                                       \
    template std::optional<RankGroups> rank_groups<T>(const Tensor&, bool, const CpOptions&);                                              \
    template CpResult<T> starts_in_groups(const Tensor&, bool, const RankGroups&, const CpOptions&, const CpProgress<T>&,                  \
                                          const MakeStart<T, Tensor>&);
ARGES_INSTANTIATE(float, SparseTensor<float>)
ARGES_INSTANTIATE(double, SparseTensor<double>)
ARGES_INSTANTIATE(float, Tensor<float>)
ARGES_INSTANTIATE(double, Tensor<double>)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
