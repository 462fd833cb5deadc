#include "layout/element_locator.hpp"

#include "support/movements.hpp"
#include "support/shapes.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace arges::test {
namespace {

/// What stands at the location of each element is its value, also on the ranks with copies.
void check_locator(const Layout& layout, const Dense& dense) {
    ElementLocator locator(layout);
    std::vector<std::vector<Value>> arrays;
    for (std::int64_t r = 0; r < layout.grid().ranks(); ++r) arrays.push_back(local_array(layout, dense, r));
    const auto offsets = copy_offsets(layout);
    EXPECT_EQ(static_cast<std::int64_t>(offsets.size()), layout.copies());
    EXPECT_EQ(offsets[0], 0);
    for (std::size_t i = 1; i < offsets.size(); ++i) EXPECT_LT(offsets[i - 1], offsets[i]);
    for (std::size_t key = 0; key < dense.data.size(); ++key) {
        const auto x = dense.index(key);
        const auto at = locator.locate(x.data()), by_key = locator.locate_key(static_cast<std::int64_t>(key));
        EXPECT_EQ(std::tie(at.zero, at.negative, at.conjugate, at.real),
                  std::tie(by_key.zero, by_key.negative, by_key.conjugate, by_key.real));
        if (at.zero) {
            EXPECT_TRUE(by_key.zero);
            EXPECT_EQ(dense.data[key], 0.0);
            continue;
        }
        EXPECT_EQ(std::tie(at.rank, at.offset), std::tie(by_key.rank, by_key.offset));
        EXPECT_TRUE(layout.is_first_copy(at.rank));
        if (at.real) {
            EXPECT_EQ(dense.data[key].imag(), 0);
        }
        for (const auto offset : offsets) {
            auto value = arrays.at(static_cast<std::size_t>(at.rank + offset)).at(static_cast<std::size_t>(at.offset));
            if (at.conjugate) value = std::conj(value);
            EXPECT_EQ(at.negative ? -value : value, dense.data[key]) << "key " << key;
        }
    }
}

TEST(ElementLocator, FindsEveryElementOfRandomLayouts) {
    const std::vector<RankGrid> grids{{{}}, {{2}}, {{3}}, {{2, 2}}, {{3, 2}}, {{2, 3, 2}}};
    std::mt19937_64 random(3);
    for (const auto& shape : shapes()) {
        const auto dense = random_dense(shape.extents, shape.symmetry(), true, random);
        for (const auto& grid : grids)
            for (const bool blocks : {false, true}) {
                const auto layout = random_layout(grid, shape.extents, shape.symmetry(), random, blocks);
                SCOPED_TRACE(shape.text() + ": " + layout.to_string());
                check_locator(layout, dense);
                if (testing::Test::HasFailure()) return;
            }
    }
}

}  // namespace
}  // namespace arges::test
