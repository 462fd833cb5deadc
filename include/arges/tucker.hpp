/// @file tucker.hpp
/// Tucker decompositions of sparse and dense tensors: X(i, j, k, ...) is close to the sum over (a, b, c, ...) of G(a, b, c,
/// ...) A(i, a) B(j, b) C(k, c) ...
#pragma once

#include "arges/cpd.hpp"

namespace arges {

/// How a Tucker decomposition is found.
enum class TuckerMethod : std::uint8_t {
    automatic,   ///< st_hosvd for dense tensors, hooi for sparse ones
    hosvd,       ///< leading left singular vectors of every matricization of the tensor (De Lathauwer, De Moor, Vandewalle, SIAM J.
                 ///< Matrix Anal. Appl. 21, 2000)
    st_hosvd,    ///< the same mode after mode, each time of what earlier modes have left (Vannieuwenhoven, Vandebril, Meerbergen,
                 ///< SIAM J. Sci. Comput. 34, 2012)
    hooi,        ///< higher-order orthogonal iteration, for dense tensors from st_hosvd
    nonnegative  ///< factors and core without negative elements, with ranks: factors by HALS (Phan and Cichocki, Neurocomputing 74, 2011),
                 ///< the core by accelerated projected gradients, from random numbers; columns have length 1 and are not orthogonal
};

/// How singular vectors of a matricization are found; dense tensors.
enum class TuckerKernel : std::uint8_t {
    automatic,  ///< qr where the error that is allowed is below the square root of the machine precision, or a matricization is
                ///< so much longer than wide that qr is faster; else gram
    gram,       ///< eigenvectors of its Gram matrix: fast; singular values below the square root of the machine precision (relative
                ///< to the largest) are noise
    qr          ///< SVD of the triangle of a QR factorization: right to the machine precision, at about twice to four times the work
};

/// Into what to decompose, and how. Texts as in CpOptions; distribution, grid, policy, rows and partition files are for sparse
/// tensors, kernel and order for dense ones.
struct TuckerOptions {
    std::vector<int> ranks;     ///< length of the core by mode; empty: as relative_error allows, see tucker_decompose()
    double relative_error = 0;  ///< at most |X - model| / |X|; with ranks: they are not exceeded, and the error may be larger
    TuckerMethod method = TuckerMethod::automatic;  ///< how
    TuckerKernel kernel = TuckerKernel::automatic;  ///< how singular vectors are found
    std::vector<int> order;                         ///< modes, from 0, in the order in which they are truncated; empty: the cheapest
    int max_iterations = 50;                        ///< hooi, nonnegative: at most so many
    double tolerance = 1e-5;            ///< hooi, nonnegative: stops when the fit changes by less than this times the fit; 0: never
    std::uint64_t seed = 1;             ///< of the start; sparse, nonnegative
    std::string distribution = "auto";  ///< as CpOptions::distribution
    std::string grid;                   ///< as CpOptions::grid
    std::string policy;                 ///< as CpOptions::policy
    std::string rows = "holders";       ///< as CpOptions::rows
    std::string partition_file;         ///< as CpOptions::partition_file
    std::string save_partition;         ///< as CpOptions::save_partition
    /// As CpOptions::planned, without a model; sparse tensors with a relative error: again whenever the core grows.
    std::function<void(std::int64_t bytes)> planned{};
    std::function<bool()> stop{};  ///< hooi: as CpOptions::stop
    double seconds = 0;            ///< hooi: as CpOptions::seconds
    /// Elements of a dense tensor that are NaN, or of a sparse one that are not stored, are unknown: hooi, with ranks, fills them with
    /// those of the model after each iteration, those of a sparse tensor without a dense array. Norms and errors are those of known
    /// elements, with their weights where there are some: |X|^2 is the sum of w x^2.
    bool missing = false;
};

/// A decomposition. Columns of the factors are orthonormal, unless the model is non-negative; each rank has its part of the core.
template <class T>
class TuckerModel : public ModelFactors<T> {
public:
    /// Puts a model together from each rank's rows, as CpModel does; a row of a factor has an element for each index of the core
    /// in its mode. Local.
    /// @throws InvalidArgument on the ranks where these do not fit together
    TuckerModel(std::vector<std::int64_t> lengths, Tensor<T> core, std::vector<std::vector<std::int64_t>> rows,
                std::vector<std::vector<T>> factors);

    /// Lengths of the core.
    const std::vector<std::int64_t>& ranks() const { return core_.extents(); }
    /// G.
    const Tensor<T>& core() const { return core_; }
    /// A whole factor on every rank, row by row. Collective.
    /// @throws InvalidArgument if there is no such mode, or in a dry run
    std::vector<T> gather(int mode) const;
    /// Where core and rows are.
    const World& world() const { return core_.world(); }
    /// Elements of the tensor divided by those of core and factors.
    double compression() const;

private:
    Tensor<T> core_;
};

/// What was done for one mode. Seconds and bytes are those of this rank, unless they are those of the busiest one. Bytes are
/// those of the tensor and the factors as they move; singular values, and what ScaLAPACK and MPI's own collectives send, are
/// not counted.
struct TuckerStep {
    int mode = 0;                              ///< from 0
    int iteration = 0;                         ///< of hooi; 0: before
    std::int64_t rank = 0;                     ///< that was chosen
    double discarded = 0;                      ///< root of the sum of the squared singular values that were cut, relative to |X|
    TuckerKernel kernel = TuckerKernel::gram;  ///< that was used
    double move_seconds = 0;                   ///< moving the tensor to where the mode is whole
    double gram_seconds = 0;                   ///< Gram matrix or QR factorization
    double solve_seconds = 0;                  ///< eigenvectors or SVD of the small matrix
    double product_seconds = 0;                ///< products with factors
    std::int64_t planned_bytes = 0;            ///< that this rank sends, as planned before
    std::int64_t sent_bytes = 0;               ///< that it has sent
    std::int64_t planned_bytes_max = 0;        ///< of the busiest rank
    std::int64_t sent_bytes_max = 0;           ///< of the busiest rank
    /// That ranks send, and get, at least on average, if they compute the Gram matrix and the products with factors from their
    /// definitions: the largest of the bounds for each of them, which says nothing about the QR factorization. hooi: of the
    /// first of several products whichever that is.
    std::int64_t bound_bytes = 0;
};

/// A decomposition and how it was found.
template <class T>
struct TuckerResult {
    TuckerModel<T> model;  ///< what was found
    double fit = 0;        ///< 1 - estimated_error
    /// |X - model| / |X| from norms or from the singular values that were cut; relative_error() computes it.
    double estimated_error = 0;
    TuckerMethod method = TuckerMethod::hooi;         ///< that was used
    int iterations = 0;                               ///< of hooi
    bool converged = false;                           ///< the tolerance was reached
    StopReason stop_reason = StopReason::iterations;  ///< why there was no further iteration
    std::vector<double> fits{};                       ///< after each iteration of hooi
    double seconds = 0;                               ///< in all
    double seconds_per_iteration = 0;                 ///< of hooi, on average
    std::vector<TuckerStep> steps{};                  ///< dense tensors: mode by mode
    std::string distribution{};                       ///< what was used; sparse tensors
    std::string grid{};                               ///< of a medium-grain distribution, or on which a dense tensor lies
    std::string policy{};                             ///< of a medium-grain distribution
    int device_ranks = 0;                             ///< ranks whose products with nonzeros ran on a device
    std::int64_t forecast_bytes = 0;                  ///< the most that TuckerOptions::planned was called with
};

/// Called on every rank after each iteration with its number and fit.
using TuckerProgress = std::function<void(int number, double fit)>;

/// Sparse Tucker decomposition by higher-order orthogonal iteration: each factor becomes the leading left singular vectors of
/// X_(n) times the Kronecker product of the other factors, which is never formed for more than one nonzero (De Lathauwer, De
/// Moor, Vandewalle, SIAM J. Matrix Anal. Appl. 21, 2000). Where that matrix has a smaller rank than the core, the columns
/// beyond it are zero.
///
/// With relative_error the iteration begins with a small core. Its ranks grow, about twofold, in the modes whose last slices are not
/// small, until the error, known exactly, is met; then the smallest leading part is kept and made smaller as that of a dense tensor.
/// All these iterations count. Elements of slices without a stored one are zero in the model. Collective.
/// @param tensor   what to decompose
/// @param options  into what, and how
/// @param progress called on every rank after each iteration
/// @param start    factors to start from instead of random ones, of the same lengths and ranks; with relative_error ranks are those to
///                 begin with
/// @param weights  w, of the elements' squared residuals, of the same lengths: elements with a weight above 0 are known, zeros of the
///                 tensor too, others are unknown, as with TuckerOptions::missing; see masked(). After each iteration an element is
///                 m + w / w_max (x - m), with m of the model, which makes the weighted sum smaller (Kiers, Psychometrika 62, 1997), the
///                 more slowly the more the weights differ. nullptr: none
/// @throws InvalidArgument for ranks that are not one for each mode, from 1 to its length, or whose product over all modes but
/// one is over 4096; for a method other than hooi and nonnegative, or a start of the latter; for a relative error below 1e-6 (float: 1e-3),
/// or that no core of such ranks meets; for weights that are not numbers from 0 on, or on another world; OutOfMemory
template <class T>
TuckerResult<T> tucker_decompose(const SparseTensor<T>& tensor, const TuckerOptions& options, const TuckerProgress& progress = {},
                                 const std::type_identity_t<TuckerModel<T>>* start = nullptr,
                                 const std::type_identity_t<SparseTensor<T>>* weights = nullptr);

/// The same; the tensor has no nonzeros afterwards, which saves their memory during the iterations.
template <class T>
TuckerResult<T> tucker_decompose(SparseTensor<T>&& tensor, const TuckerOptions& options, const TuckerProgress& progress = {},
                                 const std::type_identity_t<TuckerModel<T>>* start = nullptr,
                                 const std::type_identity_t<SparseTensor<T>>* weights = nullptr);

/// Tucker decomposition of a dense tensor. It stays as it is; st_hosvd needs memory for one tensor more only if the first mode
/// is spread over ranks.
///
/// With relative_error eps modes first discard singular values whose squares add up to a tenth of eps^2 |X|^2 at most. Of the core
/// that this leaves, the leading part with the fewest elements is kept whose error, known exactly, is at most eps: the sums over all
/// leading parts follow from the squares of the core (Ballard, Klinvex, Kolda, ACM Trans. Math. Softw. 46, 2020). hooi begins
/// with that core and its iterations; then it tries cores that are smaller by one in a mode, as long as one meets eps within
/// max_iterations (Xiao and Yang, SIAM J. Sci. Comput. 43, 2021). No core is proved to be the smallest; on 40 tensors of orders 3 and 4 no
/// smaller one was found by trying all ranks. Eigenvectors are computed by one rank. Collective.
/// @param tensor   what to decompose, order 1 to 8, of any symmetry
/// @param options  into what, and how
/// @param progress called on every rank after each iteration of hooi
/// @param start    hooi: factors to start from instead of those of st_hosvd, of the same lengths and ranks
/// @param weights  as of a sparse tensor
/// @throws InvalidArgument for ranks that are not one for each mode, from 1 to its length, for neither ranks nor a relative
/// error, or for a tensor with zeros
///         only or with elements that are not finite; OutOfMemory
template <class T>
TuckerResult<T> tucker_decompose(const Tensor<T>& tensor, const TuckerOptions& options, const TuckerProgress& progress = {},
                                 const std::type_identity_t<TuckerModel<T>>* start = nullptr,
                                 const std::type_identity_t<Tensor<T>>* weights = nullptr);

/// The elements begin <= index < end of a model as a new tensor: a fiber, a slice, any block; without ranges, all of them. What
/// is not wanted is not computed. Collective.
/// @throws InvalidArgument for ranges that are not within the model
template <class T>
Tensor<T> reconstruct(const TuckerModel<T>& model, std::vector<std::int64_t> begin = {}, std::vector<std::int64_t> end = {});

/// |X - model| / |X|, from every element; 0 if both are zero, infinity if only X is. The difference is formed in parts of a
/// sixteenth of the tensor or less. Collective.
/// @throws InvalidArgument if the lengths differ
template <class T>
double relative_error(const Tensor<T>& tensor, const TuckerModel<T>& model);

/// Writes a model as a checkpoint (arges/checkpoint.hpp): one HDF5 file with the tensors core, mode_1, mode_2, ..., each with
/// its checksum; a file that was there before stays whole until the new one is complete. Collective.
/// @throws InvalidArgument on every rank if the file cannot be written
template <class T>
void save_model(const TuckerModel<T>& model, const std::string& file);

/// Reads a Tucker model that save_model() has written, on any number of ranks. Collective.
/// @throws InvalidArgument on every rank if there is none, its elements are of another type, or a checksum differs
template <class T>
TuckerModel<T> load_tucker_model(const World& world, const std::string& file);

}  // namespace arges
