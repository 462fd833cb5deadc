// Linear algebra on matricizations: a bar in the labels says which dimensions are rows and which are columns.
#include <arges/arges.hpp>

#include <cmath>
#include <cstdio>

using namespace arges;

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        int wrong = 0;
        const auto check = [&](const char* what, double value, double expected, double tolerance) {
            const bool right = std::abs(value - expected) <= tolerance;
            wrong += right ? 0 : 1;
            if (!right || world.rank() == 0) std::printf("%-46s %.6g%s\n", what, value, right ? "" : "  WRONG");
        };

        // V(abij) is a sum of three products x(ab) y(ij) and small noise: as a matrix with rows (a,b) and columns (i,j) it is close to
        // rank 3.
        constexpr std::int64_t n = 12;
        Tensor<double> x(world, {n, n, 3}, "x"), y(world, {3, n, n}, "y"), noise(world, {n, n, n, n}, "noise"), V(noise);
        x.fill_random(1);
        y.fill_random(2);
        noise.fill_random(3, -1e-6, 1e-6);
        V["abij"] = x["abr"] * y["rij"] + noise["abij"];

        SvdOptions options;
        options.tolerance = 1e-3;  // cut what makes less than a thousandth of the norm
        options.checks = true;
        const auto cut = svd(V["ab|ij"], options);
        check("singular values that are kept", static_cast<double>(cut.s.size()), 3, 0);
        check("|V - U S Vh| / |V|", cut.checks.residual, cut.discarded / V.norm(), 1e-12);
        check("|U^H U - 1|, |Vh Vh^H - 1|: the larger", cut.checks.orthogonality, 0, 1e-12);

        // U has the extents (a, b, r), so the factors are tensors as others are: V again, without the noise.
        Tensor<double> S(world, {3}, "S"), W(world, {n, n, n, n}, "W");
        S.fill([&](Index r) { return cut.s[static_cast<std::size_t>(r[0])]; });
        W["abij"] = cut.U["abr"] * S["r"] * cut.Vh["rij"];
        W["abij"] -= V["abij"];
        check("the same by a statement", W.norm(), cut.discarded, 1e-9);

        // Only the leading part, from products with random vectors: much faster where the matrix is large.
        options.method = SvdMethod::randomized;
        options.rank = 3;
        const auto random = svd(V["ab|ij"], options);
        check("largest singular value, randomized", random.s[0] / cut.s[0], 1, 1e-9);

        // Rows and columns in another order than the dimensions: an arrow, as in einsum.
        const auto factors = qr(V["abij->ai|bj"], {.checks = true});
        check("|V - Q R| / |V|", factors.checks.residual, 0, 1e-13);

        // A chain of springs; its eigenvalues are 2 - 2 cos(pi k / (m + 1)).
        constexpr std::int64_t m = 50;
        Tensor<double> chain(world, {m, m}, "ij", "sym(i,j)", "chain");
        chain.fill([](Index i) { return i[0] == i[1] ? 2.0 : std::abs(i[0] - i[1]) == 1 ? -1.0 : 0.0; });
        const auto modes = eigh(chain["i|j"]);
        check("lowest frequency squared", modes.values[0], 2 - 2 * std::cos(std::acos(-1.0) / (m + 1)), 1e-13);

        // A constant force bends the chain to a parabola; k(k+1)/2 at the ends.
        Tensor<double> force(world, {m, 1}, "force");
        force.fill(1);
        const auto bent = solve_positive(chain["i|j"], force["i|x"]);
        check("displacement of the first mass", bent.gather()[0], m / 2.0, 1e-10);

        // A line through noisy points, by least squares.
        Tensor<double> design(world, {100, 2}, "design"), values(world, {100, 1}, "values");
        design.fill([](Index i) { return i[1] == 0 ? 1.0 : static_cast<double>(i[0]); });
        values.fill([](Index i) { return 3 + 0.5 * static_cast<double>(i[0]) + (i[0] % 2 == 0 ? 1e-3 : -1e-3); });
        const auto line = least_squares(design["t|p"], values["t|x"]);
        check("slope", line.X.gather()[1], 0.5, 1e-5);

        // A matrix that a ScaLAPACK program has: here in columns of blocks over all ranks. In as a tensor, or factorized where it is.
        BlockCyclic<double> mine{world};
        mine.rows = mine.columns = m;
        mine.row_block = mine.column_block = 8;
        mine.grid_columns = world.size();
        std::vector<double> array(static_cast<std::size_t>(mine.local_rows() * mine.local_columns()));
        mine.data = array.data();
        to_block_cyclic(chain["i|j"], mine);                  // from a tensor,
        const Tensor<double> back = from_block_cyclic(mine);  // and to one
        check("norm of the matrix in blocks", back.norm(), chain.norm(), 1e-12);
        cholesky(mine);  // in place: no copy
        check("L(0,0) squared", array.empty() ? 2 : world.rank() == 0 ? array[0] * array[0] : 2, 2, 1e-14);
        return wrong == 0;
    });
}
