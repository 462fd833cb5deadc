/// The block of a dense tensor that a rank has, who shares the rows of its factors, and messages that plans can count.
#pragma once

#include "comm/communicator.hpp"
#include "interface/dense/tensor_state.hpp"
#include "layout/layout.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace arges::decompose {

/// Where a rank's block of a tensor without symmetry lies: local index x of mode m is index coordinate[m] + x * grid_length[m] of the
/// tensor.
struct BlockPosition {
    std::vector<std::int64_t> coordinate, grid_length;
    /// Of the block by mode; all zero on a rank that holds nothing, or a copy of another rank's block.
    std::vector<std::int64_t> sizes;

    std::int64_t count() const;
};

/// The block of a rank. Pure.
BlockPosition block_position(const Layout& layout, std::int64_t rank);

/// The same tensor if its layout is plain, so that blocks are what block_position() says, else a copy without symmetry, which has.
/// Collective.
template <class T>
Tensor<T> with_plain_blocks(const Tensor<T>& tensor) {
    if (is_plain(state_of(tensor, "a decomposition").layout)) return Tensor<T>(tensor.state());
    return tensor.with_symmetry(Symmetry::none(tensor.order()));
}

/// The layout of with_plain_blocks(), and the bytes that the tensor itself holds beside such a copy on a rank; 0 where there is none.
/// Local.
struct PlainLayout {
    Layout layout;
    std::int64_t original_bytes = 0;
};
PlainLayout plain_layout(const AnyTensor& tensor);

/// The grid on which a tensor lies, as 2x1x3.
std::string grid_text(const Layout& layout);

/// The ranks whose blocks have the same indices of a mode as that of `rank`, ascending; none for a rank that holds nothing.
/// Rows of the factor of that mode are distributed among them: local index x is owned by number x modulo their number. Pure.
std::vector<std::int64_t> owners_of_rows(const Layout& layout, int mode, std::int64_t rank);

/// Rows of a factor that a rank sends when rows go to all ranks that need them, and when parts of sums go to the owners.
struct RowTraffic {
    std::int64_t owned = 0;   ///< rows
    std::int64_t shared = 0;  ///< rows sent to others that need them
    std::int64_t needed = 0;  ///< rows of other owners
};
/// Of every rank of the layout's grid. Pure.
std::vector<RowTraffic> row_traffic(const Layout& layout, int mode);
/// Of one rank, which may be idle. Pure.
RowTraffic row_traffic(const Layout& layout, int mode, std::int64_t rank);

/// Bytes that Communicator::sum() of so many doubles sends from a rank. Pure.
std::int64_t sum_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t count);

/// Sums over ranks of as many numbers on each, on the first rank; elsewhere `values` is scratch. Ranks exchange halves and add
/// (recursive halving), then the first one collects (Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19, 2005).
/// No rank sends more than `values` once, and the first one gets less than twice as much. The order of additions depends on the
/// number of ranks only. Collective.
void sum_to_first(const Communicator& comm, std::span<double> values);

/// Bytes that sum_to_first() sends from a rank. Pure.
std::int64_t sum_to_first_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t count);

/// Gives every rank the bytes of the first one, as many as each has room for: by halves, which ranks then pass on to each other.
/// The first rank sends them less than three times. Collective.
void share_from_first(const Communicator& comm, std::span<std::byte> bytes);

/// Bytes that share_from_first() sends from a rank. Pure.
std::int64_t share_from_first_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t bytes);

}  // namespace arges::decompose
