// Products of tensors with joint pair symmetry, R(ab,ij) = sum A(ab,ef) B(ef,ij): computed in parts that are symmetric and
// antisymmetric in the pairs, or from the rows of one of them and their mirror image.
#include "arges/arges.hpp"
#include "interface/world/world_state.hpp"
#include "support/dense_oracle.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

/// Labels a b e f i j (and q) with random extents; trees with the children's leaves in either order.
template <class T>
void check_pair_product(std::uint64_t seed) {
    const bool complex = !std::is_same_v<T, real_of<T>>;
    std::mt19937_64 random(seed);
    auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    const World world;
    world.state()->set_group_mapping(seed % 3 == 0 ? GroupMapping::blocks : GroupMapping::packed);
    const std::int64_t v = pick(0, 4), w = pick(1, 4), o = seed % 4 == 0 ? 12 : pick(1, 3);
    auto tree = [&](bool flipped, bool swapped) {
        // dims: 0 1 the first pair, 2 3 the second
        auto child = [&](int x, int y) { return flipped ? product({leaf(y), leaf(x)}) : product({leaf(x), leaf(y)}); };
        return Symmetry(4, swapped ? symmetric({child(1, 3), child(0, 2)}) : symmetric({child(0, 2), child(1, 3)}));
    };
    const auto tree_a = tree(pick(0, 1) == 1, pick(0, 1) == 1), tree_b = tree(pick(0, 1) == 1, pick(0, 1) == 1);
    const auto tree_c = pick(0, 2) == 0 ? Symmetry::none(4) : tree(pick(0, 1) == 1, false);
    const auto a = random_dense({v, v, w, w}, tree_a, complex, random), b = random_dense({w, w, o, o}, tree_b, complex, random);
    const auto c = random_dense({v, v, o, o}, tree_c, complex, random);
    const bool conjugated = complex && pick(0, 1) == 1;
    const auto A = distributed<T>(world, a, tree_a, "A"), B = distributed<T>(world, b, tree_b, "B");
    auto C = distributed<T>(world, c, tree_c, "C");
    const bool crossed = pick(0, 1) == 1;  // B(fe,ij): the pairs meet the other way round
    const char* const b_labels = crossed ? "feij" : "efij";
    Expression<T> right = A["abef"];
    right = (conjugated ? conj(right) : right) * B[b_labels];
    C["abij"].assign(T(3) * right, T(2));
    const std::vector<int> b_numbers = crossed ? std::vector<int>{3, 2, 4, 5} : std::vector<int>{2, 3, 4, 5};
    auto wanted = dense_product({{a, {0, 1, 2, 3}, conjugated}, {b, b_numbers, false}}, {0, 1, 4, 5}, {v, v, w, w, o, o});
    const auto got = C.gather();
    ASSERT_EQ(got.size(), wanted.data.size());
    for (std::size_t k = 0; k < got.size(); ++k)
        ASSERT_LE(std::abs(Value(got[k]) - (3.0 * wanted.data[k] + 2.0 * c.data[k])), 1e-10) << "key " << k;
    EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
}

TEST(PairProducts, OfDoublesEqualTheDenseReference) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        check_pair_product<double>(seed);
    }
}

TEST(PairProducts, OfComplexDoublesEqualTheDenseReference) {
    for (std::uint64_t seed = 1000; seed < 1060; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        check_pair_product<std::complex<double>>(seed);
    }
}

/// Rows are read where they are, also where some ranks have none.
TEST(PairProducts, ReadRowsThatLieOnSomeOfTheRanks) {
    const World world;
    std::mt19937_64 random(5);
    const auto pairs = Symmetry::parse("pqrs", "sym(sym(p,q),sym(r,s))"), pair = Symmetry::parse("rs", "sym(r,s)");
    const auto e = random_dense({6, 6, 6, 6}, pairs, false, random), d = random_dense({6, 6}, pair, false, random);
    for (std::size_t grid = 0; grid < world.state()->grids().size(); ++grid) {
        world.state()->tensor_grid = world.state()->grids()[grid];
        const auto E = distributed<double>(world, e, pairs, "E"), D = distributed<double>(world, d, pair, "D");
        Tensor<double> J(world, {6, 6}, pair, "J");
        J["pq"] = E["pqrs"] * D["rs"];
        const auto wanted = dense_product({{e, {0, 1, 2, 3}}, {d, {2, 3}}}, {0, 1}, {6, 6, 6, 6});
        const auto got = J.gather();
        for (std::size_t k = 0; k < got.size(); ++k) EXPECT_EQ(got[k], wanted.data[k].real()) << "key " << k;
    }
    world.state()->tensor_grid = world.state()->grid();
}

/// Few columns: reading is what counts, so the rows are read where they are. Many: the parts need the fewest flops.
TEST(PairProducts, AreComputedInTheWayThatIsCheaper) {
    const World world;
    for (const std::int64_t o : {1, 40}) {
        const std::int64_t v = 16;
        const Tensor<double> A(world, {v, v, v, v}, "abef", "sym(product(a,e),product(b,f))", "A");
        const Tensor<double> B(world, {v, v, o, o}, "efij", "sym(product(e,i),product(f,j))", "B");
        Tensor<double> C(world, {v, v, o, o}, "abij", "sym(product(a,i),product(b,j))", "C");
        const auto text = C["abij"].explain(A["abef"] * B["efij"]);
        if (o > 1 && world.device().kind == DeviceKind::none) {  // else reading rows is faster
            EXPECT_NE(text.find("(ef)"), std::string::npos) << text;
            const auto why =
                "C is computed in two parts, A+ B+ and A- B-, because A and B stay as they are when both of their pairs are exchanged";
            EXPECT_NE(text.find(why), std::string::npos) << text;
            for (const char* statement :
                 {"A+[abef] <- A[abef]\n", "B-[efij] <- B[efij]\n", "C[abij] <- A+[abef] * B+[efij]\n", "C[abij] <- A-[abef] * B-[efij]\n"})
                EXPECT_NE(text.find(statement), std::string::npos) << statement << text;
        }
        if (o == 1 && world.size() == 1) {
            EXPECT_NE(text.find("multiplies the rows of"), std::string::npos) << text;
            EXPECT_NE(text.find("note: half of the products are computed"), std::string::npos) << text;
        }
    }
}

}  // namespace
}  // namespace arges::test
