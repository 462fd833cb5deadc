// Tucker decompositions of sparse tensors by higher-order orthogonal iteration (De Lathauwer, De Moor, Vandewalle, SIAM J. Matrix Anal.
// Appl. 21, 2000), at given ranks, or at such as meet a relative error.
#include "arges/tucker.hpp"

#include "arges/error.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "decompose/known_weights.hpp"
#include "decompose/model_arguments.hpp"
#include "decompose/sparse_device.hpp"
#include "decompose/sparse_memory.hpp"
#include "decompose/tucker/core_arrays.hpp"
#include "decompose/tucker/nonnegative_tucker.hpp"
#include "decompose/tucker/rank_search.hpp"
#include "decompose/tucker/smallest_core.hpp"
#include "decompose/tucker/sparse_hooi.hpp"
#include "decompose/tucker/tucker_checks.hpp"
#include "decompose/tucker/tucker_steps.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace arges {

namespace {

using decompose::SparseHooi;
using decompose::SparseProducts;

[[noreturn]] void refuse(const std::string& text) { throw InvalidArgument("Tucker decomposition: " + text); }

template <class Ranks>
void check_width(const Ranks& ranks) {
    double product = 1;
    for (auto rank : ranks) product *= static_cast<double>(rank);
    for (std::size_t m = 0; m < ranks.size(); ++m) {
        const double columns = product / static_cast<double>(ranks[m]);
        if (columns > decompose::max_core_width)
            refuse("the core has " + std::to_string(static_cast<std::int64_t>(std::min(columns, 1e18))) + " columns beside mode " +
                   std::to_string(m + 1) + ", at most " + std::to_string(decompose::max_core_width) + " are supported; use smaller ranks");
    }
}

template <class T>
void check(const TuckerOptions& options, const std::vector<std::int64_t>& lengths) {
    decompose::check_tucker_options(options, lengths);
    if (options.relative_error == 0) check_width(options.ranks);
    // Errors are roots of differences of squares.
    constexpr double least_error = std::is_same_v<T, float> ? 1e-3 : 1e-6;
    if (options.relative_error > 0 && options.relative_error < least_error)
        refuse("a relative error below " + scientific(least_error) +
               " is lost in the rounding of sparse tensors; allow a larger one, or convert the tensor to a dense one");
    if (options.method == TuckerMethod::hosvd || options.method == TuckerMethod::st_hosvd)
        refuse("sparse tensors are decomposed by hooi and nonnegative only; choose one of them, or convert the tensor to a dense one");
    if (options.kernel != TuckerKernel::automatic || !options.order.empty())
        refuse("kernel and order are for dense tensors; leave them out, or convert the tensor to a dense one");
}

/// Ranks to begin with.
std::vector<int> first_ranks(const TuckerOptions& options, const std::vector<std::int64_t>& lengths,
                             const std::vector<std::int64_t>* start) {
    if (start) return {start->begin(), start->end()};
    if (options.relative_error == 0) return options.ranks;
    constexpr double width = 256;
    int rank = 4;
    while (rank > 1 && std::pow(rank, static_cast<double>(lengths.size()) - 1) > width) rank /= 2;
    std::vector<int> ranks;
    for (std::size_t m = 0; m < lengths.size(); ++m) {
        const auto most = options.ranks.empty() ? lengths[m] : options.ranks[m];
        ranks.push_back(static_cast<int>(std::min<std::int64_t>(rank, most)));
    }
    return ranks;
}

/// The iterations of a decomposition.
template <class T>
class SparseTucker {
public:
    SparseTucker(const SparseState& source, const World& world, const TuckerOptions& options, const TuckerProgress& progress,
                 SparseProducts<T>& products, SparseHooi<T>& hooi, TuckerResult<T>& result)
        : source_(source), comm_(source.comm()), world_(world), options_(options), progress_(progress), products_(products), hooi_(hooi),
          result_(result) {}

    /// At the ranks that there are.
    void settle() {
        for (bool goes_on = true; goes_on && may_go_on();) goes_on = iterate();
    }

    /// Larger ranks until the relative error is met, then smaller ones. @param check_memory  throws where such ranks need too much
    template <class CheckMemory>
    void search(const CheckMemory& check_memory) {
        if (!grow(check_memory)) return;
        cut();
        do settle();
        while (result_.converged &&
               (cut() || decompose::shrink(
                             *this, options_.relative_error, result_, [&] { return may_go_on(); }, [&] { return iterate(); })));
    }

    double error() const { return hooi_.error(); }
    decompose::CoreState core_state() const {
        const double norm = products_.norm_squared(), error = hooi_.error();
        return {products_.ranks(), decompose::slice_squares(core()), error * error * norm,
                options_.relative_error * options_.relative_error * norm};
    }
    auto state() { return std::make_pair(hooi_.state(), fit_); }
    void restore(const std::pair<typename SparseHooi<T>::State, double>& state) {
        hooi_.restore(state.first);
        fit_ = state.second;
    }
    void cut_to(const std::vector<int>& ranks) { hooi_.cut_to(ranks); }

private:
    bool may_go_on() const { return result_.iterations < options_.max_iterations; }
    Tensor<T> core() const { return decompose::with_plain_blocks(decompose::core_tensor<T>(world_, hooi_.core(), products_.ranks())); }

    bool iterate() {
        hooi_.iterate();
        const double change = 1 - error() - std::exchange(fit_, 1 - error());
        return decompose::note_iteration(comm_, options_, progress_, watch_, fit_, change, result_);
    }

    /// True when the relative error is met.
    template <class CheckMemory>
    bool grow(const CheckMemory& check_memory) {
        auto limits = products_.nonempty();
        for (std::size_t m = 0; m < options_.ranks.size(); ++m) limits[m] = std::min<std::int64_t>(limits[m], options_.ranks[m]);
        const auto go_on = [&] { return may_go_on(); };
        const auto again = [&] {
            iterate();
            return result_.stop_reason == StopReason::iterations || result_.stop_reason == StopReason::tolerance;
        };
        while (!decompose::reaches(*this, options_.relative_error, go_on, again)) {
            if (!may_go_on() || (result_.stop_reason != StopReason::iterations && result_.stop_reason != StopReason::tolerance))
                return false;
            const auto ranks = decompose::grown_ranks(core_state(), limits, decompose::max_core_width);
            if (ranks == products_.ranks()) {
                if (!options_.ranks.empty()) return false;
                throw InvalidArgument(source_.title() + " has no core with an error of " + scientific(options_.relative_error) +
                                      " that fits: " + joined(ranks, " x ") + " has " + scientific(error()) + ", and at most " +
                                      std::to_string(decompose::max_core_width) +
                                      " columns beside a mode are supported; allow a larger error, or convert the tensor to a dense one");
            }
            check_memory(ranks);
            hooi_.grow_to(ranks);
            fit_ = -std::numeric_limits<double>::infinity();
        }
        if (may_go_on()) iterate();  // the core's slices fall as they should after another one
        return true;
    }

    /// The smallest leading part of the core that meets the relative error; false if that is the whole.
    bool cut() {
        const auto at = core_state();
        const auto found = decompose::smallest_leading_core(core(), at.allowed - at.lost).ranks;
        const std::vector<int> ranks(found.begin(), found.end());
        if (ranks == at.ranks) return false;
        cut_to(ranks);
        return true;
    }

    const SparseState& source_;
    const Communicator& comm_;
    const World& world_;
    const TuckerOptions& options_;
    const TuckerProgress& progress_;
    SparseProducts<T>& products_;
    SparseHooi<T>& hooi_;
    TuckerResult<T>& result_;
    Stopwatch watch_;
    double fit_ = -std::numeric_limits<double>::infinity();
};

template <class T, class CheckMemory>
void run_hooi(const SparseState& source, const World& world, SparseProducts<T>& products, const TuckerOptions& options,
              const TuckerProgress& progress, const TuckerModel<T>* start, const CheckMemory& check_memory, TuckerResult<T>& result) {
    SparseHooi<T> hooi(products, options.missing);
    if (start) hooi.start_from(*start);
    SparseTucker<T> work(source, world, options, progress, products, hooi, result);
    const Stopwatch watch;
    options.relative_error > 0 ? work.search(check_memory) : work.settle();
    result.method = TuckerMethod::hooi;
    result.seconds_per_iteration = watch.seconds() / result.iterations;
    result.estimated_error = work.error();
    result.fit = 1 - result.estimated_error;
    std::vector<std::vector<std::int64_t>> rows;
    for (int m = 0; m < products.order(); ++m) rows.push_back(products.owned_rows(m));
    result.model = {source.lengths(), decompose::core_tensor<T>(world, hooi.core(), products.ranks()), std::move(rows),
                    products.all_owned()};
}

/// For non-negative models.
template <class T>
class SparseData : public decompose::TuckerData<T> {
public:
    explicit SparseData(SparseProducts<T>& products) : products_(products) {}
    double norm_squared() const override { return products_.norm_squared(); }
    sparse::RowMatrix<T> owned(int mode) override { return products_.owned(mode); }
    std::vector<std::int64_t> owned_rows(int mode) const override { return products_.owned_rows(mode); }
    void changed(int mode) override { products_.expand(mode); }
    sparse::RowMatrix<T> product(int mode) override { return products_.product(mode); }

private:
    SparseProducts<T>& products_;
};

template <class T>
void run_nonnegative(const World& world, SparseProducts<T>& products, const TuckerOptions& options, const TuckerProgress& progress,
                     const std::vector<std::int64_t>& lengths, TuckerResult<T>& result) {
    for (int m = 0; m < products.order(); ++m) products.expand(m);
    SparseData<T> data(products);
    decompose::run_nonnegative<T>(products.comm(), data, options, progress, world, lengths, result);
}

/// What both forms of tucker_decompose() do; `gives_up`: the tensor loses its nonzeros when they have been distributed.
template <class T>
TuckerResult<T> decompose_tensor(const SparseTensor<T>& tensor, bool gives_up, const TuckerOptions& given, const TuckerProgress& progress,
                                 const TuckerModel<T>* start, const SparseTensor<T>* weights) {
    auto& whole = state_of(tensor, "tucker_decompose");
    if (!whole.symmetry.trivial()) return decompose_tensor(tensor.with_symmetry({}), true, given, progress, start, weights);
    const std::vector all_weights{weights};
    const CollectiveCall call(whole.world->movement_communicator(), "tucker_decompose", whole, decompose::digest_of(given),
                              ModelArgument{start}, TensorArguments{all_weights});
    const auto options = decompose::with_missing(given, weights);
    const auto& comm = whole.comm();
    comm.agree([&] {
        check<T>(options, tensor.lengths());
        if (!start) return;
        if (options.method == TuckerMethod::nonnegative) refuse("factors to start from are for hooi; choose it, or leave them out");
        decompose::check_tucker_start(*start, tensor.lengths(), options.ranks);
        check_width(start->ranks());
    });
    const Stopwatch watch;
    std::optional<decompose::WeightedElements<T>> known;
    if (weights) known.emplace(decompose::weighted_elements(tensor, gives_up, *weights));
    auto& source = known ? *known->tensor.state() : whole;
    if (source.pattern()->total == 0)
        throw InvalidArgument(whole.title() + " has no " + (weights ? "elements with a weight" : "nonzeros") +
                              "; there is nothing to decompose");
    if (weights && gives_up) whole.template take<T>();
    auto own = options;
    own.ranks = first_ranks(options, tensor.lengths(), start ? &start->ranks() : nullptr);
    const int columns = *std::max_element(own.ranks.begin(), own.ranks.end());
    auto distributed = decompose::distribute_tensor<T>(source, gives_up || weights, decompose::request_of(options, columns),
                                                       known ? &known->weights.values : nullptr);
    const auto& chosen = distributed.chosen;
    const auto& share = distributed.share;
    TuckerResult<T> result{TuckerModel<T>({}, {}, {}, {})};
    const auto check_memory = [&](const std::vector<int>& ranks) {
        own.ranks = ranks;
        const auto taken = decompose::tucker_memory(share, own, omp_get_max_threads()).peak();
        const auto forecast = decompose::checked_forecast(
            *source.world, whole.title(), known ? known->weights.with(taken) : taken,
            (known ? known->weights.held : 0) + (share.keeps_source ? share.source_bytes() : 0),
            "use more ranks, fewer components, a larger relative error, another format", 0, [&](std::int64_t bytes, std::int64_t) {
                if (options.planned) options.planned(bytes);
            });
        result.forecast_bytes = std::max(result.forecast_bytes, forecast);
    };
    check_memory(own.ranks);
    const bool is_nonnegative = options.method == TuckerMethod::nonnegative;
    std::optional<decompose::DeviceRoom> device;
    if (!options.missing && options.relative_error == 0)  // else the nonzeros change, or the ranks
        device.emplace(*source.world, element_kernels<T>(), decompose::device_ttmc(share, own.ranks, source.world->machine()));
    const auto* const table = device ? device->table() : nullptr;
    result.device_ranks = static_cast<int>(comm.sum(table != nullptr ? 1 : 0));
    SparseProducts<T> products(comm, std::move(distributed.nonzeros), own.ranks, options.seed, is_nonnegative ? 0 : 0.5, table);
    decompose::check_norm(whole.title(), products.norm_squared());
    result.distribution = chosen.distribution;
    result.grid = chosen.grid;
    result.policy = chosen.policy;
    const auto world = tensor.world();
    if (is_nonnegative)
        run_nonnegative(world, products, options, progress, tensor.lengths(), result);
    else
        run_hooi(source, world, products, options, progress, start, check_memory, result);
    result.seconds = watch.seconds();
    return result;
}

}  // namespace

template <class T>
TuckerResult<T> tucker_decompose(const SparseTensor<T>& tensor, const TuckerOptions& options, const TuckerProgress& progress,
                                 const std::type_identity_t<TuckerModel<T>>* start, const std::type_identity_t<SparseTensor<T>>* weights) {
    return decompose_tensor(tensor, false, options, progress, start, weights);
}

template <class T>
TuckerResult<T> tucker_decompose(SparseTensor<T>&& tensor, const TuckerOptions& options, const TuckerProgress& progress,
                                 const std::type_identity_t<TuckerModel<T>>* start, const std::type_identity_t<SparseTensor<T>>* weights) {
    return decompose_tensor(tensor, true, options, progress, start, weights);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template TuckerResult<T> tucker_decompose(const SparseTensor<T>&, const TuckerOptions&, const TuckerProgress&, const TuckerModel<T>*,  \
                                              const SparseTensor<T>*);                                                                     \
    template TuckerResult<T> tucker_decompose(SparseTensor<T>&&, const TuckerOptions&, const TuckerProgress&, const TuckerModel<T>*,       \
                                              const SparseTensor<T>*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
