// Sizes and costs of products of subsets of operands; labels in the same operands are one class.
#include "plan/order/priced_network.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>

namespace arges {

namespace {

constexpr double largest_size = 1e75;   // the product of four stays finite
constexpr double equal_within = 1e-12;  // sums of the same terms in another order

/// -1 where a is smaller, 1 where it is larger, 0 where they are equal up to rounding.
int compare(double a, double b) {
    const double slack = equal_within * std::max(a, b);
    return a < b - slack ? -1 : a > b + slack ? 1 : 0;
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
    cost += other.cost;
    flops += other.flops;
    peak = std::max(peak, other.peak);
    return *this;
}

bool is_better(const Tally& a, const Tally& b) {
    if (const int order = compare(a.cost, b.cost)) return order < 0;
    if (const int order = compare(a.flops, b.flops)) return order < 0;
    return compare(a.peak, b.peak) < 0;
}

PricedNetwork::PricedNetwork(const Network& network, const PairCost& cost) : cost_(cost) {
    if (network.operands.size() > 64)
        throw InvalidArgument("a product of " + std::to_string(network.operands.size()) + " tensors: at most 64 are supported");
    std::vector<LabelClass> labels(network.extents.size());
    for (std::size_t o = 0; o < network.operands.size(); ++o)
        for (int l : network.operands[o]) labels.at(l).members |= OperandSet{1} << o;
    for (int l : network.output) labels.at(l).is_output = true;
    std::map<std::pair<OperandSet, bool>, std::size_t> known;
    for (std::size_t l = 0; l < labels.size(); ++l) {
        if (labels[l].members == 0) continue;
        const auto [place, is_new] = known.try_emplace({labels[l].members, labels[l].is_output}, classes_.size());
        if (is_new) classes_.push_back(labels[l]);
        auto& size = classes_[place->second].size;
        size = std::min(size * network.extents[l], largest_size);
    }
    operand_labels_.assign(network.operands.size(), LabelSet((classes_.size() + 63) / 64));
    for (std::size_t c = 0; c < classes_.size(); ++c)
        for (std::size_t o = 0; o < network.operands.size(); ++o)
            if (classes_[c].members >> o & 1) operand_labels_[o][c / 64] |= std::uint64_t{1} << c % 64;
}

LabelSet PricedNetwork::labels(OperandSet set) const {
    LabelSet result((classes_.size() + 63) / 64);
    for (auto rest = set; rest != 0; rest &= rest - 1) {
        const auto& one = operand_labels_[std::countr_zero(rest)];
        for (std::size_t w = 0; w < result.size(); ++w) result[w] |= one[w];
    }
    return std::popcount(set) == 1 ? result : joined(result, result, set);
}

LabelSet PricedNetwork::joined(const LabelSet& a, const LabelSet& b, OperandSet both) const {
    LabelSet result(a.size());
    for (std::size_t w = 0; w < a.size(); ++w) {
        result[w] = a[w] | b[w];
        for (auto rest = result[w]; rest != 0; rest &= rest - 1) {
            const auto& c = classes_[64 * w + static_cast<std::size_t>(std::countr_zero(rest))];
            if (!c.is_output && (c.members & ~both) == 0) result[w] ^= rest & -rest;
        }
    }
    return result;
}

void PricedNetwork::multiply(double& product, std::size_t word, std::uint64_t bits) const {
    for (; bits != 0; bits &= bits - 1)
        product = std::min(product * classes_[64 * word + static_cast<std::size_t>(std::countr_zero(bits))].size, largest_size);
}

double PricedNetwork::size(const LabelSet& labels) const {
    double result = 1;
    for (std::size_t w = 0; w < labels.size(); ++w) multiply(result, w, labels[w]);
    return result;
}

Tally PricedNetwork::price(const LabelSet& a, const LabelSet& b, const LabelSet& result) const {
    PairShape shape;
    for (std::size_t w = 0; w < a.size(); ++w) {
        multiply(shape.batch, w, a[w] & b[w] & result[w]);
        multiply(shape.m, w, a[w] & ~b[w] & result[w]);
        multiply(shape.n, w, ~a[w] & b[w] & result[w]);
        multiply(shape.k, w, (a[w] | b[w]) & ~result[w]);
    }
    return {cost_(shape), 2 * shape.batch * shape.m * shape.n * shape.k, shape.batch * shape.m * shape.n};
}

Tally PricedNetwork::price(const std::array<OperandSet, 2>& step) const {
    const auto a = labels(step[0]), b = labels(step[1]);
    return price(a, b, joined(a, b, step[0] | step[1]));
}

bool intersects(const LabelSet& a, const LabelSet& b) {
    for (std::size_t w = 0; w < a.size(); ++w)
        if (a[w] & b[w]) return true;
    return false;
}

std::vector<std::uint64_t> leaf_graph(const PricedNetwork& network, const std::vector<OperandSet>& leaves) {
    std::vector<LabelSet> labels;
    for (auto leaf : leaves) labels.push_back(network.labels(leaf));
    std::vector<std::uint64_t> result(leaves.size(), 0);
    for (std::size_t i = 0; i < leaves.size(); ++i)
        for (std::size_t j = 0; j < leaves.size(); ++j)
            if (i != j && intersects(labels[i], labels[j])) result[i] |= std::uint64_t{1} << j;
    return result;
}

}  // namespace arges
