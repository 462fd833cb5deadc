// Lower bounds on moved words of dense decompositions: SYRK and matrix products (Al Daas, Ballard, Grigori, Kumar, Rouse, SPAA 2023 and
// 2022), MTTKRP (Ballard, Knight, Rouse, IPDPS 2018).
#include "decompose/distribution/movement_bounds.hpp"

#include "plan/report/lower_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace arges::decompose {

namespace {

double size_of(std::span<const std::int64_t> lengths) {
    return std::accumulate(lengths.begin(), lengths.end(), 1.0, [](double size, auto n) { return size * static_cast<double>(n); });
}

/// Adds a label to a space, and returns its number.
int add_label(IterationSpace& space, double extent) {
    space.extents.push_back(extent);
    return static_cast<int>(space.extents.size()) - 1;
}

}  // namespace

double gram_access(double length, double width, double products) {
    if (length < 2 || width < 1 || products <= 0) return 0;
    const double pairs = length * (length - 1) / 2;
    // Of the words of A each takes part in length - 1 products at most, of those of the result in width.
    const double least_results = std::max(products / width, 2 * products * products / (length * width * length * width));
    const double least_inputs = 2 * products / (length - 1);
    const double inputs_are_least = 2 * products * products / (least_inputs * least_inputs);
    const double free = std::pow(products / std::sqrt(2.0), 2.0 / 3);  // least sum where nothing else binds
    const double results = std::clamp(free, least_results, std::max(least_results, std::min(pairs, inputs_are_least)));
    return std::max(least_inputs, products * std::sqrt(2 / results)) + results;
}

double gram_bound(double length, double width, double ranks) {
    const double pairs = length * (length - 1) / 2;
    if (ranks <= 1 || pairs * width < ranks) return 0;
    return std::max(0.0, gram_access(length, width, pairs * width / ranks) - (length * width + pairs) / ranks);
}

double product_bound(double length, double width, double columns, double ranks) {
    return memory_independent_bound({{length, width, columns}, {{0, 1}, {0, 2}, {1, 2}}}, ranks);
}

double mttkrp_bound(std::span<const std::int64_t> lengths, double columns, double ranks) {
    IterationSpace space;
    std::vector<int> tensor;
    for (auto n : lengths) tensor.push_back(add_label(space, static_cast<double>(n)));
    const int component = add_label(space, columns);
    for (int mode : tensor) space.tensors.push_back({mode, component});
    space.tensors.push_back(tensor);
    return memory_independent_bound(space, ranks);
}

double sweep_bound(std::span<const std::int64_t> lengths, double columns, double ranks) {
    const double elements = size_of(lengths), active = std::min(ranks, elements);
    if (active <= 1) return 0;
    IterationSpace rows;
    for (auto n : lengths) rows.tensors.push_back({add_label(rows, static_cast<double>(n))});
    const double touched = smallest_access(rows, elements / active).words;
    return std::max(0.0, 2 * columns * (touched - total_words(rows) / active));
}

}  // namespace arges::decompose
