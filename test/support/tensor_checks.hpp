/// What tests of tensors share: comparison with dense references, both ways to spread symmetric groups, seeds.
#pragma once

#include "arges/arges.hpp"
#include "interface/world/world_state.hpp"
#include "support/dense_oracle.hpp"
#include "support/shapes.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace arges::test {

template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, real_of<T>>;

/// Puts new tensors on another of the world's grids, on which some ranks are idle.
inline void turn_grid_of_new_tensors(const World& world) {
    const auto& grids = world.state()->grids();
    auto& grid = world.state()->tensor_grid;
    grid = grids[(static_cast<std::size_t>(std::find(grids.begin(), grids.end(), grid) - grids.begin()) + 1) % grids.size()];
}

/// Calls f() with packed and with block layouts (on one rank they are the same), and where some ranks are idle.
template <class F>
void with_all_mappings(const World& world, F&& f) {
    if (world.state()->grids().size() > 1) {
        SCOPED_TRACE("idle ranks");
        turn_grid_of_new_tensors(world);
        f();
        world.state()->tensor_grid = world.state()->grid();
    }
    for (auto mapping : {GroupMapping::packed, GroupMapping::blocks}) {
        if (mapping == GroupMapping::blocks && world.size() == 1) break;
        SCOPED_TRACE(mapping == GroupMapping::packed ? "packed groups" : "groups in blocks");
        world.state()->set_group_mapping(mapping);
        world.state()->prepared().clear();
        f();
    }
    world.state()->set_group_mapping(GroupMapping::packed);
}

inline std::int64_t random_integer(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// The dense values as elements.
template <class T>
std::vector<T> elements(const Dense& dense) {
    std::vector<T> result;
    for (const auto& v : dense.data) result.push_back(element<T>(v));
    return result;
}

/// Every rank sees the values of a dense tensor. Values are small integers: no rounding.
template <class T>
void expect_equal(const Tensor<T>& tensor, const Dense& dense) {
    EXPECT_EQ(tensor.extents(), dense.extents);
    EXPECT_EQ(tensor.gather(), elements<T>(dense));
}

/// Many ranks on few cores are slow: only each so many-th case runs there.
inline std::uint64_t thinning(const World& world) { return world.size() > 4 ? 4 : world.size() == 4 ? 2 : 1; }

/// Runs f(shape, dense tensor, distributed tensor) over all shapes, those with a symmetry in both mappings. On four ranks and
/// more over some of them; which ones depends on the seed.
template <class T, class F>
void for_each_shape(const World& world, std::uint64_t seed, F&& f) {
    with_all_mappings(world, [&] {
        std::mt19937_64 random(seed);
        std::uint64_t number = seed;
        for (const auto& shape : shapes_for(is_complex<T>)) {
            if (shape.tree.empty() && world.state()->group_mapping() == GroupMapping::blocks) continue;
            if (++number % thinning(world) != 0) continue;
            SCOPED_TRACE(shape.text());
            const auto dense = random_dense(shape.extents, shape.symmetry(), is_complex<T>, random);
            f(shape, dense, distributed<T>(world, dense, shape.symmetry(), "A"));
        }
    });
}

/// All keys of a tensor.
template <class T>
std::vector<std::int64_t> all_keys(const Tensor<T>& tensor) {
    std::vector<std::int64_t> keys(static_cast<std::size_t>(tensor.size()));
    for (std::size_t k = 0; k < keys.size(); ++k) keys[k] = static_cast<std::int64_t>(k);
    return keys;
}

}  // namespace arges::test
