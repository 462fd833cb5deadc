// The mean field of frozen core orbitals, folded into one-electron integrals and core energy: Szabo and Ostlund, Modern
// Quantum Chemistry (1989), eqs. 3.348 and 3.349.
#include "arges/chemistry/frozen_orbitals.hpp"

#include "arges/chemistry/reference.hpp"
#include "arges/error.hpp"
#include "chemistry/solvers/check_arguments.hpp"

#include <algorithm>

namespace arges::chemistry {

namespace {

/// Orbitals below this energy are of inner shells, in hartree.
constexpr double core_energy_limit = -2.0;

/// The part of a tensor over the orbitals first <= p < end in all dimensions.
Tensor<double> part(const Tensor<double>& tensor, std::int64_t first, std::int64_t end) {
    const auto order = tensor.extents().size();
    Tensor<double> result = tensor.slice(std::vector<std::int64_t>(order, first), std::vector<std::int64_t>(order, end));
    result.set_name(tensor.name());
    return result;
}

template <class V>
std::vector<V> part(const std::vector<V>& values, std::int64_t first, std::int64_t end) {
    return values.empty() ? values : std::vector<V>(values.begin() + first, values.begin() + end);
}

/// Sum over the first orbitals of h(i,i) + F(i,i).
double diagonal_sum(const Tensor<double>& h, const Tensor<double>& F, std::int64_t orbitals) {
    Tensor<double> sum(h.world(), {});
    sum[""] = part(h, 0, orbitals)["ii"] + part(F, 0, orbitals)["ii"];
    return sum.scalar();
}

}  // namespace

Tensor<double> fock_matrix(const Fcidump& data, const std::array<std::int64_t, 2>& electrons, int spin) {
    check_hamiltonian(data, "fock_matrix");
    const World& world = data.one_electron.world();
    const std::int64_t n = data.header.orbitals;
    if (spin < 0 || spin > 1 || std::min(electrons[0], electrons[1]) < 0 || std::max(electrons[0], electrons[1]) > n)
        throw InvalidArgument("fock_matrix: spins are 0 and 1, and electrons of a spin no more than the " + std::to_string(n) +
                              " orbitals");
    const auto own = static_cast<std::size_t>(spin), other = 1 - own;
    const Tensor<double>&g = data.two(spin), &mixed = data.mixed();
    const auto density = [&](std::size_t s) {
        Tensor<double> D(world, {n, n}, "kl", "sym(k,l)", "density matrix");
        D.fill([&](Index x) { return x[0] == x[1] && x[0] < electrons[s] ? 1.0 : 0.0; });
        return D;
    };
    Tensor<double> F(world, {n, n}, "pq", "sym(p,q)", std::string(spin == 0 ? "alpha" : "beta") + " Fock matrix");
    F["pq"] = data.one(spin)["pq"] + g["pqkl"] * density(own)["kl"];
    F["pq"] += (spin == 0 ? mixed["pqkl"] : mixed["klpq"]) * density(other)["kl"];
    // Of (pk|qk) only what is needed is unpacked.
    F["pq"] -= canonical(g.slice({0, 0, 0, 0}, {n, electrons[own], n, electrons[own]})["pkqk"]);
    return F;
}

std::int64_t core_orbitals(const Fcidump& data, const std::string& source) {
    const Reference reference = build_reference(data, source);
    std::int64_t least = data.header.orbitals;
    for (const SpinReference& spin : reference.spin) {
        std::int64_t core = 0;
        while (core + 1 < spin.occupied && spin.f(core, core) < core_energy_limit) ++core;
        for (std::int64_t p = core + 1; p < spin.occupied; ++p)
            if (spin.f(core, core) >= core_energy_limit && spin.f(p, p) < core_energy_limit)
                throw InvalidArgument(source + ": orbital " + std::to_string(p + 1) + " is of an inner shell, orbital " +
                                      std::to_string(core + 1) + " before it is not; to freeze inner shells, order the orbitals by energy");
        least = std::min(least, core);
    }
    return least;
}

Fcidump without_frozen(const Fcidump& data, const FrozenOrbitals& frozen) {
    check_hamiltonian(data, "frozen orbitals");
    const std::int64_t n = data.header.orbitals, end = n - frozen.virtuals, core = frozen.core;
    const auto [fewest, most] = std::minmax({data.header.electrons_of(0), data.header.electrons_of(1)});
    if (core < 0 || core > fewest || frozen.virtuals < 0 || end < most)
        throw InvalidArgument("frozen orbitals: " + std::to_string(core) + " core and " + std::to_string(frozen.virtuals) +
                              " virtual ones of " + std::to_string(n) + "; at most " + std::to_string(fewest) +
                              " are occupied in both spins, and " + std::to_string(n - most) + " virtual");
    Fcidump result{data.header};
    result.header.orbitals = end - core;
    result.header.electrons -= 2 * core;
    result.header.orbital_symmetries = part(data.header.orbital_symmetries, core, end);
    result.header.file_orbitals = part(data.header.file_orbitals, core, end);
    result.core_energy = data.core_energy;
    result.round_off_repeats = data.round_off_repeats;
    std::array<Tensor<double>, 2> h;
    for (int s : {0, 1}) {
        if (s == 1 && !data.beta) {
            result.core_energy += result.core_energy - data.core_energy;
            break;
        }
        const Tensor<double> F = fock_matrix(data, {core, core}, s);
        result.core_energy += 0.5 * diagonal_sum(data.one(s), F, core);
        h[s] = part(F, core, end);
    }
    result.one_electron = std::move(h[0]);
    result.two_electron = part(data.two_electron, core, end);
    result.orbital_energies = part(data.orbital_energies, core, end);
    if (data.beta)
        result.beta = BetaIntegrals{part(data.beta->orbital_energies, core, end), std::move(h[1]), part(data.beta->two_electron, core, end),
                                    part(data.beta->mixed, core, end)};
    return result;
}

}  // namespace arges::chemistry
