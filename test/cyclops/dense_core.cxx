// A C++11 program against ctf.hpp: what statements, keys, slices and functions give for dense tensors, by numbers that were worked out by
// hand. Prints what is wrong, and ends with 1 then.
#include <ctf.hpp>

using namespace CTF;

namespace {

int failures = 0;

void expect(bool right, std::string const& what) {
    if (right) return;
    ++failures;
    std::printf("FAILED: %s\n", what.c_str());
}

/// All elements of a tensor, first index fastest.
template <class T>
void expect_elements(Tensor<T> const& A, std::vector<T> const& wanted, std::string const& what) {
    std::int64_t count = 0;
    T* values = nullptr;
    A.get_all_data(&count, &values, true);
    bool same = count == std::int64_t(wanted.size());
    for (std::int64_t i = 0; same && i < count; ++i) same = std::abs(values[i] - wanted[i]) < 1e-5;
    if (!same && A.wrld->rank == 0)
        for (std::int64_t i = 0; i < count; ++i) std::cout << values[i] << (i + 1 < count ? " " : "  <- ");
    expect(same, what);
    delete[] values;
}

/// A matrix with these elements, given by the first rank, column by column.
template <class T = double>
Matrix<T> matrix(int rows, int columns, std::vector<T> const& values, World& dw) {
    Matrix<T> result(rows, columns, NS, dw);
    std::vector<std::int64_t> keys(values.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i;
    result.write(dw.rank == 0 ? keys.size() : 0, keys.data(), values.data());
    return result;
}

typedef std::vector<double> D;

void keys_and_pairs(World& dw) {
    Matrix<> A = matrix(2, 3, {0, 1, 2, 3, 4, 5}, dw);
    std::vector<Pair<> > pairs(2);
    pairs[0] = Pair<>(1, 5.0);
    pairs[1] = Pair<>(1, 7.0);
    A.write(dw.rank == 0 ? 2 : 0, pairs.data());
    expect_elements<double>(A, {0, 12, 2, 3, 4, 5}, "pairs with one key are added up, and replace");
    A.write(dw.rank == 0 ? 2 : 0, 2.0, 3.0, pairs.data());
    expect_elements<double>(A, {0, 60, 2, 3, 4, 5}, "alpha * sum + beta * old");

    std::int64_t keys[] = {2, 2};
    double values[] = {10, 20};
    A.read(2, 2.0, 3.0, keys, values);
    expect(values[0] == 34 && values[1] == 64, "read with alpha and beta, a key twice");

    int len[] = {3, 3}, sy[] = {SY, NS}, as[] = {AS, NS};
    Tensor<> S(2, len, sy, dw), X(2, len, as, dw), N(2, len, (int*)nullptr, dw);
    std::vector<std::int64_t> all(9);
    std::vector<double> counted(9);
    for (int i = 0; i < 9; ++i) counted[i] = all[i] = i;
    S.write(dw.rank == 0 ? 9 : 0, all.data(), counted.data());
    expect_elements<double>(S, {0, 4, 8, 4, 4, 12, 8, 12, 8}, "all keys into a symmetric matrix");
    X.write(dw.rank == 0 ? 9 : 0, all.data(), counted.data());
    expect_elements<double>(X, {0, -2, -4, 2, 0, -2, 4, 2, 0}, "all keys into an antisymmetric matrix");

    std::int64_t n = 0, total = 0, *own = nullptr;
    double* elements = nullptr;
    X.get_local_data(&n, &own, &elements);
    MPI_Allreduce(&n, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect(total == 3, "an antisymmetric 3 x 3 matrix stores three elements");
    std::free(own);
    delete[] elements;
    X.get_local_data(&n, &own, &elements, false, true);
    MPI_Allreduce(&n, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect(total == 9, "and has nine");
    std::free(own);
    delete[] elements;
    expect(N.order == 2 && N.lens[1] == 3 && N.sym[0] == NS && X.sym[0] == AS, "fields");
    std::vector<std::int64_t> some(1, 4);
    N[some] = std::vector<double>(1, dw.rank == 0 ? 2.5 : 0.0);
    expect(std::abs(N.norm2() - 2.5) < 1e-12, "A[keys] = values");
}

/// The keys that get_local_data gives.
std::vector<std::int64_t> local_keys(Tensor<> const& A) {
    std::int64_t count = 0, *keys = nullptr;
    double* values = nullptr;
    A.get_local_data(&count, &keys, &values);
    std::vector<std::int64_t> const result(keys, keys + count);
    std::free(keys);
    delete[] values;
    return result;
}

/// Programs compare local elements of two tensors one by one.
void local_elements(World& dw) {
    int len[] = {7, 7, 7, 7};
    Tensor<> A(4, len, dw), B(4, len, dw), C(4, len, dw), D(4, len, dw);
    A.fill_random(-1, 1);
    B.fill_random(-1, 1);
    C.fill_random(-1, 1);
    std::vector<std::int64_t> const wanted = local_keys(C);
    for (int i = 0; i < 3; ++i) C["ijkl"] += (.3 * i) * A["ijmn"] * B["mnkl"];
    D["ijkl"] = A["ijmn"] * B["mnkl"];
    D["ijkl"] = D["ijmn"] * C["mnkl"];
    C["ijkl"] = B["ijmn"] * C["mnkl"];
    C["ijkl"] = A["ijmn"] * C["mnkl"];
    expect(local_keys(C) == wanted && local_keys(D) == wanted && local_keys(A) == wanted, "tensors of a shape have the same local elements");
    D["ijkl"] -= C["ijkl"];
    expect(D.norm2() < 1e-9 * C.norm2(), "products are associative");
}

void statements(World& dw) {
    Matrix<> A = matrix(2, 2, {1, 3, 2, 4}, dw), B = matrix(2, 2, {5, 7, 6, 8}, dw), C(2, 2, NS, dw);
    C["ij"] = A["ik"] * B["kj"];
    expect_elements<double>(C, {19, 43, 22, 50}, "product");
    C["ij"] += 2.0 * A["ij"];
    C["ij"] -= A["ji"];
    expect_elements<double>(C, {20, 47, 23, 54}, "+= and -=");
    2.0 * C["ij"] -= A["ij"];
    expect_elements<double>(C, {39, 91, 44, 104}, "a factor on the left");
    C["ij"] = 1e10 * (1e10 * A["ij"]);
    expect(std::abs(C.norm1() - 1e21) < 1e6, "whole factors whose product is no int64_t");
    C["ij"] = 3.0;
    C["ii"] = 1.0;
    expect_elements<double>(C, {1, 3, 3, 1}, "numbers, diagonals");
    C["ij"] *= A["jk"];
    expect_elements<double>(C, {3, 9, 21, 7}, "*=");
    C["ij"] = (A["ij"] + B["ij"]) * 2.0;
    expect_elements<double>(C, {12, 20, 16, 24}, "a sum times a number");
    Vector<> x(2, dw);
    x["i"] = A["ij"];
    expect_elements<double>(x, {3, 7}, "row sums");
    x["k"] = A["ij"];
    expect_elements<double>(x, {10, 10}, "a total, broadcast");
    C["ij"] = x["k"] * x["l"];
    expect_elements<double>(C, {400, 400, 400, 400}, "a number of two vectors, broadcast");
    C["`{"] = A["`{"];
    expect_elements<double>(C, {1, 3, 2, 4}, "labels of any byte");
    double d = A["ij"] * B["ij"];
    d += A["ii"];
    expect(d == 5 + 12 + 21 + 32 + 5, "sums as numbers");
    Scalar<> s(dw);
    s[""] = A["ij"];
    expect(double(s) == 10 && s.get_val() == 10, "scalars");
    Matrix<int> I = matrix<int>(2, 2, {1, 2, 3, 4}, dw);
    I["ij"] += I["ji"];
    expect_elements<int>(I, {2, 5, 5, 8}, "integers, the tensor itself on the right");
    int len[] = {2, 2};
    Tensor<std::complex<double> > Z(2, len, dw);
    Z = std::complex<double>(0, 2);
    Z["ij"] = Z["ik"] * Z["kj"];
    expect_elements<std::complex<double> >(Z, std::vector<std::complex<double> >(4, -8.0), "complex elements are not conjugated");
    Matrix<float> F(2, 2, NS, dw);
    F["ij"] = 0.5;
    F["ij"] += 0.1 * F["ij"];
    expect(std::abs(F.norm2() - 1.1) < 1e-6, "float");
    C.contract(2.0, A, "ik", B, "kj", 0.0, "ij");
    expect_elements<double>(C, {38, 86, 44, 100}, "contract");
}

void symmetries(World& dw) {
    int len[] = {2, 2}, sy[] = {SY, NS}, as[] = {AS, NS}, sh[] = {SH, NS};
    Tensor<> S(2, len, sy, dw), X(2, len, as, dw), H(2, len, sh, dw), Y(2, len, as, dw);
    Matrix<> A = matrix(2, 2, {1, 3, 2, 4}, dw), B = matrix(2, 2, {5, 7, 6, 8}, dw);
    S["ij"] = A["ik"] * B["kj"];
    expect_elements<double>(S, {38, 65, 65, 100}, "a product into SY");
    X["ij"] = A["ik"] * B["kj"];
    expect_elements<double>(X, {0, 21, -21, 0}, "a product into AS");
    H["ij"] = A["ik"] * B["kj"];
    expect_elements<double>(H, {0, 65, 65, 0}, "a product into SH");
    S["ij"] = A["ij"];
    expect_elements<double>(S, {2, 5, 5, 8}, "a sum into SY");
    S["ij"] = A["ik"] * A["jk"];
    expect_elements<double>(S, {5, 11, 11, 25}, "A * A^T is symmetric");
    X["ij"] = A["ij"];
    expect_elements<double>(X, {0, 1, -1, 0}, "a sum into AS");
    Y["ij"] = X["ji"];
    expect_elements<double>(Y, {0, -1, 1, 0}, "AS into AS, transposed");
    H["ij"] = S["ij"];
    expect_elements<double>(H, {0, 11, 11, 0}, "SY into SH");
    X["ij"] = 3.0;
    expect_elements<double>(X, {0, -3, 3, 0}, "a number into AS");
    Y["ij"] = X["ij"] * X["ij"];
    expect_elements<double>(Y, {0, -9, 9, 0}, "AS times AS element by element, stored as AS");
    S["ij"] = X["ij"];
    expect_elements<double>(S, {0, 0, 0, 0}, "AS into SY");
    X["ii"] = 7.0;
    expect_elements<double>(X, {0, -3, 3, 0}, "the diagonal of AS stays");
    expect(std::abs(X.norm2() - std::sqrt(18.0)) < 1e-12, "norms are of all elements");

    int len4[] = {2, 2, 2, 2}, pairs[] = {AS, NS, AS, NS};
    Tensor<> V(4, len4, pairs, dw), T(4, len4, pairs, dw), Z(4, len4, pairs, dw);
    std::int64_t const key = 2 + 8;  // (0, 1, 0, 1)
    double three = 3, five = 5, got = 0;
    V.write(dw.rank == 0, &key, &three);
    T.write(dw.rank == 0, &key, &five);
    Z["abij"] = 0.5 * V["abef"] * T["efij"];
    Z.read(1, &key, &got);
    expect(got == 15, "the ladder sums over all e and f");
    Z["abij"] = A["be"] * T["aeij"];
    Z.read(1, &key, &got);
    expect(got == 25, "P(ab)");
    Z["abij"] = A["ai"] * A["bj"];
    Z.read(1, &key, &got);
    expect(got == -4, "an outer product of a matrix with itself: four terms");
    Tensor<> upper(S, as);
    S["ij"] = A["ij"];
    Tensor<> plain(S, nullptr), kept(A, sy);
    expect_elements<double>(plain, {2, 0, 5, 8}, "Tensor(A, sym) copies what is stored");
    expect_elements<double>(kept, {1, 2, 2, 4}, "in both directions");
}

void parts(World& dw) {
    Matrix<> A = matrix(3, 3, {0, 1, 2, 3, 4, 5, 6, 7, 8}, dw), B(3, 3, NS, dw);
    expect_elements<double>(A.slice(3, 7), {3, 4, 6, 7}, "slice by keys has an inclusive end");
    int from[] = {1, 1}, to[] = {3, 3}, zero[] = {0, 0}, two[] = {2, 2};
    expect_elements<double>(A.slice(from, to), {4, 5, 7, 8}, "slice by offsets has an exclusive one");
    B["ij"] = 1.0;
    B.slice(zero, two, 2.0, A, from, to, 10.0);
    expect_elements<double>(B, {42, 52, 1, 72, 82, 1, 1, 1, 1}, "beta * B + alpha * A");
    int turn[] = {2, 0, 1}, *rows[] = {turn, nullptr};
    B["ij"] = 0.0;
    B.permute(0.0, A, rows, 1.0);
    expect_elements<double>(B, {1, 2, 0, 4, 5, 3, 7, 8, 6}, "permute(beta, A, p, alpha)");
    B.permute(rows, 0.0, A, 1.0);
    expect_elements<double>(B, {2, 0, 1, 5, 3, 4, 8, 6, 7}, "permute(p, beta, A, alpha)");
    std::int64_t flat[] = {9};
    expect_elements<double>(A.reshape(1, flat), {0, 1, 2, 3, 4, 5, 6, 7, 8}, "reshape");

    World alone(MPI_COMM_SELF);
    Matrix<> mine(3, 3, NS, alone);
    A.add_to_subworld(&mine, 1.0, 0.0);
    expect_elements<double>(mine, {0, 1, 2, 3, 4, 5, 6, 7, 8}, "add_to_subworld");
    A.add_from_subworld(dw.rank == 0 ? &mine : nullptr, 2.0, 1.0);
    expect_elements<double>(A, {0, 3, 6, 9, 12, 15, 18, 21, 24}, "add_from_subworld");
    Scalar<> no_part(alone);
    Matrix<> block(3, 3, NS, alone, "sym(a,b)");
    Tensor<>* const taken = dw.rank == 0 ? static_cast<Tensor<>*>(&block) : &no_part;
    taken->permute(rows, 0.0, A, 1.0);
    Matrix<> twice(3, 3, dw);
    twice.permute(0.0, *taken, rows, 2.0);
    expect_elements<double>(twice, {0, 6, 12, 18, 24, 30, 36, 42, 48}, "permute with a rank that has no part");
    Tensor<> dummy(0, 0, (std::int64_t*)nullptr, nullptr, alone);
    mine["ij"] = 1.0;
    if (dw.rank == 0)
        A.slice(zero, two, 1.0, mine, from, to, 5.0);
    else if (dw.rank == 1)
        A.slice(zero, two, 1.0, mine, from, to, -3.0);
    else
        A.slice(zero, zero, 1.0, dummy, nullptr, nullptr, 1.0);
    World again(MPI_COMM_WORLD);
    Matrix<> same(3, 3, NS, again);
    same["ij"] = A["ij"];
    double const added = dw.np == 1 ? 5 : 2;
    expect_elements<double>(same, {0 + added, 3 + added, 6, 9 + added, 12 + added, 15, 18, 21, 24}, "slices of tensors of one rank; worlds of one communicator are one");
}

void functions(World& dw) {
    Matrix<> A = matrix(2, 2, {1, 3, 2, 4}, dw), C(2, 2, NS, dw);
    C["ij"] = Function<>([](double a) { return a * a; })(A["ij"]);
    expect_elements<double>(C, {1, 9, 4, 16}, "f(a)");
    C["ij"] += Function<>([](double a, double b) { return a / b; })(A["ij"], A["ji"]);
    expect_elements<double>(C, {2, 10.5, 4 + 2.0 / 3, 17}, "f(a, b), added");
    Vector<> x(2, dw);
    x["i"] = Function<>([](double a, double b) { return a * b; })(A["ik"], A["kk"]);
    expect_elements<double>(x, {1 * 1 + 2 * 4, 3 * 1 + 4 * 4}, "a function with a label that is summed");
    Transform<>([](double& a) { a = -a; })(A["ij"]);
    expect_elements<double>(A, {-1, -3, -2, -4}, "a transform");
    Transform<>([](double a, double& b) { b += a; })(x["i"], A["ij"]);
    expect_elements<double>(A, {8, 16, 7, 15}, "a transform with an operand");
    Matrix<float> F(2, 2, NS, dw);
    F["ij"] = Function<double, float>([](double a) { return float(a) / 2; })(A["ij"]);
    expect_elements<float>(F, {4, 8, 3.5, 7.5}, "a function into another type");
    double sum = Function<>([](double a) { return a + 1; })(A["ij"]);
    expect(sum == 50, "the sum of a function");
}

void more(World& dw) {
    Matrix<> A = matrix(2, 2, {-1, 3, 2, -4}, dw), B(2, 2, NS, dw);
    expect(A.reduce(OP_MINABS) == 1 && A.reduce(OP_MAXABS) == 4 && A.reduce(OP_SUMSQ) == 30, "reductions of absolute values");
    int four[] = {4};
    Tensor<> flat(1, four, dw);
    flat["i"] = 1.0;
    flat.reshape(A, 2.0, 10.0);
    expect_elements<double>(flat, {8, 16, 14, 2}, "reshape with factors");
    Matrix<std::complex<double> > Z(2, 2, NS, dw);
    Z["ij"] = std::complex<double>(1, 1);
    Z["ij"] = std::complex<double>(0, 2) * Z["ij"];
    std::complex<double> const sum = Z["ij"];
    expect(sum == std::complex<double>(-8, 8), "complex factors and sums");
    FILE* file = std::tmpfile();
    B["ij"] = A["ij"];
    B["ii"] = 1.0;
    B.compare(A, file);
    std::rewind(file);
    int lines = 0;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) lines += c == '\n';
    expect(lines == (dw.rank == 0 ? 2 : 0), "compare prints what differs");
    std::fclose(file);

    int const len[] = {3, 2, 3}, sym[] = {NS, NS, NS}, grid[] = {1, dw.np};
    Partition part(2, grid);
    Tensor<> T(3, len, sym, dw, "ijk", part["jk"]), U(3, len, dw);
    T.fill_random(-1, 1);
    U["ijk"] = T["ijk"];
    std::int64_t count = 0;
    double* raw = T.get_raw_data(&count);
    expect(count == 6 * ((3 + dw.np - 1) / dw.np), "a rank's part of a layout");
    for (std::int64_t i = 0; i < count; ++i) raw[i] *= 2;
    U["ijk"] -= 0.5 * T["ijk"];
    expect(U.norm2() < 1e-12, "raw elements are taken over");
    raw = U.get_raw_data(&count);
    for (std::int64_t i = 0; i < count; ++i) raw[i] = 1;
    expect(double(U["ijk"]) == 18, "raw elements without a layout");
    double* const data = (double*)U.data;
    for (std::int64_t i = 0; i < count; ++i) data[i] += 1;
    expect(double(U["ijk"]) == 36, "elements by their address");
}

/// Does it throw on every rank?
template <class F>
void expect_error(F f, std::string const& what) {
    int thrown = 0, all = 0, ranks = 0;
    try {
        f();
    } catch (std::exception const&) {
        thrown = 1;
    }
    MPI_Allreduce(&thrown, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    expect(all == ranks, "no error: " + what);
}

void errors(World& dw) {
    Matrix<> A(3, 4, NS, dw), B(3, 4, NS, dw);
    Matrix<int> I(3, 4, NS, dw);
    Tensor<> none;
    int low[] = {-1, 0}, zero[] = {0, 0}, two[] = {2, 2}, high[] = {3, 5}, all[] = {3, 4};
    int wrong[] = {0, 1, 5, 2}, *rows[] = {nullptr, wrong};
    std::int64_t const key = 12;
    double const value = 1;
    expect_error([&] { A["i"] = B["ij"]; }, "a label too few");
    expect_error([&] { A["ij"] = B["ji"]; }, "labels with two lengths");
    expect_error([&] { A.write(dw.rank == 0, &key, &value); }, "a key out of range, on one rank");
    expect_error([&] { A.slice(low, two); }, "a slice that begins too early");
    expect_error([&] { A.slice(zero, high); }, "a slice that ends too late");
    expect_error([&] { A.slice(zero, two, 0.0, B, zero, all, 1.0); }, "slices of different lengths");
    expect_error([&] { A.permute(0.0, B, rows, 1.0); }, "a permutation out of range");
    expect_error([&] { A.permute(rows, 0.0, B, 1.0); }, "a permutation out of range, from");
    expect_error([&] { A.slice(zero, two, 0.0, I, zero, two, 1.0); }, "elements of another type");
    expect_error([&] { Tensor<> copy((CTF_int::tensor&)I); }, "a copy with another type");
    expect_error([&] { none["ij"] = A["ij"]; }, "a tensor without a shape");
    expect_error([&] { I["ij"] = 0.5 * I["ij"]; }, "a fraction of integers");
    expect_error([&] { Vector<> copy((Tensor<>&)A); }, "a matrix as a vector");
    expect_error([&] { Transform<>([](double a, double& b) { b = a; })(A["ji"], B["ij"]); }, "lengths in a transform");
    World alone(MPI_COMM_SELF);
    Matrix<> part(dw.rank == 0 ? 2 : 3, 4, NS, alone);
    expect_error([&] { A.add_to_subworld(&part); }, "a part of another shape, on one rank");

    std::string const path = std::string(std::getenv("ARGES_TEST_FOLDER") != nullptr ? std::getenv("ARGES_TEST_FOLDER") : ".") + "/dense";
    A.fill_random(0, 1);
    A.write_dense_to_file(path.c_str());
    B.read_dense_from_file(path.c_str());
    A["ij"] -= B["ij"];
    expect(A.norm2() == 0, "a file");
    Matrix<> longer(4, 4, NS, dw);
    expect_error([&] { longer.read_dense_from_file(path.c_str()); }, "a file that ends too early");
    expect_error([&] { A.read_dense_from_file((path + "/no").c_str()); }, "a file that is not there");
    MPI_Barrier(MPI_COMM_WORLD);
    if (dw.rank == 0) std::remove(path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int all = 0;
    {
        World dw(argc, argv);
        keys_and_pairs(dw);
        local_elements(dw);
        statements(dw);
        symmetries(dw);
        parts(dw);
        functions(dw);
        more(dw);
        errors(dw);
        Vector<> v(100);
        v.fill_random(-1, 1);
        double const norm = v.norm2();
        expect(norm > 3 && norm < 9 && v.norm_infty() <= 1 && v.reduce(OP_MAX) > v.reduce(OP_MIN), "random numbers, reductions");
        MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (dw.rank == 0) std::printf(all == 0 ? "passed\n" : "%d failures\n", all);
    }
    MPI_Finalize();
    return all == 0 ? 0 : 1;
}
