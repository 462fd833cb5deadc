/// @file cpd.hpp
/// CP decompositions of sparse and dense tensors: X(i, j, k, ...) is close to the sum over r of lambda_r A(i, r) B(j, r) C(k,
/// r) ...
#pragma once

#include "arges/loss.hpp"
#include "arges/sparse_tensor.hpp"
#include "arges/tensor.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace arges {

/// How a CP decomposition is found.
enum class CpAlgorithm : std::uint8_t {
    als,          ///< alternating least squares
    nonnegative,  ///< alternating least squares by columns, with factors of no negative element (HALS)
    opt,          ///< all factors at once, by L-BFGS
    sgd           ///< all factors at once, by stochastic gradients of samples of the elements; sparse tensors
};

/// Factors that the iterations begin with, where no model is given.
enum class CpInit : std::uint8_t {
    random,    ///< numbers from 0 to 1 by a hash of the seed
    sketched,  ///< bases of what MTTKRP makes of random factors: sketches of the spaces that the unfoldings span
    hosvd  ///< leading left singular vectors of the unfoldings, as tucker_decompose() finds them; columns beyond a mode's length are random
};

/// What the factor of a mode has to be, or is punished for, in a CP decomposition by CpAlgorithm::als. A is the factor, w the weight.
enum class CpConstraintKind : std::uint8_t {
    none,            ///< anything
    nonnegative,     ///< no negative element
    l1,              ///< w times the sum of |a| is added to half the squared residual: many elements are zero
    nonnegative_l1,  ///< both
    l2,              ///< w / 2 times the sum of squares is added
    smooth,          ///< w / 2 times the sum of (a(i + 1, r) - a(i, r))^2 over the mode's indices i is added; rows of empty slices are zero
    unimodal,        ///< no negative element; columns rise up to some row and fall from there on (rows of empty slices left out)
    orthogonal,      ///< A^T A is the unit matrix
    row_simplex,     ///< no negative element, and each row that is not of an empty slice sums to 1
    column_simplex   ///< no negative element, and each column sums to 1
};

/// A constraint or a penalty on the factor of a mode.
struct CpConstraint {
    CpConstraintKind kind = CpConstraintKind::none;  ///< which
    double weight = 0;                               ///< of l1, nonnegative_l1, l2 and smooth, above 0; 0 of the others

    /// The same kind and weight. Local.
    friend bool operator==(const CpConstraint&, const CpConstraint&) = default;
};

/// The constraint with a name as `arges cpd` has it: nonnegative, l1=0.1, nonnegative-l1=0.1, l2=0.1, smooth=0.1, unimodal, orthogonal,
/// row-simplex, column-simplex or none; underscores are taken for hyphens, ridge for l2. Local.
/// @throws InvalidArgument for other names, with the nearest one, and for weights that are missing, too many or not above 0
CpConstraint parse_constraint(const std::string& text);
/// Such a name, with its weight. Local.
std::string to_string(const CpConstraint& constraint);

/// What to decompose into, and how. The texts are those of `arges cpd`. Distribution, grid, policy, rows, format and partition
/// files are for sparse tensors, pairwise perturbation is for dense ones.
struct CpOptions {
    int rank = 10;                             ///< number of components R, 1 to 1024
    CpAlgorithm algorithm = CpAlgorithm::als;  ///< how
    int max_iterations = 50;                   ///< at most so many
    /// Stops when the fit is expected to change by less than this times itself and times what is left, 1 - fit, however long it would go
    /// on; 0: never.
    double tolerance = 1e-4;
    std::uint64_t seed = 1;             ///< of the start; the same start on any number of ranks and in any distribution
    double regularization = 0;          ///< adds this times the sum of the squares of all factors to the squared residual
    std::string distribution = "auto";  ///< auto, medium, coarse, coarse-allgather, coarse-hypergraph, fine, fine-hypergraph
    std::string grid;                   ///< medium: as 4x2x1; "greedy", "predicted", "best"; empty: chosen in little time
    std::string policy;                 ///< medium: nnz, set, ordered-1, ordered-2, max-min; empty: chosen
    std::string rows = "holders";       ///< owners of rows: even, claim, holders
    std::string format = "auto";        ///< of the nonzeros on a rank: coo, csf-one, csf-two, csf-all, hicoo, linear, device
    /// A file with a rank, from 0, on each line. fine: of each nonzero; coarse: of each nonempty slice, ascending, mode after mode.
    /// Or one that save_partition has made, with whatever distribution.
    std::string partition_file;
    /// A file to which the distribution is saved, whatever it is, for the same tensor on as many ranks; replaces an older one.
    std::string save_partition;
    bool pairwise_perturbation =
        false;  ///< als and nonnegative, dense: approximate products while factors change little; see cp_decompose()
    double perturbation_threshold =
        0.1;  ///< "little": every factor is nearer than this to where the products were exact, relative to its norm
    /// Called on every rank before the iterations, with the bytes that the decomposition takes at most on a rank, its part of the tensor
    /// included: for a sparse tensor when its nonzeros have been distributed, so that their numbers are known; and with the bytes of a
    /// model that a progress function asks for, on top of that. May throw, on all ranks alike.
    std::function<void(std::int64_t bytes, std::int64_t model_bytes)> planned{};
    /// Asked on every rank after each iteration; true, which must come on all ranks alike, makes it the last one.
    std::function<bool()> stop{};
    double seconds = 0;  ///< no further iteration begins when the iterations have taken so long on a rank; 0: never mind
    /// Starts from seed, seed + 1, ...: the model with the best fit is kept, and all are compared with it. 0: up to 10, as many as are
    /// expected to take 10 s in all for the first 50 iterations, by a count of flops that depends on tensor and options only; one where the
    /// tolerance is 0 or with pairwise perturbation. One where there is a model to start from.
    int starts = 1;
    /// The ranks form so many groups, each with a copy of the tensor, that make starts side by side; the result is that of one group but
    /// for rounding. `progress` is called, and `stop` asked, only when every group has made a start. 1: one start after the other on all
    /// ranks; 0: as many groups as there are starts and ranks, or fewer where the memory limit does not allow for so many copies.
    int groups = 1;
    /// Of the first start hosvd, which depends on no seed, others are random; sketched of each. Both are for squared residuals of tensors
    /// of which all elements are known; where factors must not be negative, absolute values are taken.
    CpInit init = CpInit::random;
    Loss loss{};  ///< what is minimized: see cp_decompose(); others than gaussian by opt and sgd
    /// Elements that are not stored, of dense tensors those that are not a number (NaN), are unknown: the model is of the others only.
    /// Otherwise elements that are not stored are zeros, and NaN is refused.
    bool missing = false;
    /// One for each mode, or one for all modes; empty: none. With them als is AO-ADMM, see cp_decompose().
    std::vector<CpConstraint> constraints{};
};

/// Throw InvalidArgument, with the names that there are, for a text that is none of CpOptions::policy. Local.
void check_layer_policy(const std::string& text);
/// Likewise of CpOptions::rows.
void check_row_rule(const std::string& text);
/// Likewise of CpOptions::format.
void check_nonzero_format(const std::string& text);

/// Why there was no further iteration.
enum class StopReason : std::uint8_t {
    tolerance,   ///< the fit will change by less than the tolerance times itself and times what is left, or the error of complete() has
                 ///< changed by less than the tolerance times itself
    iterations,  ///< as many were made as were allowed, or as the method has
    no_step,     ///< CpAlgorithm::opt: no step makes the residual smaller
    zero_model,  ///< all weights of a CP model are zero, and stay so
    held_out,    ///< complete(): the error of held-out elements has not improved for a while
    asked,       ///< the function stop of the options said so
    seconds,     ///< the iterations have taken as long as they may
    diverged     ///< one of several starts of cp_decompose()
};

/// How the products of an iteration were found.
enum class CpStep : std::uint8_t {
    exact,     ///< from the tensor
    pairs,     ///< pairwise perturbation starts, or starts again: its operators were made from the tensor, then used
    perturbed  ///< from the operators of pairwise perturbation only; the fit is an estimate
};

/// What an iteration did.
struct CpIteration {
    int number = 0;                    ///< from 1
    double fit = 0;                    ///< 1 - |X - model| / |X|
    double change = 0;                 ///< of the fit
    double seconds = 0;                ///< of this rank
    double mttkrp_seconds = 0;         ///< of this rank, in the products with nonzeros
    double solve_seconds = 0;          ///< of this rank, in solves for rows; opt: in the gradient
    double norm_seconds = 0;           ///< of this rank, in norms of columns and their scaling; opt: none
    double gram_seconds = 0;           ///< of this rank, in Gram matrices and their products element by element
    double communication_seconds = 0;  ///< of this rank, waiting for others included
    CpStep step = CpStep::exact;       ///< how products were found; the last iteration is always exact
    int start = 1;                     ///< to which it belongs, from 1
    int starts = 1;                    ///< that there are to be
    double loss = 0;                   ///< with a loss or missing elements: its sum over the known elements
};

/// One of the starts of a decomposition.
struct CpStart {
    std::uint64_t seed = 1;                           ///< of its random numbers
    double fit = 0;                                   ///< 1 - |X - model| / |X|
    int iterations = 0;                               ///< that were made
    StopReason stop_reason = StopReason::iterations;  ///< why there was no further one
    double seconds = 0;                               ///< of its iterations, on this rank
    double score = 0;                                 ///< CpMatch::score of its model with the best one
};

/// How alike the components of two models are.
struct CpMatch {
    double score = 0;              ///< mean of the scores
    std::vector<int> partners;     ///< by component of the first model: that of the second
    std::vector<double> scores{};  ///< of these pairs: 1 for equal ones
};

/// The factors of a model. Each rank has rows of them.
template <class T>
class ModelFactors {
public:
    /// Number of modes.
    int order() const { return lengths_.size(); }
    /// Numbers of rows of the factors, which are the lengths of the tensor.
    const std::vector<std::int64_t>& lengths() const { return lengths_; }
    /// Numbers of the rows of a factor that this rank has, ascending. Rows of empty slices of a sparse tensor are zero, and
    /// nobody has them.
    /// @throws InvalidArgument if there is no such mode
    const std::vector<std::int64_t>& rows(int mode) const;
    /// These rows, one after the other.
    /// @throws InvalidArgument if there is no such mode
    const std::vector<T>& factor(int mode) const;

    /// @cond
protected:
    ModelFactors(const char* title, std::vector<std::int64_t> lengths, std::vector<std::vector<std::int64_t>> rows,
                 std::vector<std::vector<T>> factors)
        : title_(title), lengths_(std::move(lengths)), rows_(std::move(rows)), factors_(std::move(factors)) {}
    void check(const std::vector<std::int64_t>& columns) const;
    std::vector<T> gathered(const World& world, int mode, const std::vector<std::int64_t>& columns) const;
    /// @endcond

private:
    const char* title_;
    std::vector<std::int64_t> lengths_;
    std::vector<std::vector<std::int64_t>> rows_;
    std::vector<std::vector<T>> factors_;
};

/// A decomposition. Components are ordered by falling weight.
template <class T>
class CpModel : public ModelFactors<T> {
public:
    /// Number of components.
    int rank() const { return lambda_.size(); }
    /// Weights of the components; columns of the factors have length 1, but for those that a simplex constrains.
    const std::vector<double>& lambda() const { return lambda_; }
    /// A whole factor on every rank, row by row. Collective. For factors that fit into memory.
    /// @throws InvalidArgument if there is no such mode, or in a dry run
    std::vector<T> gather(int mode) const;
    /// Where the rows are.
    const World& world() const { return world_; }

    /// Puts a model together from each rank's rows. Local.
    /// @param world   where the rows are; not World::outside()
    /// @param lengths numbers of rows of the factors, by mode
    /// @param lambda  weights, one for each component
    /// @param rows    by mode, numbers of the rows on this rank: ascending, from 0 to the length; a row is on one rank
    /// @param factors by mode, these rows, one after the other, with an element for each component
    /// @throws InvalidArgument on the ranks where these do not fit together
    CpModel(World world, std::vector<std::int64_t> lengths, std::vector<double> lambda, std::vector<std::vector<std::int64_t>> rows,
            std::vector<std::vector<T>> factors);

    /// True for a model of complete() whose elements are the mean, a bias of each of their rows, and the part of the components.
    bool has_biases() const { return !biases_.empty(); }
    /// 0 where there are no biases.
    double mean() const { return mean_; }
    /// Biases of the rows of a mode that this rank has, in the order of rows(); none where there are no biases. Rows that nobody has have
    /// bias 0.
    /// @throws InvalidArgument if there is no such mode
    const std::vector<T>& bias(int mode) const;
    /// All biases of a mode on every rank; zeros where there are none. Collective.
    /// @throws InvalidArgument if there is no such mode, or in a dry run
    std::vector<T> gather_bias(int mode) const;
    /// Gives the model a mean and biases. Local.
    /// @param mean   of all elements, the same on every rank
    /// @param biases by mode, of the rows of this rank
    /// @throws InvalidArgument on the ranks where these are not as many as rows
    void set_biases(double mean, std::vector<std::vector<T>> biases);

private:
    World world_;
    std::vector<double> lambda_;
    double mean_ = 0;
    std::vector<std::vector<T>> biases_;
};

/// A decomposition and how it was found. Numbers are those of the busiest rank. An iteration whose numbers are not finite ends
/// with an Error, so that no NaN is taken for a result.
template <class T>
struct CpResult {
    CpModel<T> model;                                 ///< what was found
    double fit = 0;                                   ///< 1 - |X - model| / |X|, or what cp_decompose() says of losses
    double loss = 0;                                  ///< with a loss or missing elements: its sum over the known elements
    std::int64_t known = 0;                           ///< likewise: elements that are known
    int iterations = 0;                               ///< that were made
    bool converged = false;                           ///< the tolerance was reached; opt: or no step makes the residual smaller
    StopReason stop_reason = StopReason::iterations;  ///< why there was no further iteration
    std::vector<double> fits{};                       ///< after each iteration
    double seconds_per_iteration = 0;                 ///< on average
    double setup_seconds = 0;                         ///< choosing and making the distribution and the formats
    double choose_seconds = 0;                        ///< of these: choosing the distribution; sparse tensors
    std::string distribution{};                       ///< what was used
    std::string grid{};                               ///< of a medium-grain distribution
    std::string policy{};                             ///< for its layers
    std::string rows{};                               ///< rule for owners of rows
    std::string format{};                             ///< of the nonzeros
    std::int64_t nonzeros_max = 0;                    ///< nonzeros of a rank
    std::int64_t volume_rows_max = 0;                 ///< rows that a rank sends and receives in an iteration
    std::int64_t volume_rows_total = 0;               ///< rows sent in an iteration, over all ranks
    std::int64_t memory_bytes_max = 0;                ///< of nonzeros, factors and buffers
    std::int64_t forecast_bytes = 0;                  ///< what CpOptions::planned was called with
    std::int64_t planned_bytes_max = 0;               ///< bytes that a rank sends in an exact iteration, as planned before; dense tensors
    std::int64_t sent_bytes_max = 0;                  ///< bytes that a rank sent, on average over the iterations; dense tensors
    /// Bytes that ranks send, and get, at least on average, for one product of the iteration, by any algorithm; dense tensors.
    std::int64_t bound_bytes = 0;
    /// The same for all products of an iteration together, if the tensor stays where it is.
    std::int64_t sweep_bound_bytes = 0;
    int perturbation_starts = 0;      ///< how often pairwise perturbation made its operators
    CpIteration total{};              ///< seconds summed over the iterations
    std::vector<CpStart> starts{};    ///< all that were made; what is above is said of the best one
    std::size_t best_start = 0;       ///< its place among them
    std::vector<double> stability{};  ///< by component: mean score of its partners in the models of the other starts; none of one start
    int groups = 1;                   ///< of ranks that made starts side by side
};

/// Called on every rank after each iteration, with a function that gives the model as it is now (columns not scaled for
/// CpAlgorithm::opt).
template <class T>
using CpProgress = std::function<void(const CpIteration&, const std::function<CpModel<T>()>& model)>;

/// Matches the components of two models so that the sum of the scores of the pairs is largest. The score of a pair is the product over the
/// modes of the cosines between its columns, times 1 - |w - v| / max(w, v) for its weights w and v, as `score` of the Tensor Toolbox
/// (Bader and Kolda) has it. Collective.
/// @param a the model with fewer components  @param b of the same lengths
/// @throws InvalidArgument if the lengths differ, or if a has more components than b
template <class T>
CpMatch match_components(const CpModel<T>& a, const CpModel<T>& b);

/// Decomposes a sparse tensor. With several starts (CpOptions::starts) it is distributed once; a start that diverges is left out, unless
/// all do. Collective.
///
/// Missing elements (CpOptions::missing): als solves each row's own normal equations over its known elements (Tomasi, Bro, *PARAFAC and
/// missing values*, Chemom. Intell. Lab. Syst. 75, 2005), nonnegative the same by columns, opt minimizes over all factors at once (Acar,
/// Dunlavy, Kolda, Morup, *Scalable tensor factorizations for incomplete data*, Chemom. Intell. Lab. Syst. 106, 2011). For predictions see
/// complete().
///
/// Losses (CpOptions::loss; Hong, Kolda, Duersch, SIAM Review 62, 2020): opt and sgd minimize the sum of f(x, m) over the known elements,
/// plus the regularization's part. opt goes through all of them; where elements that are not stored are zeros this is possible for gaussian
/// and poisson, whose sums over zeros are known from sums of columns. sgd takes samples of zeros (Kolda, Hong, *Stochastic gradients for
/// large-scale tensor decomposition*, SIAM J. Math. Data Sci. 2, 2020): in an iteration it goes through all stored elements once, in
/// batches, each with as many elements of the whole index space by a hash of the seed, and takes steps by Adam; an iteration after which
/// the loss, with zeros estimated from a fixed sample, is larger is taken back, and steps become shorter. The fit of a loss is the part
/// that the model takes away of what the best constant leaves above the least loss that there can be: 0 for that constant, 1 for a model
/// that is the tensor.
///
/// With CpOptions::constraints, |X - model|^2 / 2 + penalties of the factors + regularization * (sum of the squares of all factors) / 2 is
/// made small over factors that meet the constraints, mode after mode (AO-ADMM: Huang, Sidiropoulos and Liavas, IEEE Trans. Signal
/// Process. 64, 2016). With M the MTTKRP of a mode and G the product of the other Gram matrices, its factor H comes from ADMM with
/// rho = trace(G) / (10 R): A = (M + rho (H + U)) (G + rho I)^-1, H = argmin rho / 2 |H - A + U|^2 + penalty, U = U + H - A; each row stops
/// by itself where rows do not depend on each other (as blocks do in Smith, Beri and Karypis, ICPP 2017). Without a constraint, with l2,
/// smooth and orthogonal the minimum is found directly. H is what is kept, so that constraints hold to rounding, and the fit is that of H.
/// Factors keep their scale in the iterations: where a mode has a penalty, columns of those that have none are at most of length 1, for
/// else the penalty could be scaled away. At the end columns get length 1, and lambda their weights, but for those of simplices, which keep
/// the scale in which they sum to 1. Where all modes have a scale (orthogonal, simplices), lambda is fitted, too. Tolerance and stop are
/// those of the fit. Smooth: a row of an empty slice stands in the sequence as zeros. With missing elements of a sparse tensor each row has
/// its own G over its known elements, smooth factors come from ADMM too, orthogonal ones from a bound on all G; smooth and unimodal factors
/// have rows of empty slices between those of their neighbours, and with them the distribution is coarse-allgather; one mode at least must
/// be free to have a scale.
/// @param tensor   what to decompose; elements that are not stored are zero, or unknown where the options have missing elements
/// @param options  how
/// @param progress called on every rank after each iteration: any function that can be called as a CpProgress
/// @param start    factors to start from instead of random ones, of the same lengths and rank; nullptr: none
/// @param weights  of the squared residuals or losses, and by that of which elements are known (CpOptions::missing makes no difference):
///                 those with a weight above 0, zeros of the tensor too, others are unknown; see masked(). nullptr: none
/// @throws InvalidArgument for options that do not fit together, or for a tensor without nonzeros; Error where the iteration
/// diverges
template <class T>
CpResult<T> cp_decompose(const SparseTensor<T>& tensor, const CpOptions& options, const std::type_identity_t<CpProgress<T>>& progress = {},
                         const std::type_identity_t<CpModel<T>>* start = nullptr,
                         const std::type_identity_t<SparseTensor<T>>* weights = nullptr);
/// The same; the tensor has no nonzeros afterwards, which saves their memory during the iterations.
template <class T>
CpResult<T> cp_decompose(SparseTensor<T>&& tensor, const CpOptions& options, const std::type_identity_t<CpProgress<T>>& progress = {},
                         const std::type_identity_t<CpModel<T>>* start = nullptr,
                         const std::type_identity_t<SparseTensor<T>>* weights = nullptr);

/// Decomposes a dense tensor; it stays where it lies, and is not copied. Collective.
///
/// Products with the tensor come from a dimension tree (Phan, Tichavsky, Cichocki, IEEE Trans. Signal Process. 61, 2013): two
/// large matrix products in a sweep, whatever the order; what else a sweep needs follows from their results. A rank multiplies
/// its own block, and moves rows of factors only. The start, and with it every iteration, is that of the same tensor in sparse
/// form.
///
/// With pairwise perturbation (Ma and Solomonik, Numer. Linear Algebra Appl. 29, 2022) the tensor is contracted with all
/// factors but two, for each pair of modes, as soon as the factors change by less than a threshold; sweeps then use these
/// operators, with the second-order correction, until a factor has gone further than the threshold. Their fits are estimates.
/// The operators take the memory of R matrices for each pair of modes. Iterations end only with two exact ones in a row whose
/// fit differs by less than the tolerance, or with an exact one as the last that is allowed.
///
/// Missing elements, weights and losses are those of sparse tensors. als and nonnegative fill unknown elements with those of the model
/// before each iteration (Tomasi, Bro, 2005), in a copy of the tensor, and bring others nearer to it that weigh less than the heaviest one
/// (Kiers, *Weighted least squares fitting using ordinary least squares algorithms*, Psychometrika 62, 1997); opt has derivatives there,
/// and needs fewer iterations where weights differ much.
/// @throws InvalidArgument for options that do not fit together, or for a tensor with zeros only or with elements that are not
/// finite; Error
///         where the iteration diverges; OutOfMemory
template <class T>
CpResult<T> cp_decompose(const Tensor<T>& tensor, const CpOptions& options, const std::type_identity_t<CpProgress<T>>& progress = {},
                         const std::type_identity_t<CpModel<T>>* start = nullptr, const std::type_identity_t<Tensor<T>>* weights = nullptr);

/// What a sweep over all modes will move, as text: the grid on which the tensor lies, bytes that the busiest rank sends for
/// each mode, the same over all modes and ranks, and the lower bound for one product. Works in a dry run, too. Local.
/// @throws InvalidArgument as cp_decompose() for options and shape; Unsupported for more than 2^24 ranks
template <class T>
std::string explain_cp(const Tensor<T>& tensor, const CpOptions& options);

/// The elements begin <= index < end of a model as a new tensor; without ranges, all of them. Collective.
/// @throws InvalidArgument for ranges that are not within the model
template <class T>
Tensor<T> reconstruct(const CpModel<T>& model, std::vector<std::int64_t> begin = {}, std::vector<std::int64_t> end = {});

/// Files of a saved model: NumPy's .npy, or text with a row on each line.
enum class ModelForm : std::uint8_t { npy, text };

/// Writes a model into a directory: lambda, mode_1, mode_2, ... and description.json; rows of empty slices are zeros. Of a mode of 100,000
/// slices or more, of which fewer than half are not empty, mode_N has the rows of these only, and mode_N_rows their numbers, from 0. The
/// files appear under their names when all are complete, so that a model that was there before stays whole until then. Collective.
/// @throws InvalidArgument on every rank if a file cannot be written
template <class T>
void save_model(const CpModel<T>& model, const std::string& directory, ModelForm form = ModelForm::npy);

/// The modes, from 1, of which save_model() writes the nonempty rows only, with the numbers of these rows. Collective.
template <class T>
std::map<int, std::int64_t> listed_modes(const CpModel<T>& model);

/// Reads a model that save_model() has written, on any number of ranks. Collective.
/// @throws InvalidArgument on every rank if there is none, or its files do not fit together
template <class T>
CpModel<T> load_model(const World& world, const std::string& directory);

}  // namespace arges
