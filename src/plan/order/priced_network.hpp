/// Sizes and costs of the products of subsets of a network's operands.
#pragma once

#include "plan/order/contraction_order.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace arges {

/// Operands as bits.
using OperandSet = std::uint64_t;

/// Classes of labels as bits; labels in the same operands, and all or none of them in the output, are one class.
using LabelSet = std::vector<std::uint64_t>;

/// What orders are compared by.
struct Tally {
    double cost = 0;
    double flops = 0;
    double peak = 0;  ///< elements of the largest intermediate

    /// Of two lists of steps together.
    Tally& operator+=(const Tally& other);
};

/// Is `a` cheaper, or equal up to rounding and of fewer flops, or equal in both and of smaller peak?
bool is_better(const Tally& a, const Tally& b);

/// An order of pairwise products of operands or of earlier products.
struct PairTree {
    std::vector<std::array<OperandSet, 2>> steps;  ///< factors of each step, after the steps that make them
    Tally tally;
};

/// A network and its cost function.
class PricedNetwork {
public:
    /// Keeps a reference to `cost`.
    PricedNetwork(const Network& network, const PairCost& cost);

    /// Number of operands.
    int operands() const { return operand_labels_.size(); }

    /// Labels of an operand, or those that the product of several keeps.
    LabelSet labels(OperandSet set) const;

    /// labels(both), from the labels of its halves.
    LabelSet joined(const LabelSet& a, const LabelSet& b, OperandSet both) const;

    /// Elements of a tensor.
    double size(const LabelSet& labels) const;

    /// What one step counts, by the labels of its factors and of its result.
    Tally price(const LabelSet& a, const LabelSet& b, const LabelSet& result) const;

    /// The same for a step given by its operands.
    Tally price(const std::array<OperandSet, 2>& step) const;

private:
    struct LabelClass {
        OperandSet members = 0;
        bool is_output = false;
        double size = 1;
    };
    void multiply(double& product, std::size_t word, std::uint64_t bits) const;

    const PairCost& cost_;
    std::vector<LabelClass> classes_;
    std::vector<LabelSet> operand_labels_;
};

/// Do two tensors share a label?
bool intersects(const LabelSet& a, const LabelSet& b);

/// By leaf, the leaves that share a label with it; leaves as bits. The leaves are disjoint sets of operands.
std::vector<std::uint64_t> leaf_graph(const PricedNetwork& network, const std::vector<OperandSet>& leaves);

}  // namespace arges
