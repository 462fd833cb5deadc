// Complex tensors with pairs of indices, what is refused and why, and a limit on memory.
//
// A density of n orbitals: rho(p,q) = sum_k conj(C(p,k)) C(q,k) is hermitian; its products rho(p,q) rho(r,s) may exchange their pairs.
#include <arges/arges.hpp>

#include <complex>
#include <cstdio>
#include <functional>

using namespace arges;
using Complex = std::complex<double>;

constexpr std::int64_t n = 6, electrons = 2;

/// Says on rank 0 what a call is refused for.
void refused(const World& world, const char* what, const std::function<void()>& call) {
    try {
        call();
        if (world.rank() == 0) std::printf("%s: accepted\n", what);
    } catch (const Error& error) {
        if (world.rank() == 0) std::printf("%s: %s\n", what, error.what());
    }
}

int main(int argc, char** argv) {
    return run(argc, argv, [&](World world) {
        Tensor<Complex> C(world, {n, electrons}, "C");
        C.fill([](Index x) { return std::polar(0.5, static_cast<double>(x[0] * (x[1] + 1))); });

        // Hermitian because of equal factors; pair-symmetric because of equal factors again. Nothing has to be vouched for.
        Tensor<Complex> rho(world, {n, n}, "pq", "hermitian(p,q)", "rho");
        rho["pq"] = conj(C["pk"]) * C["qk"];
        Tensor<Complex> two(world, {n, n, n, n}, "pqrs", "sym(product(p,q),product(r,s))", "two");
        two["pqrs"] = rho["pq"] * rho["rs"];
        const Complex norm = two["pqqp"];
        if (world.rank() == 0) std::printf("sum over p and q of two(pqqp): %.6f\n", norm.real());
        refused(world, "exchange", [&] { rho["pq"] = C["pk"] * C["qk"]; });

        // Keys: one element of each orbit is stored; others are found by it.
        const auto stored = rho.canonical_key({4, 1});
        if (world.rank() == 0)
            std::printf("rho(4,1) is %sthe element with key %ld\n", stored.conjugate ? "the conjugate of " : "",
                        static_cast<long>(stored.key));
        refused(world, "contradiction", [&] { rho.write({rho.key({4, 1}), rho.key({1, 4})}, {Complex(0, 1), Complex(0, 1)}); });
        refused(world, "diagonal", [&] { rho.write({rho.key({2, 2})}, {Complex(0, 1)}); });
        refused(world, "key", [&] { rho.write({n * n}, {Complex(1)}); });

        // A limit that counts for all ranks: what does not fit is refused before anything is changed.
        world.set_memory_limit(world.memory_in_use() + 10000);
        refused(world, "memory", [&] { Tensor<Complex> large(world, {100, 100, 100, 100}, "large"); });
        return true;
    });
}
