// (T) of open shells against its definition: operators act on determinants over orbitals that plain
// loops have made semicanonical.
#include "arges/chemistry/triples.hpp"

#include "arges/chemistry/cc_driver.hpp"
#include "arges/chemistry/cc_equations.hpp"
#include "arges/chemistry/mp2.hpp"
#include "chemistry/integrals/integral_file.hpp"
#include "chemistry/made_up.hpp"
#include "chemistry/temporary_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

namespace arges::chemistry {
namespace {

/// A square matrix, first index fastest.
struct Matrix {
    std::int64_t n = 0;
    std::vector<double> x;

    double& operator()(std::int64_t p, std::int64_t q) { return x[static_cast<std::size_t>(p + n * q)]; }
    double operator()(std::int64_t p, std::int64_t q) const { return x[static_cast<std::size_t>(p + n * q)]; }
};

Matrix fock_of(const DenseHamiltonian& H) {
    Matrix f{H.n(), {}};
    for (std::int64_t q = 0; q < H.n(); ++q)
        for (std::int64_t p = 0; p < H.n(); ++p) f.x.push_back(H.fock(p, q));
    return f;
}

/// Orbitals (columns) that make F diagonal among the first `o` and among the others, by Jacobi
/// rotations within the two blocks.
Matrix semicanonical_orbitals(Matrix F, std::int64_t o) {
    const std::int64_t n = F.n;
    Matrix C{n, std::vector<double>(static_cast<std::size_t>(n * n), 0.0)};
    for (std::int64_t p = 0; p < n; ++p) C(p, p) = 1;
    for (int sweep = 0; sweep < 50; ++sweep)
        for (std::int64_t p = 0; p < n; ++p)
            for (std::int64_t q = 0; q < p; ++q) {
                if ((p < o) != (q < o) || F(p, q) == 0) continue;
                const double angle = 0.5 * std::atan2(2 * F(p, q), F(q, q) - F(p, p));
                const double c = std::cos(angle), s = std::sin(angle);
                const auto rotate = [&](double& x, double& y) {
                    const double old = x;
                    x = c * old - s * y;
                    y = s * old + c * y;
                };
                for (std::int64_t r = 0; r < n; ++r) rotate(F(p, r), F(q, r));
                for (std::int64_t r = 0; r < n; ++r) rotate(F(r, p), F(r, q));
                for (std::int64_t r = 0; r < n; ++r) rotate(C(r, p), C(r, q));
            }
    return C;
}

/// Values with each index turned to new orbitals; index d counts orbitals from first[d].
std::vector<double> turned(std::vector<double> values, const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& extents,
                           const Matrix& C) {
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        const std::int64_t size = extents[d];
        std::vector<double> result(values.size(), 0.0);
        for (std::int64_t k = 0; k < static_cast<std::int64_t>(values.size()); ++k) {
            const std::int64_t x = k / stride % size;
            for (std::int64_t y = 0; y < size; ++y)
                result[static_cast<std::size_t>(k + (y - x) * stride)] +=
                    C(first[d] + x, first[d] + y) * values[static_cast<std::size_t>(k)];
        }
        values = std::move(result);
        stride *= size;
    }
    return values;
}

/// T1 and T2 as operators.
using Operators = std::array<std::vector<Excitation>, 2>;

Operators operators_of(const DenseHamiltonian& H, const std::vector<double>& t1, const std::vector<double>& t2) {
    Operators T;
    const std::int64_t o = H.o, v = H.v;
    for (std::int64_t i = 0; i < o; ++i)
        for (std::int64_t a = 0; a < v; ++a) {
            T[0].push_back({{a}, {i}, t1[static_cast<std::size_t>(a + v * i)]});
            for (std::int64_t j = i + 1; j < o; ++j)
                for (std::int64_t b = a + 1; b < v; ++b)
                    T[1].push_back({{a, b}, {i, j}, t2[static_cast<std::size_t>(a + v * (b + v * (i + o * j)))]});
        }
    return T;
}

/// The part of a state with so many electrons excited.
State excited(const DenseHamiltonian& H, const State& state, int electrons) {
    State result;
    const Determinant virtuals = ~((Determinant(1) << H.o) - 1);
    for (const auto& [determinant, c] : state)
        if (std::popcount(determinant & virtuals) == electrons) result[determinant] = c;
    return result;
}

void add(State& sum, const State& other, double factor) {
    for (const auto& [determinant, c] : other) sum[determinant] += factor * c;
}

/// sum over triples of W (W + Z) / D with W = <T| [H, T2] |0>, Z = <T| T1 H_D + T2 H_S |0>, where
/// H_D and H_S excite two electrons and one, and D = e_i + e_j + e_k - e_a - e_b - e_c.
double triples_by_determinants(const DenseHamiltonian& H, const Operators& T) {
    const State reference{{(Determinant(1) << H.o) - 1, 1.0}};
    const State from_reference = apply_hamiltonian(H, reference);
    State connected = apply_hamiltonian(H, apply_excitations(H, T[1], reference));
    add(connected, apply_excitations(H, T[1], from_reference), -1);
    connected = excited(H, connected, 3);
    State both = connected;
    add(both, apply_excitations(H, T[0], excited(H, from_reference, 2)), 1);
    add(both, apply_excitations(H, T[1], excited(H, from_reference, 1)), 1);

    double energy = 0;
    for (const auto& [determinant, w] : connected) {
        double denominator = 0;
        for (std::int64_t p = 0; p < H.n(); ++p) {
            const bool is = (determinant >> p & 1) != 0, was = p < H.o;
            if (is != was) denominator += (was ? 1 : -1) * H.fock(p, p);
        }
        energy += w * both.at(determinant) / denominator;
    }
    return energy;
}

/// The (T) energy of CCSD amplitudes that are solved for over the orbitals as they are.
double brute_force_triples(const Fcidump& data) {
    const SpinIntegrals integrals = build_integrals(data, build_reference(data, "made up"), IntegralSet::coupled_cluster);
    SolverOptions options;
    options.tolerance = 1e-12;
    const TensorSet t = solve_amplitudes(cc_equations(integrals, 2), first_order_amplitudes(integrals, 2), options, {}).amplitudes;
    DenseHamiltonian H = over_spin_orbitals(data);
    const std::int64_t n = H.n(), o = H.o, v = H.v;
    const Matrix C = semicanonical_orbitals(fock_of(H), o);
    H.h = turned(H.h, {0, 0}, {n, n}, C);
    H.V = turned(H.V, {0, 0, 0, 0}, {n, n, n, n}, C);
    const Operators T =
        operators_of(H, turned(t["T1"].gather(), {o, 0}, {v, o}, C), turned(t["T2"].gather(), {o, o, 0, 0}, {v, v, o, o}, C));
    return triples_by_determinants(H, T);
}

double triples_of(const World& world, const Fcidump& data) {
    const TemporaryFile file(world, nullptr);
    write_fcidump(file.path(), data);
    CcOptions options;
    options.method = Method::ccsd_t;
    options.solver.tolerance = 1e-12;
    const CcResult result = run_coupled_cluster(world, file.path(), options);
    return result.energy(Method::ccsd_t).value() - result.energy(Method::ccsd).value();
}

struct Shells {
    std::int64_t electrons, ms2;
};

class OpenShellTriples : public testing::TestWithParam<Shells> {};

TEST_P(OpenShellTriples, have_the_energy_of_their_definition) {
    const World world;
    const auto [electrons, ms2] = GetParam();
    // Orbitals that are no Hartree-Fock orbitals: f(i,a) is not zero, nor are off-diagonal f(i,j)
    // and f(a,b).
    const Dense shared = rotated(rotated(ladder(4), 0, 3, 0.2), 1, 2, 0.1);
    SpinDense split = rotated(arges::chemistry::unrestricted(shared), 1, 0, 3, 0.15);
    split = rotated(split, 0, 2, 3, 0.3);
    for (const bool unrestricted : {false, true}) {
        // On many ranks, which are slow, each case goes over orbitals of one kind.
        if (world.size() > 4 && unrestricted == (electrons != 3)) continue;
        const Fcidump data =
            unrestricted ? fcidump_of(world, split, electrons, 0.25, ms2) : fcidump_of(world, shared, electrons, 0.25, ms2);
        const double expected = brute_force_triples(data);
        EXPECT_GT(std::abs(expected), 1e-7);
        EXPECT_NEAR(triples_of(world, data), expected, 1e-10);
    }
}

INSTANTIATE_TEST_SUITE_P(Electrons, OpenShellTriples, testing::Values(Shells{3, 1}, Shells{3, -1}, Shells{5, 1}, Shells{4, 0}));

}  // namespace
}  // namespace arges::chemistry
