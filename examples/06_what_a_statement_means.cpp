// The rules of docs/symmetry.md with a number for each; fails if one is wrong.
#include <arges/arges.hpp>

#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>

using namespace arges;
using Numbers = std::vector<double>;

namespace {

int rank = 0, wrong = 0;

void is(const char* what, const Numbers& value, const Numbers& expected) {
    bool right = value.size() == expected.size();
    for (std::size_t i = 0; right && i < value.size(); ++i) right = std::abs(value[i] - expected[i]) < 1e-12;
    wrong += right ? 0 : 1;
    if (rank != 0 && right) return;
    std::printf("%-44s", what);
    for (double x : value) std::printf(" %g", x);
    std::printf(right ? "\n" : "  WRONG\n");
}

/// The statement must be refused; the message is shown.
void refused(const std::function<void()>& statement) {
    try {
        statement();
        wrong += 1;
    } catch (const InvalidArgument& error) {
        if (rank == 0) std::printf("refused: %s\n", error.what());
    }
}

double scalar(const World& world, const Expression<double>& right) {
    Tensor<double> s(world, {});
    s[""] = right;
    return s.scalar();
}

/// Rule 1: a symmetric tensor stands for the full tensor.
void full_tensor(const World& world) {
    Tensor<double> A(world, {3, 3}, "ab", "antisym(a,b)", "A");
    const std::vector<std::int64_t> pairs = {0 + 3 * 1, 0 + 3 * 2, 1 + 3 * 2};  // keys of (0,1), (0,2), (1,2)
    A.write(pairs, Numbers{1, 2, 3});
    is("A in key order", A.gather(), {0, -1, -2, 1, 0, -3, 2, 3, 0});
    is("sum, norm1, norm^2", {A.sum(), A.norm1(), A.norm() * A.norm()}, {0, 12, 28});
    const std::vector<std::int64_t> both = {0 + 3 * 1, 1 + 3 * 0};  // (0,1) and (1,0): one element with two signs
    refused([&] { A.write(both, Numbers{5, 5}); });
    A.write(both, Numbers{5, -5});
    is("A(0,1) after writing 5 and -5", A.read(both), {5, -5});
    A.accumulate(both, Numbers{1, 1});
    is("A(0,1) after adding 1 to both", A.read(both), {5, -5});
}

/// Rules 2 and 3: labels, and factors that are never implied.
void labels(const World& world, const Tensor<double>& x, const Tensor<double>& y) {
    Tensor<double> M(world, {3, 3}), d(world, {3}), A(world, {3, 3}, "ab", "antisym(a,b)", "A");
    M.fill([](Index i) { return 10.0 * static_cast<double>(i[0]) + static_cast<double>(i[1]); });
    A.fill([](Index i) { return static_cast<double>(i[0] + i[1]); });  // f sees a < b only: 1, 2, 3
    is("label not in the output: sum", {scalar(world, M["ij"])}, {99});
    is("twice in one factor: trace", {scalar(world, M["ii"])}, {33});
    d["i"] = M["ii"];
    is("  and diagonal", d.gather(), {0, 11, 22});
    d["i"] = x["i"] * y["i"];
    is("in all: element by element", d.gather(), {1, 0, 6});
    is("no factor is implied: A.A, A.A / 2", {scalar(world, A["ab"] * A["ab"]), scalar(world, 0.5 * A["ab"] * A["ab"])}, {28, 14});
    M["ii"] = x["i"];
    is("twice on the left: the diagonal only", M.gather(), {1, 10, 20, 1, 2, 21, 2, 12, 3});
    M["ij"] = x["i"];
    is("in the output only: repeated", M.gather(), {1, 2, 3, 1, 2, 3, 1, 2, 3});
}

/// Rule 4: symmetry of the output.
void projections(const World& world, const Tensor<double>& x, const Tensor<double>& y) {
    Tensor<double> S(world, {3, 3}, "ab", "sym(a,b)", "S"), Z(world, {3, 3}, "ab", "antisym(a,b)", "Z");
    Z.fill([](Index i) { return static_cast<double>(i[0] + i[1]); });  // 1, 2, 3 for a < b
    S["ab"] = Z["ab"] * Z["ab"];                                       // two signs cancel: symmetric by structure, accepted
    is("Z Z element by element", S.gather(), {0, 1, 4, 1, 0, 9, 4, 9, 0});
    S["ab"] = symmetrized(Z["ab"] * Z["ab"]);  // has the symmetry already: one coset, one term
    is("symmetrized(Z Z) is the same", S.gather(), {0, 1, 4, 1, 0, 9, 4, 9, 0});
    // Structure means trees and labels, never which object is which: x x counts as any two vectors do.
    S["ab"] = symmetrized(x["a"] * x["b"]);
    is("symmetrized(x x): two terms", S.gather(), {2, 4, 6, 4, 8, 12, 6, 12, 18});
    S["ab"] = canonical(x["a"] * x["b"]);
    is("canonical(x x)", S.gather(), {1, 2, 3, 2, 4, 6, 3, 6, 9});
    refused([&] { S["ab"] = x["a"] * y["b"]; });
    S["ab"] = symmetrized(x["a"] * y["b"]);  // x_a y_b + x_b y_a, on the diagonal too
    is("symmetrized(x y)", S.gather(), {2, 2, 5, 2, 0, 4, 5, 4, 12});
    Z["ab"] = antisymmetrized(x["a"] * y["b"]);  // x_a y_b - x_b y_a
    is("antisymmetrized(x y)", Z.gather(), {0, 2, 1, -2, 0, -4, -1, 4, 0});
    Z["ab"] = canonical(x["a"] * y["b"]);  // your word, here a false one: elements a < b are taken, the rest follows
    is("canonical(x y)", Z.gather(), {0, -0.0, -2, 0, 0, -4, 2, 4, 0});

    Tensor<double> t1(world, {4, 3}), t2(world, {4, 4, 3, 3}, "abij", "antisym(a,b) antisym(i,j)");
    Tensor<double> T3(world, {4, 4, 4, 3, 3, 3}, "abcijk", "antisym(a,b,c) antisym(i,j,k)", "T3");
    const std::string plan = T3["abcijk"].explain(antisymmetrized(t2["abij"] * t1["ck"]));  // P(c/ab) P(k/ij): 3 * 3 cosets of 36
    is("terms of P(c/ab) P(k/ij)", {plan.find("summed over 9 permutations") != std::string::npos ? 9.0 : 0.0}, {9});
}

/// Trees of chemistry: how many elements are stored.
void trees(const World& world) {
    const auto stored = [&](std::vector<std::int64_t> extents, const char* names, const char* tree) {
        return static_cast<double>(Tensor<double>(world, extents, names, tree).packed_size());
    };
    is("T2(abij): 6 * 3 of 144", {stored({4, 4, 3, 3}, "abij", "antisym(a,b) antisym(i,j)")}, {18});
    is("spin-adapted T2: 12 * 13 / 2 of 144", {stored({4, 4, 3, 3}, "abij", "sym(product(a,i),product(b,j))")}, {78});
    is("(pq|rs), 8-fold: 6 * 7 / 2 of 81", {stored({3, 3, 3, 3}, "pqrs", "sym(sym(p,q),sym(r,s))")}, {21});
    is("T3(abcijk): 4 * 1 of 1728", {stored({4, 4, 4, 3, 3, 3}, "abcijk", "antisym(a,b,c) antisym(i,j,k)")}, {4});
    Tensor<double> same(world, {4, 4, 3, 3}, {AS, NS, AS, NS});  // the vector form: each entry ties its index to the next
    is("{AS,NS,AS,NS}", {same.symmetry() == Symmetry::parse("abij", "antisym(a,b) antisym(i,j)") ? 1.0 : 0.0}, {1});
    refused([&] { Symmetry::from_relations({AS, AS}); });
    Tensor<std::complex<double>> H(world, {2, 2}, "pq", "hermitian(p,q)");
    H.fill([](Index i) { return std::complex<double>(static_cast<double>(i[0]), static_cast<double>(i[1] - i[0])); });
    const auto h = H.gather();  // H(0,1) = i, H(1,0) = -i
    is("hermitian: imaginary parts", {h[0].imag(), h[1].imag(), h[2].imag(), h[3].imag()}, {0, -1, 1, 0});
}

}  // namespace

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        rank = static_cast<int>(world.rank());
        Tensor<double> x(world, {3}), y(world, {3});  // (1, 2, 3) and (1, 0, 2)
        x.fill([](Index i) { return static_cast<double>(i[0] + 1); });
        y.fill([](Index i) { return i[0] == 0 ? 1.0 : i[0] == 1 ? 0.0 : 2.0; });
        full_tensor(world);
        labels(world, x, y);
        projections(world, x, y);
        trees(world);
        return wrong == 0;
    });
}
