// Parts that ranks read for themselves, against the function that filled the tensor.
#include "redistribute/part_reader.hpp"

#include "interface/dense/tensor_state.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace arges {
namespace {

/// A number for each element.
double value_at(std::span<const std::int64_t> x) {
    double value = 1;
    for (const std::int64_t index : x) value = 31 * value + static_cast<double>(index);
    return value;
}

/// The elements of a part, first dimension fastest.
std::vector<double> elements_of(const Part& part) {
    std::vector<double> result;
    std::vector<std::int64_t> x = part.begin;
    for (std::int64_t k = 0; k < part.size(); ++k) {
        result.push_back(value_at(x));
        for (std::size_t d = 0; d < x.size(); ++d) {
            if (++x[d] < part.end[d]) break;
            x[d] = part.begin[d];
        }
    }
    return result;
}

class PartsOfTensors : public testing::TestWithParam<std::vector<std::int64_t>> {};

TEST_P(PartsOfTensors, are_read_by_the_ranks_that_want_them) {
    const World world;
    const std::vector<std::int64_t> extents = GetParam();
    Tensor<double> tensor(world, extents);
    tensor.fill([](Index x) { return value_at(x); });
    const TensorState& state = *tensor.state();
    const HostElements here(state);
    const PartReader reader(state.world->movement_communicator(), state.shape(), state.rank(), here.data(), sizeof(double));

    std::mt19937_64 random(41 + static_cast<std::uint64_t>(world.rank()));
    const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end)); };
    for (int round = 0; round < 12; ++round) {
        std::vector<Part> parts(static_cast<std::size_t>(below(4)));  // some ranks want nothing
        std::vector<std::vector<double>> got;
        std::vector<void*> to;
        for (Part& part : parts) {
            for (const std::int64_t extent : extents) {
                const std::int64_t begin = below(extent + 1);
                part.begin.push_back(begin);
                part.end.push_back(begin + below(extent - begin + 1));
            }
            got.emplace_back(static_cast<std::size_t>(part.size()), -1.0);
        }
        for (auto& elements : got) to.push_back(elements.data());
        reader.read(parts, to);
        for (std::size_t p = 0; p < parts.size(); ++p) {
            const std::vector<double> wanted = elements_of(parts[p]);
            EXPECT_EQ(got[p], wanted);
            if (const auto* const at_hand = static_cast<const double*>(reader.in_place(parts[p])); at_hand != nullptr) {
                EXPECT_EQ(std::vector<double>(at_hand, at_hand + wanted.size()), wanted);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Extents, PartsOfTensors,
                         testing::Values(std::vector<std::int64_t>{1}, std::vector<std::int64_t>{29}, std::vector<std::int64_t>{7, 5},
                                         std::vector<std::int64_t>{3, 1, 4}, std::vector<std::int64_t>{1, 2, 1, 1},
                                         std::vector<std::int64_t>{5, 4, 3, 6}));

TEST(PartsInPlace, on_one_rank_lie_where_they_are) {
    const World world;
    Tensor<double> tensor(world, {4, 3, 5});
    const TensorState& state = *tensor.state();
    const HostElements here(state);
    const PartReader reader(state.world->movement_communicator(), state.shape(), state.rank(), here.data(), sizeof(double));
    EXPECT_EQ(reader.in_place({{1, 0, 2}, {3, 3, 3}}), nullptr);
    EXPECT_EQ(reader.in_place({{0, 1, 2}, {4, 2, 4}}), nullptr);
    if (world.size() > 1) return;
    EXPECT_EQ(reader.in_place({{0, 0, 2}, {4, 3, 4}}), here.of<double>() + 24);
    EXPECT_EQ(reader.in_place({{0, 1, 2}, {4, 3, 3}}), here.of<double>() + 28);
}

}  // namespace
}  // namespace arges
