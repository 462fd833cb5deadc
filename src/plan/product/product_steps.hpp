/// Builds the steps of a product one by one.
#pragma once

#include "plan/product/pair_split.hpp"
#include "plan/product/plan_product.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace arges {

/// An operand of the steps.
struct ProductNode {
    int id = 0;
    Operand spec;
};

/// Of plans of one product, keeps the fastest one that fits into the memory limit, or the one that takes least as long as none fits.
class BestProduct {
public:
    BestProduct(const Product& spec, const PlanOptions& options) : spec_(&spec), options_(&options) {}

    void consider(PlannedProduct plan);
    bool fits() const { return bytes_ <= options_->memory_limit; }
    /// Takes the plan out.
    PlannedProduct take() { return *std::move(plan_); }
    const std::optional<PlannedProduct>& plan() const { return plan_; }
    std::int64_t bytes() const { return bytes_; }

private:
    const Product* spec_;
    const PlanOptions* options_;
    std::optional<PlannedProduct> plan_;
    double seconds_ = 0;
    std::int64_t bytes_ = std::numeric_limits<std::int64_t>::max();  // see memory_bound()
};

/// What the steps of a product may do with tensors.
enum class Places : std::uint8_t {
    may_change,  ///< tensors and intermediates go where less is moved
    are_fixed,   ///< inputs and output stay where they are, intermediates lie evenly
};

/// Bytes that stand in memory beside every step: in all, and in the memory of a device, at most.
struct BytesBeside {
    std::int64_t all = 0, on_device = 0;

    void add(std::int64_t bytes, bool may_be_on_device) {
        all += bytes;
        if (may_be_on_device) on_device += bytes;
    }
};

/// Keeps the operands that are left to be multiplied, and the steps so far.
class ProductSteps {
public:
    /// @param beside  see forecast()
    ProductSteps(const Product& spec, const PlanOptions& options, Places places, const BytesBeside& beside);
    /// Steps that are not planned: for the nodes, and the intermediates that there will be.
    static ProductSteps forecast(const Product& spec, const PlanOptions& options);

    const std::vector<ProductNode>& nodes() const { return nodes_; }
    /// A label that one factor alone has and that the output lacks is summed first.
    void sum_labels_of_one_factor();
    /// Multiplies several nodes in the given order (step s makes node members.size() + s) on one grid. The result is an
    /// intermediate, which takes the first of their places, or the output if these are all nodes that are left.
    /// Steps that do not fit into the memory limit take as little as they can.
    void multiply(const std::vector<std::size_t>& members, const PairOrder& order);
    /// The last step where one node is left, if one is: it is summed or moved to the output.
    void finish();

    PlannedProduct take() { return std::move(product_); }
    /// The plan so far.
    const PlannedProduct& product() const { return product_; }

private:
    bool in_output(int label) const;
    std::vector<int> kept_labels(const std::vector<std::size_t>& members) const;
    /// The product of nodes, to an intermediate.
    Product product_of(const std::vector<ProductNode>& inputs) const;
    /// The product of nodes, to the output and projected as it wants.
    Product last_product(const std::vector<ProductNode>& inputs) const;
    void multiply_at_once(const PairOrder& order);
    /// The options with the memory that is left for a step.
    PlanOptions options_of_a_step(const Product& step) const;
    /// Where the product is computed, on the host or on the device, it ends first. @param is_inside  its output is an intermediate, which
    /// stays there
    ProductPlan planned(const Product& spec, const PairOrder& order, bool is_inside = false) const;
    ProductNode intermediate(const std::vector<std::size_t>& members, const PairOrder& order);
    void suit_consumer(int id, std::size_t input, ProductPlan& consumer);
    void multiply_joint_pair(const std::array<PairOperand, 2>& pairs);
    void multiply_parts(const std::array<PairOperand, 2>& pairs);
    ProductNode part_of(const ProductNode& whole, const PairOperand& pair, bool symmetric);
    void push_product(ProductPlan plan, const std::vector<ProductNode>& inputs, int output);
    void push_movement(const ProductNode& from, int output, const Operand& to);
    Layout new_layout(const std::vector<std::int64_t>& extents, const Symmetry& symmetry) const;
    void replace(const std::vector<std::size_t>& members, ProductNode node);

    const Product& spec_;
    const PlanOptions& options_;
    std::vector<ProductNode> nodes_;
    Places places_;
    bool is_forecast_ = false;
    BytesBeside beside_;
    PlannedProduct product_;
    int next_id_;
};

}  // namespace arges
