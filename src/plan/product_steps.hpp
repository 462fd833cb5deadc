/// Builds the steps of a product one by one.
#pragma once

#include "plan/pair_split.hpp"
#include "plan/plan_product.hpp"

#include <array>
#include <vector>

namespace arges {

/// An operand of the steps.
struct ProductNode {
    int id = 0;
    OperandSpec spec;
};

/// Keeps the operands that are left to be multiplied, and the steps so far.
class ProductSteps {
public:
    ProductSteps(const Product& spec, const PlanOptions& options);

    const std::vector<ProductNode>& nodes() const { return nodes_; }
    /// A label that one factor alone has and that the output lacks is summed first.
    void sum_lonely_labels();
    /// Multiplies two nodes into an intermediate, which takes the first of their places.
    void multiply_pair(std::size_t a, std::size_t b);
    /// Multiplies several nodes in the given order (step s makes node members.size() + s) on one grid. The result is an
    /// intermediate, or the output if these are all nodes that are left.
    /// @return false, and nothing changed, if no grid fits into the memory limit
    bool multiply_fused(const std::vector<std::size_t>& members, const PairOrder& order);
    /// The last step: one or two nodes to the output.
    void finish();

    PlannedProduct take() { return std::move(product_); }

private:
    bool in_output(int label) const;
    std::vector<int> kept_labels(const std::vector<std::size_t>& members) const;
    /// One or two nodes to an intermediate.
    Product pairwise(const std::vector<ProductNode>& inputs, OperandSpec output) const;
    /// One or two nodes to the output, projected as it wants.
    Product last_product(const std::vector<ProductNode>& inputs) const;
    ProductNode intermediate(const std::vector<ProductNode>& inputs, const std::vector<std::size_t>& members);
    void suit_consumer(int id, std::size_t input, FusedPlan& consumer);
    void multiply_joint_pair(const std::array<PairOperand, 2>& pairs);
    void multiply_parts(const std::array<PairOperand, 2>& pairs);
    ProductNode part_of(const ProductNode& whole, const PairOperand& pair, bool symmetric);
    void push_contraction(const Product& spec, const std::vector<ProductNode>& inputs, int output);
    void push_movement(const ProductNode& from, int output, const OperandSpec& to);
    Layout new_layout(const std::vector<std::int64_t>& extents, const Symmetry& symmetry) const;
    void replace(const std::vector<std::size_t>& members, ProductNode node);

    const Product& spec_;
    const PlanOptions& options_;
    std::vector<ProductNode> nodes_;
    PlannedProduct product_;
    int next_id_;
};

}  // namespace arges
