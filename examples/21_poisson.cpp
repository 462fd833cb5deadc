// A sparse linear system: Poisson's equation in a cube, by conjugate gradients with algebraic multigrid. Coarse matrices are products P^T A
// P.
#include <arges/arges.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace arges;
using Vector = Tensor<double>;
using Matrix = SparseTensor<double>;

/// A grid of the hierarchy.
struct Level {
    Matrix A, P;    ///< P has a 1 where a point of this grid belongs to one of the next
    Vector weight;  ///< of a sweep: 2/3 of the inverse diagonal
};

/// A matrix whose rows the ranks make in turn: element(row, add) calls add(column, value).
template <class F>
static Matrix matrix(const World& world, std::int64_t rows, std::int64_t columns, const char* name, F elements) {
    SparseEntries<double> mine{{{}, {}}, {}};
    for (auto row = world.rank(); row < rows; row += world.size())
        elements(row, [&](std::int64_t column, double value) {
            mine.indices[0].push_back(row);
            mine.indices[1].push_back(column);
            mine.values.push_back(value);
        });
    return Matrix::from_entries(world, {rows, columns}, mine, Duplicates::refuse, name);
}

/// Calls use(neighbor) for the points beside one of an n x n x n grid.
template <class F>
static void for_neighbors(std::int64_t point, std::int64_t n, F use) {
    for (std::int64_t stride = 1; stride < n * n * n; stride *= n) {
        if (point / stride % n > 0) use(point - stride);
        if (point / stride % n < n - 1) use(point + stride);
    }
}

static Level level(Matrix A, std::int64_t n) {
    const auto& world = A.world();
    const auto points = n * n * n, half = (n + 1) / 2;
    Level result{std::move(A), {}, Vector(world, {points}, "weight")};
    result.weight["i"] = result.A["ii"];
    update(result.weight["i"], [](double& diagonal) { diagonal = 2.0 / 3 / diagonal; });
    result.P = matrix(world, points, half * half * half, "P", [&](std::int64_t point, auto add) {
        add(point % n / 2 + half * (point / n % n / 2 + half * (point / n / n / 2)), 1);
    });
    return result;
}

/// x = about A^-1 r, by a sweep before and after the correction that the next grid gives.
static Vector cycle(const std::vector<Level>& levels, std::size_t l, const Vector& r) {
    const auto& [A, P, weight] = levels[l];
    Vector x(r.world(), r.extents()), rest(r.world(), r.extents());
    x["i"] = weight["i"] * r["i"];
    const auto sweep = [&] {
        rest["i"] = r["i"] - A["ij"] * x["j"];
        x["i"] += weight["i"] * rest["i"];
    };
    if (l + 1 == levels.size()) {
        for (int k = 0; k < 20; ++k) sweep();
        return x;
    }
    sweep();
    rest["i"] = r["i"] - A["ij"] * x["j"];
    Vector coarse(r.world(), {P.lengths()[1]});
    coarse["k"] = P["ik"] * rest["i"];
    const auto correction = cycle(levels, l + 1, coarse);
    x["i"] += P["ik"] * correction["k"];
    sweep();
    sweep();
    return x;
}

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        constexpr std::int64_t n = 16;
        std::vector<Level> levels;
        levels.push_back(level(matrix(world, n * n * n, n * n * n, "A",
                                      [](std::int64_t point, auto add) {
                                          add(point, 6);
                                          for_neighbors(point, n, [&](std::int64_t other) { add(other, -1); });
                                      }),
                               n));
        for (auto size = n / 2; size > 1; size /= 2) {
            const auto& [A, P, weight] = levels.back();
            Matrix coarse(world, {size * size * size, size * size * size}, "coarse");
            coarse["kl"] = P["ik"] * A["ij"] * P["jl"];
            levels.push_back(level(std::move(coarse), size));
        }

        // A x = b with a source at one point, by conjugate gradients; z is r after a cycle.
        const auto& A = levels[0].A;
        Vector b(world, {n * n * n}, "b"), x(world, {n * n * n}, "x"), q(world, {n * n * n});
        b.fill([](Index i) { return i[0] == n / 2 * (1 + n + n * n) ? 1.0 : 0.0; });
        auto r = b, z = cycle(levels, 0, r), p = z;
        double rz = r["i"] * z["i"];
        int steps = 0;
        for (; r.norm() > 1e-10 * b.norm() && steps < 100; ++steps) {
            q["i"] = A["ij"] * p["j"];
            const double pq = p["i"] * q["i"];
            x["i"] += rz / pq * p["i"];
            r["i"] -= rz / pq * q["i"];
            z = cycle(levels, 0, r);
            const double before = rz;
            rz = r["i"] * z["i"];
            p["i"] = z["i"] + rz / before * p["i"];
        }

        // The residual, point by point.
        const auto solution = x.gather(), source = b.gather();
        double worst = 0;
        for (std::int64_t i = 0; i < n * n * n; ++i) {
            double value = source[static_cast<std::size_t>(i)] - 6 * solution[static_cast<std::size_t>(i)];
            for_neighbors(i, n, [&](std::int64_t other) { value += solution[static_cast<std::size_t>(other)]; });
            worst = std::max(worst, std::abs(value));
        }
        const bool right = worst < 1e-9;
        const auto nonzeros = levels[1].A.nonzeros();
        if (world.rank() == 0)
            std::printf("%zu grids, %lld nonzeros on the second; after %d steps x is %.6f at the source, residual below 1e-9: %s\n",
                        levels.size(), static_cast<long long>(nonzeros), steps, solution[static_cast<std::size_t>(n / 2 * (1 + n + n * n))],
                        right ? "yes" : "NO");
        return right;
    });
}
