// arges plan EINSUM: what a product would move and compute on a machine that need not be there.
#include "arges/error.hpp"
#include "base/options.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "cli/plan_input.hpp"
#include "cli/plan_tables.hpp"
#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"
#include "topology/unfold.hpp"

#include <bit>
#include <limits>
#include <memory>
#include <ostream>
#include <string>

namespace arges::cli {

namespace {

struct PlanCommand {
    PlanInput input{};
    std::string sizes;
    std::int64_t ranks = 0;
    std::string torus;
    std::string memory;
    std::string group_mapping;
    int run = 1;
    bool json = false;
};

Topology topology_of(const PlanCommand& command, const MachineModel& machine) {
    const auto torus = command.torus.empty() ? Torus() : Torus::parse(command.torus);
    if (!command.torus.empty() && command.ranks > 0 && torus.ranks() != command.ranks)
        throw InvalidArgument("--torus " + command.torus + " holds " + std::to_string(torus.ranks()) + " ranks, but --ranks says " +
                              std::to_string(command.ranks));
    const auto ranks = command.torus.empty() ? std::max<std::int64_t>(1, command.ranks) : torus.ranks();
    return topology_of(ranks, torus, 1, machine.interconnect, {machine.bytes_per_second, machine.message_seconds});
}

/// What is left for working memory beside the tensors.
std::int64_t working_memory(std::int64_t limit, const Product& spec) {
    const std::int64_t held = tensor_bytes(spec);
    if (held >= limit)
        throw OutOfMemory("the tensors alone take " + with_commas(held) + " bytes on a rank, but the limit is " + with_commas(limit) +
                          "; plan for more ranks, a number with small factors, or raise --memory");
    return limit - held;
}

PlanSummary make_plan(const PlanCommand& command) {
    PlanSummary summary;
    summary.input = command.input;
    summary.input.sizes = parse_sizes(command.sizes);
    PlanOptions options;
    const auto machine = read_machine_model(machine_file_option()).value_or(MachineModel{});
    summary.input.topology = topology_of(command, machine);
    options.machine = among_ranks(machine, summary.input.topology.torus.ranks(), 1);
    summary.input.group_mapping = options.group_mapping = group_mapping_of(command.group_mapping);
    auto spec = product_of(summary.input);
    options.grids = grids_for_products(summary.input.topology.torus);
    options.links = summary.input.topology.links;
    if (!command.memory.empty()) {
        summary.memory_limit = parse_bytes(command.memory, "--memory");
        options.memory_limit = working_memory(*summary.memory_limit, spec);
    }
    for (auto& factor : spec.factors) factor.is_lasting = true;
    Stopwatch watch;
    auto plan = plan_product(spec, options);
    summary.planning_seconds = watch.lap();
    int in_place = 1;  // runs with the tensors where they are
    for (int run = 1; run < command.run; ++run) {
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
        summary.planning_seconds = watch.lap();
    }
    watch.lap();
    summary.report = plan_report(plan, spec, options);
    summary.reporting_seconds = watch.lap();
    return summary;
}

void run(const PlanCommand& command, const Console& console) {
    const auto summary = make_plan(command);
    console.out << (command.json ? plan_json(summary) : plan_tables(summary)) << std::flush;
}

}  // namespace

Action declare_plan(CLI::App& app) {
    const auto command = std::make_shared<PlanCommand>();
    app.add_option("EINSUM", command->input.einsum, "the product, e.g. ijk,ja,ka->ia")->required();
    app.add_option("--sizes", command->sizes, "length of each label, e.g. i=192,j=192,k=192,a=24")
        ->required()
        ->check(accepted_by([](const std::string& text) { parse_sizes(text); }, "SIZES"));
    app.add_option("--ranks", command->ranks, "number of ranks; 1, or what --torus holds")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{std::numeric_limits<std::int32_t>::max()}));
    app.add_option("--torus", command->torus, "shape of the machine, e.g. 16x16x16")
        ->check(accepted_by([](const std::string& text) { Torus::parse(text); }, "SHAPE"));
    app.add_option("--memory", command->memory, "memory limit of a rank, e.g. 2G; without it none")
        ->check(accepted_by([](const std::string& text) { parse_bytes(text, "--memory"); }, "SIZE"));
    declare_group_mapping(app, command->group_mapping);
    app.add_option("--type", command->input.type, "of the elements: double, float or complex")
        ->check(CLI::IsMember({"double", "float", "complex"}))
        ->capture_default_str();
    app.add_option("--symmetry", command->input.symmetries, "of an operand, e.g. \"A: sym(i,j)\"; operands are A, B, ... in their order")
        ->take_all();
    app.add_option("--run", command->run,
                   "plan for this run of the same product; from the second on tensors lie where the one before left them")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_flag("--json", command->json, "print one JSON object instead of tables");
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli
