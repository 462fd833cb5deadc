// The program of docs/coming_from_cyclops.md: an energy of second order and a ladder term, with packed integrals by a formula.
#include <ctf.hpp>

using namespace CTF;

namespace {

int const holes = 4, particles = 6;

double hole(std::int64_t i) { return -2.0 + 0.1 * i; }
double particle(std::int64_t a) { return 1.0 + 0.2 * a; }

/// <ab||ij>, antisymmetric in both pairs.
double coulomb(std::int64_t a, std::int64_t b, std::int64_t i, std::int64_t j) {
    return std::sin(1.0 + a * b + i * j) * (a - b) * (i - j) * 0.01;
}

/// Calls f(a, b, i, j, value) for the elements of this rank, which become the values.
template <class F>
void set_elements(Tensor<>& tensor, F const& f) {
    std::int64_t count;
    std::int64_t* keys;
    double* values;
    tensor.get_local_data(&count, &keys, &values);
    for (std::int64_t k = 0; k < count; ++k) {
        std::int64_t const first = keys[k] % (particles * particles), second = keys[k] / (particles * particles);
        f(first % particles, first / particles, second % tensor.lens[2], second / tensor.lens[2], values[k]);
    }
    tensor.write(count, keys, values);
    std::free(keys);
    delete[] values;
}

double energies(World& dw, double& ladder) {
    int const lens[] = {particles, particles, holes, holes}, all[] = {particles, particles, particles, particles};
    int const sym[] = {AS, NS, AS, NS};
    Tensor<> V(4, lens, sym, dw), W(4, all, sym, dw), T(V), R(V);
    typedef std::int64_t Index;
    set_elements(V, [](Index a, Index b, Index i, Index j, double& v) { v = coulomb(a, b, i, j); });
    set_elements(W, [](Index a, Index b, Index c, Index d, double& w) { w = coulomb(a, b, c, d); });
    T["abij"] = V["abij"];
    set_elements(T, [](Index a, Index b, Index i, Index j, double& t) { t /= hole(i) + hole(j) - particle(a) - particle(b); });
    R["abij"] = 0.5 * W["abef"] * T["efij"];
    ladder = R["abij"] * R["abij"];
    return 0.25 * V["abij"] * T["abij"];
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool right = false;
    {
        World dw(argc, argv);
        double ladder = 0, energy = energies(dw, ladder), second = 0, sum = 0;
        for (int a = 0; a < particles; ++a)
            for (int b = 0; b < particles; ++b)
                for (int i = 0; i < holes; ++i)
                    for (int j = 0; j < holes; ++j) {
                        double const v = coulomb(a, b, i, j);
                        second += 0.25 * v * v / (hole(i) + hole(j) - particle(a) - particle(b));
                        double r = 0;
                        for (int e = 0; e < particles; ++e)
                            for (int f = 0; f < particles; ++f)
                                r += 0.5 * coulomb(a, b, e, f) * coulomb(e, f, i, j) /
                                     (hole(i) + hole(j) - particle(e) - particle(f));
                        sum += r * r;
                    }
        right = std::abs(energy - second) < 1e-12 && std::abs(ladder - sum) < 1e-12;
        if (dw.rank == 0) std::printf(right ? "passed\n" : "FAILED: %.12f %.12f, %.12f %.12f\n", energy, second, ladder, sum);
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
