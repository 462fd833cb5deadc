// Symmetry is declared once, with the tensor. It saves memory and work, and never changes a result.
#include <arges/arges.hpp>

#include <cmath>
#include <cstdio>

using namespace arges;

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        int wrong = 0;
        const auto check = [&](const char* what, double value, double expected) {
            const bool right = std::abs(value - expected) <= 1e-11 * (1 + std::abs(expected));
            wrong += right ? 0 : 1;
            if (world.rank() == 0) std::printf("%-40s %10g%s\n", what, value, right ? "" : "  WRONG");
        };

        // Two antisymmetric pairs; the tree is text over letters.
        Tensor<double> T(world, {4, 4, 3, 3}, "abij", "antisym(a,b) antisym(i,j)", "T");
        check("stored elements of T: 6 * 3", static_cast<double>(T.packed_size()), 18);
        check("elements that T stands for", static_cast<double>(T.size()), 144);

        Tensor<double> x(world, {3}), y(world, {3}), Z(world, {3, 3}, "ab", "antisym(a,b)", "Z");
        x.fill([](Index i) { return i[0] + 1.0; });                               // (1, 2, 3)
        y.fill([](Index i) { return i[0] == 0 ? 1.0 : i[0] == 2 ? 2.0 : 0.0; });  // (1, 0, 2)
        // The product has no symmetry by structure, so a plain statement is refused ...
        bool refused = false;
        try {
            Z["ab"] = x["a"] * y["b"];
        } catch (const InvalidArgument& error) {
            refused = true;
            if (world.rank() == 0) std::printf("refused: %s\n", error.what());
        }
        // ... and there are two cures. The signed sum over permutations: Z(0,1) = 1*0 - 2*1 = -2, Z(1,0) = 2.
        Z["ab"] = antisymmetrized(x["a"] * y["b"]);
        const std::vector<double> sum = Z.read({Z.key({0, 1}), Z.key({1, 0})});
        // Or your word that the values have the symmetry: one element of each orbit is taken, Z(0,1) = N(0,1).
        Tensor<double> N(world, {3, 3});
        N.fill([](Index i) { return static_cast<double>(i[0] - i[1]); });
        Z["ab"] = canonical(N["ab"]);
        const double word = Z.read({Z.key({0, 1})})[0];
        // Both terms written out need no cure.
        Z["ab"] = x["a"] * y["b"] - x["b"] * y["a"];
        const double terms = Z.read({Z.key({0, 1})})[0];

        wrong += refused ? 0 : 1;
        check("Z(0,1), signed sum", sum[0], -2);
        check("Z(1,0), the same with a sign", sum[1], 2);
        check("Z(0,1), by your word", word, -1);
        check("Z(0,1), both terms", terms, -2);

        // A pair that is antisymmetric already is not permuted again: this is P(ab) alone, two terms.
        Tensor<double> F(world, {4, 4}), R(world, {4, 4, 3, 3}, "abij", "antisym(a,b) antisym(i,j)", "R");
        T.fill_random(7);
        F.fill_random(8);
        R["abij"] = antisymmetrized(T["aeij"] * F["be"]);
        Tensor<double> full(world, {4, 4, 3, 3});  // the same without any symmetry
        full["abij"] = T["aeij"] * F["be"] - T["beij"] * F["ae"];
        full["abij"] -= R["abij"];
        check("P(ab): difference from two terms", full.norm(), 0);
        return wrong == 0;
    });
}
