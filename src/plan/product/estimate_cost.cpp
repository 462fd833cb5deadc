// The cost model of plans: seconds of products, copies, messages and lists on the busiest rank, and a bound on words for matrix products
// (Al Daas et al., arXiv 2205.13407).
#include "plan/product/estimate_cost.hpp"

#include "base/math.hpp"
#include "plan/movement/relay.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace arges {

namespace {

/// Products of the busiest rank where a pair node is read by rows.
double row_products(const ProductPlan& plan) {
    double columns = 1;
    for (const auto& axis : plan.axes)
        if (!axis.in(plan.rows->operand)) columns *= axis.size;
    return columns * static_cast<double>(plan.operands[plan.rows->operand].layout.max_local_size()) * (plan.rows->once ? 1 : 2);
}

/// Seconds of the local product over rows.
double row_seconds(const ProductPlan& plan, const MachineModel& machine) {
    // Small matrix products where both factors of a child are needed at once, else matrix times vector.
    bool matrices = true;
    for (const auto& child : plan.rows->factors)
        matrices = matrices && child.size() == 2 && plan.axes[child[0]].is_contracted() != plan.axes[child[1]].is_contracted();
    const auto read = static_cast<double>(plan.operands[plan.rows->operand].layout.max_local_size()) * plan.spec.element_bytes;
    return plan.cost.flops / (machine.flops_per_second * (matrices ? 0.6 : 0.2)) + read / machine.copied_bytes_per_second;
}

/// Elements that the busiest rank writes, each as often as there are terms.
double written_elements(const Movement& movement) {
    double written = movement.to.max_local_size();
    if (!movement.to_offset.empty()) {  // a slice of the target
        double slice = 1;
        for (auto extent : movement.label_extents) slice *= static_cast<double>(extent);
        written = std::min(written, slice / static_cast<double>(movement.to.grid().ranks()));
    }
    return written * static_cast<double>(movement.terms.size());
}

/// The ways of a movement where links are known.
const std::vector<Links::Way>& ways_of(const Movement& movement, const PlanOptions& options) {
    const auto& grid = movement.from.grid();
    if (!(grid == movement.to.grid()) || !(grid == options.whole_grid(movement.to))) return options.links->irregular();
    const auto shape = relay_shape(movement);
    if (!shape) return options.links->exchange(exchanged_dimensions(movement));
    Dimensions among = 0;
    for (const int t : shape->torus) among |= dimension(t);
    return options.links->gathers(among);
}

/// Seconds of the messages of an operand, in all windows.
double moving_seconds(const ProductPlan& plan, std::size_t o, const WorkingSizes& sizes, const MachineModel& machine) {
    const double repetitions = plan.repetitions(o), parts = plan.parts(o);
    const double bytes = sizes.words[o] * static_cast<double>(plan.spec.element_bytes);
    if (sizes.ways.empty()) return repetitions * bytes / machine.bytes_per_second;
    if (bytes == 0) return 0;
    const auto& way = fastest_way(sizes.ways[o], bytes / parts, machine);
    return repetitions * parts * way.seconds(bytes / parts / machine.bytes_per_second);
}

}  // namespace

const Links::Way& fastest_way(std::span<const Links::Way> ways, double bytes, const MachineModel& machine) {
    return *std::min_element(ways.begin(), ways.end(), [&](const auto& a, const auto& b) {
        return a.seconds(bytes / machine.bytes_per_second) < b.seconds(bytes / machine.bytes_per_second);
    });
}

std::vector<RelayStage> fastest_stages(const Movement& movement, double bytes, const PlanOptions& options) {
    std::vector<RelayStage> result;
    if (!options.links) return result;
    for (const auto& stage : fastest_way(ways_of(movement, options), bytes, options.machine).stages) {
        auto& own = result.emplace_back();
        own.way = stage.way;
        for (int t = 0; t < movement.to.grid().dimensions(); ++t)
            if ((stage.along & dimension(t)) != 0) own.torus.push_back(t);
    }
    return result;
}

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

double agreement_seconds(std::int64_t ranks, const PlanOptions& options) {
    if (options.links) return options.links->reduction_seconds();
    return std::bit_width(static_cast<std::uint64_t>(ranks - 1)) * options.machine.message_seconds;
}

double estimated_seconds(const Movement& movement, std::int64_t element_bytes, const PlanOptions& options) {
    const auto& machine = options.machine;
    const double ranks = movement.to.grid().ranks();
    const auto elements = written_elements(movement);
    const auto bytes = elements * static_cast<double>(element_bytes);
    if (ranks == 1) return bytes / machine.copied_bytes_per_second;
    const double moved = bytes * (1 - 1 / ranks), sending = moved / machine.bytes_per_second;
    return 2 * elements * machine.listed_element_seconds +
           (options.links ? fastest_way(ways_of(movement, options), moved, machine).seconds(sending) : sending);
}

double preparing_seconds(const Movement& movement, const MachineModel& machine) {
    const bool is_packed = movement.from.slots() < movement.from.order() || movement.to.slots() < movement.to.order();
    const bool is_straight = movement.terms.size() == 1 && movement.from_offset.empty() && movement.to_offset.empty() &&
                             movement.from.symmetry() == movement.to.symmetry();
    if (!is_packed || is_straight) return 0;
    // Elements that are copied along lists in the time that one takes here (measured with integrals of 58 and 82 orbitals).
    const double copies = movement.to.grid().ranks() > 1 ? 36 : 8;
    return copies * written_elements(movement) * machine.listed_element_seconds;
}

CostModel::CostModel(const ProductPlan& unmapped) {
    for (const auto& operand : unmapped.operands) operands_.push_back(operand.axes);
    for (const auto& step : unmapped.chain) {
        LocalSpace space{unmapped.iteration_axes(step), unmapped.axes_of_node(step.first), {}, step.axes, step.buffer >= 0};
        if (step.second != LocalProduct::no_second) space.second = unmapped.axes_of_node(step.second);
        double products = 1;
        for (int a : space.all) products *= unmapped.axes[a].size;
        useful_products_ += products;
        spaces_.push_back(std::move(space));
    }
}

double CostModel::estimate(ProductPlan& plan, const PlanOptions& options, const WorkingSizes& sizes) const {
    const auto& machine = options.machine;
    const double bytes = plan.spec.element_bytes;
    const double per_product = plan.spec.factors.size() == 1 ? plan.spec.flops_per_product() / 2 : plan.spec.flops_per_product();
    auto& cost = plan.cost;
    cost = {};
    cost.words.assign(plan.operands.size(), 0);
    // Indices of an axis on a rank, in one window.
    auto length = sizes.length;
    for (const auto& window : plan.windows) {
        auto& cut = length[window.axis];
        cut = std::ceil(cut / static_cast<double>(window.count));
    }
    const auto block = [&](const std::vector<int>& axes, const std::vector<double>& lengths) {
        double product = 1;
        for (int a : axes) product *= lengths[a];
        return product;
    };
    // Elements in all runs: the windows of one of their axes share its indices, those of another axis each take all of them.
    const auto in_all_runs = [&](const std::vector<int>& axes) {
        double elements = block(axes, sizes.length);
        for (const auto& window : plan.windows)
            if (std::find(axes.begin(), axes.end(), window.axis) == axes.end()) elements *= window.count;
        return elements;
    };
    const double runs = plan.window_count();
    double products = 0, traffic = 0, working = 0;
    for (const auto& space : spaces_) {
        products += in_all_runs(space.all);
        traffic += in_all_runs(space.first) + (space.second.empty() ? 0 : in_all_runs(space.second)) + in_all_runs(space.result);
        if (space.has_buffer) working += block(space.result, length);
    }
    cost.flops = (plan.rows ? row_products(plan) : products) * per_product;
    cost.useful_flops = useful_products_ * per_product * (plan.rows && plan.rows->once ? 0.5 : 1);
    double moving = 0, streamed = 0, copied = 2 * sizes.out_of_order, messages = 0;
    bool moves = false;
    for (std::size_t o = 0; o < plan.operands.size(); ++o) {
        if (plan.operands[o].in_place) continue;
        const double repetitions = plan.repetitions(o);
        const double words = sizes.words[o] * repetitions;
        cost.words[o] = static_cast<std::int64_t>(words);
        const double seconds = moving_seconds(plan, o, sizes, machine);
        moving += seconds;
        if (plan.streams && o < plan.result() && plan.window_that_cuts(o)) streamed += seconds;
        moves = moves || words > 0;
        copied += 2 * block(operands_[o], sizes.length) * repetitions + 2 * words;
        working += block(operands_[o], length);
        const double in_parts = 2 * sizes.words[o] / static_cast<double>(plan.parts(o));
        messages = plan.streams ? messages + in_parts : std::max(messages, in_parts);
    }
    cost.working_bytes = saturated((working + messages) * bytes);
    const double multiplying = plan.rows ? row_seconds(plan, machine)
                                         : std::max(machine.product_seconds(products, traffic, per_product),
                                                    traffic * bytes / (2 * machine.copied_bytes_per_second));
    if (moves && sizes.ways.empty()) moving += runs * machine.message_seconds;
    // The first window waits for its inputs.
    const double hidden = std::min(streamed, multiplying) * std::min(1.0, machine.interconnect.overlap) * (1 - 1 / runs);
    cost.seconds = multiplying + moving - hidden + copied * bytes / machine.copied_bytes_per_second;
    return (working + messages) * bytes;
}

}  // namespace arges
