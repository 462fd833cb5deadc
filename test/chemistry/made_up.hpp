/// Hamiltonians over spatial orbitals that tests change and write to files.
#pragma once

#include "arges/chemistry/fcidump.hpp"
#include "chemistry/determinants.hpp"

#include "arges/linalg.hpp"
#include "base/splitmix.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace arges::chemistry {

/// Integrals over the orbitals of one spin (a pair of spins in g), on every rank; first index
/// fastest.
struct Dense {
    std::int64_t n = 0;
    std::vector<double> h, g;
};

/// A vector with index d of its order-many dimensions rotated: orbitals p and q by an angle.
inline std::vector<double> rotate_index(const std::vector<double>& from, std::int64_t n, int d, std::int64_t p, std::int64_t q,
                                        double angle) {
    std::vector<double> to = from;
    std::int64_t stride = 1;
    for (int k = 0; k < d; ++k) stride *= n;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(from.size()); ++k) {
        const std::int64_t index = k / stride % n;
        const std::int64_t partner = index == p ? q : p;
        if (index != p && index != q) continue;
        const double other = from[static_cast<std::size_t>(k + (partner - index) * stride)];
        to[static_cast<std::size_t>(k)] =
            std::cos(angle) * from[static_cast<std::size_t>(k)] + (index == p ? 1 : -1) * std::sin(angle) * other;
    }
    return to;
}

/// Rotates orbitals p and q by an angle.
inline Dense rotated(const Dense& old, std::int64_t p, std::int64_t q, double angle) {
    Dense result = old;
    for (int d = 0; d < 2; ++d) result.h = rotate_index(result.h, old.n, d, p, q, angle);
    for (int d = 0; d < 4; ++d) result.g = rotate_index(result.g, old.n, d, p, q, angle);
    return result;
}

/// Orbitals one hartree apart, with small random integrals between them.
inline Dense ladder(std::int64_t n) {
    Dense result{n, {}, {}};
    const auto number = [&](std::array<std::int64_t, 4> x) {  // the same for all places of an integral
        if (x[0] < x[1]) std::swap(x[0], x[1]);
        if (x[2] < x[3]) std::swap(x[2], x[3]);
        if (std::pair(x[0], x[1]) < std::pair(x[2], x[3])) x = {x[2], x[3], x[0], x[1]};
        const auto key = static_cast<std::uint64_t>(x[0] + n * (x[1] + n * (x[2] + n * x[3])));
        return 0.2 * unit_interval(splitmix(key)) - 0.1;
    };
    for (std::int64_t q = 0; q < n; ++q)
        for (std::int64_t p = 0; p < n; ++p) result.h.push_back(number({p, q, n, n}) + (p == q ? static_cast<double>(p) - 5 : 0));
    for (std::int64_t s = 0; s < n; ++s)
        for (std::int64_t r = 0; r < n; ++r)
            for (std::int64_t q = 0; q < n; ++q)
                for (std::int64_t p = 0; p < n; ++p) result.g.push_back(number({p, q, r, s}));
    return result;
}

/// Integrals of restricted orbitals. Collective.
inline Dense dense_of(const Fcidump& data) { return {data.header.orbitals, data.one_electron.gather(), data.two_electron.gather()}; }

/// Integrals of every kind of an unrestricted Hamiltonian.
struct SpinDense {
    Dense alpha, beta;
    std::vector<double> mixed;  ///< (pq|rs), pq alpha, rs beta
};

/// The same orbitals for both spins.
inline SpinDense unrestricted(const Dense& both) { return {both, both, both.g}; }

/// Rotates orbitals p and q of a spin by an angle.
inline SpinDense rotated(const SpinDense& old, int spin, std::int64_t p, std::int64_t q, double angle) {
    SpinDense result = old;
    Dense& one = spin == 0 ? result.alpha : result.beta;
    one = rotated(one, p, q, angle);
    for (int d : {2 * spin, 2 * spin + 1}) result.mixed = rotate_index(result.mixed, old.alpha.n, d, p, q, angle);
    return result;
}

inline void fill(Tensor<double>& tensor, const std::vector<double>& values) {
    tensor.fill([&](Index x) { return values[static_cast<std::size_t>(tensor.key(x))]; });
}

/// A restricted Hamiltonian. Collective.
inline Fcidump fcidump_of(const World& world, const Dense& dense, std::int64_t electrons, double core, std::int64_t ms2 = 0) {
    FcidumpHeader header{dense.n, electrons};
    header.ms2 = ms2;
    Fcidump data = empty_fcidump(world, header);
    data.core_energy = core;
    fill(data.one_electron, dense.h);
    fill(data.two_electron, dense.g);
    return data;
}

/// An unrestricted Hamiltonian. Collective.
inline Fcidump fcidump_of(const World& world, const SpinDense& dense, std::int64_t electrons, double core, std::int64_t ms2 = 0) {
    FcidumpHeader header{dense.alpha.n, electrons};
    header.ms2 = ms2;
    header.form = OrbitalForm::spin_blocks;
    Fcidump data = empty_fcidump(world, header);
    data.core_energy = core;
    fill(data.one_electron, dense.alpha.h);
    fill(data.two_electron, dense.alpha.g);
    fill(data.beta->one_electron, dense.beta.h);
    fill(data.beta->two_electron, dense.beta.g);
    fill(data.beta->mixed, dense.mixed);
    return data;
}

/// The Hamiltonian over spin orbitals: occupied alpha, occupied beta, virtual alpha, virtual beta.
/// Collective.
inline DenseHamiltonian over_spin_orbitals(const Fcidump& data) {
    const std::int64_t n = data.header.orbitals, a = data.header.electrons_of(0), b = data.header.electrons_of(1);
    struct Place {
        std::int64_t orbital;
        int spin;
    };
    std::vector<Place> places;
    for (std::int64_t p = 0; p < a; ++p) places.push_back({p, 0});
    for (std::int64_t p = 0; p < b; ++p) places.push_back({p, 1});
    for (std::int64_t p = a; p < n; ++p) places.push_back({p, 0});
    for (std::int64_t p = b; p < n; ++p) places.push_back({p, 1});
    const std::vector<double> h[] = {data.one(0).gather(), data.one(1).gather()};
    const std::vector<double> g[] = {data.two(0).gather(), data.two(1).gather()}, mixed = data.mixed().gather();
    const auto coulomb = [&](Place p, Place q, Place r, Place s) {  // (pq|rs)
        if (p.spin != q.spin || r.spin != s.spin) return 0.0;
        if (p.spin > r.spin) {
            std::swap(p, r);
            std::swap(q, s);
        }
        const auto key = static_cast<std::size_t>(p.orbital + n * (q.orbital + n * (r.orbital + n * s.orbital)));
        return p.spin == r.spin ? g[p.spin][key] : mixed[key];
    };
    DenseHamiltonian H{a + b, 2 * n - a - b, {}, {}};
    for (const Place& q : places)
        for (const Place& p : places)
            H.h.push_back(p.spin == q.spin ? h[p.spin][static_cast<std::size_t>(p.orbital + n * q.orbital)] : 0.0);
    for (const Place& s : places)
        for (const Place& r : places)
            for (const Place& q : places)
                for (const Place& p : places) H.V.push_back(coulomb(p, r, q, s) - coulomb(p, s, q, r));
    return H;
}

/// Lowest eigenvalue of H among the determinants that it connects to the one with the first o
/// orbitals. Collective.
inline double full_ci_energy(const World& world, const DenseHamiltonian& H) {
    std::vector<Determinant> found{(Determinant(1) << H.o) - 1};
    std::map<Determinant, std::size_t> number{{found[0], 0}};
    std::vector<State> columns;
    for (std::size_t k = 0; k < found.size(); ++k) {
        columns.push_back(apply_hamiltonian(H, {{found[k], 1.0}}));
        for (const auto& [determinant, value] : columns.back())
            if (value != 0 && number.emplace(determinant, found.size()).second) found.push_back(determinant);
    }
    const auto size = static_cast<std::int64_t>(found.size());
    Tensor<double> matrix(world, {size, size}, "pq", "sym(p,q)", "H");
    matrix.fill([&](Index x) {
        const State& column = columns[static_cast<std::size_t>(x[1])];
        const auto entry = column.find(found[static_cast<std::size_t>(x[0])]);
        return entry == column.end() ? 0.0 : entry->second;
    });
    EighOptions options;
    options.vectors = false;
    return eigh(matrix["p|q"], options).values.front();
}

}  // namespace arges::chemistry
