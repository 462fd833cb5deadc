// Contractions on every kind of grid, with and without panels: the result, and that the bytes sent are those of the plan.
#include "execute/run_product.hpp"

#include "plan/product/pair_split.hpp"
#include "plan/product/plan_candidates.hpp"
#include "plan/report/plan_report.hpp"
#include "support/contractions.hpp"
#include "support/movements.hpp"
#include "support/needed_bytes.hpp"
#include "support/tensor_checks.hpp"
#include "support/test_device.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

/// A contraction with dense values for its operands.
struct Problem {
    Product spec;
    std::vector<DenseFactor> inputs;
    Dense c, expected;  // expected: 2 * (projection of A * B) - C
};

Problem make_problem(const ContractionText& text, const RankGrid& grid, GroupMapping mapping, std::mt19937_64& random) {
    Problem p;
    p.spec = pairwise_product(text, grid, mapping);
    for (const auto& input : p.spec.factors)
        p.inputs.push_back({random_dense(input.layout.extents(), input.layout.symmetry(), false, random), input.labels, false});
    p.c = random_dense(p.spec.output.layout.extents(), p.spec.output.layout.symmetry(), false, random);
    const auto raw = dense_product(p.inputs, p.spec.output.labels, p.spec.label_extents);
    p.expected = p.c;
    for (std::size_t k = 0; k < raw.data.size(); ++k) {
        std::vector<std::int64_t> v(p.spec.label_extents.size(), 0), x = raw.index(k);
        for (std::size_t d = 0; d < x.size(); ++d) v[static_cast<std::size_t>(p.spec.output.labels[d])] = x[d];
        Value sum = 0;
        for (const auto& term : p.spec.terms) {
            auto y = x;
            for (std::size_t d = 0; d < x.size(); ++d)
                y[d] = v[static_cast<std::size_t>(term.image[static_cast<std::size_t>(p.spec.output.labels[d])])];
            sum += term.negative ? -raw.at(y) : raw.at(y);
        }
        p.expected.data[k] = 2.0 * sum - p.c.data[k];
    }
    return p;
}

std::vector<double> real_array(const Layout& layout, const Dense& dense, std::int64_t rank) {
    std::vector<double> result;
    for (const auto& v : local_array(layout, dense, rank)) result.push_back(v.real());
    return result;
}

class Contractions : public testing::Test {
protected:
    /// Runs a plan twice and checks result and bytes.
    void check(const ProductPlan& plan, const Problem& p) {
        SCOPED_TRACE(explain(plan));
        const auto rank = comm_.rank();
        ProductRun run(plan, comm_.size() > 1 ? &comm_ : nullptr);
        std::vector<std::vector<double>> inputs;
        for (std::size_t o = 0; o < p.inputs.size(); ++o)
            inputs.push_back(real_array(plan.spec.factors[o].layout, p.inputs[o].tensor, rank));
        std::vector<SourceArray> pointers;
        for (const auto& input : inputs) pointers.emplace_back(input.data());
        const auto before = real_array(plan.spec.output.layout, p.c, rank);
        const auto expected = real_array(plan.spec.output.layout, p.expected, rank);
        Workspace workspace;
        workspace.reserve(run.workspace_bytes());
        std::int64_t planned = 0;
        for (const auto& v : exact_volume(plan, rank)) planned += v.sent;
        EXPECT_EQ(run.volume().sent, planned);
        for (int repeat = 0; repeat < 2; ++repeat) {
            auto c = before;
            const auto sent = comm_.traffic().bytes_sent;
            const double alpha = 2, beta = -1;
            run.run(tested_kernels<double>(), pointers, c.data(), &alpha, &beta, {}, workspace);
            EXPECT_EQ(comm_.traffic().bytes_sent - sent, planned * 8);
            for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(c[i] + 0.0, expected[i] + 0.0) << "offset " << i;
            for (std::size_t o = 0; o < inputs.size(); ++o)
                EXPECT_EQ(inputs[o], real_array(plan.spec.factors[o].layout, p.inputs[o].tensor, rank)) << "input " << o;
        }
    }

    bool failed_anywhere() const { return comm_.maximum(testing::Test::HasFailure() ? 1 : 0) != 0; }

    Communicator comm_{MPI_COMM_WORLD};
};

/// A random assignment of torus dimensions to groups that fits.
std::vector<SlotMapping> random_mapping(const Product& spec, const std::vector<Axis>& groups, bool blocks, std::mt19937_64& random) {
    const auto& grid = spec.output.layout.grid();
    std::vector<std::vector<std::vector<int>>> torus(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) torus[g].resize(groups[g].labels.size());
    for (int t = 0; t < grid.dimensions(); ++t) {
        const auto g = random() % (groups.size() + 1);
        if (g < groups.size()) torus[g][blocks ? random() % torus[g].size() : 0].push_back(t);
    }
    std::vector<SlotMapping> result(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (!blocks || groups[g].labels.size() == 1) {
            result[g].torus = torus[g][0];
            continue;
        }
        int next = 0;
        const auto& tree = groups[g].node();
        auto by_position = [&](auto&& self, const SymmetryNode& node) -> SymmetryNode {
            SymmetryNode numbered{node.kind, node.kind == NodeKind::leaf ? next++ : -1, {}};
            for (const auto& child : node.children) numbered.children.push_back(self(self, child));
            return numbered;
        };
        result[g] = block_mapping(grid, by_position(by_position, tree), torus[g]);
    }
    return result;
}

TEST_F(Contractions, GiveTheDenseResultAndMoveWhatThePlanSays) {
    std::mt19937_64 random(1);
    for (const auto mapping : {GroupMapping::packed, GroupMapping::blocks})
        for (const auto& [name, text] : contraction_cases(4, 3, 4)) {
            SCOPED_TRACE(name);
            const auto p = make_problem(text, unfold(Torus({comm_.size()})), mapping, random);
            PlanOptions options;
            options.group_mapping = mapping;
            check(plan_contraction(p.spec, options), p);
            if (failed_anywhere()) return;
        }
}

/// Windows of any axes that can be cut, in any order.
void cut_at_random(ProductPlan& plan, std::mt19937_64& random) {
    for (std::size_t a = 0; a < plan.axes.size(); ++a)
        if (random() % 2 == 0) plan.windows.push_back({static_cast<int>(a), 2 + static_cast<std::int64_t>(random() % 2)});
    std::shuffle(plan.windows.begin(), plan.windows.end(), random);
    plan.stay.assign(plan.result(), std::nullopt);
}

/// Not only the best grid: any assignment of the torus to the axes, windows along any axes.
TEST_F(Contractions, WorkOnAnyGridInAnyWindows) {
    std::mt19937_64 random(2);
    for (const auto& [name, text] : contraction_cases(4, 3, 4))
        for (int trial = 0; trial < 4; ++trial) {
            SCOPED_TRACE(name + " trial " + std::to_string(trial));
            const bool blocks = trial % 2 != 0;
            const auto p = make_problem(text, unfold(Torus({comm_.size()})), blocks ? GroupMapping::blocks : GroupMapping::packed, random);
            const auto groups = axes_of(p.spec);
            auto plan = plan_with_mapping(p.spec, p.inputs.size() > 1 ? PairOrder{{0, 1}} : PairOrder{}, p.spec.output.layout.grid(),
                                          random_mapping(p.spec, groups, blocks, random), {});
            if (trial >= 2) cut_at_random(plan, random);
            check(plan, p);
            if (failed_anywhere()) return;
        }
}

/// Cases in which one input is a pair node that the product breaks up.
std::map<std::string, ContractionText> row_cases() {
    std::map<char, std::int64_t> n;
    for (char l = 'a'; l <= 'z'; ++l) n[l] = 3;
    return {
        {"eightfold", {{"pq", "sym(p,q)"}, {"pqrs", "sym(sym(p,q),sym(r,s))"}, {"rs", "sym(r,s)"}, n}},
        {"eightfold, many columns, second input", {{"xpqy", ""}, {"xyrs", "sym(r,s)"}, {"rspq", "sym(sym(p,q),sym(r,s))"}, n}},
        {"antisymmetric children", {{"qp", "antisym(q,p)"}, {"sr", "antisym(s,r)"}, {"pqrs", "sym(antisym(q,p),antisym(r,s))"}, n}},
        {"one antisymmetric child turned", {{"pq", "antisym(p,q)"}, {"rs", "antisym(r,s)"}, {"pqrs", "sym(antisym(q,p),antisym(r,s))"}, n}},
        {"antisymmetric pair", {{"pqx", ""}, {"pqrs", "antisym(sym(p,q),sym(r,s))"}, {"rsx", "sym(r,s)"}, n}},
        {"matrix and vector", {{"p", ""}, {"pq", "antisym(p,q)"}, {"q", ""}, n}},
        {"matrix and matrix", {{"px", ""}, {"qx", ""}, {"qp", "hollow(q,p)"}, n}},
        {"products", {{"abij", ""}, {"abef", "sym(product(a,e),product(b,f))"}, {"efij", ""}, n}},
        {"products, summed first", {{"abx", ""}, {"eafb", "antisym(product(e,a),product(f,b))"}, {"xef", ""}, n}},
        {"products, free and summed child", {{"aex", ""}, {"aebf", "sym(product(a,e),product(b,f))"}, {"bfx", ""}, n}},
        {"scalar", {{"", ""}, {"pq", "sym(p,q)"}, {"pq", ""}, n}},
    };
}

/// The input's layout by rows, on a random part of the torus.
void distribute_rows(Operand& input, std::mt19937_64& random) {
    SlotMapping mapping;
    mapping.rows = true;
    for (int t = 0; t < input.layout.grid().dimensions(); ++t)
        if (random() % 3 != 0) mapping.torus.push_back(t);
    input.layout = Layout(input.layout.grid(), input.layout.extents(), input.layout.symmetry(), {mapping});
}

TEST_F(Contractions, ReadPairNodesByRows) {
    std::mt19937_64 random(3);
    int planned = 0;
    for (const auto& [name, text] : row_cases())
        for (int trial = 0; trial < 3; ++trial) {
            SCOPED_TRACE(name);
            auto p = make_problem(text, unfold(Torus({comm_.size()})), GroupMapping::packed, random);
            for (auto& input : p.spec.factors)
                if (input.layout.slots() == 1 && input.layout.symmetry().slots()[0].children.size() == 2 &&
                    input.layout.symmetry().slots()[0].kind != NodeKind::product)
                    distribute_rows(input, random);
            const auto plan = plan_by_rows(p.spec, {});
            if (!plan) continue;
            ++planned;
            check(*plan, p);
            if (failed_anywhere()) return;
        }
    EXPECT_GE(planned, 24);
}

/// With joint pair symmetry half of the products are enough.
TEST_F(Contractions, AddTheMirrorImageOfHalfOfTheProducts) {
    std::mt19937_64 random(4);
    std::map<char, std::int64_t> n;
    for (char l = 'a'; l <= 'z'; ++l) n[l] = 3;
    for (const auto* tree : {"", "sym(product(a,i),product(b,j))"}) {
        const ContractionText text{
            {"abij", tree}, {"abef", "sym(product(a,e),product(b,f))"}, {"efij", "sym(product(e,i),product(f,j))"}, n};
        auto p = make_problem(text, unfold(Torus({comm_.size()})), GroupMapping::packed, random);
        distribute_rows(p.spec.factors[0], random);
        const auto pairs = joint_pair(p.spec.factors[0], p.spec.factors[1], p.spec.output.labels);
        ASSERT_TRUE(pairs.has_value());
        const auto plan = plan_by_rows(p.spec, {}, mirror_of(*pairs, p.spec.output.labels, p.spec.label_extents.size()));
        ASSERT_TRUE(plan.has_value());
        EXPECT_TRUE(plan->rows->once);
        check(*plan, p);
    }
}

/// Through statements: the smaller the limit, the more panels; the result stays.
TEST(MemoryLimit, CutsStatementsIntoPanelsWithTheSameResult) {
    World world;
    Tensor<double> A(world, {40, 60}), B(world, {60, 40}), C(world, {40, 40});
    Tensor<std::complex<double>> V(world, {6, 6, 6, 6}, "abef", "antisym(a,b) antisym(e,f)"), Z(V);
    A.fill([](Index x) { return static_cast<double>((3 * x[0] + x[1]) % 7); });
    B.fill([](Index x) { return static_cast<double>((x[0] + 5 * x[1]) % 11); });
    V.fill([](Index x) {
        const auto value = static_cast<double>((x[1] - x[0]) * (x[3] - x[2]));
        return std::complex<double>(value, -2 * value);
    });
    C["ij"] = A["ik"] * B["kj"];
    Z["abij"] = conj(V["abef"]) * V["efij"];
    const auto wanted = C.gather();
    const auto wanted_z = Z.gather();
    int worked = 0, refused = 0;
    const auto whole = world.memory_limit();
    for (std::int64_t extra = 60000; extra > 100; extra = extra * 2 / 3) {
        for (const bool complex : {false, true}) {
            world.set_memory_limit(world.memory_in_use() + extra);
            C.fill(-1);
            Z.fill(0);
            try {
                if (complex)
                    Z["abij"] = conj(V["abef"]) * V["efij"];
                else
                    C["ij"] = A["ik"] * B["kj"];
            } catch (const OutOfMemory&) {
                ++refused;
                continue;
            }
            ++worked;
            EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
            EXPECT_LE(world.last_report().peak_memory_bytes, extra);
            world.set_memory_limit(whole);  // gathering takes memory too
            if (complex)
                EXPECT_EQ(Z.gather(), wanted_z);
            else
                EXPECT_EQ(C.gather(), wanted);
        }
    }
    EXPECT_GT(worked, 5);
    if (world.size() > 1) {
        EXPECT_GT(refused, 0);
    }
}

/// Ladders of coupled cluster, which were once refused although they fit: what an error asks for is enough.
TEST(MemoryLimit, LaddersRunWithTheLeastThatAnErrorNames) {
    World world;
    const std::int64_t v = 10, o = 6;
    for (const bool symmetric : {true, false}) {
        const auto tree = [&](const char* text) { return std::string(symmetric ? text : ""); };
        Tensor<double> V(world, {v, v, v, v}, "abef", tree("antisym(a,b) antisym(e,f)"));
        Tensor<double> T(world, {v, v, o, o}, "efij", tree("antisym(e,f) antisym(i,j)"));
        Tensor<double> Z(world, {v, v, o, o}, "abij", tree("antisym(a,b) antisym(i,j)"));
        V.fill([](Index x) { return static_cast<double>((x[1] - x[0]) * (x[3] - x[2]) % 13); });
        T.fill([](Index x) { return static_cast<double>((x[1] - x[0]) * (x[3] - x[2]) % 7); });
        Z["abij"] = V["abef"] * T["efij"];
        const auto wanted = Z.gather();
        const auto whole = world.memory_limit(), tensors = world.memory_in_use();
        std::int64_t least = 0;
        world.set_memory_limit(tensors);
        try {
            Z["abij"] = V["abef"] * T["efij"];
        } catch (const OutOfMemory& error) {
            least = needed_bytes(error);
        }
        EXPECT_TRUE(least > 0 || world.size() == 1);
        world.set_memory_limit(tensors + least);
        Z.fill(0);
        Z["abij"] = V["abef"] * T["efij"];
        EXPECT_LE(world.last_report().peak_memory_bytes, least);
        EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
        world.set_memory_limit(whole);
        EXPECT_EQ(Z.gather(), wanted);
    }
}

}  // namespace
}  // namespace arges::test
