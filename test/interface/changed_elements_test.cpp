#include "interface/dense/changed_elements.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace arges::test {
namespace {

/// Changes at random, some of them many times; a bit for each element, and a set where few are expected.
TEST(ChangedElements, TellFirstChangesAndTakeAllBack) {
    std::mt19937_64 random(1);
    for (const std::int64_t size : {1, 63, 64, 65, 1000, 200000})
        for (const std::int64_t changes : {std::int64_t(0), std::int64_t(1), size / 100, 2 * size})
            for (const std::int64_t expected : {std::int64_t(0), changes}) {
                std::vector<double> data(static_cast<std::size_t>(size));
                for (auto& value : data) value = static_cast<double>(random() % 1000);
                const auto original = data;
                std::set<std::int64_t> known;
                ChangedElements changed(reinterpret_cast<std::byte*>(data.data()), sizeof(double), size, expected);
                for (std::int64_t c = 0; c < changes; ++c) {
                    const auto offset = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size));
                    ASSERT_EQ(changed.first(offset), known.insert(offset).second);
                    data[static_cast<std::size_t>(offset)] += static_cast<double>(1 + random() % 5);
                }
                EXPECT_EQ(data == original, changes == 0);
                changed.undo();
                EXPECT_EQ(data, original) << size << " elements, " << changes << " changes, " << expected << " expected";
            }
}

}  // namespace
}  // namespace arges::test
