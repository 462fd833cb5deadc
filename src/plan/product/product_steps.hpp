/// Builds the steps of a product one by one.
#pragma once

#include "plan/product/pair_split.hpp"
#include "plan/product/plan_product.hpp"

#include <array>
#include <vector>

namespace arges {

/// An operand of the steps.
struct ProductNode {
    int id = 0;
    OperandSpec spec;
};

/// Text for OutOfMemory.
std::string needs_at_least(const Product& spec, std::int64_t least, const PlanOptions& options);

/// Keeps the operands that are left to be multiplied, and the steps so far.
class ProductSteps {
public:
    ProductSteps(const Product& spec, const PlanOptions& options);

    const std::vector<ProductNode>& nodes() const { return nodes_; }
    /// A label that one factor alone has and that the output lacks is summed first.
    void sum_labels_of_one_factor();
    /// Multiplies several nodes in the given order (step s makes node members.size() + s) on one grid. The result is an
    /// intermediate, which takes the first of their places, or the output if these are all nodes that are left.
    /// @throws OutOfMemory with the need and the limit if no grid fits into the memory limit
    void multiply(const std::vector<std::size_t>& members, const PairOrder& order);
    /// The last step where one node is left, if one is: it is summed or moved to the output.
    void finish();

    PlannedProduct take() { return std::move(product_); }

private:
    bool in_output(int label) const;
    std::vector<int> kept_labels(const std::vector<std::size_t>& members) const;
    /// The product of nodes, to an intermediate.
    Product product_of(const std::vector<ProductNode>& inputs) const;
    /// The product of nodes, to the output and projected as it wants.
    Product last_product(const std::vector<ProductNode>& inputs) const;
    void multiply_at_once(const PairOrder& order);
    ProductPlan planned(const Product& spec, const PairOrder& order) const;
    ProductNode intermediate(const std::vector<std::size_t>& members, const PairOrder& order);
    void suit_consumer(int id, std::size_t input, ProductPlan& consumer);
    void multiply_joint_pair(const std::array<PairOperand, 2>& pairs);
    void multiply_parts(const std::array<PairOperand, 2>& pairs);
    ProductNode part_of(const ProductNode& whole, const PairOperand& pair, bool symmetric);
    void push_product(ProductPlan plan, const std::vector<ProductNode>& inputs, int output);
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
