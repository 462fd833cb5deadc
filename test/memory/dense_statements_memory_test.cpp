// Lists of movements that statements of dense tensors keep, in the account of the world.
#include "arges/arges.hpp"
#include "interface/world/world_state.hpp"
#include "plan/product/step_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace arges::test {
namespace {

class DenseStatementsMemory : public ::testing::Test {
protected:
    Tensor<double> random(const std::vector<std::int64_t>& extents, const std::string& labels = "", const std::string& tree = "") {
        Tensor<double> result(world_, extents, tree.empty() ? Symmetry() : Symmetry::parse(labels, tree));
        result.fill_random(3);
        return result;
    }

    World world_;
};

/// Lists that are kept go where a tensor needs their room, on one rank alone as well.
TEST_F(DenseStatementsMemory, KeptListsAreGivenBack) {
    if (world_.size() == 1) GTEST_SKIP() << "these movements have short lists on one rank";
    const auto S = random({60, 60, 60, 60}, "abcd", "sym(a,b,c,d)");
    Tensor<double> C(world_, {60, 60}), x(world_, {60, 60});
    x.fill_random(5);
    auto& state = *world_.state();
    const auto run = [&] { C["ab"] = S["abcd"] * x["cd"]; };
    run();
    const auto expected = C.gather();
    run();
    const auto kept = state.kept_lists();
    EXPECT_GT(kept, PlanMemory::small_lists);
    EXPECT_GE(state.taken_peak(), world_.memory_in_use() + kept);
    state.make_room(state.free_bytes());
    EXPECT_EQ(state.kept_lists(), 0);
    run();
    EXPECT_EQ(state.kept_lists(), kept);
    if (world_.rank() == 0) state.give_lists_back();
    run();
    EXPECT_EQ(state.kept_lists(), kept);
    EXPECT_EQ(C.gather(), expected);
    world_.set_memory_limit(world_.memory_limit());  // forgets plans
    EXPECT_EQ(state.kept_lists(), 0);
}

/// Where the lists of the fastest plan do not fit, another is taken: of statements of few indices, whose lists are as long as their
/// tensors.
TEST_F(DenseStatementsMemory, OwnListsChangePlans) {
    struct Case {
        std::string output;
        std::array<std::string, 2> labels, trees;
        std::int64_t extent;
    };
    for (const auto& [output, labels, trees, n] :
         std::vector<Case>{{"a", {"abc", "bc"}, {"sym(a,b,c)", ""}, 40}, {"a", {"bac", "cb"}, {"sym(a,b)", "antisym(a,b)"}, 60}}) {
        const auto factor = [&, length = n, &l = labels, &t = trees](std::size_t f) {
            return random(std::vector<std::int64_t>(l[f].size(), length), std::string("abc").substr(0, l[f].size()), t[f]);
        };
        const auto S = factor(0), x = factor(1);
        Tensor<double> C(world_, std::vector<std::int64_t>(output.size(), n));
        auto& state = *world_.state();
        const auto run = [&, &c = output, &l = labels] { C[c] = S[l[0]] * x[l[1]]; };
        run();
        const auto expected = C.gather();
        const auto room = state.communicator().minimum(state.kept_lists() + state.workspace().capacity());
        const auto free = room / 4;
        world_.set_memory_limit(world_.memory_in_use() + free);
        run();
        run();
        EXPECT_LE(state.kept_lists() + state.kept_workspace(), free + PlanMemory::small_lists) << output << " within " << free;
        world_.set_memory_limit(std::int64_t{1} << 33);
        const auto found = C.gather();
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-9) << output << " within " << free;
    }
}

}  // namespace
}  // namespace arges::test
