/// A case's tensors and its statement.
#pragma once

#include <arges/arges.hpp>

#include "cases.hpp"

namespace bench {

inline arges::Tensor<double> random_tensor(const arges::World& world, const Operand& o, std::uint64_t seed) {
    arges::Tensor<double> t(world, o.extents, o.labels, o.symmetry, "tensor " + o.labels);
    t.fill_random(seed);
    return t;
}

/// The right-hand side, over tensors of random numbers.
inline arges::Expression<double> right_of(const arges::World& world, const Case& c) {
    arges::Expression<double> product(c.factor);
    for (std::size_t f = 0; f < c.factors.size(); ++f) product = product * random_tensor(world, c.factors[f], f + 4)[c.factors[f].labels];
    return c.antisymmetrize ? antisymmetrized(product) : product;
}

}  // namespace bench
