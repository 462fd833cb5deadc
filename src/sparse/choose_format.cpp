// The format for MTTKRP by memory: fiber trees for all modes up to three times that of coordinates, else linear keys (measured).
#include "sparse/fiber_tree.hpp"
#include "sparse/mttkrp.hpp"

#include <algorithm>

namespace arges::sparse {

namespace {

/// Format::csf_all is chosen up to this multiple of the memory of coordinates.
constexpr double most_memory = 3;

/// A bound on the bytes that a fiber tree with this root takes for each nonzero. A level has at most as many nodes as there are
/// nonzeros, and as index tuples.
double tree_bytes(std::int64_t element_bytes, std::span<const std::int64_t> rows, double count, int root) {
    constexpr double node_bytes = sizeof(std::uint32_t) + sizeof(std::int64_t);
    const auto modes = modes_from(root, rows);
    double tuples = 1, bytes = element_bytes;
    bool is_level = true;
    for (std::size_t p = 0; p < modes.size(); ++p) {
        tuples *= rows[modes[p]];
        const double nodes = std::min(count, tuples);
        is_level = p == 0 || (is_level && p + 1 < modes.size() && count >= FiberTree<double>::default_least_fill * nodes);
        bytes += is_level ? node_bytes * nodes / count : sizeof(std::uint32_t);
    }
    return bytes;
}

}  // namespace

Format choose_format(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, std::span<const int> modes) {
    if (count == 0) return Format::coordinates;
    double bytes = 0;
    for (int mode : modes) bytes += tree_bytes(element_bytes, rows, static_cast<double>(count), mode);
    const double coordinates = static_cast<double>(element_bytes) + 4.0 * static_cast<double>(rows.size());
    return bytes <= most_memory * coordinates ? Format::csf_all : Format::linear;
}

}  // namespace arges::sparse
