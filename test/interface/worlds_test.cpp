// Several worlds at once, transfer between them, dry runs and memory accounts.
#include "interface/wrong_uses.hpp"
#include "io/temporary_folder.hpp"
#include "support/tensor_checks.hpp"

#include "arges/machine.hpp"

#include <optional>

namespace arges::test {
namespace {

using Complex = std::complex<double>;

/// The ranks of MPI_COMM_WORLD with rank % modulus == remainder; outside() elsewhere.
class Part {
public:
    Part(const World& world, int modulus, int remainder) {
        const bool inside = world.rank() % modulus == remainder;
        MPI_Comm_split(world.communicator(), inside ? 1 : MPI_UNDEFINED, static_cast<int>(world.rank()), &comm_);
        world_.emplace(inside ? World(comm_) : World::outside());
        if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    }
    const World& operator*() const { return *world_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::optional<World> world_;
};

/// From one set of ranks to another and back, the two ends in different mappings.
void check_transfer(const World& world, const World& from, const World& to, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    if (to.takes_part()) to.state()->set_group_mapping(GroupMapping::blocks);
    int number = 0;
    for (const auto& shape : shapes_for(true)) {
        if (number++ % 3 != static_cast<int>(seed % 3)) continue;
        SCOPED_TRACE(shape.text());
        const auto dense = random_dense(shape.extents, shape.symmetry(), true, random);
        Tensor<Complex> source;
        if (from.takes_part()) source = distributed<Complex>(from, dense, shape.symmetry(), "A");
        const auto there = transfer(world, source, to);
        if (to.takes_part()) {
            expect_equal(there, dense);
            EXPECT_EQ(there.symmetry(), shape.symmetry());
        } else {
            EXPECT_THROW(there.order(), InvalidArgument);
        }
        const auto back = transfer(world, there, from);
        if (from.takes_part()) expect_equal(back, dense);
        if (shape.extents.empty()) continue;
        SparseTensor<Complex> sparse;
        if (from.takes_part()) sparse = SparseTensor<Complex>::from_dense(source);
        const auto sparse_there = transfer(world, sparse, to);
        if (to.takes_part()) {
            expect_equal(sparse_there.to_dense(), dense);
            EXPECT_EQ(sparse_there.symmetry(), shape.symmetry());
        }
        const auto sparse_back = transfer(world, sparse_there, from);
        if (from.takes_part()) {
            EXPECT_EQ(sparse_back.gather(), sparse.gather());
        }
    }
    if (to.takes_part()) to.state()->set_group_mapping(GroupMapping::packed);
}

TEST(Transfer, MovesBetweenAllRanksAndOne) {
    const World world;
    const auto alone = world.rank() == world.size() - 1 ? World(MPI_COMM_SELF) : World::outside();
    check_transfer(world, world, alone, 0);
    check_transfer(world, alone, world, 1);
}

TEST(Transfer, MovesBetweenHalves) {
    const World world;
    const Part even(world, 2, 0), odd(world, 2, world.size() > 1 ? 1 : 0);
    check_transfer(world, *even, *odd, 2);
    check_transfer(world, world, *even, 3);
    check_transfer(world, *odd, world, 4);
}

TEST(Worlds, LiveSideBySideOnDifferentCommunicators) {
    const World world, self(MPI_COMM_SELF);
    const Part part(world, 2, static_cast<int>(world.rank() % 2));
    const auto worlds = {world, self, *part};
    std::vector<Tensor<double>> A, C;
    for (const auto& w : worlds) {
        A.emplace_back(w, std::vector<std::int64_t>{6, 6}, std::vector<Relation>{SY, NS});
        C.emplace_back(w, std::vector<std::int64_t>{6, 6});
        A.back().fill_random(5);
    }
    for (std::size_t i = 0; i < A.size(); ++i) C[i]["ij"] = A[i]["ik"] * A[i]["kj"];
    for (std::size_t i = 1; i < A.size(); ++i) {
        EXPECT_EQ(A[i].gather(), A[0].gather());
        EXPECT_NEAR(C[i].norm(), C[0].norm(), 1e-13);
    }
    EXPECT_FALSE(world == self);
    const World same = world;
    EXPECT_TRUE(world == same);
}

TEST(Worlds, ReduceNumbers) {
    const World world;
    const auto last = world.size() - 1;
    EXPECT_EQ(world.maximum(world.rank() - 1), last - 1);
    EXPECT_EQ(world.sum(world.rank()), last * (last + 1) / 2);
    EXPECT_EQ(world.sum(0.5), 0.5 * static_cast<double>(world.size()));
    EXPECT_EQ(world.from_first("text of " + std::to_string(world.rank())), "text of 0");
}

TEST(Worlds, AreMadeForAMachine) {
    MachineModel constants;
    constants.flops_per_second = 1e12;
    const World world(constants);
    const auto found = machine_of(world);
    EXPECT_EQ(found.machine.flops_per_second, 1e12);
    EXPECT_EQ(found.grids.front().ranks(), world.size());
    EXPECT_EQ(world.size(), World().size());
}

TEST(Worlds, KeepAnAccountOfMemory) {
    World world{Device(DeviceKind::none)};
    EXPECT_EQ(world.memory_in_use(), 0);
    {
        const Tensor<double> A(world, {64, 64});
        const auto part = world.memory_in_use();
        EXPECT_GE(part * world.size(), 64 * 64 * 8);
        const Tensor<double> B(A);
        EXPECT_EQ(world.memory_in_use(), 2 * part);
        EXPECT_GE(world.memory_peak(), 2 * part);
    }
    EXPECT_EQ(world.memory_in_use(), 0);
    world.reset_peak();
    EXPECT_EQ(world.memory_peak(), 0);
    world.set_memory_limit(1000 + world.rank());
    EXPECT_EQ(world.memory_limit(), 1000);
    EXPECT_THROW(Tensor<double>(world, {64, 64}), OutOfMemory);
    EXPECT_EQ(world.memory_in_use(), 0);
}

TEST(Worlds, SpreadGroupsAsTheyAreTold) {
    World world;
    EXPECT_EQ(world.group_mapping(), GroupMapping::packed);
    const auto product_of = [&] {
        Tensor<double> A(world, {9, 9, 4}, "abi", "antisym(a,b)", "A"), B(world, {9, 9, 5}, "abj", "antisym(a,b)", "B"), C(world, {4, 5});
        A.fill([](Index x) { return static_cast<double>((x[0] - x[1]) * (1 + x[2])); });
        B.fill([](Index x) { return static_cast<double>((x[0] - x[1]) * (2 + x[2])); });
        C["ij"] = A["abi"] * B["abj"];
        C["ij"] += A["abi"] * B["abj"];
        return C.gather();
    };
    const auto packed = product_of();
    for (const auto mapping : {GroupMapping::blocks, GroupMapping::best}) {
        world.set_group_mapping(mapping);
        EXPECT_EQ(world.group_mapping(), mapping);
        EXPECT_EQ(World(world).group_mapping(), mapping) << "a copy is the same world";
        EXPECT_EQ(product_of(), packed);
    }
    if (world.size() > 1) {
        EXPECT_THROW(world.set_group_mapping(world.rank() == 0 ? GroupMapping::packed : GroupMapping::blocks), InvalidArgument);
        EXPECT_EQ(world.group_mapping(), GroupMapping::best);
    }
    const Environment set("ARGES_GROUP_MAPPING", "best");
    EXPECT_EQ(World().group_mapping(), GroupMapping::best);
    EXPECT_EQ(World::dry_run(4).group_mapping(), GroupMapping::best);
}

/// A tensor that was made in blocks is found there, and plans that are kept are not those of another choice.
TEST(Worlds, ChangeTheirMindAboutGroups) {
    World world;
    world.set_group_mapping(GroupMapping::blocks);
    Tensor<double> S(world, {8, 8}, "ab", "sym(a,b)", "S");
    S.fill_random(1);
    const auto s = S.gather();
    for (const auto mapping : {GroupMapping::best, GroupMapping::packed, GroupMapping::blocks}) {
        world.set_group_mapping(mapping);
        Tensor<double> R(world, {8, 8}, "ab", "sym(a,b)", "R");
        R["ab"] = S["ab"];
        R["ab"] += S["ab"];
        const auto r = R.gather();
        for (std::size_t k = 0; k < s.size(); ++k) EXPECT_EQ(r[k], 2 * s[k]);
    }
}

TEST(Worlds, TakeAnyTorusOfTheirSize) {
    const World world;
    for (const auto& torus : {Torus({world.size()}), Torus({1, world.size()}), Torus({world.size(), 1, 1})}) {
        const World folded(MPI_COMM_WORLD, torus);
        EXPECT_EQ(folded.torus(), torus);
        Tensor<double> A(folded, {5, 3});
        A.fill([](Index x) { return static_cast<double>(x[0] * x[1]); });
        EXPECT_EQ(A.sum(), 30);
    }
}

TEST(DryRuns, PlanWithoutData) {
    for (const std::int64_t ranks : {1, 6, 4096, 131072}) {
        auto world = World::dry_run(ranks);
        world.set_memory_limit(std::int64_t{1} << 50);
        EXPECT_TRUE(world.is_dry_run());
        EXPECT_EQ(world.size(), ranks);
        EXPECT_EQ(world.communicator(), MPI_COMM_NULL);
        Tensor<double> V(world, {400, 400, 400, 400}, "abcd", "antisym(a,b) antisym(c,d)", "V");
        Tensor<double> T(world, {400, 400, 40, 40}, "abij", "antisym(a,b) antisym(i,j)", "T"), Z(T);
        Z.set_name("Z");
        T.fill_random(1);
        Z["abij"] = 0.5 * V["abef"] * T["efij"];
        EXPECT_EQ(Z.norm(), 0);
        const auto plan = explain(Z["abij"], 0.5 * V["abef"] * T["efij"]);
        EXPECT_NE(plan.find("Z[abij] <- V[abef] * T[efij]"), std::string::npos) << plan;
        EXPECT_GT(world.memory_peak(), 0);
    }
}

/// Torus, nodes, constants and coordinates of a machine that is not there; what is given comes before what its file says.
TEST(DryRuns, AreOfTheMachineThatIsDescribed) {
    const World world;
    const TemporaryFolder folder(world);
    const auto file = folder.write("machine", "flops_per_second = 12345\nranks_per_node = 2\n");
    const auto places = folder.write("places", "5 1\n6 1\n7 1\n5 2\n6 2\n7 2\n");
    PlannedMachine machine;
    machine.torus = Torus({2, 3, 4});
    EXPECT_EQ(World::dry_run(machine).size(), 24);
    machine = PlannedMachine(8);
    machine.file = file;
    EXPECT_EQ(World::dry_run(machine).torus(), Torus({2, 4}));
    EXPECT_EQ(machine_of(World::dry_run(machine)).machine.flops_per_second, 12345);
    machine.ranks_per_node = 4;
    EXPECT_EQ(World::dry_run(machine).torus(), Torus({4, 2}));
    machine = PlannedMachine();
    machine.coordinates = places;
    EXPECT_EQ(World::dry_run(machine).torus(), Torus({3, 2}));
    for (const std::int64_t ranks : {5, 7}) {
        machine.ranks = ranks;
        EXPECT_THROW(World::dry_run(machine), InvalidArgument);
    }
    machine.ranks = 6;
    EXPECT_EQ(World::dry_run(machine).size(), 6);
    machine.torus = Torus({2, 3});
    EXPECT_THROW(World::dry_run(machine), InvalidArgument);
}

}  // namespace
}  // namespace arges::test
