// Products of several factors on the best grid and on any other, whole, in windows and tile by tile: the result, and that the bytes sent
// are those of the plan.
#include "execute/run_product.hpp"

#include "plan/report/plan_report.hpp"
#include "support/movements.hpp"
#include "support/random_network.hpp"
#include "support/tensor_checks.hpp"
#include "support/test_device.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

Product spec_of(const RandomNetwork& network, const RankGrid& grid, std::mt19937_64& random) {
    Product spec;
    auto operand = [&](const NetworkOperand& o, const std::string& name) {
        const auto extents = network.extents_of(o);
        return Operand{random_layout(grid, extents, o.symmetry, random, false), o.labels, false, name};
    };
    for (std::size_t f = 0; f < network.factors.size(); ++f) spec.factors.push_back(operand(network.factors[f], "T" + std::to_string(f)));
    spec.output = operand({network.output, Symmetry::none(static_cast<int>(network.output.size()))}, "C");
    spec.label_extents = network.extents;
    for (std::size_t l = 0; l < network.extents.size(); ++l) spec.label_names.emplace_back(1, static_cast<char>('a' + l));
    LabelTerm identity;
    for (std::size_t l = 0; l < network.extents.size(); ++l) identity.image.push_back(static_cast<int>(l));
    spec.terms = {identity};
    return spec;
}

/// Any order of the pairwise products.
PairOrder random_order(const Product& spec, std::mt19937_64& random) {
    PairOrder order;
    std::vector<int> nodes;
    for (std::size_t f = 0; f < spec.factors.size(); ++f) nodes.push_back(static_cast<int>(f));
    for (int next = static_cast<int>(nodes.size()); nodes.size() > 1; ++next) {
        std::shuffle(nodes.begin(), nodes.end(), random);
        order.push_back({nodes[nodes.size() - 2], nodes.back()});
        nodes.pop_back();
        nodes.back() = next;
    }
    return order;
}

class FusedProducts : public testing::Test {
protected:
    void check(const ProductPlan& plan, const RandomNetwork& network, std::mt19937_64& random) {
        SCOPED_TRACE(explain(plan));
        const auto tile_bytes = random() % 2 == 0 ? LocalChain::cached_bytes : std::int64_t{8} << (random() % 6);
        ProductRun run(plan, comm_.size() > 1 ? &comm_ : nullptr, tile_bytes);
        auto local = [&](const Layout& layout, const Dense& dense) {
            std::vector<double> result;
            for (const auto& v : local_array(layout, dense, comm_.rank())) result.push_back(v.real());
            return result;
        };
        std::vector<std::vector<double>> inputs;
        std::vector<SourceArray> pointers;
        for (std::size_t f = 0; f < network.values.size(); ++f) inputs.push_back(local(plan.spec.factors[f].layout, network.values[f]));
        for (const auto& input : inputs) pointers.emplace_back(input.data());
        auto expected = network.reference();
        const auto before = random_dense(expected.extents, Symmetry::none(static_cast<int>(expected.extents.size())), false, random);
        for (std::size_t k = 0; k < expected.data.size(); ++k) expected.data[k] = 2.0 * expected.data[k] - before.data[k];
        const auto wanted = local(plan.spec.output.layout, expected);
        Workspace workspace;
        workspace.reserve(run.workspace_bytes());
        std::vector<std::vector<double>> kept;
        std::vector<void*> stay;
        for (std::size_t f = 0; f < inputs.size(); ++f) {
            const bool stays = f < plan.stay.size() && plan.stay[f];
            kept.emplace_back(stays ? static_cast<std::size_t>(plan.stay[f]->local_size(comm_.rank())) : 0, 99.0);
            stay.push_back(stays && !kept.back().empty() ? static_cast<void*>(kept.back().data()) : nullptr);
        }
        auto c = local(plan.spec.output.layout, before);
        const auto sent = comm_.traffic().bytes_sent;
        const double alpha = 2, beta = -1;
        run.run(tested_kernels<double>(), pointers, c.data(), &alpha, &beta, stay, workspace);
        EXPECT_EQ(comm_.traffic().bytes_sent - sent, run.volume().sent * 8);
        for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i] + 0.0, wanted[i] + 0.0) << "offset " << i;
        for (std::size_t f = 0; f < inputs.size(); ++f) EXPECT_EQ(inputs[f], local(plan.spec.factors[f].layout, network.values[f]));
        for (std::size_t f = 0; f < inputs.size(); ++f)
            if (!kept[f].empty()) {
                EXPECT_EQ(kept[f], local(*plan.stay[f], network.values[f])) << "input " << f << " where it stays";
            }
    }

    bool failed_anywhere() const { return comm_.maximum(testing::Test::HasFailure() ? 1 : 0) != 0; }

    Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(FusedProducts, GiveTheDenseResultOnTheBestGrid) {
    const auto grid = unfold(Torus({comm_.size()}));
    for (std::uint64_t seed = 0; seed < 100 && !failed_anywhere(); ++seed) {
        std::mt19937_64 random(seed);
        const RandomNetwork network(random, 2 + static_cast<int>(seed % 4), seed % 3 == 0);
        SCOPED_TRACE(network.text());
        PlanOptions options;
        if (seed % 2 == 0) options.grids = grids_for_products(Torus({comm_.size()}));
        const auto spec = spec_of(network, grid, random);
        check(plan_on_grid(spec, random_order(spec, random), options), network, random);
    }
}

TEST_F(FusedProducts, WorkOnAnyGridInAnyWindows) {
    const auto grids = grids_for_products(Torus({comm_.size()}));
    for (std::uint64_t seed = 0; seed < 200 && !failed_anywhere(); ++seed) {
        std::mt19937_64 random(1000 + seed);
        const RandomNetwork network(random, 2 + static_cast<int>(seed % 4), seed % 3 == 0);
        SCOPED_TRACE(network.text());
        const auto spec = spec_of(network, grids[random() % grids.size()], random);
        const auto& grid = grids[random() % grids.size()];
        const auto axes = axes_of(spec);
        std::vector<SlotMapping> mapping(axes.size());
        for (int t = 0; t < grid.dimensions() && !axes.empty(); ++t)
            if (random() % 4 != 0) mapping[random() % axes.size()].torus.push_back(t);
        auto plan = plan_with_mapping(spec, random_order(spec, random), grid, mapping, {});
        if (seed % 2 == 0 && !axes.empty()) {
            for (int a = 0; a < static_cast<int>(axes.size()); ++a)
                if (random() % 3 == 0) plan.windows.push_back({a, 2 + static_cast<std::int64_t>(random() % 3)});
            std::shuffle(plan.windows.begin(), plan.windows.end(), random);
            plan.stay.assign(plan.result(), std::nullopt);
        }
        check(plan, network, random);
    }
}

/// The smaller the limit, the more slices; the result stays.
TEST(FusedMemory, IsCutIntoSlicesWithTheSameResult) {
    World world;
    Tensor<double> X(world, {30, 20, 25}, "X"), A(world, {20, 6}, "A"), B(world, {25, 6}, "B"), C(world, {30, 6}, "C");
    X.fill([](Index x) { return static_cast<double>((3 * x[0] + x[1] + 2 * x[2]) % 7); });
    A.fill([](Index x) { return static_cast<double>((x[0] + 5 * x[1]) % 11); });
    B.fill([](Index x) { return static_cast<double>((2 * x[0] + x[1]) % 5); });
    C["ia"] = X["ijk"] * A["ja"] * B["ka"];
    const auto wanted = C.gather();
    int worked = 0, sliced = 0, refused = 0;
    const auto whole = world.memory_limit();
    for (std::int64_t extra = 120000; extra > 100; extra = extra * 2 / 3) {
        world.set_memory_limit(whole);  // filling and gathering take memory too
        C.fill(-1);
        world.set_memory_limit(world.memory_in_use() + extra);
        try {
            sliced += C["ia"].explain(X["ijk"] * A["ja"] * B["ka"]).find("for lack of memory") != std::string::npos ? 1 : 0;
            C["ia"] = X["ijk"] * A["ja"] * B["ka"];
        } catch (const OutOfMemory& error) {
            EXPECT_NE(std::string(error.what()).find("ranks"), std::string::npos) << error.what();
            ++refused;
            continue;
        }
        ++worked;
        EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
        EXPECT_LE(world.last_report().peak_memory_bytes, extra);
        world.set_memory_limit(whole);
        EXPECT_EQ(C.gather(), wanted);
    }
    EXPECT_GT(worked, 5);
    EXPECT_GT(sliced, 0);
}

}  // namespace
}  // namespace arges::test
