// MTTKRP of a dense block in all modes by a binary tree over the modes (Phan, Tichavsky, Cichocki, IEEE Trans. Signal Process. 61, 2013;
// Kaya, Robert, SIAM J. Sci. Comput. 41, 2019).
#include "decompose/cp/dimension_tree.hpp"

#include "local/contract.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace arges::decompose {

namespace {

std::int64_t product(const std::vector<std::int64_t>& sizes, int begin, int end) {
    return std::accumulate(sizes.begin() + begin, sizes.begin() + end, std::int64_t{1}, std::multiplies<>());
}

/// The Khatri-Rao product of the factors of some modes, first mode fastest, column after column.
template <class T>
const T* khatri_rao(std::span<const int> modes, const std::vector<std::int64_t>& sizes, std::span<const T* const> factors, int columns,
                    Buffer<T>& weights) {
    if (modes.size() == 1) return factors[modes[0]];
    std::int64_t rows = 1;
    for (int m : modes) rows *= sizes[m];
    weights.reserve(rows * columns);
#pragma omp parallel for schedule(static)
    for (int r = 0; r < columns; ++r) {
        T* const column = weights.data() + rows * r;
        const T* const first = factors[modes[0]] + sizes[modes[0]] * r;
        std::int64_t done = sizes[modes[0]];
        std::copy_n(first, done, column);
        for (std::size_t k = 1; k < modes.size(); ++k) {
            const auto size = sizes[modes[k]];
            const T* const factor = factors[modes[k]] + size * r;
            for (std::int64_t i = size; i-- > 0;)  // from behind, because the first part is read for all others
                for (std::int64_t x = 0; x < done; ++x) column[i * done + x] = column[x] * factor[i];
            done *= size;
        }
    }
    return weights.data();
}

}  // namespace

template <class T>
std::int64_t ModeArray<T>::count() const {
    std::int64_t result = 1;
    for (int m : modes) result *= sizes[m];
    return result;
}

template <class T>
void contract_modes(const ModeArray<T>& array, std::span<const int> summed, std::span<const T* const> factors, int columns,
                    Buffer<T>& weights, T* result) {
    const T* const weight = khatri_rao<T>(summed, array.sizes, factors, columns, weights);
    local::FoldedContraction f;
    std::int64_t stride = 1, stride_weight = 1, stride_result = 1;
    for (int m : array.modes) {
        const auto size = array.sizes[m];
        if (std::find(summed.begin(), summed.end(), m) != summed.end()) {
            f.k.push_back({size, stride, stride_weight, 0});
            stride_weight *= size;
        } else {
            f.m.push_back({size, stride, 0, stride_result});
            stride_result *= size;
        }
        stride *= size;
    }
    if (array.has_columns)
        f.batch.push_back({columns, stride, stride_weight, stride_result});
    else
        f.n.push_back({columns, 0, stride_weight, stride_result});
    local::contract<T>(f, T(1), array.data, weight, T(0), result);
}

template <class T>
DimensionTree<T>::DimensionTree(ModeArray<T> block, int columns) : block_(std::move(block)), columns_(columns), leaf_(block_.modes.size()) {
    add_node(0, block_.modes.size(), -1);
    int depth = 0;
    for (const auto& node : nodes_) depth = std::max(depth, node.depth);
    values_.resize(static_cast<std::size_t>(depth) + 1);
    present_.assign(static_cast<std::size_t>(depth) + 1, -1);
    present_[0] = 0;
}

/// Modes are divided where both parts are small: what is computed with a node is proportional to them.
template <class T>
void DimensionTree<T>::add_node(int begin, int end, int parent) {
    const int number = nodes_.size();
    nodes_.push_back({begin, end, parent, parent < 0 ? 0 : nodes_[parent].depth + 1});
    if (end - begin == 1) {
        leaf_[begin] = number;
        return;
    }
    int best = begin + 1;
    auto least = std::numeric_limits<std::int64_t>::max();
    for (int middle = begin + 1; middle < end; ++middle) {
        const auto size = product(block_.sizes, begin, middle) + product(block_.sizes, middle, end);
        if (size < least) best = middle, least = size;
    }
    add_node(begin, best, number);
    add_node(best, end, number);
}

/// The modes that a node has not, but its parent.
template <class T>
std::vector<int> DimensionTree<T>::summed_modes(const Node& node) const {
    const auto& parent = nodes_[node.parent];
    const auto behind = node.begin == parent.begin;
    const auto first = behind ? node.end : parent.begin, last = behind ? parent.end : node.begin;
    return {block_.modes.begin() + first, block_.modes.begin() + last};
}

template <class T>
void DimensionTree<T>::make(int node, std::span<const T* const> factors, T* result) {
    const auto& here = nodes_[node];
    const auto& parent = nodes_[here.parent];
    ModeArray<T> source = block_;
    if (here.parent > 0) {
        source.data = node_values(here.parent, factors);
        source.modes.assign(block_.modes.begin() + parent.begin, block_.modes.begin() + parent.end);
        source.has_columns = true;
    } else {
        ++large_products_;
    }
    contract_modes<T>(source, summed_modes(here), factors, columns_, weights_, result);
}

template <class T>
const T* DimensionTree<T>::node_values(int node, std::span<const T* const> factors) {
    const auto& here = nodes_[node];
    const std::size_t depth = here.depth;
    if (present_[depth] == node) return values_[depth].data();
    present_[depth] = -1;
    values_[depth].reserve(product(block_.sizes, here.begin, here.end) * columns_);
    make(node, factors, values_[depth].data());
    present_[depth] = node;
    return values_[depth].data();
}

template <class T>
void DimensionTree<T>::multiply(int mode, std::span<const T* const> factors, T* result) {
    make(leaf_[mode], factors, result);
}

template <class T>
void DimensionTree<T>::factor_changes(int mode) {
    for (std::size_t depth = 1; depth < present_.size(); ++depth) {
        const int node = present_[depth];
        if (node >= 0 && (mode < nodes_[node].begin || mode >= nodes_[node].end)) present_[depth] = -1;
    }
}

template <class T>
std::int64_t DimensionTree<T>::bytes() const {
    std::int64_t sum = weights_.bytes();
    for (const auto& values : values_) sum += static_cast<std::int64_t>(values.bytes());
    return sum;
}

template <class T>
MemoryTally DimensionTree<T>::memory(std::int64_t element_bytes, const std::vector<std::int64_t>& sizes, int columns) {
    ModeArray<T> block{nullptr, std::vector<int>(sizes.size()), sizes, false};
    std::iota(block.modes.begin(), block.modes.end(), 0);
    const DimensionTree tree(block, columns);
    const auto bytes = [&](std::int64_t rows) { return rows * columns * element_bytes; };
    std::vector<std::int64_t> values(tree.values_.size(), 0);
    std::int64_t weights = 0;
    for (const auto& node : tree.nodes_) {
        if (node.parent < 0) continue;
        auto& most = values[node.depth];
        if (node.end - node.begin > 1) most = std::max(most, bytes(product(sizes, node.begin, node.end)));
        const auto summed = tree.summed_modes(node);
        if (summed.size() > 1) weights = std::max(weights, bytes(product(sizes, summed.front(), summed.back() + 1)));
    }
    MemoryTally tally;
    tally.hold(array_memory(weights));
    for (auto most : values) tally.hold(array_memory(most));
    tally.pass(std::min(bytes(block.count()), local::max_workspace_bytes));
    return tally;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template struct ModeArray<T>;                                                                                                          \
    template void contract_modes(const ModeArray<T>&, std::span<const int>, std::span<const T* const>, int, Buffer<T>&, T*);               \
    template class DimensionTree<T>;
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
