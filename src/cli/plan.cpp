// arges plan EINSUM: what a product would move and compute on a machine that need not be there.
#include "arges/einsum.hpp"
#include "arges/error.hpp"
#include "base/options.hpp"
#include "cli/plan_tables.hpp"
#include "cli/subcommand.hpp"
#include "cli/world_options.hpp"

#include <cctype>
#include <charconv>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace arges::cli {

namespace {

struct PlanCommand {
    PlanRequest request{};
    std::string sizes, type = "double", torus, memory, group_mapping;
    std::vector<std::string> symmetries;
    bool json = false;
};

/// Reads "i=100,j=20". @throws InvalidArgument for anything else, or a label that is given twice
std::map<char, std::int64_t> parse_sizes(const std::string& text) {
    std::map<char, std::int64_t> result;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        std::int64_t size = 0;
        const char* const end = part.data() + part.size();
        const bool form = part.size() > 2 && part[1] == '=' && std::isalpha(static_cast<unsigned char>(part[0])) != 0;
        const auto read = form ? std::from_chars(part.data() + 2, end, size) : std::from_chars_result{};
        if (!form || read.ec != std::errc() || read.ptr != end || size < 1)
            throw InvalidArgument("'" + part + "' must be a label and its size, as in i=100");
        if (!result.emplace(part[0], size).second) throw InvalidArgument(std::string("label '") + part[0] + "' has two sizes");
    }
    return result;
}

/// The trees of "B: antisym(i,j)", by operand.
std::map<std::size_t, std::string> parse_symmetries(const std::vector<std::string>& texts, std::size_t operands) {
    std::map<std::size_t, std::string> result;
    for (const auto& text : texts) {
        const auto colon = text.find(':');
        if (colon == std::string::npos) throw InvalidArgument("--symmetry: '" + text + "' must be like \"A: sym(i,j)\"");
        const auto name = text.substr(0, colon);
        std::size_t operand = 0;
        while (operand < operands && name != operand_name(operand)) ++operand;
        if (operand == operands)
            throw InvalidArgument("--symmetry: there is no operand '" + name + "'; the operands are called A, B, ... in their order");
        if (!result.emplace(operand, text.substr(colon + 1)).second)
            throw InvalidArgument("--symmetry: operand " + name + " is given twice");
    }
    return result;
}

/// Reads what is left as text.
void complete_request(PlanCommand& command) {
    auto& request = command.request;
    request.sizes = parse_sizes(command.sizes);
    if (!command.torus.empty()) request.machine.torus = Torus::parse(command.torus);
    request.group_mapping = group_mapping_of(command.group_mapping);
    static const std::map<std::string, ElementType> types{
        {"double", ElementType::float64}, {"float", ElementType::float32}, {"complex", ElementType::complex128}};
    request.element = types.at(command.type);
    if (!command.memory.empty()) request.memory_limit = parse_bytes(command.memory, "--memory");
    request.symmetries = parse_symmetries(command.symmetries, parse_einsum(request.einsum).operands.size());
}

void run(PlanCommand& command, const Console& console) {
    complete_request(command);
    const auto plan = plan_einsum(command.request);
    console.out << (command.json ? plan_json : plan_tables)(command.request, command.type, plan) << std::flush;
}

}  // namespace

Action declare_plan(CLI::App& app) {
    const auto command = std::make_shared<PlanCommand>();
    app.add_option("EINSUM", command->request.einsum, "the product, e.g. ijk,ja,ka->ia")->required();
    app.add_option("--sizes", command->sizes, "length of each label, e.g. i=192,j=192,k=192,a=24")
        ->required()
        ->check(accepted_by([](const std::string& text) { parse_sizes(text); }, "SIZES"));
    declare_planned_machine(app, command->request.machine);
    app.add_option("--torus", command->torus, "shape of the machine, e.g. 16x16x16")
        ->check(accepted_by([](const std::string& text) { Torus::parse(text); }, "SHAPE"));
    app.add_option("--memory", command->memory, "memory limit of a rank, e.g. 2G; without it none")
        ->check(accepted_by([](const std::string& text) { parse_bytes(text, ""); }, "SIZE"));
    declare_group_mapping(app, command->group_mapping);
    app.add_option("--type", command->type, "of the elements: double, float or complex")
        ->check(one_of({"double", "float", "complex"}))
        ->capture_default_str();
    app.add_option("--symmetry", command->symmetries, "of an operand, e.g. \"A: sym(i,j)\"; operands are A, B, ... in their order")
        ->take_all();
    app.add_option("--run", command->request.run,
                   "plan for this run of the same product; from the second on tensors lie where the one before left them")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_flag("--json", command->json, "print one JSON object instead of tables");
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli
