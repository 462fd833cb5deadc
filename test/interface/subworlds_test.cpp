// Parts of a tensor on worlds over subsets of ranks, different ones on different ranks in one call.
#include "arges/subworlds.hpp"

#include "support/tensor_checks.hpp"

#include <optional>

namespace arges::test {
namespace {

/// The ranks with the same remainder form a world each; with `gap` the last group has none.
class Groups {
public:
    Groups(const World& world, int groups, bool gap) : number_(static_cast<int>(world.rank() % groups)) {
        const bool outside = gap && number_ == groups - 1;
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_split(world.communicator(), outside ? MPI_UNDEFINED : number_, static_cast<int>(world.rank()), &comm);
        world_.emplace(outside ? World::outside() : World(comm));
        if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
    const World& world() const { return *world_; }
    int number() const { return number_; }

private:
    int number_;
    std::optional<World> world_;
};

double made_element(Index x) {
    double value = 1;
    for (auto i : x) value = 10 * value + static_cast<double>(i);
    return value;
}

TEST(Subworlds, EachGroupReadsAPartOfItsOwn) {
    const World world;
    Tensor<double> A(world, {9, 7, 5}, "A");
    A.fill(made_element);
    for (const int groups : {1, 2, 3})
        for (const bool gap : {false, true}) {
            const Groups group(world, groups, gap && groups > 1);
            const std::int64_t g = group.number();
            Tensor<double> part;
            if (group.world().takes_part()) part = Tensor<double>(group.world(), {4, 3 + g, 5});
            // Dimensions 1, 2, 0 of the part are 0, 1, 2 of the whole.
            read_part(A, part, {{g, 2, 1}, {1, 2, 0}});
            if (!group.world().takes_part()) continue;
            const auto values = part.gather();
            for (std::size_t k = 0; k < values.size(); ++k) {
                const auto x = part.index(static_cast<std::int64_t>(k));
                ASSERT_EQ(values[k], made_element(std::vector<std::int64_t>{g + x[1], 2 + x[2], 1 + x[0]}));
            }
        }
}

TEST(Subworlds, PartsOfAllGroupsAddUp) {
    const World world;
    for (const int groups : {1, 2, 3}) {
        const Groups group(world, groups, false);
        const auto present = std::min<std::int64_t>(groups, world.size());
        Tensor<double> A(world, {8, 6}), part(group.world(), {3, 4});
        A.fill(made_element);
        part.fill([&](Index x) { return 1000.0 * (group.number() + 1) + made_element(x); });
        add_part(A, part, {{1, group.number()}, {1, 0}}, -2.0);
        const auto values = A.gather();
        for (std::size_t k = 0; k < values.size(); ++k) {
            const auto x = A.index(static_cast<std::int64_t>(k));
            double expected = made_element(x);
            for (std::int64_t g = 0; g < present; ++g) {
                const std::vector<std::int64_t> at{x[1] - g, x[0] - 1};
                if (at[0] >= 0 && at[0] < 3 && at[1] >= 0 && at[1] < 4)
                    expected -= 2 * (1000.0 * static_cast<double>(g + 1) + made_element(at));
            }
            ASSERT_EQ(values[k], expected);
        }
    }
}

TEST(Subworlds, SymmetryIsKept) {
    const World world;
    const Groups group(world, 2, false);
    Tensor<double> A(world, {6, 6, 2}, "abi", "antisym(a,b)", "A");
    A.fill_random(1);
    const auto before = A.gather();
    Tensor<double> block(group.world(), {4, 4, 2}, "abi", "antisym(a,b)", "block");
    read_part(A, block, {{2, 2, 0}});
    EXPECT_EQ(block.gather(), A.slice({2, 2, 0}, {6, 6, 2}).gather());
    add_part(A, block, {{2, 2, 0}});
    const auto after = A.gather();
    const double times = world.size() > 1 ? 2 : 1;
    for (std::size_t k = 0; k < after.size(); ++k) {
        const auto x = A.index(static_cast<std::int64_t>(k));
        const bool inside = x[0] >= 2 && x[1] >= 2;
        ASSERT_NEAR(after[k], before[k] * (inside ? 1 + times : 1), 1e-15);
    }
    // Exchanged ranges of related dimensions need the same range and the symmetry.
    Tensor<double> plain(group.world(), {4, 4, 2}), beside(group.world(), {2, 3, 2});
    EXPECT_THROW(add_part(A, plain, {{2, 2, 0}}), InvalidArgument);
    EXPECT_THROW(add_part(A, plain, {{1, 2, 0}}), InvalidArgument);
    EXPECT_EQ(A.gather(), after);
    beside.fill(1);
    add_part(A, beside, {{0, 3, 0}});
    EXPECT_NEAR(A.read({A.key({4, 1, 0})})[0], after[static_cast<std::size_t>(A.key({4, 1, 0}))] - times, 1e-15);
}

TEST(Subworlds, WrongPlacesAreRefusedOnAllRanks) {
    const World world;
    Tensor<int> A(world, {5, 5}), none;
    const bool last = world.rank() == world.size() - 1;
    const World self(MPI_COMM_SELF);
    Tensor<int> part(self, {3, 2}), line(self, {3});
    const auto read = [&](Tensor<int>& mine, const PartPlace& place) { last ? read_part(A, mine, place) : read_part(A, none); };
    EXPECT_THROW(read(part, {{3, 0}, {}}), InvalidArgument);
    EXPECT_THROW(read(part, {{0, -1}, {}}), InvalidArgument);
    EXPECT_THROW(read(part, {{}, {0, 0}}), InvalidArgument);
    EXPECT_THROW(read(part, {{1}, {}}), InvalidArgument);
    EXPECT_THROW(read(line, {}), InvalidArgument);
    EXPECT_THROW(read_part(none, part), InvalidArgument);
    read(part, {{3, 0}, {1, 0}});
    EXPECT_EQ(part.gather(), std::vector<int>(6, 0));
}

}  // namespace
}  // namespace arges::test
