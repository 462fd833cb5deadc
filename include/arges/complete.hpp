/// @file complete.hpp
/// Tensor completion: a CP model of the stored elements of a sparse tensor only; elements that are not stored are unknown.
#pragma once

#include "arges/cpd.hpp"
#include "arges/sparse_tensor.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace arges {

/// How a model is fitted to the stored elements. With e = x - model of an element, all make the sum of e^2 plus the regularization's part
/// smaller.
enum class CompletionAlgorithm : std::uint8_t {
    als,  ///< alternating least squares: each row of a factor solves its own normal equations
    ccd,  ///< CCD++: one number of one component at a time, in closed form, with the residual kept
    sgd   ///< stochastic gradient descent over batches of elements
};

/// Whether an element of the model is the mean of the fitted elements, a bias for each of its rows, and the part of the components.
enum class CompletionBiases : std::uint8_t {
    detect,  ///< as the model has it that is started from; else if the values look like ratings, see complete()
    on,
    off
};

/// What to fit, and how. The texts are those of `arges complete`.
struct CompletionOptions {
    int rank = 10;                                             ///< number of components R, 1 to 1024
    CompletionAlgorithm algorithm = CompletionAlgorithm::als;  ///< how
    int max_iterations = 50;                                   ///< at most so many; of SGD an iteration goes through all batches
    double tolerance = 1e-5;      ///< stops when the RMSE of the elements that are fitted changes by less than this times itself; 0: never
    double regularization = 0.1;  ///< lambda, a penalty for each element: see complete()
    CompletionBiases biases = CompletionBiases::detect;  ///< whether rows have biases
    bool nonnegative = false;                            ///< factors have no negative element; there are no biases
    std::uint64_t seed = 1;    ///< of the start, of what is held out, and of the batches; the same on any number of ranks
    double holdout = 0;        ///< part of the elements that is held out of the fit, 0 to below 1, by a hash of seed and indices
    int patience = 15;         ///< stops when the RMSE of held-out elements has not improved for so many iterations
    double learning_rate = 1;  ///< sgd: length of a step, relative to one that no row by itself overshoots; 0 to below 2
    double decay = 0;          ///< sgd: the length is learning_rate / (1 + decay * iterations made); 0: bold driver, see complete()
    int batches = 8;           ///< sgd: elements are divided into so many, 1 to 65536, by a hash of seed and indices
    std::string distribution = "auto";  ///< auto, medium, coarse, fine; auto is coarse for als and sgd on several ranks, else medium
    std::string grid;                   ///< medium: as CpOptions::grid
    std::string policy;                 ///< medium: as CpOptions::policy
    std::string rows = "holders";       ///< owners of rows: even, claim, holders
    std::string partition_file;         ///< as CpOptions::partition_file, for the elements that are fitted
    std::string save_partition;         ///< as CpOptions::save_partition
    /// Called on every rank before the iterations, as CpOptions::planned.
    std::function<void(std::int64_t bytes, std::int64_t model_bytes)> planned{};
    /// Asked on every rank after each iteration; true, which must come on all ranks alike, makes it the last one.
    std::function<bool()> stop{};
    double seconds = 0;  ///< as CpOptions::seconds
};

/// What an iteration did. The same on every rank but for the seconds.
struct CompletionIteration {
    int number = 0;                    ///< from 1
    double loss = 0;                   ///< sum of e^2 over the elements that are fitted, and the regularization's part
    double rmse = 0;                   ///< root of the mean e^2 of the elements that are fitted
    double change = 0;                 ///< of the rmse
    double held_out_rmse = 0;          ///< of the elements that are held out; 0 where there are none
    double learning_rate = 0;          ///< sgd: of this iteration
    double seconds = 0;                ///< of this rank
    double communication_seconds = 0;  ///< of this rank, waiting for others included
};

/// A completion and how it was found. Numbers are those of the busiest rank.
template <class T>
struct CompletionResult {
    /// What was found: with held-out elements the model after the iteration that fits them best, else after the last one. Columns have
    /// length 1. Rows without elements that are fitted are zero and have no bias, and nobody has them.
    CpModel<T> model;
    double rmse = 0;                                  ///< of the model, of elements that were fitted
    double held_out_rmse = 0;                         ///< of the model, of elements that were held out; 0 where there are none
    double held_out_mean_rmse = 0;                    ///< likewise of fitted_mean in the place of the model: what it has to beat
    double held_out_bias_rmse = 0;                    ///< likewise of the mean and biases
    bool has_biases = false;                          ///< the model has biases
    double fitted_mean = 0;                           ///< of the elements that were fitted
    double fitted_deviation = 0;                      ///< of these elements from their mean, the root of the mean square
    double fitted_bias_rmse = 0;                      ///< likewise from mean and biases, where these were fitted
    std::int64_t different_values = 0;                ///< of these elements; rating_values + 1: more than rating_values
    int best_iteration = 0;                           ///< that the model is of
    int iterations = 0;                               ///< that were made
    bool converged = false;                           ///< the tolerance was reached, or held-out elements were not fitted better
    StopReason stop_reason = StopReason::iterations;  ///< why there was no further iteration
    std::vector<double> rmses{};                      ///< after each iteration
    std::vector<double> held_out_rmses{};             ///< likewise; none where no element is held out
    std::vector<double> losses{};                     ///< after each iteration
    std::int64_t elements = 0;                        ///< that were fitted
    std::int64_t held_out = 0;                        ///< that were held out
    std::int64_t unknown = 0;          ///< of these: in slices without an element that is fitted; components have no part there
    double seconds_per_iteration = 0;  ///< on average
    double communication_seconds = 0;  ///< summed over the iterations
    double setup_seconds = 0;          ///< choosing and making the distribution and the formats
    std::string distribution{};        ///< what was used
    std::string grid{};                ///< of a medium-grain distribution
    std::string policy{};              ///< for its layers
    std::string rows{};                ///< rule for owners of rows
    int device_ranks = 0;              ///< ranks whose sums over elements ran on a device
    std::int64_t elements_max = 0;     ///< elements of a rank, for one mode
    std::int64_t forecast_bytes = 0;   ///< what CompletionOptions::planned was called with
};

/// Ratings have at most so many different values.
inline constexpr std::int64_t rating_values = 101;

/// Called on every rank after each iteration, with a function that gives the model as it is now.
template <class T>
using CompletionProgress = std::function<void(const CompletionIteration&, const std::function<CpModel<T>()>& model)>;

/// Fits a CP model to the stored elements of a sparse tensor; a stored zero is a known zero. Collective.
///
/// Biases: the mean of the fitted elements and a bias for each row of each mode are fitted first, by alternating least squares in which a
/// row has five elements more whose bias is 0; the components are fitted to what is left. CompletionBiases::detect has them where values
/// look like ratings: there are at most rating_values different ones, ten elements for each or more, and mean and biases leave less of the
/// squares than the mean does, by twice as much as they would of noise. In slices without elements the model is the mean and the biases of
/// the other modes.
///
/// Regularization: a row of n elements adds lambda n s times the sum of its squares (Zhou, Wilkinson, Schreiber, Pan, *Large-scale parallel
/// collaborative filtering for the Netflix prize*, AAIM 2008), with s = v^(1 - 1 / order) for the variance v of the elements, or what
/// biases leave of it; if that is 0, the square of their mean. So one lambda serves for dense and sparse data in any unit: usual ones are
/// 0.01 to 0.3. For exact data it is 0.
///
/// Algorithms (Smith, Park, Karypis, *An exploration of optimization algorithms for high performance tensor completion*, SC16; Karlsson,
/// Kressner, Uschmajew, *Parallel algorithms for tensor completion in the CP format*, Parallel Computing 57, 2016; Singh, Zhang, Wu, Zhang,
/// Solomonik, *Distributed-memory tensor completion for generalized loss functions in Python using new sparse tensor kernels*, JPDC 169,
/// 2022), with h the Hadamard product of the rows of all factors but one that belong to an element x:
/// - als: each row a of a factor solves (sum of h h^T over its n elements + lambda n s I) a = sum of x h, mode after mode. A row whose
/// equations
///   are singular, as with lambda = 0 and fewer elements than components, gets the solution of least norm.
/// - ccd: component after component, by falling weight, and in it mode after mode: each number of a column becomes sum of (e + a h) h /
///   (lambda n s + sum of h^2), which is the best that it can be; it stays as it is where that is 0 / 0.
/// - sgd: for each batch, in an order that the seed gives, and in it mode after mode, a step along the gradient of each row that has
///   k elements in it: a += rate (sum of e h - lambda k s a) / (sum of |h|^2 + lambda k s). So steps have no unit, and a row by itself
///   overshoots with none below 2. Bold driver (decay = 0): after an iteration that makes the loss larger factors are taken back and the
///   rate is halved, else it grows by a twentieth.
///
/// After each iteration the columns of a component get the same part of the regularization's in all modes, which changes no element of the
/// model and makes that part least. So a run that goes on from its own model as the start is, but for rounding, as one without a break.
/// The start is that of cp_decompose(), scaled to the norm of the elements.
///
/// All sums over elements are in double. The loss of every iteration, of all three algorithms, depends on the number of ranks, the
/// distribution and the number of threads by rounding only: batches and what is held out follow from indices, not from ranks.
/// Losses of als and ccd never become larger, but for rounding.
/// @param tensor     elements to fit, or to fit and to hold out
/// @param options    how
/// @param progress   called on every rank after each iteration: any function that can be called as a CompletionProgress
/// @param start      a model to start from instead of a random one, of the same lengths and rank; nullptr: none
/// @param validation elements to hold out, of the same lengths, instead of CompletionOptions::holdout; nullptr: none
/// @param weights    w, of the elements' squared residuals, of the same lengths: stored elements without one, or with 0, are unknown, too.
///                   They are divided by the mean of those of the fitted elements, so that equal ones are as none; then an element counts
///                   as often as its weight says in means, biases, errors and the regularization's part, w for n. Elements of
///                   `validation` count once. nullptr: none
/// @throws InvalidArgument for options that do not fit together, for biases that the start has otherwise, for a tensor without elements,
/// with zeros only or with an element that is
///         not finite, for weights that are not numbers from 0 on; OutOfMemory; Error where the iteration diverges
template <class T>
CompletionResult<T>
complete(const SparseTensor<T>& tensor, const CompletionOptions& options, const std::type_identity_t<CompletionProgress<T>>& progress = {},
         const std::type_identity_t<CpModel<T>>* start = nullptr, const std::type_identity_t<SparseTensor<T>>* validation = nullptr,
         const std::type_identity_t<SparseTensor<T>>* weights = nullptr);
/// The same; the tensor has no elements afterwards, which saves their memory during the iterations.
template <class T>
CompletionResult<T>
complete(SparseTensor<T>&& tensor, const CompletionOptions& options, const std::type_identity_t<CompletionProgress<T>>& progress = {},
         const std::type_identity_t<CpModel<T>>* start = nullptr, const std::type_identity_t<SparseTensor<T>>* validation = nullptr,
         const std::type_identity_t<SparseTensor<T>>* weights = nullptr);

/// A completion that was tried.
struct CompletionTrial {
    int rank = 0;               ///< number of components
    double regularization = 0;  ///< lambda
    double held_out_rmse = 0;   ///< of the elements that trials are judged by
    double rmse = 0;            ///< of those that were fitted
    int best_iteration = 0;     ///< that these are of
    bool has_passed = false;    ///< held-out elements were fitted worse in later iterations
};

/// What choose_completion() found. The same on every rank.
struct CompletionChoice {
    CompletionTrial best{};                 ///< with the smallest error
    std::vector<CompletionTrial> trials{};  ///< in their order
};

/// Chooses the number of components, the regularization, or both, by the error of a tenth of the elements, which is held out for this by a
/// hash of the seed + 1 and indices; what CompletionOptions::holdout holds out counts for nothing. Regularizations are 0.5, 0.3, 0.2, 0.15,
/// 0.1, 0.05, 0.02 and 0, ranks 1, 2, 5, 10, 20 and 40; for both, regularizations at rank 10, ranks at the best of them, and
/// regularizations at the best of these. Collective.
/// @param tensor   as of complete(), which then fits all of it with what was chosen
/// @param options  all others; `stop` ends the trials, too
/// @param chooses_rank, chooses_regularization  what to choose
/// @param progress called on every rank after each trial
/// @param weights  as of complete()
/// @throws as complete()
template <class T>
CompletionChoice choose_completion(const SparseTensor<T>& tensor, const CompletionOptions& options, bool chooses_rank,
                                   bool chooses_regularization, const std::function<void(const CompletionTrial&)>& progress = {},
                                   const std::type_identity_t<SparseTensor<T>>* weights = nullptr);

}  // namespace arges
