// What planning costs: planning [RANKS...]
// Plans every term of the residual equations of CCSD and CCSDT over spin orbitals and of closed-shell CCSD for each number of ranks, on a
// dry run, and builds the lists of one rank's movements. Prints milliseconds of a term, the median and the largest: to choose its plan, to
// bound its lists as the memory forecast does, and to build them; of a statement, to choose the plans of its terms; and of the first four
// evaluations of all residuals, for which plans are kept. With PLANNING_DIGEST=1 also a digest of all plans, which tells whether a change
// of the planner changes plans.
#include <arges/arges.hpp>

#include "arges/chemistry/cc_equations.hpp"
#include "arges/chemistry/mp2.hpp"
#include "arges/chemistry/rccsd.hpp"
#include "base/digest.hpp"
#include "base/overloaded.hpp"
#include "base/stopwatch.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/statement/prepared_term.hpp"
#include "plan/movement/movement.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace arges;
using namespace arges::chemistry;

constexpr std::int64_t memory_per_rank = std::int64_t{16} << 30;
constexpr int repetitions = 5;

/// Equations, and spatial orbitals: doubly occupied and virtual ones.
struct Case {
    std::string name;
    std::int64_t occupied, virtuals;
};

const std::vector<Case> cases{{"CCSD", 10, 40}, {"CCSDT", 5, 19}, {"RCCSD", 20, 80}};

/// Milliseconds of the fastest of a few runs.
double milliseconds(const std::function<void()>& work) {
    double best = 1e30;
    for (int i = 0; i < repetitions; ++i) {
        const Stopwatch watch;
        work();
        best = std::min(best, watch.seconds() * 1e3);
    }
    return best;
}

/// What is planned for the residuals of a case.
struct Evaluations {
    std::vector<double> milliseconds;  // of each
    std::vector<Product> first;        // terms of the first, as statements have them
};

/// The terms that are kept, the one used last at the end.
std::vector<std::shared_ptr<PreparedTerm>> kept_terms(WorldState& state) {
    std::vector<std::shared_ptr<PreparedTerm>> result;
    for (const auto& [key, term] : state.prepared())
        if (term->is_ready()) result.push_back(term);  // others are kept to be compared with
    std::reverse(result.begin(), result.end());
    return result;
}

/// Evaluates the residuals of a case on a dry run, `evaluations` times.
Evaluations evaluate(const World& world, const Case& c, int evaluations) {
    FcidumpHeader header;
    header.orbitals = c.occupied + c.virtuals;
    header.electrons = 2 * c.occupied;
    const auto data = empty_fcidump(world, header);
    const auto reference = build_reference(data, "dry run");
    Evaluations result;
    const auto time = [&](const auto& integrals, const auto& amplitudes, const auto& residuals) {
        world.state()->prepared().clear();
        for (int i = 0; i < evaluations; ++i) {
            const Stopwatch watch;
            residuals(integrals, amplitudes);
            result.milliseconds.push_back(watch.seconds() * 1e3);
            if (i > 0) continue;
            for (const auto& term : kept_terms(*world.state())) result.first.push_back(term->product());
        }
    };
    if (c.name == "RCCSD") {
        const auto integrals = build_spatial_integrals(data, reference, IntegralSet::coupled_cluster);
        time(integrals, rmp2_amplitudes(integrals), rccsd_residuals);
    } else {
        const auto integrals = build_integrals(data, reference, IntegralSet::coupled_cluster);
        const int rank = c.name == "CCSD" ? 2 : 3;
        time(integrals, first_order_amplitudes(integrals, rank),
             [&](const auto& V, const auto& t) { return cc_equations(V, rank).residuals(t); });
    }
    return result;
}

/// The movements of a planned step.
std::vector<Movement> movements(const PlannedStep& step) {
    std::vector<Movement> result;
    std::visit(Overloaded{[&](const PlannedMovement& movement) { result.push_back(movement.spec); },
                          [&](const ProductPlan& plan) {
                              for (std::size_t o = 0; o < plan.operands.size(); ++o)
                                  if (!plan.operands[o].in_place) result.push_back(plan.movement(o));
                          }},
               step.work);
    return result;
}

struct Cost {
    double choose, bound, build;  // milliseconds
    std::string text;
};

void print(const char* what, std::vector<Cost>& costs, double Cost::*part) {
    std::sort(costs.begin(), costs.end(), [&](const auto& a, const auto& b) { return a.*part < b.*part; });
    double sum = 0;
    for (const auto& cost : costs) sum += cost.*part;
    std::printf("  %-9s median %8.3f  largest %8.3f  sum %9.2f ms   largest: %s\n", what, costs[costs.size() / 2].*part, costs.back().*part,
                sum, costs.back().text.c_str());
}

std::string text_of(const Product& product) {
    const auto text = [&](const Operand& operand) { return operand.name + "[" + labels_text(operand, product.label_names) + "]"; };
    std::string result = text(product.output) + " =";
    for (const auto& factor : product.factors) result += " " + text(factor);
    return result;
}

/// The terms by statement. Terms that follow each other and have one output are taken as those of one statement, so that one that adds to
/// the output of the one before seems to be part of it.
std::vector<std::vector<Product>> statements_of(const std::vector<Product>& terms) {
    std::vector<std::vector<Product>> result;
    for (const auto& term : terms) {
        const bool same =
            !result.empty() && !term.output_is_free && result.back().back().output.name == term.output.name &&
            labels_text(result.back().back().output, result.back().back().label_names) == labels_text(term.output, term.label_names);
        if (!same) result.emplace_back();
        result.back().push_back(term);
    }
    return result;
}

void run(std::int64_t ranks, const Case& c) {
    World world = World::dry_run(ranks);
    world.set_memory_limit(memory_per_rank);
    const auto evaluations = evaluate(world, c, 4);
    const auto& times = evaluations.milliseconds;
    auto& state = *world.state();
    std::vector<Cost> costs, statement_costs;
    const bool with_digest = std::getenv("PLANNING_DIGEST") != nullptr;
    Digest digest;
    for (const auto& term : kept_terms(state)) {
        const auto& product = term->product();
        Cost cost{0, 0, 0, text_of(product)};
        cost.choose = milliseconds([&] { const PreparedTerm planned(state, product, 1, FreeMemory{memory_per_rank}); });
        std::vector<Movement> all;
        for (const auto& step : term->plan().steps)
            for (auto& movement : movements(step)) all.push_back(std::move(movement));
        cost.bound = milliseconds([&] {
            for (const auto& movement : all) movement_bound(movement);
        });
        cost.build = milliseconds([&] {
            for (const auto& movement : all) const MovementRun run(nullptr, movement, ranks / 2);
        });
        if (with_digest) digest.add(term->explain(product));
        costs.push_back(std::move(cost));
    }
    for (const auto& statement : statements_of(evaluations.first)) {
        Cost cost{0, 0, 0, text_of(statement.front()) + ", " + std::to_string(statement.size()) + " terms"};
        cost.choose = milliseconds([&] {
            for (const auto& product : statement) const PreparedTerm planned(state, product, 1, FreeMemory{memory_per_rank});
        });
        statement_costs.push_back(std::move(cost));
    }
    std::printf(
        "%s, %lld occupied and %lld virtual orbitals, %lld ranks: %zu statements, %zu terms; residuals %.1f, %.1f, %.1f and %.1f ms\n",
        c.name.c_str(), static_cast<long long>(c.occupied), static_cast<long long>(c.virtuals), static_cast<long long>(ranks),
        statement_costs.size(), costs.size(), times[0], times[1], times[2], times[3]);
    print("choose", costs, &Cost::choose);
    print("statement", statement_costs, &Cost::choose);
    print("bound", costs, &Cost::bound);
    print("build", costs, &Cost::build);
    if (with_digest) std::printf("  digest of plans %016llx\n", static_cast<unsigned long long>(digest.value()));
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::int64_t> ranks;
    for (int i = 1; i < argc; ++i) ranks.push_back(std::atoll(argv[i]));
    if (ranks.empty()) ranks = {1, 8, 64};
    for (const auto& c : cases)
        for (const auto r : ranks) run(r, c);
    return 0;
}
