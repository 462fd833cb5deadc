// Lists of movements that statements of dense tensors keep, in the account of the world.
#include "arges/arges.hpp"
#include "interface/world/world_state.hpp"
#include "plan/product/step_memory.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace arges::test
