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

/// Elements over some axes in all windows: those of one of the axes share its indices, those of another axis each take all of them.
double in_all_windows(const std::vector<int>& axes, const std::vector<double>& length, const std::vector<Window>& windows) {
    double elements = block_size(axes, length);
    for (const auto& window : windows)
        if (!contains(axes, window.axis)) elements *= window.count;
    return elements;
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

/// @param sending, messages  see Links::Way
const Links::Way& fastest_way(std::span<const Links::Way> ways, double sending, double messages) {
    return *std::min_element(ways.begin(), ways.end(),
                             [&](const auto& a, const auto& b) { return a.seconds(sending, messages) < b.seconds(sending, messages); });
}

}  // namespace

std::vector<RelayStage> fastest_stages(const Movement& movement, double bytes, const PlanOptions& options) {
    std::vector<RelayStage> result;
    if (!options.links) return result;
    const double sending = bytes / options.machine.bytes_per_second;
    for (const auto& stage : fastest_way(ways_of(movement, options), sending, message_count(movement)).stages) {
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

double crossing_seconds(double elements, std::int64_t element_bytes, const MachineModel& machine) {
    const auto device = machine.device.value_or(DeviceRates());
    return device.call_seconds + elements * static_cast<double>(element_bytes) / device.link_bytes_per_second;
}

double estimated_seconds(const Movement& movement, std::int64_t element_bytes, const PlanOptions& options) {
    const auto& machine = options.machine;
    const double ranks = movement.to.grid().ranks();
    const auto elements = written_elements(movement);
    const auto bytes = elements * static_cast<double>(element_bytes);
    if (ranks == 1) return bytes / machine.copied_bytes_per_second;
    const double sending = bytes * (1 - 1 / ranks) / machine.bytes_per_second, messages = message_count(movement);
    return 2 * elements * machine.listed_element_seconds +
           (options.links ? fastest_way(ways_of(movement, options), sending, messages).seconds(sending, messages)
                          : sending + messages * machine.message_seconds);
}

double preparing_seconds(const Movement& movement, const MachineModel& machine) {
    const bool is_packed = movement.from.slots() < movement.from.order() || movement.to.slots() < movement.to.order();
    const bool is_straight = movement.terms.size() == 1 && movement.from_offset.empty() && movement.to_offset.empty() &&
                             movement.from.symmetry() == movement.to.symmetry();
    if (!is_packed || is_straight) return 0;
    const double copies = movement.to.grid().ranks() > 1 ? machine.sent_packed_look_up : machine.packed_look_up;
    return copies * written_elements(movement) * machine.listed_element_seconds;
}

CostModel::CostModel(const ProductPlan& unmapped, const MachineModel& machine)
    : axes_(unmapped.axes), machine_(machine), on_device_(unmapped.spec.on_device), element_bytes_(unmapped.spec.element_bytes),
      flops_per_product_(unmapped.spec.flops_per_product() * (unmapped.spec.factors.size() == 1 ? 0.5 : 1)) {
    for (std::size_t o = 0; o < unmapped.operands.size(); ++o) {
        operands_.push_back(unmapped.operands[o].axes);
        crosses_.push_back(unmapped.spec.crosses(unmapped.tensor(o)));
    }
    if (on_device_) call_seconds_ = machine.device.value_or(DeviceRates()).call_seconds;
    for (const auto& step : unmapped.chain) {
        LocalSpace space{unmapped.iteration_axes(step), unmapped.axes_of_node(step.first), {}, step.axes, step.buffer >= 0};
        if (step.second != LocalProduct::no_second) space.second = unmapped.axes_of_node(step.second);
        double products = 1;
        for (int a : space.all) products *= unmapped.axes[a].size;
        useful_products_ += products;
        spaces_.push_back(std::move(space));
    }
}

double CostModel::multiplying_seconds(double products, double accessed) const {
    return std::max(machine_.product_seconds(products, accessed, flops_per_product_),
                    accessed * element_bytes_ / (2 * machine_.copied_bytes_per_second));
}

double CostModel::products(const std::vector<double>& length, const std::vector<Window>& windows) const {
    double products = 0;
    for (const auto& space : spaces_) products += in_all_windows(space.all, length, windows);
    return products;
}

double CostModel::sending_seconds(const Moved& moved, std::span<const Links::Way> ways) const {
    const double sending = moved.words * element_bytes_ / machine_.bytes_per_second;
    const double messages = std::min(moved.messages, std::ceil(moved.words));
    return fastest_way(ways, sending, messages).seconds(sending, messages);
}

/// Seconds of the messages of an operand, in all windows.
double CostModel::moving_seconds(const Candidate& candidate, std::size_t o, const WindowParts& parts) const {
    const auto& [in_place, as_stored, moved, ways] = candidate.operands[o];
    if (moved.words == 0) return 0;
    const double repetitions = parts.repetitions, count = parts.parts;
    const Moved once{moved.words / count, moved.messages};
    return repetitions * count * (ways.empty() ? sending_seconds(once) : sending_seconds(once, ways));
}

RankWork CostModel::work(const Candidate& candidate) const {
    RankWork work;
    const auto accessed_of = [&](const std::vector<int>& axes) { return in_all_windows(axes, candidate.length, candidate.windows); };
    double accessed = 0;
    for (const auto& space : spaces_)
        accessed += accessed_of(space.first) + (space.second.empty() ? 0 : accessed_of(space.second)) + accessed_of(space.result);
    work.multiplying = multiplying_seconds(products(candidate.length, candidate.windows), accessed);
    work.copied = 2 * candidate.out_of_order;
    for (std::size_t o = 0; o < candidate.operands.size(); ++o) {
        const auto& operand = candidate.operands[o];
        if (operand.in_place) continue;
        const auto parts = this->parts(candidate, o);
        const double repetitions = parts.repetitions, words = operand.moved.words * repetitions;
        work.sending += moving_seconds(candidate, o, parts);
        work.copied += 2 * block_size(operands_[o], candidate.length) * repetitions + 2 * words;
        const double moves = static_cast<double>(parts.parts) * repetitions;
        work.multiplying += moves * call_seconds_;
        if (!crosses_[o]) continue;
        const double in_a_part = block_size(operands_[o], candidate.length) / static_cast<double>(parts.parts);
        work.sending += moves * crossing_seconds(in_a_part, static_cast<std::int64_t>(element_bytes_), machine_);
    }
    work.multiplying += static_cast<double>(spaces_.size() * window_count(candidate.windows)) * call_seconds_;
    return work;
}

double CostModel::hidden_seconds(const RankWork& work, const Candidate& candidate) const {
    if (!doubles_arrays(candidate)) return 0;
    return most_hidden(work) * (1 - 1 / static_cast<double>(window_count(candidate.windows)));  // nothing is multiplied before the first
}

double CostModel::memory(const Candidate& candidate, int rooms) const {
    std::vector<double> cut;
    if (!candidate.windows.empty()) cut = candidate.length;
    for (const auto& window : candidate.windows) cut[window.axis] = std::ceil(cut[window.axis] / static_cast<double>(window.count));
    const auto& length = cut.empty() ? candidate.length : cut;  // in one window
    double working = 0, messages = 0;
    for (const auto& space : spaces_)
        if (space.has_buffer) working += block_size(space.result, length);
    for (std::size_t o = 0; o < candidate.operands.size(); ++o) {
        if (candidate.operands[o].in_place) continue;
        const bool is_cut = parts(candidate, o).fastest.has_value();
        working += block_size(operands_[o], length) * (is_cut ? rooms : 1);
        const double in_parts = 2 * candidate.operands[o].moved.words / static_cast<double>(parts(candidate, o).parts);
        messages = candidate.is_streamed() ? messages + in_parts : std::max(messages, in_parts);
    }
    return (working + messages) * element_bytes_;
}

PlanCost CostModel::cost(const Candidate& candidate) const {
    PlanCost cost;
    cost.seconds = seconds(candidate);
    cost.flops = products(candidate.length, candidate.windows) * flops_per_product_;
    cost.useful_flops = useful_products_ * flops_per_product_;
    cost.working_bytes = saturated(memory(candidate));
    for (std::size_t o = 0; o < candidate.operands.size(); ++o)
        cost.words.push_back(static_cast<std::int64_t>(candidate.operands[o].moved.words * parts(candidate, o).repetitions));
    return cost;
}

PlanCost CostModel::cost_by_rows(const ProductPlan& plan, const Candidate& candidate) const {
    auto cost = this->cost(candidate);
    double columns = 1;
    for (const auto& axis : plan.axes)
        if (!axis.in(plan.rows->operand)) columns *= axis.size;
    const double read = plan.operands[plan.rows->operand].layout.max_local_size();
    cost.flops = columns * read * (plan.rows->once ? 1 : 2) * flops_per_product_;
    if (plan.rows->once) cost.useful_flops *= 0.5;
    // Small matrix products where both factors of a child are needed at once, else matrix times vector.
    bool matrices = true;
    for (const auto& child : plan.rows->factors)
        matrices = matrices && child.size() == 2 && plan.axes[child[0]].is_contracted() != plan.axes[child[1]].is_contracted();
    auto work = this->work(candidate);
    work.multiplying =
        cost.flops / (machine_.flops_per_second * (matrices ? machine_.small_matrix_rate : machine_.vector_rate)) + copying_seconds(read);
    cost.seconds = seconds(work);
    return cost;
}

}  // namespace arges
