/// Approximate products of a dense tensor with factors that have changed little.
#pragma once

#include "decompose/cp/cp_als.hpp"
#include "decompose/cp/dimension_tree.hpp"

#include <span>
#include <vector>

namespace arges::decompose {

/// Pairwise perturbation (Ma and Solomonik, Numer. Linear Algebra Appl. 29, 2022, algorithm 3.2). With factors A = P + D, where
/// P are those at which the operators were made, X_(n) times the Khatri-Rao product of the other A is, up to the second order
/// in D,
///     M_n + sum over i of M_ni D_i + A_n diag(lambda) H_n,
/// where M_n and M_ni are the tensor contracted with all P but those of n, or of n and i, column by column, and the tensor is
/// replaced by the model in the second-order term: H_n = sum over i < j of (A_i^T D_i) * (A_j^T D_j) * product over the other k
/// of (A_k^T A_k), element by element.
template <class T>
class PairwisePerturbation {
public:
    /// @param threshold the operators are used while |D_n| <= threshold |A_n| for all n
    PairwisePerturbation(const Communicator& comm, ModeArray<T> block, int columns, double threshold);

    /// Decides how the products of the next iteration are found; true if the operators have to be made first. Collective.
    bool begin_iteration(CpState<T>& state, bool exact);
    CpStep step() const { return step_; }
    /// Makes the operators. Local.
    /// @param factors by mode: rows of the block x columns, column after column
    void make(std::span<const T* const> factors);
    /// This rank's part of the first two terms. Local.
    void multiply(int mode, std::span<const T* const> factors, T* result);
    /// diag(lambda) H_n, column by column. Collective.
    Gram second_order(int mode);
    void factor_changes(int mode) { is_old_[mode] = true; }
    std::int64_t bytes() const;

private:
    /// An array with its memory.
    struct Operator {
        Buffer<T> values;
        ModeArray<T> array;
    };
    Operator reduced(const ModeArray<T>& array, const std::vector<int>& kept, std::span<const T* const> factors);
    void make_pairs(const ModeArray<T>& array, const std::vector<int>& first, const std::vector<int>& second,
                    std::span<const T* const> factors);
    double distance(CpState<T>& state) const;
    void take_reference(CpState<T>& state);
    Gram cross_product(int mode) const;

    const Communicator& comm_;
    ModeArray<T> block_;
    int columns_;
    double threshold_;
    CpStep step_ = CpStep::exact;
    CpState<T>* state_ = nullptr;
    std::vector<std::vector<T>> reference_;  // by mode: owned rows of P, or of the factors one iteration ago
    std::vector<Buffer<T>> points_;          // by mode: P in the form of the block
    std::vector<Buffer<T>> first_order_;     // by mode: M_n
    std::vector<Operator> pairs_;            // M_ni
    std::vector<Gram> cross_;                // by mode: A^T D
    std::vector<bool> is_old_;               // by mode: cross_ must be computed again
    Buffer<T> weights_, part_;
};

/// Memory of a PairwisePerturbation for a block of these sizes of which the rank owns so many rows of factors, an upper bound. Pure.
MemoryTally perturbation_memory(std::int64_t element_bytes, const std::vector<std::int64_t>& sizes, std::int64_t owned, int columns);

}  // namespace arges::decompose
