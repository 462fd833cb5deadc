// Chains of local products in tiles of any size, over several algebras: against sums over all labels; and what they take of memory.
#include "execute/local_chain.hpp"

#include "arges/algebra.hpp"
#include "support/product_text.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <random>

namespace arges::test {
namespace {

struct ShortestPaths {
    using value_type = int;
    static constexpr int zero = 1 << 28, one = 0;
    static int add(int a, int b) { return std::min(a, b); }
    static int multiply(int a, int b) { return a + b; }
};

/// Products that fuse, with the order of their pairs.
struct ChainCase {
    std::string text;
    PairOrder order;
};

const std::vector<ChainCase> cases{
    {"ijk,ja,ka->ia", {{1, 2}, {0, 3}}},                          // the Khatri-Rao product first
    {"ijk,ja,ka->ia", {{0, 2}, {1, 3}}},                          // the tensor first
    {"ijk,ia,ja->ka", {{1, 2}, {0, 3}}},                          //
    {"ijkl,ja,ka,la->ia", {{2, 3}, {1, 4}, {0, 5}}},              // a chain of Khatri-Rao products
    {"ijkl,ja,ka,la->ia", {{0, 3}, {2, 4}, {1, 5}}},              // one factor after the other
    {"ijkl,ja,ka,la->ia", {{1, 2}, {0, 4}, {3, 5}}},              //
    {"ijkl,jb,kc,ld->ibcd", {{0, 3}, {2, 4}, {1, 5}}},            // TTMc
    {"ijkl,ib,jb,kc,ld->bcd", {{0, 1}, {2, 5}, {3, 6}, {4, 7}}},  //
    {"ij,jk,kl,lm->im", {{0, 1}, {2, 4}, {3, 5}}},                // matrices
    {"ia,ja,ka->a", {{0, 1}, {2, 3}}},                            //
    {"ijk,ij,k->", {{0, 1}, {2, 3}}},                             // a scalar
    {"ija,jka,kla->ila", {{0, 1}, {2, 3}}},                       // an axis of all
};

/// The product by the definition: over all indices of all labels.
template <class Algebra>
std::vector<typename Algebra::value_type> definition(const ProductPlan& plan,
                                                     const std::vector<std::vector<typename Algebra::value_type>>& values) {
    const auto place = [&](std::size_t o, const std::vector<std::int64_t>& index) {
        std::int64_t result = 0, stride = 1;
        for (int a : plan.operands[o].axes) {
            result += index[static_cast<std::size_t>(a)] * stride;
            stride *= plan.axes[static_cast<std::size_t>(a)].size;
        }
        return static_cast<std::size_t>(result);
    };
    std::vector<typename Algebra::value_type> result(values.back().size(), Algebra::zero);
    std::vector<std::int64_t> index(plan.axes.size(), 0);
    bool more = std::all_of(plan.axes.begin(), plan.axes.end(), [](const auto& axis) { return axis.size > 0; });
    while (more) {
        auto product = Algebra::one;
        for (std::size_t o = 0; o < plan.result(); ++o) product = Algebra::multiply(product, values[o][place(o, index)]);
        auto& sum = result[place(plan.result(), index)];
        sum = Algebra::add(sum, product);
        more = false;
        for (std::size_t a = 0; a < index.size() && !more; ++a) {
            more = ++index[a] < plan.axes[a].size;
            if (!more) index[a] = 0;
        }
    }
    return result;
}

/// Random extents and tiles; the result is added to what is there. Returns the chains that were cut.
template <class Algebra>
int check_random_chains(std::uint64_t seed, int repetitions) {
    using T = typename Algebra::value_type;
    std::mt19937_64 random(seed);
    const auto& kernels = std::is_same_v<Algebra, PlusTimes<T>> ? tested_kernels<T>() : algebra_kernels<Algebra>();
    int cut = 0;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        const auto& c = cases[random() % cases.size()];
        std::map<char, std::int64_t> extents;
        for (char l : c.text)
            if (std::isalpha(l) != 0) extents[l] = static_cast<std::int64_t>(1 + random() % 7);
        if (random() % 4 == 0) extents.begin()->second = 0;
        if (c.text.size() < 16) extents[c.text[0]] = static_cast<std::int64_t>(64 + random() % 100);
        auto spec = product_of(c.text, extents, 1);
        spec.element_bytes = sizeof(T);
        const auto plan = unmapped_plan(spec, c.order);
        std::vector<std::int64_t> length;
        for (const auto& axis : plan.axes) length.push_back(axis.size);
        std::vector<std::vector<T>> values;
        std::vector<LocalPiece> pieces;
        for (const auto& operand : plan.operands) {
            LocalPiece piece{{operand.axes, {}, {}, 0}, nullptr};
            std::int64_t elements = 1;
            for (int a : operand.axes) {
                piece.block.sizes.push_back(length[static_cast<std::size_t>(a)]);
                piece.block.strides.push_back(elements);
                elements *= length[static_cast<std::size_t>(a)];
            }
            auto& list = values.emplace_back();
            for (std::int64_t i = 0; i < elements; ++i) list.push_back(static_cast<T>(static_cast<real_of<T>>(random() % 3)));
            pieces.push_back(piece);
        }
        for (std::size_t o = 0; o < values.size(); ++o) pieces[o].array = reinterpret_cast<std::byte*>(values[o].data());
        const bool adds = random() % 2 == 0;
        auto expected = definition<Algebra>(plan, values);
        if (adds)
            for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = Algebra::add(expected[i], values.back()[i]);
        const auto tile_bytes = static_cast<std::int64_t>(sizeof(T)) << (random() % 9);
        const LocalChain chain(plan, length, tile_bytes);
        for (const auto& part : tiled_products(plan, length, tile_bytes / static_cast<std::int64_t>(sizeof(T))))
            cut += part.tiles.empty() ? 0 : 1;
        Workspace workspace;
        workspace.reserve(chain.workspace_bytes());
        chain.run(kernels, pieces, nullptr, adds ? nullptr : kernels.zero, workspace);
        EXPECT_EQ(values.back(), expected) << c.text << " in tiles of " << tile_bytes << " bytes, seed " << seed << ", " << repetition;
        if (::testing::Test::HasFailure()) return cut;
    }
    return cut;
}

TEST(LocalChain, IsTheProductInTilesOfAnySize) {
    EXPECT_GT(check_random_chains<PlusTimes<double>>(1, 600), 40);
    EXPECT_GT(check_random_chains<PlusTimes<float>>(2, 600), 40);
    EXPECT_GT(check_random_chains<PlusTimes<std::complex<double>>>(3, 600), 40);
    EXPECT_GT(check_random_chains<PlusTimes<std::int32_t>>(4, 600), 40);
    EXPECT_GT(check_random_chains<ShortestPaths>(5, 600), 40);
}

/// Tiles are no larger than the room for them, and buffers between products are no larger than without tiles.
TEST(LocalChain, TakesLessMemoryInTiles) {
    const auto plan = unmapped_plan(product_of("ijk,ja,ka->ia", {{'i', 60}, {'j', 50}, {'k', 40}, {'a', 24}}, 1), {{1, 2}, {0, 3}});
    std::vector<std::int64_t> length;
    for (const auto& axis : plan.axes) length.push_back(axis.size);
    EXPECT_EQ(LocalChain(plan, length, 1 << 30).workspace_bytes(), 50 * 40 * 24 * 8);
    for (const std::int64_t room : {64 << 10, 40 << 10}) {
        const auto bytes = LocalChain(plan, length, room).workspace_bytes();
        EXPECT_LE(bytes, room);
        EXPECT_GT(bytes, room / 2);
    }
}

}  // namespace
}  // namespace arges::test
