#include "plan/estimate_cost.hpp"

#include "base/saturate.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace arges {

namespace {

/// Number of I in [0, n) with I = a mod p and I = b mod q. Example: n = 12, I = 1 mod 2 and I = 2 mod 3: 5 and 11, so 2.
std::int64_t count_common(std::int64_t n, std::int64_t a, std::int64_t p, std::int64_t b, std::int64_t q) {
    if ((a - b) % std::gcd(p, q) != 0) return 0;
    for (std::int64_t x = a, steps = 0; steps < q; x += p, ++steps)
        if (x % q == b) return count_residues(n, x, std::lcm(p, q));
    return 0;
}

const SymmetryNode& slot_tree(const Layout& layout, int s) {
    return layout.symmetry().slots()[static_cast<std::size_t>(s)];
}

std::set<int> slot_labels(const Layout& layout, const std::vector<int>& labels, int s) {
    std::set<int> result;
    for (int d : layout.slot_dimensions(s)) result.insert(labels[static_cast<std::size_t>(d)]);
    return result;
}

/// Elements of `working` on a rank that the rank already has (or keeps) in `present`. Exact for slots that agree.
double overlap(const Layout& present, const std::vector<int>& present_labels, const Layout& working,
               const std::vector<int>& working_labels, std::int64_t rank) {
    if (present.grid().is_idle(rank)) return 0;
    const bool one_grid = present.grid() == working.grid();
    double result = 1;
    std::vector<bool> used(static_cast<std::size_t>(present.slots()), false);
    for (int w = 0; w < working.slots(); ++w) {
        const auto labels = slot_labels(working, working_labels, w);
        int match = -1;
        for (int s = 0; s < present.slots() && match < 0; ++s)
            if (slot_labels(present, present_labels, s) == labels && slot_tree(present, s).kind == slot_tree(working, w).kind)
                match = s;
        const auto& slot = working.slot(w);
        const auto place = working.place(rank, w);
        if (match < 0) {
            result *= static_cast<double>(slot.local_size(place));
            continue;
        }
        used[static_cast<std::size_t>(match)] = true;
        const auto& other = present.slot(match);
        if (slot.is_blocks() || other.is_blocks() || slot.is_rows() || other.is_rows())
            result *= one_grid && working.mapping(w) == present.mapping(match)
                          ? static_cast<double>(slot.local_size(place))
                          : static_cast<double>(slot.local_size(place)) / static_cast<double>(other.places());
        else
            result *= static_cast<double>(
                count_common(slot.size(), place, slot.places(), present.place(rank, match), other.places()));
    }
    for (int s = 0; s < present.slots(); ++s)
        if (!used[static_cast<std::size_t>(s)]) result /= static_cast<double>(present.slot(s).places());
    return result;
}

/// Ranks to look at: all where they are few, else a fixed sample without a pattern that a torus could share.
std::vector<std::int64_t> sample_ranks(std::int64_t ranks) {
    constexpr std::int64_t all = 32;
    constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15U;
    std::vector<std::int64_t> result;
    for (std::int64_t i = 0; i < std::min(ranks, all); ++i)
        result.push_back(ranks <= all ? i
                                      : static_cast<std::int64_t>(((static_cast<std::uint64_t>(i) * multiplier) >> 32U) %
                                                                  static_cast<std::uint64_t>(ranks)));
    return result;
}

/// Products of the busiest rank where the operands are dense arrays over their groups.
double folded_products(const ContractionPlan& plan, const std::vector<IndexGroup>& groups) {
    double products = 1;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const auto& w = plan.operand[groups[g].in(operand_a) ? operand_a : operand_b];
        const auto slot = std::find(w.groups.begin(), w.groups.end(), static_cast<int>(g)) - w.groups.begin();
        products *= static_cast<double>(w.layout.slot(static_cast<int>(slot)).max_local_size());
    }
    return products;
}

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
    const auto elements = static_cast<double>(movement.to.max_local_size()) * static_cast<double>(movement.terms.size());
    const auto bytes = elements * static_cast<double>(element_bytes);
    if (ranks == 1) return bytes / machine.copied_bytes_per_second;
    return 2 * elements * machine.listed_element_seconds + bytes * (1 - 1 / ranks) / machine.bytes_per_second;
}

double link_weight(const PlanOptions& options, const std::vector<SlotMapping>& mappings) {
    double weight = 1;
    if (options.link_weight.empty()) return weight;
    weight = 0;
    for (const auto& mapping : mappings)
        for (int t : mapping.all()) weight = std::max(weight, options.link_weight[static_cast<std::size_t>(t)]);
    return std::max(weight, 0.01);
}

double moved_words(const OperandSpec& tensor, const WorkingOperand& working) {
    const auto ranks = working.layout.grid().ranks();
    double words = 0;
    if (ranks > 1)
        for (auto rank : sample_ranks(ranks))
            words = std::max(words, static_cast<double>(working.layout.local_size(rank)) -
                                        overlap(tensor.layout, tensor.labels, working.layout, working.labels, rank));
    return words;
}

void estimate_cost(ContractionPlan& plan, const std::vector<IndexGroup>& groups, const PlanOptions& options) {
    const auto& machine = options.machine;
    auto& cost = plan.cost;
    cost = {};
    const auto bytes = static_cast<double>(plan.spec.element_bytes);
    const double products = plan.rows ? row_products(plan, groups) : folded_products(plan, groups);
    const double per_product = plan.unary() ? plan.spec.flops_per_product / 2 : plan.spec.flops_per_product;
    cost.flops = products * per_product;
    cost.useful_flops = useful_products(groups) * per_product * (plan.rows && plan.rows->once ? 0.5 : 1);
    const auto panels = static_cast<double>(panel_count(plan));
    double moved = 0, copied = 0, buffers = 0, working = 0;
    for (auto o : {operand_a, operand_b, operand_c}) {
        const auto& w = plan.operand[o];
        if (w.in_place || (o == operand_b && plan.unary())) continue;
        const auto& tensor = o == operand_c ? plan.spec.output : plan.spec.inputs[o];
        const bool cut = o != operand_c && std::any_of(plan.panels.begin(), plan.panels.end(), [&](const auto& level) {
            return groups[static_cast<std::size_t>(level.group)].in(o);
        });
        const double words = moved_words(tensor, w), block = static_cast<double>(w.layout.max_local_size());
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
