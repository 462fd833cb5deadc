#include "plan/estimate_cost.hpp"

#include "base/saturate.hpp"

#include <algorithm>
#include <cmath>

namespace arges {

namespace {

/// Products of the busiest rank where a pair node is read by rows.
double row_products(const ContractionPlan& plan, const std::vector<IndexGroup>& groups) {
    double columns = 1;
    for (const auto& g : groups)
        if (!g.in(plan.rows->operand)) columns *= static_cast<double>(g.size);
    return columns * static_cast<double>(plan.operand[plan.rows->operand].layout.max_local_size()) * (plan.rows->once ? 1 : 2);
}

/// Seconds of the local product.
double multiply_seconds(const ContractionPlan& plan, const std::vector<IndexGroup>& groups, const MachineModel& machine) {
    if (!plan.rows) return plan.cost.flops / machine.flops_per_second;
    // Small matrix products where both factors of a child are needed at once, else matrix times vector.
    bool matrices = true;
    for (const auto& child : plan.rows->factors)
        matrices = matrices && child.size() == 2 &&
                   groups[static_cast<std::size_t>(child[0])].is_contracted() != groups[static_cast<std::size_t>(child[1])].is_contracted();
    const auto read = static_cast<double>(plan.operand[plan.rows->operand].layout.max_local_size()) *
                      static_cast<double>(plan.spec.element_bytes);
    return plan.cost.flops / (machine.flops_per_second * (matrices ? 0.6 : 0.2)) + read / machine.copied_bytes_per_second;
}

/// Elements that the busiest rank writes, each as often as there are terms.
double written_elements(const ExchangeSpec& movement) {
    auto written = static_cast<double>(movement.to.max_local_size());
    if (!movement.to_offset.empty()) {  // a slice of the target
        double slice = 1;
        for (auto extent : movement.label_extents) slice *= static_cast<double>(extent);
        written = std::min(written, slice / static_cast<double>(movement.to.grid().ranks()));
    }
    return written * static_cast<double>(movement.terms.size());
}

double useful_products(const std::vector<IndexGroup>& groups) {
    double product = 1;
    for (const auto& g : groups) product *= static_cast<double>(g.size);
    return product;
}

}  // namespace

double matmul_lower_bound_words(double m, double n, double k, double ranks) {
    std::array<double, 3> d{m, n, k};
    std::sort(d.begin(), d.end(), std::greater<>());
    if (d[2] <= 0 || ranks <= 1) return 0;
    double accessed = 0;
    if (ranks <= d[0] / d[1])
        accessed = (d[0] * d[1] + d[0] * d[2]) / ranks + d[1] * d[2];
    else if (ranks <= d[0] * d[1] / (d[2] * d[2]))
        accessed = 2 * std::sqrt(d[0] * d[1] * d[2] * d[2] / ranks) + d[0] * d[1] / ranks;
    else
        accessed = 3 * std::cbrt(d[0] * d[1] * d[2] / ranks) * std::cbrt(d[0] * d[1] * d[2] / ranks);
    return std::max(0.0, accessed - (d[0] * d[1] + d[0] * d[2] + d[1] * d[2]) / ranks);
}

double estimated_seconds(const ExchangeSpec& movement, std::int64_t element_bytes, const MachineModel& machine) {
    const auto ranks = static_cast<double>(movement.to.grid().ranks());
    const auto elements = written_elements(movement);
    const auto bytes = elements * static_cast<double>(element_bytes);
    if (ranks == 1) return bytes / machine.copied_bytes_per_second;
    return 2 * elements * machine.listed_element_seconds + bytes * (1 - 1 / ranks) / machine.bytes_per_second;
}

double preparing_seconds(const ExchangeSpec& movement, const MachineModel& machine) {
    const bool is_packed = movement.from.slots() < movement.from.order() || movement.to.slots() < movement.to.order();
    const bool is_straight = movement.terms.size() == 1 && movement.from_offset.empty() && movement.to_offset.empty() &&
                             movement.from.symmetry() == movement.to.symmetry();
    if (!is_packed || is_straight) return 0;
    // Elements that are copied along lists in the time that one takes here (measured with integrals of 58 and 82 orbitals).
    const double copies = movement.to.grid().ranks() > 1 ? 36 : 8;
    return copies * written_elements(movement) * machine.listed_element_seconds;
}

double link_weight(const PlanOptions& options, const std::vector<SlotMapping>& mappings) {
    double weight = 1;
    if (options.link_weight.empty()) return weight;
    weight = 0;
    for (const auto& mapping : mappings)
        for (int t : mapping.all()) weight = std::max(weight, options.link_weight[static_cast<std::size_t>(t)]);
    return std::max(weight, 0.01);
}

void estimate_cost(ContractionPlan& plan, const std::vector<IndexGroup>& groups, const PlanOptions& options, const WorkingSizes& sizes) {
    const auto& machine = options.machine;
    auto& cost = plan.cost;
    cost = {};
    const auto bytes = static_cast<double>(plan.spec.element_bytes);
    const double products = plan.rows ? row_products(plan, groups) : sizes.products;
    const double per_product = plan.unary() ? plan.spec.flops_per_product() / 2 : plan.spec.flops_per_product();
    cost.flops = products * per_product;
    cost.useful_flops = useful_products(groups) * per_product * (plan.rows && plan.rows->once ? 0.5 : 1);
    const auto panels = static_cast<double>(panel_count(plan));
    double moved = 0, copied = 0, buffers = 0, working = 0;
    for (auto o : {operand_a, operand_b, operand_c}) {
        if (!sizes.moves[o]) continue;
        const double words = sizes.words[o], block = sizes.block[o];
        const bool cut = o != operand_c && std::any_of(plan.panels.begin(), plan.panels.end(), [&](const auto& level) {
            return groups[static_cast<std::size_t>(level.group)].in(o);
        });
        cost.words[o] = static_cast<std::int64_t>(words);
        moved += words;
        copied += 2 * block + 2 * words;
        const double share = cut ? 1 / panels : 1;
        working += block * share;
        buffers = std::max(buffers, 2 * words * share);
    }
    cost.working_bytes = saturated((working + buffers) * bytes);
    cost.seconds = multiply_seconds(plan, groups, machine) +
                   moved * bytes * link_weight(options, plan.group_mapping) / machine.bytes_per_second +
                   copied * bytes / machine.copied_bytes_per_second +
                   (moved > 0 ? panels * machine.message_seconds : 0);
}

}  // namespace arges
