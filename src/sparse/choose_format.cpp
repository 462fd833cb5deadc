#include "sparse/fiber_tree.hpp"
#include "sparse/mttkrp.hpp"

#include <algorithm>

namespace arges::sparse {

namespace {

/// Format::csf_all is chosen up to this multiple of the memory of coordinates.
constexpr double most_memory = 3;

/// A bound on the bytes that a fiber tree with this root takes for each nonzero. A level has at most as many nodes as there are
/// nonzeros, and as index tuples.
template <class T>
double tree_bytes(const LocalNonzeros<T>& nonzeros, int root) {
    constexpr double node_bytes = sizeof(std::uint32_t) + sizeof(std::int64_t);
    const auto modes = modes_from(root, nonzeros.rows);
    const auto count = static_cast<double>(nonzeros.count());
    double tuples = 1, bytes = sizeof(T);
    bool is_level = true;
    for (std::size_t p = 0; p < modes.size(); ++p) {
        tuples *= static_cast<double>(nonzeros.rows[static_cast<std::size_t>(modes[p])]);
        const double nodes = std::min(count, tuples);
        is_level = p == 0 || (is_level && p + 1 < modes.size() && count >= FiberTree<T>::default_least_fill * nodes);
        bytes += is_level ? node_bytes * nodes / count : sizeof(std::uint32_t);
    }
    return bytes;
}

}  // namespace

template <class T>
Format choose_format(const LocalNonzeros<T>& nonzeros, std::span<const int> modes, int) {
    if (nonzeros.count() == 0) return Format::coordinates;
    double bytes = 0;
    for (int mode : modes) bytes += tree_bytes(nonzeros, mode);
    const double coordinates = static_cast<double>(sizeof(T)) + 4.0 * nonzeros.order();
    return bytes <= most_memory * coordinates ? Format::csf_all : Format::linear;
}

template Format choose_format(const LocalNonzeros<float>&, std::span<const int>, int);
template Format choose_format(const LocalNonzeros<double>&, std::span<const int>, int);

}  // namespace arges::sparse
