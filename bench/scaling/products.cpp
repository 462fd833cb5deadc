// Cyclops' model contractions (cyclops-2012, Figure 4): every tensor has the given number of elements for each rank. Deinsum's products
// (deinsum-2022, Tables IV and V): extents grow so that the work of a rank stays the same.
#include "scaling_case.hpp"
#include "statements.hpp"

#include <algorithm>
#include <cmath>

namespace bench {

namespace {

Outcome run_statement(const arges::World& world, const Setting& setting, const Case& c, const std::string& size) {
    auto C = random_tensor(world, c.c, 3);
    const auto right = right_of(world, c);
    auto outcome = timed(world, setting, [&] { C[c.c.labels].assign(right, c.accumulate ? 1.0 : 0.0); });
    outcome.size = size;
    outcome.work = c.flops;
    return outcome;
}

ScalingCase model_contraction(const std::string& name, int halves, const std::string& about) {
    const auto run = [name, halves](const arges::World& world, const Setting& setting) {
        // m^2 elements of each tensor and 2 m^3 flops.
        const auto elements = [&](std::int64_t n) { return std::pow(make_case(name, n).flops / 2, 2.0 / 3) * (1 + 1e-12); };
        const auto n = extent_for(setting, halves, elements);
        return run_statement(world, setting, make_case(name, n), "n=" + std::to_string(n));
    };
    return {name, about, run};
}

/// Table V: extent on one rank, and the power of the number of ranks with which it grows; columns grow likewise from 24.
struct TableRow {
    const char* name;
    std::int64_t extent;
    int order, root;
    const char* about;
};

ScalingCase deinsum_product(const TableRow& row) {
    const auto run = [row](const arges::World& world, const Setting& setting) {
        const double elements = std::pow(static_cast<double>(setting.words), 1.0 / row.order);
        const double first = setting.paper ? static_cast<double>(row.extent) : std::floor(elements + 1e-9);
        const double growth = std::pow(static_cast<double>(setting.sized_for), 1.0 / row.root);
        const auto n = std::max<std::int64_t>(2, std::llround(first * growth));
        if (row.order == 2) return run_statement(world, setting, make_case(row.name, n), "n=" + std::to_string(n));
        const auto rank = std::max<std::int64_t>(1, std::llround(std::min(24.0, first) * growth));
        return run_statement(world, setting, decomposition(row.name, n, rank), "n=" + std::to_string(n) + " R=" + std::to_string(rank));
    };
    return {row.name, row.about, run};
}

}  // namespace

std::vector<ScalingCase> product_cases() {
    std::vector<ScalingCase> cases{model_contraction("mm", 1, "model contraction in 2 dimensions"),
                                   model_contraction("model4as", 2, "in 4 dimensions, antisymmetric halves"),
                                   model_contraction("model6as", 3, "in 6 dimensions, likewise"),
                                   model_contraction("model8as", 4, "in 8 dimensions, likewise")};
    for (const auto& row :
         {TableRow{"2mm", 4096, 2, 3, "two matrix products in turn"}, TableRow{"3mm", 4096, 2, 3, "three of them"},
          TableRow{"mttkrp3", 1024, 3, 4, "MTTKRP of order 3, first mode"}, TableRow{"mttkrp5", 60, 5, 6, "MTTKRP of order 5, first mode"},
          TableRow{"ttmc5", 60, 5, 6, "TTMc of order 5, first mode"}})
        cases.push_back(deinsum_product(row));
    return cases;
}

}  // namespace bench
