// The order of the factors by modelled seconds: flops, memory traffic, and words of the best grid from a bound, which add up over the tree.
#include "plan/order/product_order.hpp"

#include "plan/order/contraction_order.hpp"
#include "plan/product/estimate_cost.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace arges {

namespace {

/// How often a result that does not fit is charged as moved: it must be cut into slices, which repeats what they share.
constexpr double excess_charge = 100;

/// A packed group of labels.
struct LabelGroup {
    std::set<int> labels;
    double packed_share = 1;  ///< packed elements by elements
};

std::vector<LabelGroup> groups_of(const Operand& operand) {
    std::vector<LabelGroup> result;
    for (int s = 0; s < operand.layout.slots(); ++s) {
        const auto& dims = operand.layout.slot_dimensions(s);
        LabelGroup group;
        double elements = 1;
        for (int d : dims) {
            group.labels.insert(operand.labels[d]);
            elements *= operand.layout.extents()[d];
        }
        if (dims.size() < 2 || group.labels.size() < dims.size() || elements == 0) continue;
        group.packed_share = static_cast<double>(operand.layout.slot(s).node().size()) / elements;
        result.push_back(std::move(group));
    }
    return result;
}

/// Is the group packed in each operand that has one of its labels, and in the output as a whole or not at all?
bool stays_packed(const LabelGroup& group, const std::vector<ProductNode>& nodes, const std::vector<int>& output) {
    auto count = [&](const std::vector<int>& labels) {
        return std::count_if(group.labels.begin(), group.labels.end(),
                             [&](int l) { return std::count(labels.begin(), labels.end(), l) > 0; });
    };
    const std::ptrdiff_t width = group.labels.size();
    if (const auto kept = count(output); kept != 0 && kept != width) return false;
    return std::all_of(nodes.begin(), nodes.end(), [&](const ProductNode& node) {
        if (count(node.spec.labels) == 0) return true;
        const auto groups = groups_of(node.spec);
        return std::any_of(groups.begin(), groups.end(), [&](const auto& other) { return other.labels == group.labels; });
    });
}

Network network_of(const std::vector<ProductNode>& nodes, const Product& spec) {
    Network network;
    network.extents.assign(spec.label_extents.begin(), spec.label_extents.end());
    const std::set<int> output(spec.output.labels.begin(), spec.output.labels.end());
    network.output.assign(output.begin(), output.end());
    std::set<std::set<int>> known;
    for (const auto& node : nodes) {
        const std::set<int> labels(node.spec.labels.begin(), node.spec.labels.end());
        network.operands.emplace_back(labels.begin(), labels.end());
        for (const auto& group : groups_of(node.spec)) {
            if (!stays_packed(group, nodes, network.output) || !known.insert(group.labels).second) continue;
            const double scale = std::pow(group.packed_share, 1 / static_cast<double>(group.labels.size()));
            for (int l : group.labels) network.extents[l] *= scale;
        }
    }
    return network;
}

/// Seconds of a pairwise product: a bound from below that adds up over a tree, and the charge for memory.
double pair_seconds(const PairShape& s, const Product& spec, const PlanOptions& options) {
    const auto& machine = options.machine;
    const double ranks = options.whole_grid(spec.output.layout).ranks();
    const double bytes = spec.element_bytes;
    const double products = s.batch * s.m * s.n * s.k;
    const double traffic = s.batch * (s.m * s.k + s.k * s.n + s.m * s.n);
    const double split_batch = std::max(1.0, std::min(s.batch, ranks));
    const double words = s.batch / split_batch * matmul_lower_bound_words(s.m, s.n, s.k, ranks / split_batch);
    const double excess = std::max(0.0, s.batch * s.m * s.n * bytes / ranks - static_cast<double>(options.memory_limit));
    return machine.product_seconds(products / ranks, traffic / ranks, spec.flops_per_product()) +
           traffic * bytes / ranks / machine.copied_bytes_per_second + (words * bytes + excess_charge * excess) / machine.bytes_per_second;
}

}  // namespace

PairOrder product_order(const std::vector<ProductNode>& nodes, const Product& spec, const PlanOptions& options) {
    return find_contraction_order(network_of(nodes, spec), [&](const PairShape& s) { return pair_seconds(s, spec, options); }).steps;
}

}  // namespace arges
