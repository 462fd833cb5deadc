/// Columns of a factor, brought together on one rank each for constraints that look at all rows.
#pragma once

#include "comm/communicator.hpp"
#include "decompose/distribution/row_exchange.hpp"
#include "sparse/row_matrix.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace arges::decompose {

/// The rows of one mode, over all ranks. A rank gets columns one after the other, so that all get about as many.
class WholeColumns {
public:
    /// Collective.
    WholeColumns(const Communicator& comm, const ModeRows& rows);

    /// Rows that some rank owns, ascending.
    std::span<const std::int64_t> index() const { return index_; }

    /// Calls f(column, its elements in the order of index()) for each column, on one rank each, which may change the elements, and takes
    /// these back into the rows. f is called by several threads at once. Collective.
    /// @param rows  that this rank owns
    template <class T>
    void transform(sparse::RowMatrix<T> rows, const std::function<void(int column, std::vector<double>& elements)>& f) const;

private:
    const Communicator& comm_;
    std::vector<std::int64_t> index_, places_, first_;  // place in index_ of each row, by owner; where those of an owner begin
};

/// Memory of WholeColumns and of a transform(), an upper bound. Pure.
/// @param total rows over all ranks @param owned of this one
std::int64_t whole_columns_memory(std::int64_t ranks, std::int64_t total, std::int64_t owned, std::int64_t columns,
                                  std::int64_t element_bytes, int threads);

}  // namespace arges::decompose
