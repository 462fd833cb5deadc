/// Slow, obviously right dense arithmetic that distributed results are compared with. Values are small integers, so that
/// sums are exact in every order.
#pragma once

#include "arges/tensor.hpp"
#include "symmetry/permutation_group.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <map>
#include <random>
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
    Value& at(const std::vector<std::int64_t>& x) { return data[key(x)]; }
    const Value& at(const std::vector<std::int64_t>& x) const { return data[key(x)]; }
};

inline std::vector<std::int64_t> permuted(const std::vector<std::int64_t>& x, const SignedPermutation& p) {
    std::vector<std::int64_t> y;
    for (int d : p.image) y.push_back(x[static_cast<std::size_t>(d)]);
    return y;
}

/// True if two children of an antisymmetric or hollow node have equal indices.
inline bool on_zero_diagonal(const SymmetryNode& node, const std::vector<std::int64_t>& x) {
    for (const auto& child : node.children)
        if (on_zero_diagonal(child, x)) return true;
    if (node.kind != NodeKind::hollow && node.kind != NodeKind::antisymmetric) return false;
    auto tuple = [&](const SymmetryNode& n) {
        std::vector<std::int64_t> t;
        for (int d : n.dimensions()) t.push_back(x[static_cast<std::size_t>(d)]);
        return t;
    };
    for (std::size_t i = 0; i < node.children.size(); ++i)
        for (std::size_t j = i + 1; j < node.children.size(); ++j)
            if (tuple(node.children[i]) == tuple(node.children[j])) return true;
    return false;
}

/// True if symmetry makes the element zero: another one of its orbit has equal children in an antisymmetric or hollow node.
inline bool zero_by_symmetry(const Symmetry& symmetry, const std::vector<SignedPermutation>& group,
                             const std::vector<std::int64_t>& x) {
    const auto root = product(symmetry.slots());
    return std::any_of(group.begin(), group.end(), [&](const auto& g) { return on_zero_diagonal(root, permuted(x, g)); });
}

/// A random tensor with a symmetry: random integers (or generic real numbers) summed over the group.
inline Dense random_dense(const std::vector<std::int64_t>& extents, const Symmetry& symmetry, bool complex,
                          std::mt19937_64& random, bool generic = false) {
    Dense raw(extents), result(extents);
    std::uniform_int_distribution<int> digit(-3, 3);
    std::uniform_real_distribution<double> real(0.5, 1.5);
    auto draw = [&] { return generic ? real(random) : static_cast<double>(digit(random)); };
    for (auto& v : raw.data) {
        const double re = draw();
        v = {re, complex ? draw() : 0.0};
    }
    const auto group = group_of(symmetry);
    for (std::size_t k = 0; k < result.data.size(); ++k) {
        const auto x = result.index(k);
        if (zero_by_symmetry(symmetry, group, x)) continue;
        for (const auto& g : group) {
            auto v = raw.at(permuted(x, g));
            if (g.conjugate) v = std::conj(v);
            result.data[k] += g.negative ? -v : v;
        }
    }
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
    std::vector<std::int64_t> v(label_extents.size(), 0);
    auto loop = [&](auto&& self, std::size_t l) -> void {
        if (l < label_extents.size()) {
            const auto n = used[l] ? label_extents[l] : 1;
            for (v[l] = 0; v[l] < n; ++v[l]) self(self, l + 1);
            v[l] = 0;
            return;
        }
        auto pick = [&](const std::vector<int>& labels) {
            std::vector<std::int64_t> x;
            for (int i : labels) x.push_back(v[static_cast<std::size_t>(i)]);
            return x;
        };
        Value product = 1;
        for (const auto& f : factors) {
            const auto value = f.tensor.at(pick(f.labels));
            product *= f.conjugated ? std::conj(value) : value;
        }
        result.at(pick(output)) += product;
    };
    loop(loop, 0);
    return result;
}

/// Sum over the group of (+-) R, and how many elements of the group leave R as it is.
inline Dense group_sum(const Dense& r, const std::vector<SignedPermutation>& group) {
    Dense result(r.extents);
    for (std::size_t k = 0; k < r.data.size(); ++k)
        for (const auto& g : group) {
            auto v = r.at(permuted(r.index(k), g));
            if (g.conjugate) v = std::conj(v);
            result.data[k] += g.negative ? -v : v;
        }
    return result;
}

inline std::int64_t stabilizer_size(const Dense& r, const std::vector<SignedPermutation>& group) {
    std::int64_t count = 0;
    for (const auto& g : group) {
        bool same = true;
        for (std::size_t k = 0; k < r.data.size() && same; ++k) {
            auto v = r.at(permuted(r.index(k), g));
            if (g.conjugate) v = std::conj(v);
            if (g.negative) v = -v;
            same = std::abs(v - r.data[k]) < 1e-9;
        }
        count += same ? 1 : 0;
    }
    return count;
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
