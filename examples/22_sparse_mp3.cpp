// MP2 and MP3 energies of a molecule from packed dense integrals, and from sparse ones: without those below a threshold. Many integrals are
// zero because of spin and of the molecule's symmetry; without the small ones the energy changes little. The equations are those of Szabo
// and Ostlund, Modern Quantum Chemistry (1989), eqs. 6.74 and 6.75: i j k l m n are occupied, a b c d e f virtual spin orbitals.
//   22_sparse_mp3 [molecule.fcidump]
#include <arges/arges.hpp>
#include <arges/chemistry.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using namespace arges;
using namespace arges::chemistry;

/// Correlation energies in hartree, and the integrals that are stored for them.
struct Energies {
    double mp2 = 0, mp3 = 0;
    std::int64_t stored = 0;
};

/// With packed tensors: each orbit of <ab||ef> and so on is stored once, zeros too.
static Energies dense_mp3(const SpinIntegrals& H) {
    const Tensor<double> t = first_order_amplitudes(H, 2)["T2"];  // <ij||ab> / (e_i + e_j - e_a - e_b)
    Tensor<double> R = t;
    R["abij"] = 0.5 * t["efij"] * H.vvvv["abef"];              // two particles
    R["abij"] += 0.5 * t["abmn"] * H.oooo["mnij"];             // two holes
    R["abij"] += antisymmetrized(t["aeim"] * H.ovvo["mbej"]);  // a particle and a hole, P(ij) P(ab)
    const double second = 0.25 * H.oovv["ijab"] * t["abij"], third = 0.25 * R["abij"] * t["abij"];
    return {second, second + third, H.oovv.packed_size() + H.oooo.packed_size() + H.ovvo.packed_size() + H.vvvv.packed_size()};
}

/// With the integrals above a threshold: of each orbit one element is stored, with its four indices, and stands for all of them, so that
/// sums run over all labels and the factors are those of the textbook.
static Energies sparse_mp3(const SpinIntegrals& H, double threshold) {
    using Sparse = SparseTensor<double>;
    const auto oovv = Sparse::from_dense(H.oovv, threshold), oooo = Sparse::from_dense(H.oooo, threshold),
               ovvo = Sparse::from_dense(H.ovvo, threshold), vvvv = Sparse::from_dense(H.vvvv, threshold);

    // An amplitude is stored where its integral is; orbital energies are dense, and read there.
    const auto& world = oovv.world();
    Tensor<double> occupied(world, H.spaces.extents("i")), virtuals(world, H.spaces.extents("a"));
    occupied.fill([&](Index i) { return H.occupied[static_cast<std::size_t>(i[0])]; });
    virtuals.fill([&](Index a) { return H.virtuals[static_cast<std::size_t>(a[0])]; });
    Sparse t(world, H.spaces.extents("abij"), "abij", "antisym(a,b) antisym(i,j)", "t");
    t["abij"] = map([](double integral, double i, double j, double a, double b) { return integral / (i + j - a - b); }, oovv["ijab"],
                    occupied["i"], occupied["j"], virtuals["a"], virtuals["b"]);

    // Each term is a number, of three sparse factors. Two are multiplied first; the third has all labels of their product and is a mask
    // for it: other elements of the product are not computed. explain() says which two; here they are the amplitudes.
    const double second = 0.25 * oovv["ijab"] * t["abij"];
    const double third =
        0.125 * t["abij"] * vvvv["abef"] * t["efij"] + 0.125 * t["abij"] * oooo["mnij"] * t["abmn"] + t["abij"] * ovvo["mbej"] * t["aeim"];
    return {second, second + third, oovv.nonzeros() + oooo.nonzeros() + ovvo.nonzeros() + vvvv.nonzeros()};
}

/// Loops over spin orbitals on one process, for small molecules. Antisymmetrized integrals and orbital energies are made here from those of
/// the file.
static Energies loop_mp3(const Fcidump& data, const SpinSpaces& spaces) {
    const auto& occ = spaces.of('i');
    const auto& vir = spaces.of('a');
    const auto n = data.header.orbitals, o = occ.size(), v = vir.size(), all = o + v;
    const auto spin = [&](std::int64_t p) { return p < o ? occ.spin(p) : vir.spin(p - o); };
    const auto orbital = [&](std::int64_t p) { return p < o ? occ.orbital(p) : vir.orbital(p - o); };
    const auto at = [](const std::vector<double>& values, std::int64_t i) { return values[static_cast<std::size_t>(i)]; };

    // (pq|rs) over spin orbitals, and g[p,q,r,s] = <pq||rs> = (pr|qs) - (ps|qr).
    const std::vector<double> h[] = {data.one(0).gather(), data.one(1).gather()};
    const std::vector<double> same[] = {data.two(0).gather(), data.two(1).gather()}, mixed = data.mixed().gather();
    const auto repulsion = [&](std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t s) {
        if (spin(p) != spin(q) || spin(r) != spin(s)) return 0.0;
        const auto first = orbital(p) + n * orbital(q), second = orbital(r) + n * orbital(s);
        if (spin(p) == spin(r)) return at(same[spin(p)], first + n * n * second);
        return at(mixed, spin(p) == 0 ? first + n * n * second : second + n * n * first);  // alpha comes first
    };
    std::vector<double> integrals;
    for (std::int64_t s = 0; s < all; ++s)
        for (std::int64_t r = 0; r < all; ++r)
            for (std::int64_t q = 0; q < all; ++q)
                for (std::int64_t p = 0; p < all; ++p) integrals.push_back(repulsion(p, r, q, s) - repulsion(p, s, q, r));
    const auto g = [&](std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t s) {
        return at(integrals, p + all * (q + all * (r + all * s)));
    };
    std::vector<double> e;
    for (std::int64_t p = 0; p < all; ++p) {
        e.push_back(at(h[spin(p)], orbital(p) * (n + 1)));
        for (std::int64_t i = 0; i < o; ++i) e.back() += g(p, i, p, i);
    }
    const auto t = [&](std::int64_t i, std::int64_t j, std::int64_t a, std::int64_t b) {
        return g(i, j, a, b) / (at(e, i) + at(e, j) - at(e, a) - at(e, b));
    };

    Energies result;
    for (std::int64_t i = 0; i < o; ++i)
        for (std::int64_t j = 0; j < o; ++j)
            for (std::int64_t a = o; a < all; ++a)
                for (std::int64_t b = o; b < all; ++b) {
                    if (g(i, j, a, b) == 0) continue;
                    double ladders = 0, rings = 0;
                    for (std::int64_t c = o; c < all; ++c)
                        for (std::int64_t d = o; d < all; ++d) ladders += g(a, b, c, d) * t(i, j, c, d);
                    for (std::int64_t k = 0; k < o; ++k)
                        for (std::int64_t l = 0; l < o; ++l) ladders += g(k, l, i, j) * t(k, l, a, b);
                    for (std::int64_t k = 0; k < o; ++k)
                        for (std::int64_t c = o; c < all; ++c) rings += g(k, b, c, j) * t(i, k, a, c);
                    result.mp2 += t(i, j, a, b) * g(i, j, a, b) / 4;
                    result.mp3 += t(i, j, a, b) * (g(i, j, a, b) / 4 + ladders / 8 + rings);
                }
    return result;
}

/// Prints the table. False if an energy is wrong.
static bool compare(const World& world, const std::string& file) {
    const Fcidump data = read_integrals(world, file);
    const Reference reference = build_reference(data, file);
    if (!reference.is_canonical()) {
        if (world.rank() == 0) std::printf("%s: MP3 needs RHF or UHF orbitals\n", file.c_str());
        return false;
    }
    const SpinIntegrals H = build_integrals(data, reference, IntegralSet::coupled_cluster);
    const auto all = H.oovv.size() + H.oooo.size() + H.ovvo.size() + H.vvvv.size();
    const auto dense = dense_mp3(H);
    const auto error = [](double energy, double expected) {
        const auto difference = std::abs(energy - expected);
        return difference < 1e-12 ? 0 : difference;  // rounding
    };
    const auto print = [&](const char* threshold, const Energies& found) {
        if (world.rank() == 0)
            std::printf("%-9s %8lld  %8.4f  %11.8f  %7.1e  %11.8f  %7.1e\n", threshold, static_cast<long long>(found.stored),
                        static_cast<double>(found.stored) / static_cast<double>(all), found.mp2, error(found.mp2, dense.mp2), found.mp3,
                        error(found.mp3, dense.mp3));
    };
    if (world.rank() == 0)
        std::printf("%lld integrals over %zu occupied and %zu virtual spin orbitals\n"
                    "threshold   stored  fraction       E(MP2)    error       E(MP3)    error\n",
                    static_cast<long long>(all), H.occupied.size(), H.virtuals.size());
    print("dense", dense);
    Energies sparse;
    for (const char* const threshold : {"1e-1", "1e-2", "1e-3", "1e-4", "1e-6", "1e-10"}) {
        sparse = sparse_mp3(H, std::stod(threshold));
        print(threshold, sparse);
    }

    const auto agree = [&](const Energies& a, const Energies& b, double tolerance) {
        return error(a.mp2, b.mp2) < tolerance && error(a.mp3, b.mp3) < tolerance;
    };
    const bool dense_right = agree(dense, loop_mp3(data, H.spaces), 1e-10), sparse_right = agree(sparse, dense, 1e-8);
    if (world.rank() == 0)
        std::printf("dense as loops over spin orbitals say: %s; the last line as dense: %s\n", dense_right ? "yes" : "NO",
                    sparse_right ? "yes" : "NO");
    return dense_right && sparse_right;
}

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) { return compare(world, argc > 1 ? argv[1] : "examples/data/h2o_631g.fcidump"); });
}
