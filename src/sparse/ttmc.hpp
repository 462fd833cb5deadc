/// Sparse tensors times matrices in all modes but one.
#pragma once

#include "sparse/fiber_tree.hpp"
#include "sparse/row_matrix.hpp"

#include <span>
#include <vector>

namespace arges::sparse {

/// The chain of tensor-times-matrix products of higher-order orthogonal iteration (De Lathauwer et al., 2000; on fiber trees:
/// Smith and Karypis, *Accelerating the Tucker decomposition with compressed sparse tensors*, 2017). Made once for a mode, used
/// in each iteration.
template <class T>
class Ttmc {
public:
    /// Sorts the nonzeros into a fiber tree with `mode` as root. Coordinates must be distinct. Values are those times weights, where there
    /// are some. @throws InvalidArgument for a wrong mode
    Ttmc(const LocalNonzeros<T>& nonzeros, int mode);

    /// out(i, r) = sum over the nonzeros x of slice i of value(x) * product over the other modes m of factors[m](x_m, r_m). The
    /// column r runs over all tuples of the other modes' columns, the last mode fastest. Example: mode 1 of order 3 with 4
    /// columns in mode 0 and 5 in mode 2: r = r_0 * 5 + r_2, and out has 20 columns. factors[mode] is not read. Rows without
    /// nonzeros become zero. Threads share heavy slices; the result does not depend on the number of threads. @throws InvalidArgument if
    /// factors or out do not fit
    void multiply(std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) const;

    /// From now on multiply() takes for each nonzero its value less the element of a Tucker model, times its weight; returns the sum of the
    /// squares of these differences, times weights. @param core of the factors' columns, the last mode fastest @throws InvalidArgument if
    /// factors or core do not fit
    double subtract_model(std::span<const T> core, std::span<const RowMatrix<const T>> factors);

    std::int64_t bytes() const { return tree_.bytes(); }

private:
    /// Product of the columns of the other factors.
    std::int64_t checked_width(std::span<const RowMatrix<const T>> factors) const;

    /// A root node with many nonzeros, which are cut into pieces at places that depend on the tensor only. Each piece is summed up by
    /// itself, and the sums are added in their order.
    struct Heavy {
        std::int64_t node = 0, first_piece = 0, last_piece = 0;
    };

    std::vector<std::int64_t> rows_;
    FiberTree<T> tree_;
    std::vector<T> values_;            // those of the nonzeros, where the tree has others
    std::vector<std::int64_t> light_;  // root nodes that one thread works on
    std::vector<Heavy> heavy_;
    std::vector<typename FiberTree<T>::Range> pieces_;
};

/// Memory of the constructor of a Ttmc beside the nonzeros, an upper bound; what it holds at the end is the tree. Pure.
MemoryTally ttmc_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, int mode);
/// What subtract_model() keeps beside that. Pure.
std::int64_t ttmc_values_memory(std::int64_t element_bytes, std::int64_t count);
/// Memory that its multiply() takes for results of so many columns, an upper bound. Pure.
std::int64_t ttmc_product_memory(std::int64_t element_bytes, std::int64_t rows, std::int64_t columns, int threads);

}  // namespace arges::sparse
