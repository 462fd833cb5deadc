// Coupled cluster doubles (CCD) in a dozen statements: two electrons with pairing forces in six levels, where CCD is exact.
//
// H = sum_p p n_p - g sum_pq P+_p P_q: levels p = 0..5, each holds a spin up (even index) and a spin down (odd), and the force
// moves pairs. The pair ground state solves 1 = sum_p g / (2 p - E); single excitations are zero by symmetry. Equations: Stanton
// et al., J. Chem. Phys. 94, 4334 (1991), without t1; i j m n are occupied, a b e f virtual, as in src/chemistry.
#include <arges/arges.hpp>

#include <cmath>
#include <cstdio>

using namespace arges;

/// Energy of the pair by bisection; the sum grows with E, from below 1 at -6 g - 1 to infinity at the lowest level, 0.
double exact_energy(double g, std::int64_t levels) {
    double low = -static_cast<double>(levels) * g - 1, high = 0;
    for (int i = 0; i < 200; ++i) {
        const double E = (low + high) / 2;
        double sum = 0;
        for (std::int64_t p = 0; p < levels; ++p) sum += g / (2 * static_cast<double>(p) - E);
        (sum < 1 ? low : high) = E;
    }
    return low;
}

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        constexpr double g = 0.3;  // strength of the force
        constexpr std::int64_t levels = 6, o = 2, v = 2 * (levels - 1);
        // +1 or -1 where spin orbitals x and y form a pair, else 0; and <pq||rs>, for indices within their own spaces.
        const auto pair = [](std::int64_t x, std::int64_t y) { return x / 2 != y / 2 || x == y ? 0.0 : x < y ? 1.0 : -1.0; };
        const auto force = [&](Index x) { return -g * pair(x[0], x[1]) * pair(x[2], x[3]); };
        Tensor<double> oooo(world, {o, o, o, o}, "mnij", "antisym(m,n) antisym(i,j)");
        Tensor<double> oovv(world, {o, o, v, v}, "mnef", "antisym(m,n) antisym(e,f)");
        Tensor<double> vvvv(world, {v, v, v, v}, "abef", "antisym(a,b) antisym(e,f)");
        for (auto* V : {&oooo, &oovv, &vvvv}) V->fill(force);
        Tensor<double> t(world, {v, v, o, o}, "abij", "antisym(a,b) antisym(i,j)"), R = t, energy(world, {});
        Tensor<double> F_ae(world, {v, v}), F_mi(world, {o, o}), W_mnij = oooo, W_mbej(world, {o, v, v, o});

        double E = 0;
        for (int iteration = 1; iteration <= 100; ++iteration) {
            // The residual of eq. 2 without its diagonal Fock part.
            F_ae["ae"] = -0.5 * t["afmn"] * oovv["mnef"];
            F_mi["mi"] = 0.5 * t["efin"] * oovv["mnef"];
            W_mnij["mnij"] = oooo["mnij"] + 0.5 * t["efij"] * oovv["mnef"];
            W_mbej["mbej"] = -0.5 * t["fbjn"] * oovv["mnef"];
            R["abij"] = oovv["ijab"];
            R["abij"] += antisymmetrized(t["aeij"] * F_ae["be"]);  // P(ab): antisymmetric in i,j already
            R["abij"] -= antisymmetrized(t["abim"] * F_mi["mj"]);  // P(ij)
            R["abij"] += 0.5 * t["abmn"] * W_mnij["mnij"];
            R["abij"] += 0.5 * t["efij"] * vvvv["abef"];
            R["abij"] += antisymmetrized(t["aeim"] * W_mbej["mbej"]);  // P(ij) P(ab)

            t = R;  // copies; then divide by e_i + e_j - e_a - e_b with Fock energies e_i = -g and e_a = 1, 1, 2, 2, ...
            t.for_each_local([](Index x, double& value) { value /= -2 * g - static_cast<double>(x[0] / 2 + 1 + x[1] / 2 + 1); });
            energy[""] = 0.25 * oovv["mnef"] * t["efmn"];
            const double before = E;
            E = -g + energy.scalar();  // -g: the reference
            if (std::abs(E - before) < 1e-13) break;
        }
        const double exact = exact_energy(g, levels);
        const bool right = std::abs(E - exact) < 1e-10;
        if (world.rank() == 0) std::printf("CCD   %.12f\nexact %.12f%s\n", E, exact, right ? "" : "  WRONG");
        return right;
    });
}
