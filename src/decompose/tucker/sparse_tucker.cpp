// HOOI of sparse tensors (De Lathauwer, De Moor, Vandewalle, SIAM J. Matrix Anal. Appl. 21, 2000): TTMc on each rank's nonzeros, fold to
// the owners of rows, and the leading singular vectors from a Gram matrix of columns.
#include "arges/tucker.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "base/memory_tally.hpp"
#include "base/stopwatch.hpp"
#include "comm/collective_call.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/model_arguments.hpp"
#include "decompose/sparse_memory.hpp"
#include "decompose/tucker/tucker_checks.hpp"
#include "decompose/tucker/tucker_steps.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "linalg/small_matrices.hpp"
#include "local/blas.hpp"
#include "sparse/ttmc.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace arges {

namespace {

using decompose::Distributed;
using decompose::Gram;
using decompose::RowExchange;
using sparse::RowMatrix;

constexpr int max_width = 4096;

void check(const TuckerOptions& options, const std::vector<std::int64_t>& lengths) {
    const auto refuse = [](const std::string& text) { throw InvalidArgument("Tucker decomposition: " + text); };
    decompose::check_tucker_options(options, lengths);
    double product = 1;
    for (int rank : options.ranks) product *= rank;
    for (std::size_t m = 0; m < lengths.size(); ++m) {
        const double columns = product / options.ranks[m];
        if (columns > max_width)
            refuse("the core has " + std::to_string(static_cast<std::int64_t>(std::min(columns, 1e18))) + " columns beside mode " +
                   std::to_string(m + 1) + ", at most " + std::to_string(max_width) + " are supported; use smaller ranks");
    }
    if (options.method != TuckerMethod::automatic && options.method != TuckerMethod::hooi)
        refuse("sparse tensors are decomposed by hooi only; choose it, or convert the tensor to a dense one");
    if (options.missing)
        refuse("missing elements are those of dense tensors that are NaN; use complete() or cp_decompose() for a sparse one");
    if (options.relative_error != 0 || options.kernel != TuckerKernel::automatic || !options.order.empty())
        refuse("relative error, kernel and order are for dense tensors; give ranks, or convert the tensor to a dense one");
}

/// The iteration.
template <class T>
class Hooi {
public:
    Hooi(const Communicator& comm, Distributed<T> distributed, std::vector<int> ranks, std::uint64_t seed)
        : comm_(comm), distributed_(std::move(distributed)), ranks_(std::move(ranks)) {
        for (auto value : distributed_.sets[0].nonzeros.values) norm_squared_ += static_cast<double>(value) * value;
        comm_.sum(&norm_squared_, 1);
        comm_.agree([&] {
            const bool one_set = distributed_.sets.size() == 1;
            for (int m = 0; m < order(); ++m) {
                auto& nonzeros = distributed_.sets[one_set ? 0 : static_cast<std::size_t>(m)].nonzeros;
                kernels_.emplace_back(nonzeros, m);
                if (one_set) continue;
                release(nonzeros.indices);
                release(nonzeros.values);
            }
        });
        release(distributed_.sets);
        for (int m = 0; m < order(); ++m) {
            const auto& rows = rows_of(m);
            comm_.agree([&] { factors_.add(rows, columns(m), seed, 0.5); });
            expand_.push_back(std::make_unique<RowExchange<T>>(comm_, rows, columns(m)));
            fold_.push_back(std::make_unique<RowExchange<T>>(comm_, rows, width(m)));
            make_orthonormal(m);
        }
        std::int64_t largest = 0;
        for (int m = 0; m < order(); ++m) largest = std::max(largest, rows_of(m).count() * width(m));
        comm_.agree([&] { product_ = Buffer<T>(largest); });
    }

    double norm_squared() const { return norm_squared_; }

    /// Takes the factors of a model instead of random ones. Collective.
    void start_from(const TuckerModel<T>& model) { factors_.take(comm_, model); }

    /// All modes once; returns the fit.
    double iterate() {
        for (int m = 0; m < order(); ++m) {
            const auto& rows = rows_of(m);
            const RowMatrix<T> product{product_.data(), rows.count(), width(m), width(m)};
            kernels_[m].multiply(factors_.views(), product);
            if (distributed_.folds) fold_[m]->fold(product);
            take_singular_vectors(m, {product.data, rows.owned, product.columns, product.stride});
        }
        double squares = 0;
        for (double g : core_) squares += g * g;
        return 1 - std::sqrt(at_least_zero(norm_squared_ - squares) / norm_squared_);
    }

    TuckerModel<T> model(const World& world, const std::vector<std::int64_t>& lengths) {
        std::vector<std::vector<std::int64_t>> rows;
        std::vector<std::vector<T>> factors;
        for (int m = 0; m < order(); ++m) {
            const auto& index = rows_of(m).index;
            const auto mine = owned(m);
            rows.emplace_back(index.begin(), index.begin() + mine.rows);
            factors.emplace_back(mine.data, mine.data + mine.rows * mine.columns);
        }
        Tensor<T> core(world, {ranks_.begin(), ranks_.end()}, "core");
        const auto values = core_first_fastest();
        core.for_each_local([&](Index i, T& value) { value = static_cast<T>(values[core.key(i)]); });
        return {lengths, std::move(core), std::move(rows), std::move(factors)};
    }

private:
    int order() const { return ranks_.size(); }
    int columns(int m) const { return ranks_[m]; }
    int width(int m) const { return std::accumulate(ranks_.begin(), ranks_.end(), 1, std::multiplies<>()) / columns(m); }
    const decompose::ModeRows& rows_of(int m) const { return distributed_.rows[m]; }
    RowMatrix<T> owned(int m) { return factors_.owned(m); }

    void expand(int m) { expand_[m]->expand(factors_.matrix(m)); }

    /// Eigenvalues of the Gram matrix of some rows, falling, and their vectors, column by column; negative ones are zero.
    std::pair<std::vector<double>, Gram> eigen(RowMatrix<const T> rows) {
        auto gram = decompose::gram_of<T>(rows);
        decompose::sum_over_ranks(comm_, gram);
        auto [values, vectors] = linalg::symmetric_eigen(gram, rows.columns);
        std::reverse(values.begin(), values.end());
        const std::size_t n = rows.columns;
        for (std::size_t c = 0; c < n / 2; ++c)
            std::swap_ranges(vectors.begin() + (c * n), vectors.begin() + ((c + 1) * n), vectors.begin() + ((n - 1 - c) * n));
        for (auto& v : values) v = std::max(0.0, v);
        return {std::move(values), std::move(vectors)};
    }

    /// result = rows * transform (rows.columns x columns, column by column). Some rows at a time: BLAS makes a copy of them, on each thread
    /// and as long as it gets (40 MB and more by some kernels of OpenBLAS).
    void multiply(RowMatrix<const T> rows, const std::vector<T>& transform, RowMatrix<T> result) const {
        constexpr std::int64_t rows_at_once = 1 << 13;
        for (std::int64_t begin = 0; begin < rows.rows; begin += rows_at_once)
            local::gemm<T>({result.columns, std::min(rows_at_once, rows.rows - begin), rows.columns}, T(1),
                           {transform.data(), rows.columns, true}, {rows.row(begin), rows.columns, false}, T(0),
                           {result.row(begin), result.columns, false});
    }

    /// The start: columns made orthonormal by the eigenvectors of their Gram matrix.
    void make_orthonormal(int m) {
        const auto [values, vectors] = eigen(owned(m));
        const std::vector<T> before(owned(m).data, owned(m).data + owned(m).rows * columns(m));
        multiply({before.data(), owned(m).rows, columns(m), columns(m)}, scaled(values, vectors, columns(m), columns(m)), owned(m));
        expand(m);
    }

    /// Columns of `vectors` divided by singular values; those that are zero up to rounding become zero.
    std::vector<T> scaled(const std::vector<double>& values, const Gram& vectors, int rows, int columns) const {
        // Squares of singular values are wrong by about this, relative to the largest: the rounding of n sums, or of elements
        // in float.
        const double rounding = std::is_same_v<T, float> ? 1e-6 : std::max(1e-13, rows * std::numeric_limits<double>::epsilon());
        std::vector<T> result(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), T(0));
        for (int c = 0; c < std::min(rows, columns); ++c) {
            const std::size_t place = c;
            if (!(values[place] > rounding * values[0])) continue;
            for (int r = 0; r < rows; ++r)
                result[static_cast<std::size_t>(r) + place * static_cast<std::size_t>(rows)] = static_cast<T>(
                    vectors[static_cast<std::size_t>(r) + place * static_cast<std::size_t>(rows)] / std::sqrt(values[place]));
        }
        return result;
    }

    /// U = Y V S^-1 with the leading eigenvectors V of Y^T Y; the core in this mode is U^T Y = S V^T.
    void take_singular_vectors(int m, RowMatrix<const T> product) {
        const auto [values, vectors] = eigen(product);
        multiply(product, scaled(values, vectors, product.columns, columns(m)), owned(m));
        expand(m);
        if (m + 1 < order()) return;
        const std::size_t w = product.columns;
        core_.assign(w * static_cast<std::size_t>(columns(m)), 0);
        for (std::int64_t c = 0; c < std::min(columns(m), product.columns); ++c)
            for (std::size_t j = 0; j < w; ++j)
                core_[c + j * static_cast<std::size_t>(columns(m))] = std::sqrt(values[c]) * vectors[j + c * w];
    }

    /// core_ has the last mode fastest, then the columns of TTMc, of which the last of the other modes is fastest.
    std::vector<double> core_first_fastest() const {
        const std::size_t n = order();
        std::vector<double> result(core_.size());
        std::vector<int> index(n, 0);
        for (double& g : result) {
            std::size_t column = 0;
            for (std::size_t k = 0; k + 1 < n; ++k)
                column = column * static_cast<std::size_t>(ranks_[k]) + static_cast<std::size_t>(index[k]);
            g = core_[static_cast<std::size_t>(index[n - 1]) + column * static_cast<std::size_t>(ranks_[n - 1])];
            for (std::size_t k = 0; k < n && ++index[k] == ranks_[k]; ++k) index[k] = 0;
        }
        return result;
    }

    const Communicator& comm_;
    Distributed<T> distributed_;
    std::vector<int> ranks_;
    double norm_squared_ = 0;
    std::vector<sparse::Ttmc<T>> kernels_;  // by mode
    decompose::FactorMatrices<T> factors_;
    Buffer<T> product_;
    std::vector<double> core_;
    std::vector<std::unique_ptr<RowExchange<T>>> expand_, fold_;
};

/// What both forms of tucker_decompose() do; `gives_up`: the tensor loses its nonzeros when they have been distributed.
template <class T>
TuckerResult<T> decompose_tensor(const SparseTensor<T>& tensor, bool gives_up, const TuckerOptions& options, const TuckerProgress& progress,
                                 const TuckerModel<T>* start) {
    auto& source = state_of(tensor, "tucker_decompose");
    if (!source.symmetry.trivial()) return decompose_tensor(tensor.with_symmetry({}), true, options, progress, start);
    const CollectiveCall call(source.world->movement_communicator(), "tucker_decompose", source, decompose::digest_of(options),
                              ModelArgument{start});
    const auto& comm = source.comm();
    const auto nonzeros = source.pattern()->total;
    comm.agree([&] {
        check(options, tensor.lengths());
        if (nonzeros == 0) throw InvalidArgument(source.title() + " has no nonzeros; there is nothing to decompose");
        if (start) decompose::check_tucker_start(*start, tensor.lengths(), options.ranks);
    });
    Stopwatch watch, whole;
    const int columns = *std::max_element(options.ranks.begin(), options.ranks.end());
    auto distributed = decompose::distribute_tensor<T>(source, gives_up, decompose::request_of(options, columns));
    const auto& chosen = distributed.chosen;
    const auto& share = distributed.share;
    const auto forecast =
        decompose::checked_forecast(*source.world, source.title(), decompose::tucker_memory(share, options, omp_get_max_threads()).peak(),
                                    share.keeps_source ? share.source_bytes() : 0, "use more ranks, fewer components, another format", 0,
                                    [&](std::int64_t bytes, std::int64_t) {
                                        if (options.planned) options.planned(bytes);
                                    });
    Hooi<T> hooi(comm, std::move(distributed.nonzeros), options.ranks, options.seed);
    decompose::check_norm(source.title(), hooi.norm_squared());
    if (start) hooi.start_from(*start);
    TuckerResult<T> result{TuckerModel<T>({}, {}, {}, {})};
    result.method = TuckerMethod::hooi;
    result.forecast_bytes = forecast;
    result.distribution = chosen.distribution;
    result.grid = chosen.grid;
    result.policy = chosen.policy;
    watch.lap();
    for (bool goes_on = true; goes_on && result.iterations < options.max_iterations;) {
        const double fit = hooi.iterate();
        const double change = result.iterations > 0 ? fit - result.fit : std::numeric_limits<double>::infinity();
        result.fit = fit;
        goes_on = decompose::note_iteration(comm, options, progress, watch, fit, change, result);
    }
    result.seconds_per_iteration = watch.seconds() / result.iterations;
    result.estimated_error = 1 - result.fit;
    result.model = hooi.model(tensor.world(), tensor.lengths());
    result.seconds = whole.seconds();
    return result;
}

}  // namespace

template <class T>
TuckerResult<T> tucker_decompose(const SparseTensor<T>& tensor, const TuckerOptions& options, const TuckerProgress& progress,
                                 const std::type_identity_t<TuckerModel<T>>* start) {
    return decompose_tensor(tensor, false, options, progress, start);
}

template <class T>
TuckerResult<T> tucker_decompose(SparseTensor<T>&& tensor, const TuckerOptions& options, const TuckerProgress& progress,
                                 const std::type_identity_t<TuckerModel<T>>* start) {
    return decompose_tensor(tensor, true, options, progress, start);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template TuckerResult<T> tucker_decompose(const SparseTensor<T>&, const TuckerOptions&, const TuckerProgress&, const TuckerModel<T>*); \
    template TuckerResult<T> tucker_decompose(SparseTensor<T>&&, const TuckerOptions&, const TuckerProgress&, const TuckerModel<T>*);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
