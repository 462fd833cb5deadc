// Factorizations of matrices through ctf.hpp: products of the factors, and their orthogonality. Prints what is wrong, and ends with 1 then.
#include <ctf.hpp>

using namespace CTF;

namespace {

int failures = 0;

void expect(bool right, char const* what) {
    if (right) return;
    ++failures;
    std::printf("FAILED: %s\n", what);
}

template <class T>
T conjugate(T a) {
    return a;
}
template <class R>
std::complex<R> conjugate(std::complex<R> a) {
    return std::conj(a);
}

template <class T>
Matrix<T> adjoint(Matrix<T>& A) {
    T (*f)(T) = conjugate;
    Matrix<T> result(A.ncol, A.nrow, *A.wrld);
    result["ij"] = Function<T>(f)(A["ji"]);
    return result;
}

/// Are the columns orthogonal, of length one?
template <class T>
bool is_orthogonal(Matrix<T>& A) {
    Matrix<T> adjoint_of_A = adjoint(A), E(A.ncol, A.ncol, *A.wrld);
    E["ii"] = 1.0;
    E["ij"] -= adjoint_of_A["ik"] * A["kj"];
    return E.norm2() < 1e-4;
}

template <class T>
void factorize(int m, int n, World& dw) {
    Matrix<T> A(m, n, dw), D(m, n, dw), Q, R, U, VT;
    A.fill_random(T(-1), T(1));
    A.qr(Q, R);
    D["ij"] = A["ij"];
    D["ij"] -= Q["ik"] * R["kj"];
    expect(D.norm2() < 1e-4 && Q.ncol == std::min(m, n) && is_orthogonal(Q), "A = Q R");
    Vector<T> S;
    A.svd(U, S, VT);
    Matrix<T> V = adjoint(VT);
    D["ij"] = A["ij"];
    D["ij"] -= U["ik"] * S["k"] * VT["kj"];
    expect(D.norm2() < 1e-4 && S.len == std::min(m, n) && is_orthogonal(U) && is_orthogonal(V), "A = U S VT");
    A.svd(U, S, VT, 2);
    expect(S.len == 2 && U.nrow == m && U.ncol == 2 && VT.nrow == 2, "two singular values");
    std::vector<T> values(S.len);
    S.read_all(values.data());
    double const between = std::abs(values[0] + values[1]) / 2;
    A.svd(U, S, VT, 0, between);
    expect(S.len == 1 && U.ncol == 1 && VT.nrow == 1, "singular values over a threshold");

    Matrix<T> P(n, n, dw), L, B = adjoint(A);
    P["ij"] = B["ik"] * A["kj"];
    P["ii"] += 1.0;
    Matrix<T> E(P);
    Vector<T> d;
    P.eigh(U, d);
    B = adjoint(U);
    E["ij"] -= U["ik"] * d["k"] * B["kj"];
    expect(E.norm2() < 1e-4 * n && is_orthogonal(U), "A = U D U^H");
    for (int lower = 0; lower < 2; ++lower) {
        P.cholesky(L, lower != 0);
        B = adjoint(L);
        E["ij"] = P["ij"];
        if (lower != 0)
            E["ij"] -= L["ik"] * B["kj"];
        else
            E["ij"] -= B["ik"] * L["kj"];
        expect(E.norm2() < 1e-4 * n, "Cholesky");
        for (int side = 0; side < 4; ++side) {
            bool const from_left = side % 2 == 0, transposed = side > 1;
            Matrix<T> X(n, n, dw), Y, R(n, n, dw), F(n, n, dw);
            X.fill_random(T(-1), T(1));
            F["ij"] = transposed ? L["ji"] : L["ij"];
            R["ij"] = from_left ? F["ik"] * X["kj"] : X["ik"] * F["kj"];
            R.solve_tri(L, Y, lower != 0, from_left, transposed);
            Y["ij"] -= X["ij"];
            expect(Y.norm2() < 1e-3 * n, "a triangular solve");
        }
    }
    Matrix<T> X(n, 3, dw), Y, right(n, 3, dw);
    X.fill_random(T(-1), T(1));
    Flop_counter flops;
    right["ij"] = P["ik"] * X["kj"];
    expect(flops.count() == 2 * n * n * 3, "operations of a product");
    right.solve_spd(P, Y);
    Y["ij"] -= X["ij"];
    expect(Y.norm2() < 1e-3 * n, "a positive definite solve");
    P.svd(U, S, VT, 2);
    Vector<T> some;
    P.svd_rand(U, some, VT, 2, 20);
    some["i"] -= S["i"];
    expect(U.ncol == 2 && VT.nrow == 2 && some.norm2() < 1e-3 * n, "singular values by random vectors");
    int const lens[] = {m, 2, n};
    Tensor<T> A3(3, lens, dw), U3, S3, V3;
    A3.fill_random(T(-1), T(1));
    A3["ijk"].svd(U3["jri"], S3["r"], V3["kr"]);
    A3["ijk"] -= U3["jri"] * S3["r"] * V3["kr"];
    expect(A3.norm2() < 1e-3 * n && U3.lens[1] == S3.lens[0] && V3.lens[0] == n, "singular values of a matricization");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int sum = 0;
    {
        World dw(argc, argv);
        factorize<double>(7, 5, dw);
        factorize<float>(5, 5, dw);
        factorize<std::complex<double> >(3, 6, dw);
        factorize<std::complex<float> >(8, 3, dw);
        MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (dw.rank == 0) std::printf(sum == 0 ? "passed\n" : "%d failures\n", sum);
    }
    MPI_Finalize();
    return sum == 0 ? 0 : 1;
}
