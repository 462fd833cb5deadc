/// Coupled cluster by brute force: operators as matrices over all determinants of a few electrons.
/// Slow, and with no equation in it except exp(-T) H exp(T).
#pragma once

#include "base/splitmix.hpp"

#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace arges::chemistry {

/// A determinant: bit p is set if spin orbital p is occupied. Orbital p is created left of those
/// above it.
using Determinant = std::uint32_t;
/// A vector over determinants.
using State = std::map<Determinant, double>;

/// result += factor * (create[0]+ create[1]+ ... annihilate[0] annihilate[1] ...) |determinant>;
/// the operator on the right acts first.
inline void apply_string(const std::vector<std::int64_t>& create, const std::vector<std::int64_t>& annihilate, Determinant determinant,
                         double factor, State& result) {
    const auto pass = [&](std::int64_t orbital, bool occupied) {
        const Determinant bit = Determinant(1) << orbital;
        if (((determinant & bit) != 0) != occupied) return false;
        if (std::popcount(determinant & (bit - 1)) % 2 != 0) factor = -factor;
        determinant ^= bit;
        return true;
    };
    for (auto p = annihilate.rbegin(); p != annihilate.rend(); ++p)
        if (!pass(*p, true)) return;
    for (auto p = create.rbegin(); p != create.rend(); ++p)
        if (!pass(*p, false)) return;
    result[determinant] += factor;
}

/// A Hamiltonian of real spin orbitals 0..o-1 (occupied) and o..o+v-1.
struct DenseHamiltonian {
    std::int64_t o = 0, v = 0;
    std::vector<double> h;  ///< h(p,q), symmetric
    std::vector<double> V;  ///< <pq||rs>, antisymmetric in pq and in rs, <pq||rs> = <rs||pq>

    std::int64_t n() const { return o + v; }
    double one(std::int64_t p, std::int64_t q) const { return h[static_cast<std::size_t>(p + n() * q)]; }
    double two(std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t s) const {
        return V[static_cast<std::size_t>(p + n() * (q + n() * (r + n() * s)))];
    }
    /// h(p,q) + sum over occupied k of <pk||qk>.
    double fock(std::int64_t p, std::int64_t q) const {
        double sum = one(p, q);
        for (std::int64_t k = 0; k < o; ++k) sum += two(p, k, q, k);
        return sum;
    }
};

/// Random elements between -scale/2 and scale/2 before they get their symmetry.
inline DenseHamiltonian random_hamiltonian(std::int64_t o, std::int64_t v, std::uint64_t seed) {
    DenseHamiltonian H{o, v, {}, {}};
    const std::int64_t n = o + v;
    const auto number = [&](std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t s) {
        const auto key = static_cast<std::uint64_t>(p + n * (q + n * (r + n * s)));
        return unit_interval(splitmix(seed * 1000003 + key)) - 0.5;
    };
    for (std::int64_t q = 0; q < n; ++q)
        for (std::int64_t p = 0; p < n; ++p) H.h.push_back(number(p, q, 0, n) + number(q, p, 0, n));
    const auto pair = [&](std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t s) {
        return number(p, q, r, s) - number(q, p, r, s) - number(p, q, s, r) + number(q, p, s, r);
    };
    for (std::int64_t s = 0; s < n; ++s)
        for (std::int64_t r = 0; r < n; ++r)
            for (std::int64_t q = 0; q < n; ++q)
                for (std::int64_t p = 0; p < n; ++p) H.V.push_back(pair(p, q, r, s) + pair(r, s, p, q));
    return H;
}

/// H |state>, with H = sum h(p,q) p+ q + 1/4 sum <pq||rs> p+ q+ s r.
inline State apply_hamiltonian(const DenseHamiltonian& H, const State& state) {
    State result;
    for (const auto& [determinant, c] : state)
        for (std::int64_t p = 0; p < H.n(); ++p)
            for (std::int64_t q = 0; q < H.n(); ++q) {
                apply_string({p}, {q}, determinant, c * H.one(p, q), result);
                for (std::int64_t r = 0; r < p; ++r)
                    for (std::int64_t s = 0; s < q; ++s) apply_string({r, p}, {q, s}, determinant, c * H.two(r, p, s, q), result);
            }
    return result;
}

/// One amplitude: virtual orbitals and occupied orbitals ascending, counted from 0 in each space.
struct Excitation {
    std::vector<std::int64_t> a, i;
    double amplitude = 0;
};

/// T |state>, with T = sum t(ab..ij..) a+ b+ .. j i.
inline State apply_excitations(const DenseHamiltonian& H, const std::vector<Excitation>& T, const State& state) {
    State result;
    for (const Excitation& t : T) {
        std::vector<std::int64_t> create = t.a;
        for (std::int64_t& a : create) a += H.o;
        const std::vector<std::int64_t> annihilate(t.i.rbegin(), t.i.rend());
        for (const auto& [determinant, c] : state) apply_string(create, annihilate, determinant, c * t.amplitude, result);
    }
    return result;
}

/// exp(sign T) |state>; the series ends since T empties occupied orbitals.
inline State apply_exponential(const DenseHamiltonian& H, const std::vector<Excitation>& T, double sign, State state) {
    State result = state;
    for (std::int64_t k = 1; k <= H.o; ++k) {
        State next = apply_excitations(H, T, state);
        for (auto& [determinant, c] : next) {
            c *= sign / static_cast<double>(k);
            result[determinant] += c;
        }
        state = std::move(next);
    }
    return result;
}

/// exp(-T) H exp(T) |0>.
inline State transformed_state(const DenseHamiltonian& H, const std::vector<Excitation>& T) {
    const State reference{{(Determinant(1) << H.o) - 1, 1.0}};
    return apply_exponential(H, T, -1, apply_hamiltonian(H, apply_exponential(H, T, 1, reference)));
}

/// <a+ b+ .. j i 0 | state>.
inline double projection(const DenseHamiltonian& H, const Excitation& excitation, const State& state) {
    Excitation unit = excitation;
    unit.amplitude = 1;
    double sum = 0;
    for (const auto& [determinant, sign] : apply_excitations(H, {unit}, {{(Determinant(1) << H.o) - 1, 1.0}})) {
        const auto found = state.find(determinant);
        if (found != state.end()) sum += sign * found->second;
    }
    return sum;
}

}  // namespace arges::chemistry
