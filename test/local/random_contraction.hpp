/// Random contractions for the kernel tests.
#pragma once

#include "local/fold.hpp"
#include "local/random_values.hpp"

#include <array>
#include <vector>

namespace arges::local::test {

/// A contraction with the number of elements that each operand spans.
struct Case {
    FoldedContraction f;
    std::int64_t extent_a = 1, extent_b = 1, extent_c = 1;
};

/// Gives one operand random strides along the axes of its three groups; returns what it spans.
inline std::int64_t set_strides(std::array<std::vector<FoldAxis>*, 3> groups, OperandStride stride, Random& random) {
    std::vector<FoldAxis*> axes;
    for (auto* group : groups)
        for (FoldAxis& axis : *group) axes.push_back(&axis);
    std::vector<std::int64_t> sizes;
    for (const FoldAxis* axis : axes) sizes.push_back(axis->size);
    std::int64_t extent = 1;
    const auto strides = random_strides(sizes, random, extent);
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i]->*stride = strides[i];
    return extent;
}

/// Gives all three operands random strides.
inline void set_strides(Case& c, Random& random) {
    c.extent_a = set_strides({&c.f.m, &c.f.k, &c.f.batch}, &FoldAxis::stride_a, random);
    c.extent_b = set_strides({&c.f.k, &c.f.n, &c.f.batch}, &FoldAxis::stride_b, random);
    c.extent_c = set_strides({&c.f.m, &c.f.n, &c.f.batch}, &FoldAxis::stride_c, random);
}

/// 0, 1 or another number.
template <class T>
T random_factor(Random& random) {
    const std::int64_t choice = random.integer(0, 3);
    return choice < 2 ? T(static_cast<real_of<T>>(choice)) : random.element<T>();
}

}  // namespace arges::local::test
