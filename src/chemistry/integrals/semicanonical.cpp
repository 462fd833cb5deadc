// Semicanonical orbitals: eigenvectors of the occupied and of the virtual block of each Fock matrix, and the integrals
// transformed to them, one pair after the other.
#include "arges/chemistry/reference.hpp"
#include "arges/linalg.hpp"
#include "chemistry/solvers/check_arguments.hpp"

#include <cmath>

namespace arges::chemistry {

namespace {

/// Adds the eigenvectors of F(p,q), first <= p, q < end, to the matrix C of all orbitals, as
/// columns. Each is turned so that its largest element is positive, so that orbitals do not depend
/// on signs that the eigensolver leaves open.
void add_eigenvectors(const World& world, const SpinReference& spin, std::int64_t first, std::int64_t end, std::vector<double>& C) {
    const std::int64_t n = spin.occupied + spin.virtuals, size = end - first;
    if (size == 0) return;
    Tensor<double> F(world, {size, size}, "pq", "sym(p,q)", "block of the Fock matrix");
    F.fill([&](Index x) { return spin.f(first + x[0], first + x[1]); });
    EighOptions options;
    options.grid = {1, 1, 0};  // one rank, so that the vectors are the same on any number of ranks
    const std::vector<double> vectors = eigh(F["p|q"], options).vectors.gather();
    for (std::int64_t k = 0; k < size; ++k) {
        const double* const vector = vectors.data() + k * size;
        const double* largest = vector;
        for (const double* x = vector; x != vector + size; ++x)
            if (std::abs(*x) > std::abs(*largest)) largest = x;
        for (std::int64_t p = 0; p < size; ++p) C[first + p + n * (first + k)] = std::copysign(1.0, *largest) * vector[p];
    }
}

/// Old orbitals p in terms of new ones q: C(p,q). On a dry run only its shape counts.
Tensor<double> new_orbitals(const World& world, const SpinReference& spin) {
    const std::int64_t n = spin.occupied + spin.virtuals;
    std::vector<double> C(n * n);
    if (!world.is_dry_run()) {
        add_eigenvectors(world, spin, 0, spin.occupied, C);
        add_eigenvectors(world, spin, spin.occupied, n, C);
    }
    Tensor<double> result(world, {n, n}, "semicanonical orbitals");
    result.fill([&](Index x) { return C[x[0] + n * x[1]]; });
    return result;
}

/// h(p,q) over new orbitals.
void transform(Tensor<double>& h, const Tensor<double>& C) {
    Tensor<double> result = h;
    result["pq"] = C["tp"] * C["uq"] * h["tu"];
    h = std::move(result);
}

/// (pq|rs) over new orbitals A for pq and B for rs, a pair after the other: `half` keeps both
/// packed.
void transform(const Tensor<double>& g, const Tensor<double>& A, const Tensor<double>& B, Tensor<double>& result) {
    Tensor<double> half(g.world(), g.extents(), "pqvw", "sym(p,q) sym(v,w)", "(pq|rs), pq transformed");
    half["pqvw"] = A["tp"] * A["uq"] * g["tuvw"];
    result["pqrs"] = canonical(B["vr"] * B["ws"] * half["pqvw"]);
}

}  // namespace

Fcidump semicanonical(const Fcidump& data, const Reference& reference) {
    check_reference(data, reference, "semicanonical");
    const World& world = data.one_electron.world();
    FcidumpHeader header = data.header;
    if (!header.closed_shell()) header.form = OrbitalForm::spin_blocks;
    Fcidump result = empty_fcidump(world, header);
    result.core_energy = data.core_energy;
    const Tensor<double> A = new_orbitals(world, reference.spin[0]);
    result.one_electron = data.one(0);
    transform(result.one_electron, A);
    transform(data.two(0), A, A, result.two_electron);
    if (result.beta) {
        const Tensor<double> B = new_orbitals(world, reference.spin[1]);
        result.beta->one_electron = data.one(1);
        transform(result.beta->one_electron, B);
        transform(data.two(1), B, B, result.beta->two_electron);
        transform(data.mixed(), A, B, result.beta->mixed);
    }
    return result;
}

}  // namespace arges::chemistry
