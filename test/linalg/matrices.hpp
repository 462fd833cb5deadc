/// Random matricizations for tests of linear algebra, and slow references that are right by inspection.
#pragma once

#include "arges/arges.hpp"
#include "linalg/matricization.hpp"
#include "support/tensor_checks.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace arges::test {

template <class T>
T random_element(std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    const double re = uniform(random);
    if constexpr (is_complex<T>)
        return T(static_cast<real_of<T>>(re), static_cast<real_of<T>>(uniform(random)));
    else
        return static_cast<T>(re);
}

template <class T>
T conjugate_of(T x) {
    if constexpr (is_complex<T>)
        return std::conj(x);
    else
        return x;
}

/// A matrix on every rank, column-major.
template <class T>
struct Dense2 {
    std::int64_t m = 0, n = 0;
    std::vector<T> data;

    Dense2(std::int64_t rows, std::int64_t columns) : m(rows), n(columns), data(static_cast<std::size_t>(rows * columns), T(0)) {}
    Dense2(std::int64_t rows, std::int64_t columns, std::vector<T> values) : m(rows), n(columns), data(std::move(values)) {
        EXPECT_EQ(static_cast<std::int64_t>(data.size()), m * n);
        data.resize(static_cast<std::size_t>(m * n));
    }
    T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + m * j)]; }
    T operator()(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(i + m * j)]; }

    Dense2 adjoint() const {
        Dense2 result(n, m);
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i) result(j, i) = conjugate_of((*this)(i, j));
        return result;
    }
    friend Dense2 operator*(const Dense2& a, const Dense2& b) {
        EXPECT_EQ(a.n, b.m);
        Dense2 result(a.m, b.n);
        for (std::int64_t j = 0; j < b.n; ++j)
            for (std::int64_t k = 0; k < a.n; ++k)
                for (std::int64_t i = 0; i < a.m; ++i) result(i, j) += a(i, k) * b(k, j);
        return result;
    }
    friend Dense2 operator-(Dense2 a, const Dense2& b) {
        EXPECT_EQ(a.data.size(), b.data.size());
        for (std::size_t i = 0; i < a.data.size(); ++i) a.data[i] -= b.data[i];
        return a;
    }
    double norm() const {
        double sum = 0;
        for (auto x : data) sum += static_cast<double>(std::norm(x));
        return std::sqrt(sum);
    }
    static Dense2 random(std::int64_t m, std::int64_t n, std::mt19937_64& random) {
        Dense2 result(m, n);
        for (auto& x : result.data) x = random_element<T>(random);
        return result;
    }
    static Dense2 identity(std::int64_t n) {
        Dense2 result(n, n);
        for (std::int64_t i = 0; i < n; ++i) result(i, i) = 1;
        return result;
    }
};

/// What rounding may do to a matrix of unit norm and so many rows and columns.
template <class T>
double rounding(std::int64_t m, std::int64_t n) {
    return 20 * static_cast<double>(std::numeric_limits<real_of<T>>::epsilon()) *
           std::sqrt(static_cast<double>(std::max({m, n, std::int64_t(1)})));
}

/// |Q^H Q - 1| is round-off.
template <class T>
void expect_orthonormal(const Dense2<T>& Q) {
    EXPECT_LE((Q.adjoint() * Q - Dense2<T>::identity(Q.n)).norm(), rounding<T>(Q.m, Q.n) * std::sqrt(static_cast<double>(Q.n + 1)));
}

/// |A - B| is round-off against |A|.
template <class T>
void expect_close(const Dense2<T>& A, const Dense2<T>& B, double factor = 1) {
    ASSERT_EQ(A.m, B.m);
    ASSERT_EQ(A.n, B.n);
    EXPECT_LE((A - B).norm(), factor * rounding<T>(A.m, A.n) * A.norm() + 1e-300) << A.m << " x " << A.n;
}

/// Singular values, falling, by one-sided Jacobi rotations (Hestenes, J. SIAM 6, 1958) in double precision.
template <class T>
std::vector<double> reference_singular_values(const Dense2<T>& A) {
    using C = std::complex<double>;
    const auto source = A.m >= A.n ? A : A.adjoint();
    Dense2<C> B(source.m, source.n);
    for (std::size_t i = 0; i < B.data.size(); ++i) B.data[i] = C(source.data[i]);
    for (int sweep = 0; sweep < 60; ++sweep) {
        bool rotated = false;
        for (std::int64_t p = 0; p < B.n; ++p)
            for (std::int64_t q = p + 1; q < B.n; ++q) {
                double a = 0, b = 0;
                C c = 0;
                for (std::int64_t i = 0; i < B.m; ++i) {
                    a += std::norm(B(i, p));
                    b += std::norm(B(i, q));
                    c += std::conj(B(i, p)) * B(i, q);
                }
                if (std::abs(c) <= 1e-15 * std::sqrt(a * b) || std::abs(c) == 0) continue;
                rotated = true;
                const double zeta = (b - a) / (2 * std::abs(c));
                const double t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
                const double cosine = 1 / std::sqrt(1 + t * t), sine = cosine * t;
                const C phase = c / std::abs(c);
                for (std::int64_t i = 0; i < B.m; ++i) {
                    const C x = B(i, p), y = B(i, q) * std::conj(phase);
                    B(i, p) = cosine * x - sine * y;
                    B(i, q) = sine * x + cosine * y;
                }
            }
        if (!rotated) break;
    }
    std::vector<double> values;
    for (std::int64_t j = 0; j < B.n; ++j) {
        double sum = 0;
        for (std::int64_t i = 0; i < B.m; ++i) sum += std::norm(B(i, j));
        values.push_back(std::sqrt(sum));
    }
    std::sort(values.rbegin(), values.rend());
    return values;
}

/// Eigenvalues, ascending, of a Hermitian matrix: singular values of the matrix shifted to be positive.
template <class T>
std::vector<double> reference_eigenvalues(const Dense2<T>& A) {
    Dense2<std::complex<double>> shifted(A.m, A.n);
    const double shift = A.norm();
    for (std::int64_t j = 0; j < A.n; ++j)
        for (std::int64_t i = 0; i < A.m; ++i)
            shifted(i, j) = std::complex<double>(i >= j ? A(i, j) : conjugate_of(A(j, i))) + (i == j ? shift : 0.0);
    auto values = reference_singular_values(shifted);
    std::reverse(values.begin(), values.end());
    for (auto& v : values) v -= shift;
    return values;
}

/// Many ranks on few cores are slow: fewer cases run there.
inline int cases(const World& world, int count) { return std::max(2, count / static_cast<int>(thinning(world))); }

/// Labels, and which tensor and matrix they name.
struct MatrixCase {
    std::vector<std::int64_t> extents;  ///< of the tensor
    std::string labels;                 ///< with a bar
    MatrixGrid grid;

    linalg::Matricization parsed() const { return linalg::parse_matricization(labels, extents, "A"); }
    std::string text() const {
        std::string result = labels + " over";
        for (auto n : extents) result += " " + std::to_string(n);
        return result + ", grid " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns) + " blocks of " +
               std::to_string(grid.block);
    }
};

/// A grid within a world: chosen by the library, or small blocks on any grid.
inline MatrixGrid random_grid(std::int64_t ranks, std::mt19937_64& random) {
    if (random_integer(random, 0, 2) == 0) return {};
    MatrixGrid grid;
    grid.rows = random_integer(random, 1, ranks);
    grid.columns = random_integer(random, 1, ranks / grid.rows);
    grid.block = random_integer(random, 1, 5);
    return grid;
}

/// A random matricization: 2 to 5 dimensions of the given extents, in any order on either side of the bar.
inline MatrixCase random_case(std::int64_t ranks, std::mt19937_64& random, const std::vector<std::int64_t>& choices) {
    MatrixCase c;
    const auto order = random_integer(random, 2, 4);
    std::string letters = std::string("abcde").substr(0, static_cast<std::size_t>(order));
    for (std::int64_t d = 0; d < order; ++d)
        c.extents.push_back(choices[static_cast<std::size_t>(random_integer(random, 0, static_cast<std::int64_t>(choices.size()) - 1))]);
    auto shuffled = letters;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    const auto bar = static_cast<std::size_t>(random_integer(random, 1, order - 1));
    const bool arrow = random_integer(random, 0, 1) == 1;
    auto matrix = arrow ? shuffled : letters;
    matrix.insert(bar, "|");
    c.labels = arrow ? letters + "->" + matrix : matrix;
    c.grid = random_grid(ranks, random);
    return c;
}

/// The matrix of a tensor whose values are given in key order.
template <class T>
Dense2<T> matrix_of(const std::vector<T>& values, const MatrixCase& c) {
    const auto labels = c.parsed();
    Dense2<T> result(labels.rows.size, labels.columns.size);
    for (std::size_t key = 0; key < values.size(); ++key) {
        std::vector<std::int64_t> x;
        auto rest = static_cast<std::int64_t>(key);
        for (auto n : c.extents) {
            x.push_back(rest % n);
            rest /= n;
        }
        const auto index = [&](const linalg::MatrixSide& side) {
            std::int64_t i = 0;
            for (std::size_t d = side.dimensions.size(); d-- > 0;)
                i = i * side.extents[d] + x[static_cast<std::size_t>(side.dimensions[d])];
            return i;
        };
        result(index(labels.rows), index(labels.columns)) = values[key];
    }
    return result;
}

/// A tensor whose matricization is a given matrix.
template <class T>
Tensor<T> tensor_of(const World& world, const Dense2<T>& matrix, const MatrixCase& c) {
    const auto labels = c.parsed();
    Tensor<T> result(world, c.extents, "A");
    result.fill([&](Index x) {
        const auto index = [&](const linalg::MatrixSide& side) {
            std::int64_t i = 0;
            for (std::size_t d = side.dimensions.size(); d-- > 0;)
                i = i * side.extents[d] + x[static_cast<std::size_t>(side.dimensions[d])];
            return i;
        };
        return matrix(index(labels.rows), index(labels.columns));
    });
    return result;
}

/// Runs a test over the element types.
template <class F>
void for_each_type(F&& f) {
    {
        SCOPED_TRACE("float");
        f(float());
    }
    {
        SCOPED_TRACE("double");
        f(double());
    }
    {
        SCOPED_TRACE("complex float");
        f(std::complex<float>());
    }
    {
        SCOPED_TRACE("complex double");
        f(std::complex<double>());
    }
}

}  // namespace arges::test
