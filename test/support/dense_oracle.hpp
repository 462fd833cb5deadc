/// Slow, obviously right dense arithmetic that distributed results are compared with. Values are small integers, so that
/// sums are exact in every order.
#pragma once

#include "arges/tensor.hpp"
#include "support/symmetry_group.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace arges::test {

using Value = std::complex<double>;

/// A full tensor in key order.
struct Dense {
    std::vector<std::int64_t> extents;
    std::vector<Value> data;

    explicit Dense(std::vector<std::int64_t> n = {}) : extents(std::move(n)) {
        std::int64_t size = 1;
        for (auto e : extents) size *= e;
        data.assign(static_cast<std::size_t>(size), 0);
    }
    std::vector<std::int64_t> index(std::size_t key) const {
        std::vector<std::int64_t> x;
        x.reserve(extents.size());
        for (auto n : extents) {
            x.push_back(static_cast<std::int64_t>(key) % n);
            key /= static_cast<std::size_t>(n);
        }
        return x;
    }
    std::size_t key(const std::vector<std::int64_t>& x) const {
        std::size_t k = 0;
        for (std::size_t d = extents.size(); d-- > 0;) k = k * static_cast<std::size_t>(extents[d]) + static_cast<std::size_t>(x[d]);
        return k;
    }
    /// Calls function(key, index(key)) for each key, in order, until one call returns false. True if none did.
    template <class Function>
    bool all_of(Function&& function) const {
        std::vector<std::int64_t> x(extents.size(), 0);
        for (std::size_t k = 0; k < data.size(); ++k) {
            if (!function(k, std::as_const(x))) return false;
            for (std::size_t d = 0; d < x.size() && ++x[d] == extents[d]; ++d) x[d] = 0;
        }
        return true;
    }
    /// Calls function(key, index(key)) for each key, in order.
    template <class Function>
    void for_each(Function&& function) const {
        all_of([&](std::size_t k, const auto& x) {
            function(k, x);
            return true;
        });
    }
    Value& at(const std::vector<std::int64_t>& x) { return data[key(x)]; }
    const Value& at(const std::vector<std::int64_t>& x) const { return data[key(x)]; }
    /// key(permuted(x, g))
    std::size_t permuted_key(const std::vector<std::int64_t>& x, const GroupElement& g) const {
        std::size_t k = 0;
        for (std::size_t d = extents.size(); d-- > 0;)
            k = k * static_cast<std::size_t>(extents[d]) + static_cast<std::size_t>(x[static_cast<std::size_t>(g.image[d])]);
        return k;
    }
};

/// The value that an element of the group says R has, from the value at the permuted index.
inline Value related(const Dense& r, const std::vector<std::int64_t>& x, const GroupElement& g) {
    auto v = r.data[r.permuted_key(x, g)];
    if (g.conjugate) v = std::conj(v);
    return g.negative ? -v : v;
}

/// Are two values the same but for rounding?
inline bool is_near(Value a, Value b) { return a == b || std::abs(a - b) <= 1e-9 * (1 + std::abs(b)); }

/// A random tensor with a symmetry: random integers (or generic real numbers) summed over the group.
inline Dense random_dense(const std::vector<std::int64_t>& extents, const Symmetry& symmetry, bool complex, std::mt19937_64& random,
                          bool generic = false) {
    Dense raw(extents), result(extents);
    std::uniform_int_distribution<int> digit(-3, 3);
    std::uniform_real_distribution<double> real(0.5, 1.5);
    auto draw = [&] { return generic ? real(random) : static_cast<double>(digit(random)); };
    for (auto& v : raw.data) {
        const double re = draw();
        v = {re, complex ? draw() : 0.0};
    }
    const auto group = group_elements(symmetry);
    result.for_each([&](std::size_t k, const auto& x) {
        if (zero_by_symmetry(symmetry, group, x)) return;
        for (const auto& g : group) result.data[k] += related(raw, x, g);
    });
    return result;
}

/// A factor of a product: values and a label per dimension.
struct DenseFactor {
    Dense tensor;
    std::vector<int> labels;
    bool conjugated = false;
};

/// sum over all labels not in `output` of the product; labels only in the output are broadcast. Result over output labels.
inline Dense dense_product(const std::vector<DenseFactor>& factors, const std::vector<int>& output,
                           const std::vector<std::int64_t>& label_extents) {
    std::vector<std::int64_t> out_extents;
    for (int l : output) out_extents.push_back(label_extents[static_cast<std::size_t>(l)]);
    Dense result(out_extents);
    std::vector<bool> used(label_extents.size(), false);
    for (const auto& f : factors)
        for (int l : f.labels) used[static_cast<std::size_t>(l)] = true;
    for (int l : output) used[static_cast<std::size_t>(l)] = true;
    // Where the factors and the result are read and written, and how far a step of each label leads there.
    std::vector<std::size_t> at(factors.size() + 1, 0);
    std::vector<std::vector<std::size_t>> steps(label_extents.size(), at);
    auto add_steps = [&](std::size_t which, const std::vector<int>& labels, const std::vector<std::int64_t>& extents) {
        std::size_t stride = 1;
        for (std::size_t d = 0; d < labels.size(); ++d) {
            steps[static_cast<std::size_t>(labels[d])][which] += stride;
            stride *= static_cast<std::size_t>(extents[d]);
        }
    };
    for (std::size_t f = 0; f < factors.size(); ++f) add_steps(f, factors[f].labels, factors[f].tensor.extents);
    add_steps(factors.size(), output, out_extents);
    auto loop = [&](auto&& self, std::size_t l) -> void {
        if (l == label_extents.size()) {
            Value product = 1;
            for (std::size_t f = 0; f < factors.size(); ++f) {
                const auto value = factors[f].tensor.data[at[f]];
                product *= factors[f].conjugated ? std::conj(value) : value;
            }
            result.data[at.back()] += product;
            return;
        }
        const auto start = at;
        for (std::int64_t i = 0; i < (used[l] ? label_extents[l] : 1); ++i) {
            self(self, l + 1);
            for (std::size_t w = 0; w < at.size(); ++w) at[w] += steps[l][w];
        }
        at = start;
    };
    loop(loop, 0);
    return result;
}

/// Sum over the group of (+-) R.
inline Dense group_sum(const Dense& r, const std::vector<GroupElement>& group) {
    Dense result(r.extents);
    r.for_each([&](std::size_t k, const auto& x) {
        for (const auto& g : group) result.data[k] += related(r, x, g);
    });
    return result;
}

/// Does the element of the group leave R as it is?
inline bool keeps(const GroupElement& g, const Dense& r) {
    return r.all_of([&](std::size_t k, const auto& x) { return is_near(related(r, x, g), r.data[k]); });
}

/// How many elements of the group leave R as it is.
inline std::int64_t stabilizer_size(const Dense& r, const std::vector<GroupElement>& group) {
    return std::count_if(group.begin(), group.end(), [&](const auto& g) { return keeps(g, r); });
}

/// Converts a value to an element type.
template <class T>
T element(Value v) {
    if constexpr (std::is_same_v<T, real_of<T>>)
        return static_cast<T>(v.real());
    else
        return T(static_cast<real_of<T>>(v.real()), static_cast<real_of<T>>(v.imag()));
}

/// A distributed tensor with the values of a dense one; each rank writes every size-th key.
template <class T>
Tensor<T> distributed(const World& world, const Dense& dense, const Symmetry& symmetry, const std::string& name) {
    Tensor<T> tensor(world, dense.extents, symmetry, name);
    std::vector<std::int64_t> keys;
    std::vector<T> values;
    for (auto k = world.rank(); k < static_cast<std::int64_t>(dense.data.size()); k += world.size()) {
        keys.push_back(k);
        values.push_back(element<T>(dense.data[static_cast<std::size_t>(k)]));
    }
    tensor.write(keys, values);
    return tensor;
}

}  // namespace arges::test
