// Tucker decompositions of dense tensors: HOSVD and HOOI (De Lathauwer, De Moor, Vandewalle, SIAM J. Matrix Anal. Appl. 21, 2000), and
// ST-HOSVD (Vannieuwenhoven, Vandebril, Meerbergen 2012).
#include "arges/tucker.hpp"

#include "arges/error.hpp"
#include "arges/known_elements.hpp"
#include "base/math.hpp"
#include "base/stopwatch.hpp"
#include "comm/collective_call.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/dense_memory.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "decompose/distribution/movement_bounds.hpp"
#include "decompose/factor_tensor.hpp"
#include "decompose/finite_elements.hpp"
#include "decompose/known_weights.hpp"
#include "decompose/model_arguments.hpp"
#include "decompose/tucker/dense_tucker_subspace.hpp"
#include "decompose/tucker/dense_unfolding.hpp"
#include "decompose/tucker/missing_elements.hpp"
#include "decompose/tucker/nonnegative_tucker.hpp"
#include "decompose/tucker/rank_search.hpp"
#include "decompose/tucker/smallest_core.hpp"
#include "decompose/tucker/tucker_checks.hpp"
#include "decompose/tucker/tucker_steps.hpp"
#include "interface/dense/tensor_state.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace arges {

namespace {

using decompose::RankRule;
using decompose::Subspace;

/// The methods; they share how a mode is truncated.
template <class T>
class DenseTucker {
public:
    DenseTucker(const Tensor<T>& tensor, const TuckerOptions& options, double norm_squared)
        : tensor_(tensor.state()), options_(options), comm_(tensor_.world().state()->communicator()), norm_squared_(norm_squared),
          factors_(tensor_.extents().size()), ranks_(tensor_.extents().size(), 0), steps_(comm_, sizeof(T)) {
        for (std::size_t m = 0; m < options.ranks.size(); ++m) ranks_[m] = options.ranks[m];
        order_ = options.order;
        if (order_.empty())
            order_ = decompose::cheapest_mode_order(tensor_.state()->layout, {ranks_.begin(), ranks_.end()}, sizeof(T),
                                                    tensor_.world().state()->plan_options().machine);
    }

    /// The tensor is a filled copy of one of which elements are unknown, or have weights.
    void set_missing(decompose::KnownPart<T> known) { known_.emplace(std::move(known)); }

    void hosvd() {
        double discarded = 0;
        for (int mode : order_) {
            auto whole = move(tensor_, mode, {});
            truncate(whole, mode, rule(mode), 0);
            discarded += discarded_;
        }
        core_ = Tensor<T>(tensor_.state());
        for (std::size_t k = 0; k < order_.size(); ++k) {
            const std::vector<int> settled(order_.begin(), order_.begin() + k);
            core_ = project(move(core_, order_[k], settled), order_[k]);
        }
        // Both are right up to rounding, the first where little was cut, the second where much was.
        auto& step = steps_.go_on(order_.back());
        steps_.note(step, 0);
        lost_ = std::min(discarded, at_least_zero(norm_squared_ - decompose::norm_squared(core_)));
        steps_.note(step, decompose::sum_bytes(comm_.size(), comm_.rank(), 1));
        cut_core();
    }

    void st_hosvd() {
        core_ = Tensor<T>(tensor_.state());
        lost_ = 0;
        for (std::size_t k = 0; k < order_.size(); ++k) {
            const std::vector<int> settled(order_.begin(), order_.begin() + k);
            core_ = move(core_, order_[k], settled);
            truncate(core_, order_[k], rule(order_[k]), 0);
            lost_ += discarded_;
            core_ = project(core_, order_[k]);
        }
        cut_core();
    }

    void hooi(TuckerResult<T>& result, const TuckerProgress& progress, const TuckerModel<T>* start) {
        if (start)
            take(*start);
        else
            st_hosvd();
        for (std::size_t m = 0; m < factors_.size(); ++m) ranks_[m] = static_cast<int>(factors_[m].rank);
        Stopwatch watch;
        if (start) error_ = std::numeric_limits<double>::infinity();
        const auto iterate = [&] {
            const double before = error_;
            iteration_ = result.iterations + 1;
            sweep(tensor_, 0, tensor_.order());
            if (known_) refill();
            return decompose::note_iteration(comm_, options_, progress, watch, 1 - error_, before - error_, result);
        };
        const auto may_go_on = [&] { return result.iterations < options_.max_iterations; };
        do {
            for (bool goes_on = true; goes_on && may_go_on();) goes_on = iterate();
        } while (result.converged && budget() > 0 && decompose::shrink(*this, options_.relative_error, result, may_go_on, iterate));
        result.seconds_per_iteration = watch.seconds() / result.iterations;
    }

    TuckerModel<T> model() const {
        std::vector<std::vector<std::int64_t>> rows(factors_.size());
        std::vector<std::vector<T>> values(factors_.size());
        for (std::size_t m = 0; m < factors_.size(); ++m) {
            const auto length = tensor_.extents()[m];
            for (auto i = comm_.rank(); i < length; i += comm_.size()) {
                rows[m].push_back(i);
                for (std::int64_t c = 0; c < factors_[m].rank; ++c) values[m].push_back(factors_[m].u[i + c * length]);
            }
        }
        auto core = core_;
        core.set_name("core");
        return {tensor_.extents(), std::move(core), std::move(rows), std::move(values)};
    }

    double error() const { return error_; }

    /// The core as it is, for the search for ranks; a part of the next step. Collective.
    decompose::CoreState core_state() {
        auto& step = steps_.pending();
        steps_.note(step, 0);
        auto slices = decompose::slice_squares(core_);
        steps_.note(step, decompose::slice_squares_bytes(comm_.size(), comm_.rank(), core_.extents()));
        return {ranks_, std::move(slices), error_ * error_ * norm_squared_, budget()};
    }

    /// All that iterations change.
    struct State {
        std::vector<Subspace<T>> factors;
        Tensor<T> core;
        double error = 0;
    };
    State state() const { return {factors_, core_, error_}; }
    void restore(const State& state) {
        factors_ = state.factors;
        core_ = state.core;
        error_ = state.error;
        for (std::size_t m = 0; m < factors_.size(); ++m) ranks_[m] = static_cast<int>(factors_[m].rank);
    }

    /// Keeps the leading columns of the factors and the part of the core that belongs to them.
    void cut_to(const std::vector<int>& ranks) {
        for (std::size_t m = 0; m < factors_.size(); ++m) {
            factors_[m].u.resize(tensor_.extents()[m] * ranks[m]);
            factors_[m].rank = ranks_[m] = ranks[m];
        }
        const std::vector<std::int64_t> lengths(ranks.begin(), ranks.end());
        if (lengths != core_.extents()) core_ = decompose::leading_part(core_, lengths);
    }

    /// What each step took. Collective.
    std::vector<TuckerStep> steps() { return std::move(steps_).finish(); }

private:
    double ranks() const { return comm_.size(); }
    double budget() const { return options_.relative_error * options_.relative_error * norm_squared_; }

    /// With a relative error modes first lose what matters little, so that the core has more than it needs; cut_core() takes the rest.
    RankRule rule(int mode) const {
        constexpr double share_before = 0.1;
        const std::size_t m = mode;
        return {ranks_[m] > 0 ? ranks_[m] : tensor_.extents()[m], budget() > 0 ? share_before * budget() / tensor_.order() : -1};
    }

    /// Takes the smallest leading part of the core that meets the relative error, if there is one to be met. lost_ is what the core has
    /// not.
    void cut_core() {
        if (budget() > 0) {
            auto& step = steps_.go_on(order_.back());
            steps_.note(step, 0);
            const auto found = decompose::smallest_leading_core(core_, budget() - lost_);
            cut_to({found.ranks.begin(), found.ranks.end()});
            step.product_seconds += steps_.note(step, found.planned_bytes);
            for (int m = 0; m < tensor_.order(); ++m) {
                auto& of_mode = steps_.go_on(m);
                of_mode.rank = found.ranks[m];
                of_mode.discarded = std::sqrt(of_mode.discarded * of_mode.discarded + found.cut[m] / norm_squared_);
            }
            lost_ += found.outside();
        }
        error_ = std::sqrt(lost_ / norm_squared_);
    }

    /// To where the mode is whole; a part of the next step.
    Tensor<T> move(const Tensor<T>& tensor, int mode, const std::vector<int>& settled) {
        auto& step = steps_.pending();
        steps_.note(step, 0);
        auto moved = decompose::with_whole_mode(tensor, mode, settled);
        step.move_seconds += steps_.note(step, moved.planned_bytes);
        return std::move(moved.tensor);
    }

    /// The kernel for a matricization.
    TuckerKernel kernel(const Tensor<T>& tensor, int mode, const RankRule& rule) const {
        const auto length = tensor.extents()[mode], width = tensor.size() / length;
        if (tensor.order() == 1 || rule.most > width) return TuckerKernel::gram;
        if (options_.kernel != TuckerKernel::automatic) return options_.kernel;
        const bool accurate =
            options_.relative_error > 0 && options_.relative_error < std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
        return accurate ? TuckerKernel::qr : decompose::cheaper_kernel(length, width, comm_.size());
    }

    /// Finds the factor of a mode of a tensor in which it is whole.
    void truncate(const Tensor<T>& tensor, int mode, const RankRule& rule, int iteration) {
        auto& step = steps_.begin(mode, iteration);
        const auto length = tensor.extents()[mode];
        auto& factor = factors_[mode];
        const RankRule limited{std::min(rule.most, length), rule.allowed};
        step.kernel = kernel(tensor, mode, limited);
        steps_.note(step, 0);
        if (step.kernel == TuckerKernel::gram) {
            auto gram = decompose::mode_gram(tensor, mode);
            step.gram_seconds = steps_.note(step, decompose::gram_bytes(comm_.size(), comm_.rank(), length));
            steps_.raise_bound(step,
                               decompose::gram_bound(static_cast<double>(length), static_cast<double>(tensor.size() / length), ranks()));
            factor = decompose::subspace_of_gram<T>(tensor.world(), std::move(gram), length, limited);
            step.solve_seconds = steps_.note(step, factor.planned_bytes);
        } else {
            factor = decompose::subspace_by_qr(tensor, mode, limited);
            step.gram_seconds = steps_.note(step, factor.planned_bytes);
        }
        discarded_ = factor.discarded;
        step.rank = factor.rank;
        step.discarded = std::sqrt(factor.discarded / norm_squared_);
    }

    /// The product with a mode's factor, and what has moved for it.
    Tensor<T> project(const Tensor<T>& tensor, int mode) {
        auto& step = steps_.go_on(mode);
        steps_.note(step, 0);
        const auto& factor = factors_[mode];
        Tensor<T> result(decompose::mode_product(*tensor.state(), mode, factor.u.data(), factor.rank));
        step.product_seconds += steps_.note(step, 0);
        steps_.raise_bound(step, bound_of_product(tensor.extents(), mode));
        return result;
    }

    double bound_of_product(const std::vector<std::int64_t>& extents, int mode) const {
        double size = 1;
        for (auto n : extents) size *= static_cast<double>(n);
        const std::size_t place = mode;
        const double length = extents[place];
        return decompose::product_bound(length, size / length, static_cast<double>(factors_[place].rank), ranks());
    }

    /// Unknown elements become those of the model, which the error is of, too, as far as elements are known. Each rank has all that its
    /// part of the model is made from but the core.
    void refill() {
        auto& step = steps_.pending();
        steps_.note(step, 0);
        const auto core = core_.gather();
        tensor_ = decompose::with_plain_blocks(tensor_);  // statements may leave tensors on other layouts
        const auto planned = known_->move_to(tensor_);
        step.move_seconds += steps_.note(step, planned);
        Buffer<T> model;
        comm_.agree([&] {
            std::vector<const T*> factors;
            for (const auto& factor : factors_) factors.push_back(factor.u.data());
            model = decompose::model_block<T>(core, core_.extents(), factors, tensor_.state()->layout, comm_.rank());
        });
        const auto residuals = known_->refill(model.data(), tensor_);
        step.product_seconds += steps_.note(step, 0);
        norm_squared_ = residuals.filled;
        error_ = std::sqrt(residuals.known / known_->sums().squares);
    }

    /// The factor of a mode as a tensor.
    Tensor<T> factor_of(int mode, std::int64_t length) {
        const auto& own = factors_[mode];
        Tensor<T> factor(tensor_.world(), {length, own.rank}, "factor");
        factor.for_each_local([&](Index i, T& value) { value = own.u[i[0] + i[1] * length]; });
        return factor;
    }

    /// Truncates the modes in [begin, end) of a tensor in which all others have been multiplied with their factors. Halves
    /// share these products, so that the tensor itself is read twice in an iteration.
    void sweep(const Tensor<T>& tensor, int begin, int end) {
        if (end - begin == 1) {
            auto whole = move(tensor, begin, {});
            truncate(whole, begin, {ranks_[begin], -1}, iteration_);
            if (end < tensor_.order()) return;
            core_ = project(whole, begin);
            error_ = std::sqrt(at_least_zero(norm_squared_ - factors_[begin].kept) / norm_squared_);
            return;
        }
        const int middle = (begin + end) / 2;
        sweep(multiplied(tensor, middle, end), begin, middle);
        sweep(multiplied(tensor, begin, middle), middle, end);
    }

    /// The tensor times the factors of some modes, as one statement: the planner decides in which order, and where. A part of the
    /// next step.
    Tensor<T> multiplied(const Tensor<T>& tensor, int begin, int end) {
        auto& step = steps_.pending();
        steps_.note(step, 0);
        auto labels = decompose::numbered_labels('x', tensor.order());
        auto extents = tensor.extents();
        Expression<T> product = tensor[Labels(labels)];
        auto least = std::numeric_limits<double>::infinity();
        for (int m = begin; m < end; ++m) {
            const std::size_t place = m;
            least = std::min(least, bound_of_product(tensor.extents(), m));
            const auto factor = factor_of(m, extents[place]);
            const auto truncated = "y" + std::to_string(m + 1);
            product = product * factor[Labels(std::vector<std::string>{labels[place], truncated})];
            labels[place] = truncated;
            extents[place] = factors_[place].rank;
        }
        Tensor<T> result(tensor.world(), extents, tensor.name());
        result[Labels(labels)] = product;
        step.product_seconds += steps_.note(step, tensor.world().last_report().bytes_planned);
        steps_.raise_bound(step, least);
        return decompose::with_plain_blocks(result);
    }

    void take(const TuckerModel<T>& start) {
        for (int m = 0; m < start.order(); ++m) {
            const auto rows = start.gather(m);
            const std::size_t place = m;
            auto& factor = factors_[place];
            factor.rank = start.ranks()[place];
            factor.u.resize(rows.size());
            const auto length = start.lengths()[place];
            for (std::int64_t i = 0; i < length; ++i)
                for (std::int64_t c = 0; c < factor.rank; ++c) factor.u[i + c * length] = rows[i * factor.rank + c];
        }
    }

    Tensor<T> tensor_;
    std::optional<decompose::KnownPart<T>> known_;
    const TuckerOptions& options_;
    const Communicator& comm_;
    double norm_squared_;
    std::vector<Subspace<T>> factors_;
    std::vector<int> ranks_;  // by mode; 0: not known before
    std::vector<int> order_;
    Tensor<T> core_;
    double error_ = 0, discarded_ = 0, lost_ = 0;  // the last two are squares
    int iteration_ = 0;
    decompose::TuckerSteps steps_;
};

}  // namespace

template <class T>
TuckerResult<T> tucker_decompose(const Tensor<T>& tensor, const TuckerOptions& given, const TuckerProgress& progress,
                                 const std::type_identity_t<TuckerModel<T>>* start, const std::type_identity_t<Tensor<T>>* weights) {
    const auto& source = state_of(tensor, "tucker_decompose");
    const std::vector all_weights{weights};
    const CollectiveCall call(source.world->movement_communicator(), "tucker_decompose", source, decompose::digest_of(given),
                              ModelArgument{start}, TensorArguments{all_weights});
    const auto options = decompose::with_missing(given, weights);
    if (source.world->dry()) throw Unsupported("tucker_decompose needs the elements of " + source.title() + ", which a dry run has not");
    decompose::check_dense_tucker(source.title(), tensor.extents(), options);
    if (start && options.method != TuckerMethod::hooi && !options.missing)
        throw InvalidArgument("Tucker decomposition: factors to start from are for hooi; choose it, or leave them out");
    if (start) decompose::check_tucker_start(*start, tensor.extents(), options.ranks);
    const auto place = decompose::plain_layout(tensor);
    const auto memory = decompose::dense_tucker_memory(*source.kernels, tensor.world(), place.layout, options, omp_get_max_threads());
    const auto of_weights = weights ? place.layout.max_local_size() * std::int64_t{sizeof(T)} : 0;
    const auto forecast = decompose::checked_forecast(
        *source.world, source.title(), place.original_bytes + memory.peak() + 3 * of_weights,  // as they were given and moved; masked()
        source.shape().max_local_size() * std::int64_t{sizeof(T)} + of_weights, "use more ranks, fewer components", 0,
        [&](std::int64_t bytes, std::int64_t) {
            if (options.planned) options.planned(bytes);
        });
    Stopwatch watch;
    auto plain = decompose::with_plain_blocks(weights ? masked(tensor, *weights) : Tensor<T>(tensor.state()));
    std::optional<decompose::KnownPart<T>> known;
    if (options.missing) {
        known.emplace(std::move(plain), weights);
        if (known->sums().count == 0)
            throw InvalidArgument(source.title() + " has no element that is known; there is nothing to decompose");
        decompose::check_norm(source.title(), known->sums().squares);
    }
    const auto whole = known ? known->filled() : std::move(plain);
    const double norm_squared = decompose::norm_squared(whole);
    decompose::check_elements(whole, norm_squared);
    TuckerResult<T> result{TuckerModel<T>({}, {}, {}, {})};
    result.forecast_bytes = forecast;
    result.grid = decompose::grid_text(whole.state()->layout);
    result.distribution = "dense";
    if (options.method == TuckerMethod::nonnegative) {
        decompose::run_nonnegative(whole, norm_squared, options, progress, result);
        result.seconds = watch.seconds();
        return result;
    }
    DenseTucker<T> work(whole, options, norm_squared);
    if (known) work.set_missing(std::move(*known));
    const auto automatic = options.missing ? TuckerMethod::hooi : TuckerMethod::st_hosvd;
    result.method = options.method == TuckerMethod::automatic ? automatic : options.method;
    if (result.method == TuckerMethod::hosvd) work.hosvd();
    if (result.method == TuckerMethod::st_hosvd) work.st_hosvd();
    if (result.method == TuckerMethod::hooi) work.hooi(result, progress, start);
    result.model = work.model();
    result.estimated_error = work.error();
    result.fit = 1 - work.error();
    result.steps = work.steps();
    result.seconds = watch.seconds();
    return result;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template TuckerResult<T> tucker_decompose(const Tensor<T>&, const TuckerOptions&, const TuckerProgress&, const TuckerModel<T>*,        \
                                              const Tensor<T>*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
