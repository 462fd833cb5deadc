#include "arges/einsum.hpp"
#include "arges/element_kernels.hpp"
#include "arges/error.hpp"
#include "arges/plan.hpp"
#include "base/math.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "interface/world/world_state.hpp"
#include "plan/report/plan_report.hpp"

#include <algorithm>
#include <bit>

namespace arges {

namespace {

/// Label names and extents of a product, by first appearance.
class LabelNumbers {
public:
    LabelNumbers(Product& spec, const PlanRequest& request) : spec_(spec), request_(request) {}

    std::vector<int> numbers(const std::string& letters) {
        std::vector<int> result;
        for (char letter : letters) {
            const auto size = request_.sizes.find(letter);
            if (size == request_.sizes.end())
                throw InvalidArgument(std::string("label '") + letter + "' has no size; add " + letter + "=N to --sizes");
            if (size->second < 1) throw InvalidArgument(std::string("label '") + letter + "' must have a size of 1 or more");
            const auto [it, is_new] = number_.emplace(letter, static_cast<int>(spec_.label_names.size()));
            if (is_new) {
                spec_.label_names.emplace_back(1, letter);
                spec_.label_extents.push_back(size->second);
            }
            result.push_back(it->second);
        }
        return result;
    }

    /// @throws InvalidArgument if a size is of no use
    void check_all_used() const {
        for (const auto& [letter, size] : request_.sizes)
            if (!number_.contains(letter)) throw InvalidArgument(std::string("--sizes: the einsum has no label '") + letter + "'");
    }

private:
    Product& spec_;
    const PlanRequest& request_;
    std::map<char, int> number_;
};

std::vector<std::int64_t> extents_of(const Product& spec, const Operand& operand) {
    std::vector<std::int64_t> result;
    double elements = 1;
    for (int label : operand.labels) {
        result.push_back(spec.label_extents[label]);
        elements *= result.back();
    }
    if (elements > 1e18) throw InvalidArgument("operand " + operand.name + " has more than 10^18 elements");
    return result;
}

/// Operands A, B, C ... and their product R, in the layouts that new tensors get.
Product product_of(const PlanRequest& request, const std::vector<RankGrid>& grids) {
    const auto text = parse_einsum(request.einsum);
    const auto& elements = element_kernels(request.element);
    Product spec;
    spec.complex = elements.is_complex;
    spec.element_bytes = elements.size;
    LabelNumbers labels(spec, request);
    for (std::size_t o = 0; o < text.operands.size(); ++o) {
        Operand operand;
        operand.name = operand_name(o);
        operand.labels = labels.numbers(text.operands[o]);
        operand.is_lasting = true;
        const auto tree = request.symmetries.find(o);
        const auto symmetry =
            tree == request.symmetries.end() ? Symmetry::none(operand.labels.size()) : Symmetry::parse(text.operands[o], tree->second);
        const auto extents = extents_of(spec, operand);
        operand.layout = request.group_mapping == GroupMapping::blocks ? block_layout(grids.front(), extents, symmetry)
                                                                       : spread_layout(grids, extents, symmetry);
        spec.factors.push_back(operand);
    }
    spec.output.name = "R";
    spec.output.labels = labels.numbers(text.output);
    labels.check_all_used();
    spec.output.layout = spread_layout(grids, extents_of(spec, spec.output), Symmetry::none(text.output.size()));
    spec.output_is_free = true;
    spec.terms = {identity_term(spec.label_names.size())};
    return spec;
}

/// Bytes of a tensor on the busiest rank.
std::int64_t bytes_of(const Operand& tensor, const Product& spec) {
    return saturated_product(tensor.layout.max_local_size(), spec.element_bytes);
}

/// Puts tensors on the device as far as it has room, the result first. @return what is left there
std::int64_t put_on_device(Product& spec, WorldDevice device) {
    const auto put = [&](Operand& tensor) {
        tensor.on_device = device.has_room(bytes_of(tensor, spec));
        if (tensor.on_device) device.hold(bytes_of(tensor, spec));
    };
    put(spec.output);
    for (auto& factor : spec.factors) put(factor);
    return device.free_bytes();
}

/// What is left of the host's memory beside the tensors.
std::int64_t working_memory(std::int64_t limit, const Product& spec) {
    std::int64_t held = spec.output.on_device ? 0 : bytes_of(spec.output, spec);
    for (const auto& factor : spec.factors) held = saturated_sum(held, factor.on_device ? 0 : bytes_of(factor, spec));
    if (held >= limit)
        throw OutOfMemory("the tensors alone take " + with_commas(held) + " bytes on a rank, but the limit is " + with_commas(limit) +
                          "; plan for more ranks, a number with small factors, or raise --memory");
    return limit - held;
}

}  // namespace

std::string operand_name(std::size_t number) {
    constexpr std::size_t letters = 17;  // A to Q; R is the result
    return number < letters ? std::string(1, static_cast<char>('A' + number)) : "A" + std::to_string(number + 1);
}

EinsumPlan plan_einsum(const PlanRequest& request) {
    const World machine = World::dry_run(request.machine);
    PlanOptions options = machine.state()->plan_options();
    options.memory_limit = PlanOptions().memory_limit;
    options.group_mapping = request.group_mapping;
    auto spec = product_of(request, options.grids);
    const auto& device = machine.state()->device();
    if (device.computes(element_kernels(request.element))) options.device_memory_limit = put_on_device(spec, device);
    if (request.memory_limit) options.memory_limit = working_memory(*request.memory_limit, spec);
    EinsumPlan result{machine.torus(), {}};
    Stopwatch watch;
    auto plan = plan_product(spec, options);
    result.planning_seconds = watch.lap();
    int in_place = 1;  // runs with the tensors where they are
    for (int run = 1; run < request.run; ++run) {
        auto next = settled(plan, spec);
        in_place = next == spec ? in_place + 1 : 1;
        const std::int64_t expected = std::bit_floor(static_cast<unsigned>(in_place));
        if (next == spec && expected == options.expected_runs) continue;
        if (next == spec && !options.machine.is_worth_planning(static_cast<double>(expected) * plan.seconds(spec.element_bytes, options)))
            continue;
        spec = std::move(next);
        options.expected_runs = expected;
        watch.lap();
        plan = plan_product(spec, options);
        result.planning_seconds = watch.lap();
    }
    watch.lap();
    result.report = plan_report(plan, spec, options);
    result.reporting_seconds = watch.lap();
    return result;
}

}  // namespace arges
