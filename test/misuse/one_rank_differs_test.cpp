// Collective calls in which one rank differs from the others: what may differ does no harm, anything else is an exception on every rank.
#include "base/digest.hpp"
#include "interface/wrong_uses.hpp"
#include "misuse/on_last.hpp"
#include "support/test_device.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

namespace arges::test {
namespace {

TEST(OneRankDiffers, NamesMayDifferBetweenRanks) {
    const World world;
    Tensor<double> A(world, {6, 6}, on_last<std::string>(world, "A", "another name")),
        B(world, {6, 6}, on_last<std::string>(world, "", "B"));
    Tensor<double> C(world, {6, 6}, "C");
    A.fill_random(1);
    B.fill_random(2);
    for (int run = 0; run < 3; ++run) {
        C["ij"] = A["ji"];
        EXPECT_LT((C["ij"] = C["ij"] - A["ji"], C.norm()), 1e-14);
        C["ij"] = B["ji"];
        EXPECT_LT((C["ij"] = C["ij"] - B["ji"], C.norm()), 1e-14);
    }
}

TEST(OneRankDiffers, LettersMayDifferBetweenRanks) {
    const World world;
    Tensor<double> A(world, {5, 4}), B(world, {4, 5}), C(world, {5, 5}), D(world, {5, 5});
    A.fill_random(1);
    B.fill_random(2);
    for (int run = 0; run < 3; ++run) {
        if (last(world))
            C["xz"] = A["xy"] * B["yz"];
        else
            C["ij"] = A["ik"] * B["kj"];
    }
    D["ij"] = A["ik"] * B["kj"];
    D["ij"] -= C["ij"];
    EXPECT_LT(D.norm(), 1e-13);
}

/// A world of the first rank only, on that rank.
std::optional<World> world_of_first(const World& all) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_split(all.communicator(), all.rank() == 0 ? 0 : MPI_UNDEFINED, 0, &own);
    if (own == MPI_COMM_NULL) return std::nullopt;
    std::optional<World> world(own);
    MPI_Comm_free(&own);
    return world;
}

TEST(OneRankDiffers, NamedTensorsThatWereTransferredFromOneRank) {
    const World all;
    const auto first = world_of_first(all);
    Tensor<double> F, G;
    if (first) {
        F = Tensor<double>(*first, {6, 6}, "F");
        G = Tensor<double>(*first, {6, 6}, "G");
        F.fill_random(1);
        G.fill_random(2);
    }
    const auto A = transfer(all, F, all), B = transfer(all, G, all);
    EXPECT_EQ(A.name(), "F");
    Tensor<double> C(all, {6, 6});
    C["ij"] = A["ji"];
    C["ij"] = B["ji"];
    C["ij"] -= B["ji"];
    EXPECT_EQ(C.norm(), 0);
}

TEST(OneRankDiffers, PlansThatOneRankExplains) {
    const World world;
    Tensor<double> A(world, {2, 2, 2, 2, 2, 2}), C(world, {2, 2, 2, 2, 2, 2}), one(world, {2}), two(world, {2});
    A.fill_random(1);
    std::string labels = "abcdef", moved = labels;
    // So many different statements that the store of plans overflows; the last rank also explains others.
    for (int n = 0; n < 1100; ++n) {
        std::next_permutation(moved.begin(), moved.end());
        const double factor = n % 2 == 0 ? 1.0 : 2.0;
        if (last(world) && n % 3 == 0) static_cast<void>(C[labels].explain(A["fedcba"] * one["a"] * two["b"]));
        if (n % 2 == 0)
            C[labels] = A[moved];
        else
            C[labels] = factor * A[moved] * A[labels];
    }
    C[labels] = A[labels];
    C[labels] -= A[labels];
    EXPECT_EQ(C.norm(), 0);
}

TEST(OneRankDiffers, ExplainKeepsNoPlan) {
    const World world;
    Tensor<double> A(world, {5, 4}), B(world, {4, 5}), C(world, {5, 5});
    const auto before = world.state()->prepared().size();
    EXPECT_FALSE(C["ij"].explain(A["ik"] * B["kj"]).empty());
    EXPECT_EQ(world.state()->prepared().size(), before);
}

/// Runs a call with more and more memory: each time either all ranks are refused with the same words, or none.
void with_rising_memory(const World& world, const std::function<void()>& call) {
    constexpr std::int64_t enough = std::int64_t{1} << 20;
    for (std::int64_t free = 0; free <= enough; free = free == 0 ? 1 << 10 : free * 2) {
        const auto used = world.state()->communicator().maximum(world.memory_in_use());
        World(world).set_memory_limit(used + free);
        std::string message;
        const auto exception = caught(call, message);
        EXPECT_TRUE(exception == "none" || exception == "OutOfMemory") << exception << ": " << message;
        EXPECT_TRUE(world.state()->communicator().all_equal(Digest().add(exception).add(message).value())) << message;
        if (free == enough) {
            EXPECT_EQ(exception, "none") << message;
        }
    }
}

TEST(OneRankDiffers, MemoryOfOneRankCountsForAll) {
    const World world;
    auto extra = std::make_unique<Tensor<double>>(world, std::vector<std::int64_t>{64, 64 * world.size()});
    Tensor<double> A(world, {60, 60}), B(world, {60, 60}), C(world, {60, 60});
    A.fill_random(1);
    B.fill_random(2);
    SparseTensor<double> S(world, {60, 60});
    const Keys keys{1 + world.rank()};
    const Reals values{1};
    if (!last(world)) extra.reset();  // destructors are local
    with_rising_memory(world, [&] { C["ij"] = A["ik"] * B["kj"]; });
    with_rising_memory(world, [&] { C["ij"] = C["ji"] + A["ij"]; });
    with_rising_memory(world, [&] { static_cast<void>(A.slice({0, 0}, {30, 60})); });
    with_rising_memory(world, [&] { qr(A["i|j"]); });
    with_rising_memory(world, [&] { svd(A["i|j"]); });
    with_rising_memory(world, [&] { S.write(keys, values, Duplicates::keep_first); });
    with_rising_memory(world, [&] { const SparseTensor<double> copy(S); });
}

TEST(OneRankDiffers, Arguments) {
    check_uses({
        {ARGES_USE(Tensor<double> T(world, {on_last<std::int64_t>(world, 6, 7), 6})), invalid, {"Tensor", "differ between ranks"}, 2},
        {ARGES_USE(Tensor<double> T(world, {on_last<std::int64_t>(world, -6, 6), 6})), invalid, {"-6"}, 2},
        {ARGES_USE(Tensor<double> T(world, {6, 6}, "ij", on_last<std::string>(world, "", "sym(i,j)"))), invalid, {"symmetry", "differ"}, 2},
        {ARGES_USE(Tensor<double> T(world, {6, 6}, "ij", on_last<std::string>(world, "sym(i,", "sym(i,j)"))), invalid, {"sym(i,"}, 2},
        {ARGES_USE(if (last(world)) Tensor<float> T(world, {6}); else Tensor<double> T(world, {6})), invalid, {"element type"}, 2},
        {ARGES_USE(N["ij"] = N["ij"] * on_last(world, 2.0, 3.0)), invalid, {"a statement differs", "N[\"ij\"] (4 x 4)"}, 2},
        {ARGES_USE(N["ij"] *= on_last(world, 2.0, 3.0)), invalid, {"a statement differs"}, 2},
        {ARGES_USE(N["ij"] += on_last(world, 1.0, 0.0) * S["ij"]), invalid, {"a statement differs"}, 2},
        {ARGES_USE(N[on_last<std::string>(world, "ij", "ji")] = S["ij"] * N["ij"]), invalid, {"a statement differs"}, 2},
        {ARGES_USE(N["ij"] = last(world) ? S["ij"] : A["ij"]), invalid, {"a statement differs", "S[\"ij\"]", "A[\"ij\"]"}, 2},
        {ARGES_USE(if (last(world)) N["ij"] = S["ij"] + A["ij"]; else N["ij"] = S["ij"]), invalid, {"a statement differs"}, 2},
        {ARGES_USE(N["ij"] = S[on_last<std::string>(world, "ijk", "ij")]), invalid, {"3 labels"}, 2},
        {ARGES_USE(if (last(world)) N["ij"] = F["ij"]; else N["ij"] = S["ij"]), invalid, {"different worlds"}, 2},
        {ARGES_USE(if (last(world)) A["ij"] = N["ij"]; else A["ij"] = canonical(N["ij"])), invalid, {"A"}, 2},
        {ARGES_USE(static_cast<void>(M.slice({on_last<std::int64_t>(world, 0, 1), 0}, {3, 3}))),
         invalid,
         {"Tensor::slice", "arguments differ"},
         2},
        {ARGES_USE(static_cast<void>(M.slice({0, 0}, {on_last<std::int64_t>(world, 9, 3), 3}))),
         invalid,
         {"Tensor::slice", "arguments differ"},
         2},
        {ARGES_USE(M.set_slice({on_last<std::int64_t>(world, 0, 1), 0}, M.slice({0, 0}, {2, 2}))), invalid, {"Tensor::set_slice"}, 2},
        {ARGES_USE(M.set_slice({0, 0}, M.slice({0, 0}, {2, 2}), on_last(world, 1.0, 2.0))), invalid, {"Tensor::set_slice"}, 2},
        {ARGES_USE(static_cast<void>(S.with_symmetry(last(world) ? Symmetry() : S.symmetry()))), invalid, {"Tensor::with_symmetry"}, 2},
        {ARGES_USE(static_cast<void>(N.gather_to(on_last<std::int64_t>(world, 0, 1)))), invalid, {"Tensor::gather_to"}, 2},
        {ARGES_USE(static_cast<void>(N.gather_to(on_last<std::int64_t>(world, -1, 0)))), invalid, {"Tensor::gather_to"}, 2},
        {ARGES_USE(N.accumulate(Keys{1}, Reals{1}, 1.0, on_last(world, 1.0, 2.0))), invalid, {"Tensor::accumulate"}, 2},
        {ARGES_USE(SparseTensor<double> T(world, {on_last<std::int64_t>(world, 6, 7)})), invalid, {"SparseTensor", "arguments differ"}, 2},
        {ARGES_USE(if (last(world)) SparseTensor<float> T(world, {6}); else SparseTensor<double> T(world, {6})),
         invalid,
         {"SparseTensor", "arguments differ"},
         2},
        {ARGES_USE(SparseTensor<double> T(world, {6}); T.accumulate(Keys{1}, Reals{1}, 1.0, on_last(world, 1.0, 2.0))),
         invalid,
         {"SparseTensor::accumulate", "arguments differ"},
         2},
        {ARGES_USE(SparseTensor<double> T(world, {6}); T.drop(on_last(world, 1.0, 2.0))), invalid, {"SparseTensor::drop"}, 2},
        {ARGES_USE(SparseTensor<double> T(world, {6}); static_cast<void>(T.read(Keys{on_last<std::int64_t>(world, 6, 5)}))),
         invalid,
         {"key 6 is out of range"},
         2},
        {ARGES_USE(static_cast<void>(N.dot(last(world) ? S : N))), invalid, {"Tensor::dot"}, 2},
        {ARGES_USE(static_cast<void>(einsum<double>(on_last<std::string>(world, "ij,jk->ik", "ij,jk->ki"), {&N, &S}))),
         invalid,
         {"einsum"},
         2},
        {ARGES_USE(static_cast<void>(einsum<double>(on_last<std::string>(world, "ij,jk->", "ij,jk-"), {&N, &S}))), invalid, {"einsum"}, 2},
        {ARGES_USE(World w(MPI_COMM_WORLD,
                           Torus({1, on_last<std::int64_t>(world, world.size(), 1), on_last<std::int64_t>(world, 1, world.size())}))),
         invalid,
         {"World", "arguments differ"},
         2},
    });
}

TEST(OneRankDiffers, AStatementIsGoodAgainAfterwards) {
    const World world;
    Tensor<double> A(world, {6, 6}), C(world, {6, 6});
    A.fill_random(3);
    for (int run = 0; run < 3; ++run) {
        if (world.size() > 1) {
            EXPECT_THROW(C["ij"] = on_last(world, 2.0, 1.0) * A["ji"], InvalidArgument);
        }
        C["ij"] = A["ji"];
        C["ij"] -= A["ji"];
        EXPECT_EQ(C.norm(), 0);
    }
}

TEST(OneRankDiffers, Environment) {
    const World outer;
    if (outer.size() == 1) GTEST_SKIP() << "one rank cannot differ from itself";
    const auto error_with = [&](const char* variable, const char* there, const char* elsewhere) {
        const Environment set(variable, on_last(outer, there, elsewhere));
        std::string message;
        const auto exception = caught([] { const World world; }, message);
        EXPECT_TRUE(outer.state()->communicator().all_equal(Digest().add(exception).add(message).value())) << message;
        return exception == "none" ? exception : exception + ": " + message;
    };
    EXPECT_NE(error_with("ARGES_GROUP_MAPPING", "blocks", "packed").find("InvalidArgument: ARGES_GROUP_MAPPING or ARGES_DEVICE differs"),
              std::string::npos);
    EXPECT_NE(error_with("ARGES_GROUP_MAPPING", "no such", "packed").find("\"no such\" is not known"), std::string::npos);
    EXPECT_NE(error_with("ARGES_DEVICE", "cuda", "none").find("ARGES_DEVICE"), std::string::npos);
    EXPECT_NE(error_with("ARGES_MEMORY_LIMIT", "much", "1G").find("\"much\" is not a size"), std::string::npos);
    EXPECT_NE(error_with("ARGES_CALL_TIMEOUT", "soon", "1").find("\"soon\" is not a number of seconds"), std::string::npos);
    EXPECT_EQ(error_with("ARGES_MEMORY_LIMIT", "1G", "2G"), "none");
    const Environment set("ARGES_MEMORY_LIMIT", on_last(outer, "1G", "2G"));
    EXPECT_EQ(World().memory_limit(), std::int64_t{1} << 30);
}

TEST(OneRankDiffers, Device) {
    const World outer;
    if (outer.size() == 1) GTEST_SKIP() << "one rank cannot differ from itself";
    const TestDevice device;
    const auto make = [&](const Device& there, const Device& elsewhere) { return World(MPI_COMM_WORLD, on_last(outer, there, elsewhere)); };
    std::string message;
    EXPECT_EQ(caught([&] { make(Device(DeviceKind::cuda), Device(DeviceKind::none)); }, message), "InvalidArgument");
    EXPECT_NE(message.find("or the Device of a World; use the same on every rank"), std::string::npos) << message;
    EXPECT_EQ(make(Device(DeviceKind::cuda, 1000), Device(DeviceKind::cuda, 2000)).device().memory_limit, 1000);
}

}  // namespace
}  // namespace arges::test
