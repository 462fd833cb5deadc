/// Rows of a mode that elements on this rank need, whoever owns them.
#pragma once

#include "decompose/distribution/row_exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace arges::decompose {

/// What stands for a row that nobody owns.
inline constexpr auto unmapped = std::numeric_limits<std::uint32_t>::max();

/// Rows that a rank's elements need, and where they are.
struct NeededRows {
    ModeRows rows;
    std::vector<std::int64_t> position;  ///< of the owned ones of `rows` among those that the rank was said to own
    std::vector<std::uint32_t> local;    ///< of each element: its place in `rows`, or `unmapped`

    /// Values of the rows, from what their owners have. Collective.
    /// @param from of all rows that this rank was said to own @param to gets those of `rows`
    template <class T>
    void bring(RowExchange<T>& exchange, sparse::RowMatrix<const T> from, sparse::RowMatrix<T> to) const {
        for (std::size_t i = 0; i < position.size(); ++i) std::copy_n(from.row(position[i]), from.columns, to.row(i));
        exchange.expand(to);
    }
};

/// Finds the rows of elements. Collective.
/// @param owned   rows of this rank, ascending; a row is on one rank
/// @param indices of this rank's elements in the mode; they are freed
NeededRows needed_rows(const Communicator& comm, std::span<const std::int64_t> owned, std::vector<std::int64_t>&& indices);

}  // namespace arges::decompose
