/// @file chemistry/diis.hpp
/// Direct inversion in the iterative subspace.
#pragma once

#include "arges/chemistry/tensor_set.hpp"

#include <deque>
#include <vector>

namespace arges::chemistry {

/// Convergence acceleration of Pulay, Chem. Phys. Lett. 73, 393 (1980): of the latest amplitudes,
/// the combination with coefficients that sum to one and the smallest combined error.
class Diis {
public:
    /// @param vectors  amplitudes and errors that are kept; with fewer than two nothing is done
    explicit Diis(int vectors) : vectors_(vectors) {}

    /// Adds an iterate with its error, and replaces it by the best combination. Collective.
    /// @throws InvalidArgument if the shapes are not those of all iterates and errors before
    void extrapolate(TensorSet& iterate, const TensorSet& error);

private:
    struct Step {
        TensorSet iterate, error;
        std::deque<double> overlaps;  // of this error with those kept, oldest first, itself last
    };
    std::vector<double> coefficients() const;

    int vectors_;
    std::deque<Step> steps_;
};

/// Coefficients c with sum 1 that make c^T B c smallest, for the symmetric n x n matrix B of error
/// overlaps; the newest vector alone if B is zero. Empty if the equations are singular.
/// @throws InvalidArgument if the matrix is empty or not square
/// Example B = {{1,0},{0,4}}: c = {0.8, 0.2}.
std::vector<double> diis_coefficients(const std::vector<std::vector<double>>& overlaps);

}  // namespace arges::chemistry
