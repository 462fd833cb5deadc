/// Tucker decompositions of sparse tensors: X(i, j, k, ...) is close to the sum over (a, b, c, ...) of G(a, b, c, ...) A(i, a) B(j, b) C(k, c) ...
#pragma once

#include "arges/cpd.hpp"

namespace arges {

/// Into what to decompose, and how. Texts as in CpOptions.
struct TuckerOptions {
    std::vector<int> ranks;              ///< length of the core by mode
    int max_iterations = 50;             ///< at most so many
    double tolerance = 1e-5;             ///< stops when the fit changes by less; 0: never
    std::uint64_t seed = 1;              ///< of the start
    std::string distribution = "auto";   ///< as CpOptions::distribution
    std::string grid;                    ///< as CpOptions::grid
    std::string policy;                  ///< as CpOptions::policy
    std::string rows = "holders";        ///< as CpOptions::rows
    std::string partition_file;          ///< as CpOptions::partition_file
};

/// A decomposition. Each rank has rows of the factors, and the whole core.
template <class T>
struct TuckerResult {
    std::vector<std::int64_t> lengths{};             ///< of the tensor
    std::vector<int> ranks{};                        ///< of the core
    std::vector<double> core{};                      ///< first mode fastest
    std::vector<std::vector<std::int64_t>> rows{};   ///< by mode: numbers of this rank's rows, ascending; rows of empty slices are zero
    std::vector<std::vector<T>> factors{};           ///< by mode: these rows, one after the other; columns are orthonormal
    double fit = 0;                                  ///< 1 - |X - model| / |X|
    int iterations = 0;                              ///< that were made
    bool converged = false;                          ///< the tolerance was reached
    double seconds_per_iteration = 0;                ///< on average
    std::string distribution{};                      ///< what was used
    std::string grid{};                              ///< of a medium-grain distribution
    std::string policy{};                            ///< for its layers
};

/// Sparse Tucker decomposition by higher-order orthogonal iteration: each factor becomes the leading left singular vectors of X_(n) times
/// the Kronecker product of the other factors, which is never formed for more than one nonzero (De Lathauwer, De Moor, Vandewalle, SIAM
/// J. Matrix Anal. Appl. 21, 2000). Where that matrix has a smaller rank than the core, the columns beyond it are zero. Collective.
/// @param tensor   what to decompose
/// @param options  into what, and how
/// @param progress called on every rank after each iteration with its number and fit
/// @throws InvalidArgument for ranks that are not one for each mode, from 1 to its length, or whose product over all modes but one is over 4096
template <class T>
TuckerResult<T> tucker_decompose(const SparseTensor<T>& tensor, const TuckerOptions& options,
                                 const std::function<void(int number, double fit)>& progress = {});

}  // namespace arges
