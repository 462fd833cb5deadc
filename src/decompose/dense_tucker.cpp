// Tucker decompositions of dense tensors.
#include "arges/tucker.hpp"

#include "arges/error.hpp"
#include "base/stopwatch.hpp"
#include "decompose/cp_driver.hpp"
#include "decompose/dense_block.hpp"
#include "decompose/dense_tucker_order.hpp"
#include "decompose/dense_tucker_subspace.hpp"
#include "decompose/dense_unfolding.hpp"
#include "decompose/factor_tensor.hpp"
#include "interface/tensor_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace arges {

namespace {

using decompose::RankRule;
using decompose::Subspace;

constexpr int max_order = 8;
/// Shorter Gram matrices are cheap, however tall the matricization.
constexpr std::int64_t tall_length = 256;

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("Tucker decomposition: " + text); }

void check_order(const std::vector<int>& order, std::size_t modes) {
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t m = 0; m < sorted.size(); ++m)
        if (sorted.size() != modes || sorted[m] != static_cast<int>(m)) refuse("the order must name each of the " + std::to_string(modes) + " modes once");
}

void check(const std::string& title, const std::vector<std::int64_t>& lengths, const TuckerOptions& options) {
    const auto order = lengths.size();
    if (order < 1 || order > max_order)
        throw InvalidArgument(title + " has " + std::to_string(order) + " dimensions; a Tucker decomposition of a dense tensor needs from 1 to " +
                              std::to_string(max_order));
    for (std::size_t m = 0; m < order; ++m)
        if (lengths[m] == 0) throw InvalidArgument(title + " has no elements, because dimension " + std::to_string(m + 1) + " has length 0");
    if (!(options.relative_error >= 0) || !(options.relative_error < 1)) refuse("the relative error must be 0 or more, and less than 1");
    if (options.ranks.empty() && options.relative_error == 0) refuse("neither ranks nor a relative error is given; give one of them");
    if (!options.ranks.empty() && options.ranks.size() != order)
        refuse(std::to_string(options.ranks.size()) + " ranks for " + std::to_string(order) + " modes; give one for each mode");
    for (std::size_t m = 0; m < options.ranks.size(); ++m)
        if (options.ranks[m] < 1 || options.ranks[m] > lengths[m])
            refuse("the rank of mode " + std::to_string(m + 1) + " is " + std::to_string(options.ranks[m]) + "; it must be from 1 to the length " +
                   std::to_string(lengths[m]));
    if (!options.order.empty()) check_order(options.order, order);
    if (options.max_iterations < 1) refuse("there must be at least one iteration");
    if (!(options.tolerance >= 0)) refuse("the tolerance must be 0 or a positive number");
    if (options.distribution != "auto" || !options.grid.empty() || !options.policy.empty() || !options.partition_file.empty() || options.rows != "holders")
        refuse(title + " is dense; distribution, grid, policy, rows and partition file are for sparse tensors");
}

/// The methods; they share how a mode is truncated.
template <class T>
class DenseTucker {
public:
    DenseTucker(const Tensor<T>& tensor, const TuckerOptions& options, double norm_squared)
        : tensor_(tensor.state()), options_(options), comm_(tensor_.world().state()->communicator()), norm_squared_(norm_squared),
          factors_(tensor_.extents().size()), ranks_(tensor_.extents().size(), 0) {
        for (std::size_t m = 0; m < options.ranks.size(); ++m) ranks_[m] = options.ranks[m];
        order_ = options.order;
        if (order_.empty())
            order_ = decompose::cheapest_mode_order(*tensor_.state()->layout, ranks_, sizeof(T), tensor_.world().state()->plan_options().machine);
    }

    void hosvd() {
        double left = budget();
        for (std::size_t k = 0; k < order_.size(); ++k) {
            auto whole = move(tensor_, order_[k], {});
            truncate(whole, order_[k], rule(order_[k], left / static_cast<double>(order_.size() - k)), 0);
            left -= discarded_;
        }
        core_ = Tensor<T>(tensor_.state());
        for (std::size_t k = 0; k < order_.size(); ++k) {
            const std::vector<int> settled(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(k));
            const auto whole = move(core_, order_[k], settled);
            auto& step = step_of(order_[k]);
            step.move_seconds += pending_.move_seconds;
            step.planned_bytes += pending_.planned_bytes;
            step.sent_bytes += pending_.sent_bytes;
            core_ = project(whole, order_[k]);
        }
        const double kept = decompose::norm_squared(core_);
        error_ = std::sqrt(std::max(0.0, norm_squared_ - kept) / norm_squared_);
    }

    void st_hosvd() {
        core_ = Tensor<T>(tensor_.state());
        double left = budget(), discarded = 0;
        for (std::size_t k = 0; k < order_.size(); ++k) {
            const std::vector<int> settled(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(k));
            core_ = move(core_, order_[k], settled);
            truncate(core_, order_[k], rule(order_[k], left / static_cast<double>(order_.size() - k)), 0);
            left -= discarded_;
            discarded += discarded_;
            core_ = project(core_, order_[k]);
        }
        error_ = std::sqrt(discarded / norm_squared_);
    }

    void hooi(TuckerResult<T>& result, const TuckerProgress& progress, const TuckerModel<T>* start) {
        if (start)
            take(*start);
        else
            st_hosvd();
        for (std::size_t m = 0; m < factors_.size(); ++m) ranks_[m] = factors_[m].rank;
        Stopwatch watch;
        double fit = start ? -std::numeric_limits<double>::infinity() : 1 - error_;
        while (result.iterations < options_.max_iterations && !result.converged) {
            iteration_ = ++result.iterations;
            sweep(tensor_, 0, tensor_.order());
            const double now = 1 - error_;
            result.converged = std::abs(now - fit) < options_.tolerance;
            fit = now;
            if (progress) progress(iteration_, fit);
        }
        result.seconds_per_iteration = watch.seconds() / result.iterations;
    }

    TuckerModel<T> model() const {
        std::vector<std::vector<std::int64_t>> rows(factors_.size());
        std::vector<std::vector<T>> values(factors_.size());
        for (std::size_t m = 0; m < factors_.size(); ++m) {
            const auto length = tensor_.extents()[m];
            for (auto i = comm_.rank(); i < length; i += comm_.size()) {
                rows[m].push_back(i);
                for (std::int64_t c = 0; c < factors_[m].rank; ++c) values[m].push_back(factors_[m].u[static_cast<std::size_t>(i + c * length)]);
            }
        }
        auto core = core_;
        core.set_name("core");
        return {tensor_.extents(), std::move(core), std::move(rows), std::move(values)};
    }

    double error() const { return error_; }
    std::vector<TuckerStep>& steps() { return steps_; }

private:
    double budget() const { return options_.relative_error * options_.relative_error * norm_squared_; }

    RankRule rule(int mode, double allowed) const {
        const auto m = static_cast<std::size_t>(mode);
        return {ranks_[m] > 0 ? ranks_[m] : tensor_.extents()[m], options_.relative_error > 0 ? std::max(0.0, allowed) : -1};
    }

    /// A step begins with the move to where the mode is whole.
    Tensor<T> move(const Tensor<T>& tensor, int mode, const std::vector<int>& settled) {
        Stopwatch watch;
        const auto before = comm_.traffic().bytes_sent;
        auto moved = decompose::with_whole_mode(tensor, mode, settled);
        pending_ = {};
        pending_.move_seconds = watch.lap();
        pending_.planned_bytes = moved.planned_bytes;
        pending_.sent_bytes = comm_.traffic().bytes_sent - before;
        return std::move(moved.tensor);
    }

    /// The kernel for a matricization.
    TuckerKernel kernel(const Tensor<T>& tensor, int mode, const RankRule& rule) const {
        const auto length = tensor.extents()[static_cast<std::size_t>(mode)], width = tensor.size() / length;
        if (tensor.order() == 1 || rule.most > width) return TuckerKernel::gram;
        if (options_.kernel != TuckerKernel::automatic) return options_.kernel;
        const bool accurate = options_.relative_error > 0 && options_.relative_error < std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
        const bool tall = length > 2 * width && length > tall_length;
        return accurate || tall ? TuckerKernel::qr : TuckerKernel::gram;
    }

    /// Finds the factor of a mode of a tensor in which it is whole.
    void truncate(const Tensor<T>& tensor, int mode, const RankRule& rule, int iteration) {
        auto step = pending_;
        step.mode = mode;
        step.iteration = iteration;
        const auto length = tensor.extents()[static_cast<std::size_t>(mode)];
        auto& factor = factors_[static_cast<std::size_t>(mode)];
        const auto before = comm_.traffic().bytes_sent;
        Stopwatch watch;
        RankRule limited = rule;
        limited.most = std::min(rule.most, length);
        step.kernel = kernel(tensor, mode, limited);
        if (step.kernel == TuckerKernel::gram) {
            auto gram = decompose::mode_gram(tensor, mode);
            step.gram_seconds = watch.lap();
            step.planned_bytes += decompose::gram_bytes(comm_.size(), comm_.rank(), length);
            step.sent_bytes += comm_.traffic().bytes_sent - before;
            factor = decompose::subspace_of_gram<T>(comm_, std::move(gram), length, limited);
            step.solve_seconds = watch.lap();
        } else {
            factor = decompose::subspace_by_svd(tensor, mode, limited);
            step.gram_seconds = watch.lap();
            step.sent_bytes += comm_.traffic().bytes_sent - before;
        }
        discarded_ = factor.discarded;
        step.rank = factor.rank;
        step.discarded = std::sqrt(factor.discarded / norm_squared_);
        steps_.push_back(step);
    }

    Tensor<T> project(const Tensor<T>& tensor, int mode) {
        Stopwatch watch;
        const auto& factor = factors_[static_cast<std::size_t>(mode)];
        auto result = decompose::mode_product<T>(tensor, mode, factor.u, factor.rank);
        step_of(mode).product_seconds += watch.lap();
        return result;
    }

    /// The latest step of a mode.
    TuckerStep& step_of(int mode) {
        return *std::find_if(steps_.rbegin(), steps_.rend(), [&](const TuckerStep& s) { return s.mode == mode; });
    }

    /// Truncates the modes in [begin, end) of a tensor in which all others have been multiplied with their factors. Halves share these products, so
    /// that the tensor itself is read twice in an iteration.
    void sweep(const Tensor<T>& tensor, int begin, int end) {
        if (end - begin == 1) {
            auto whole = move(tensor, begin, {});
            truncate(whole, begin, {ranks_[static_cast<std::size_t>(begin)], -1}, iteration_);
            steps_.back().product_seconds = std::exchange(product_seconds_, 0);
            if (end < tensor_.order()) return;
            core_ = project(whole, begin);
            error_ = std::sqrt(std::max(0.0, norm_squared_ - factors_[static_cast<std::size_t>(begin)].kept) / norm_squared_);
            return;
        }
        const int middle = (begin + end) / 2;
        sweep(multiplied(tensor, middle, end), begin, middle);
        sweep(multiplied(tensor, begin, middle), middle, end);
    }

    /// The tensor times the factors of some modes, as one statement: the planner decides in which order, and where.
    Tensor<T> multiplied(const Tensor<T>& tensor, int begin, int end) {
        Stopwatch watch;
        auto labels = decompose::numbered_labels('x', tensor.order());
        auto extents = tensor.extents();
        Expression<T> product = tensor[Labels(labels)];
        for (int m = begin; m < end; ++m) {
            const auto place = static_cast<std::size_t>(m);
            Tensor<T> factor(tensor.world(), {extents[place], factors_[place].rank}, "factor");
            factor.for_each_local([&, length = extents[place]](Index i, T& value) { value = factors_[place].u[static_cast<std::size_t>(i[0] + i[1] * length)]; });
            const auto truncated = "y" + std::to_string(m + 1);
            product = product * factor[Labels(std::vector<std::string>{labels[place], truncated})];
            labels[place] = truncated;
            extents[place] = factors_[place].rank;
        }
        Tensor<T> result(tensor.world(), extents, tensor.name());
        result[Labels(labels)] = product;
        product_seconds_ += watch.lap();
        return decompose::with_plain_blocks(result);
    }

    void take(const TuckerModel<T>& start) {
        for (int m = 0; m < start.order(); ++m) {
            const auto rows = start.gather(m);
            const auto place = static_cast<std::size_t>(m);
            auto& factor = factors_[place];
            factor.rank = start.ranks()[place];
            factor.u.resize(rows.size());
            const auto length = start.lengths()[place];
            for (std::int64_t i = 0; i < length; ++i)
                for (std::int64_t c = 0; c < factor.rank; ++c)
                    factor.u[static_cast<std::size_t>(i + c * length)] = rows[static_cast<std::size_t>(i * factor.rank + c)];
        }
    }

    Tensor<T> tensor_;
    const TuckerOptions& options_;
    const Communicator& comm_;
    double norm_squared_;
    std::vector<Subspace<T>> factors_;
    std::vector<std::int64_t> ranks_;  // by mode; 0: not known before
    std::vector<int> order_;
    Tensor<T> core_;
    double error_ = 0, discarded_ = 0, product_seconds_ = 0;
    int iteration_ = 0;
    TuckerStep pending_;
    std::vector<TuckerStep> steps_;
};

template <class T>
void check_start(const std::vector<std::int64_t>& lengths, const TuckerOptions& options, const TuckerModel<T>& start) {
    if (options.method != TuckerMethod::hooi) refuse("factors to start from are for hooi; choose it, or leave them out");
    const std::vector<std::int64_t> ranks(options.ranks.begin(), options.ranks.end());
    if (start.lengths() != lengths || (!ranks.empty() && start.ranks() != ranks))
        refuse("the factors to start from are for another tensor or other ranks; give those of this tensor and these ranks");
}

}  // namespace

template <class T>
TuckerResult<T> tucker_decompose(const Tensor<T>& tensor, const TuckerOptions& options, const TuckerProgress& progress, const TuckerModel<T>* start) {
    const auto& source = state_of(tensor, "tucker_decompose");
    if (source.world->dry()) throw Unsupported("tucker_decompose needs the elements of " + source.title() + ", which a dry run has not");
    check(source.title(), tensor.extents(), options);
    if (start) check_start(tensor.extents(), options, *start);
    Stopwatch watch;
    const auto plain = decompose::with_plain_blocks(tensor);
    const double norm_squared = decompose::norm_squared(plain);
    decompose::check_norm(source.title(), norm_squared);
    DenseTucker<T> work(plain, options, norm_squared);
    TuckerResult<T> result{TuckerModel<T>({}, {}, {}, {})};
    result.method = options.method == TuckerMethod::automatic ? TuckerMethod::st_hosvd : options.method;
    result.grid = decompose::grid_text(*plain.state()->layout);
    result.distribution = "dense";
    if (result.method == TuckerMethod::hosvd) work.hosvd();
    if (result.method == TuckerMethod::st_hosvd) work.st_hosvd();
    if (result.method == TuckerMethod::hooi) work.hooi(result, progress, start);
    result.model = work.model();
    result.estimated_error = work.error();
    result.fit = 1 - work.error();
    result.steps = std::move(work.steps());
    result.seconds = watch.seconds();
    return result;
}

#define ARGES_INSTANTIATE(T) \
    template TuckerResult<T> tucker_decompose(const Tensor<T>&, const TuckerOptions&, const TuckerProgress&, const TuckerModel<T>*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)

}  // namespace arges
