/// What algorithms for CP decompositions need of a tensor: rows of factor matrices where they are needed; of most, MTTKRP and its norm.
#pragma once

#include "arges/cpd.hpp"
#include "decompose/distribution/row_exchange.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace arges::decompose {

template <class T>
struct CpState;

/// Seconds that a rank has spent.
struct Seconds {
    double mttkrp = 0, solve = 0, norm = 0, gram = 0, communication = 0;
};

/// A tensor that is distributed over the ranks, and the rows of its factors. All calls are collective unless marked local.
template <class T>
class CpData {
public:
    CpData(const Communicator& comm, int columns) : comm_(comm), columns_(columns) {}
    virtual ~CpData() = default;
    CpData(const CpData&) = delete;
    CpData& operator=(const CpData&) = delete;

    int order() const { return exchange_.size(); }
    int columns() const { return columns_; }
    const Communicator& comm() const { return comm_; }
    /// The rows that this rank has of a factor matrix. Local.
    virtual const ModeRows& rows(int mode) const = 0;
    /// All factors are other ones than before. Local.
    void forget_factors() {
        for (int m = 0; m < order(); ++m) factor_changes(m);
    }
    /// How the products of this iteration are found. Local.
    virtual CpStep step() const { return CpStep::exact; }

    /// Brings the rows of other owners up to date; between start and finish the matrix must stay as it is. A factor that has
    /// new values is announced by this call; until the next mttkrp() its columns may be scaled.
    void start_expand(int mode, sparse::RowMatrix<T> factor);
    void finish_expand(int mode);

    Seconds& seconds() { return seconds_; }

protected:
    /// A factor gets new values. Local.
    virtual void factor_changes(int /*mode*/) {}
    /// Makes the buffers of all modes. Local.
    void set_modes(int order);

    const Communicator& comm_;
    int columns_;
    std::vector<std::unique_ptr<RowExchange<T>>> exchange_;
    Seconds seconds_;
};

/// One that can be multiplied by factors. All calls are collective unless marked local.
template <class T>
class CpOperator : public CpData<T> {
public:
    /// @param folds the results of multiply() are parts of sums
    CpOperator(const Communicator& comm, int columns, bool folds) : CpData<T>(comm, columns), folds_(folds) {}

    /// Sum of the squares of all values.
    double norm_squared() const { return norm_squared_; }

    /// Called before each iteration. An operator that approximates must not do so where the fit has to be `exact`.
    virtual void begin_iteration(CpState<T>& /*state*/, bool /*exact*/) {}
    /// The fit after an iteration; none where norm and products say it.
    virtual std::optional<double> fit(CpState<T>& /*state*/) { return std::nullopt; }

    /// out = X_(mode) times the Khatri-Rao product of the other factors, for the rows that this rank owns; the rest of `out` is
    /// scratch.
    /// @param factors by mode, rows(m).count() x columns(), rows of other owners included
    void mttkrp(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out);
    /// The same for all modes, with the same factors: ranks wait for each other once, when all have multiplied.
    /// @param out by mode
    void mttkrp_all(std::span<const sparse::RowMatrix<const T>> factors, std::span<const sparse::RowMatrix<T>> out);

protected:
    /// The part of mttkrp() that this rank can compute by itself. Local.
    virtual void multiply(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out) = 0;
    /// Adds to the owned rows of a product what is known without the tensor's values. Collective.
    virtual void correct(int /*mode*/, sparse::RowMatrix<T> /*owned*/) {}

    double norm_squared_ = 0;

private:
    /// From what multiply() has left on each rank to the rows of their owners.
    void finish_product(int mode, sparse::RowMatrix<T> out);

    bool folds_;
};

}  // namespace arges::decompose
