// Wrong uses of linear algebra and what the library answers; docs/linear_algebra.md shows some of the messages.
#include "interface/wrong_uses.hpp"

#include <limits>

namespace arges::test {
namespace {

bool last(const World& world) { return world.rank() + 1 == world.size(); }

Tensor<double> with_nan(const Tensor<double>& like) {
    auto result = like;
    result.set_name(like.name());
    result.for_each_local([](Index x, double& value) {
        if (x[0] == 1 && x[1] == 2) value = std::numeric_limits<double>::quiet_NaN();
    });
    return result;
}

/// 2 on the diagonal, but -1 in its third place.
Tensor<double> indefinite(const World& world) {
    Tensor<double> result(world, {4, 4}, "P");
    result.fill([](Index x) { return x[0] != x[1] ? 0.0 : x[0] == 2 ? -1.0 : 2.0; });
    return result;
}

Tensor<double> zero_on_diagonal(const World& world) {
    Tensor<double> result(world, {4, 4}, "Y");
    result.fill([](Index x) { return x[0] == 3 && x[1] == 3 ? 0.0 : 1.0; });
    return result;
}

SvdOptions of_rank(std::int64_t rank) {
    SvdOptions options;
    options.rank = rank;
    return options;
}

SvdOptions with_tolerance(double tolerance) {
    SvdOptions options;
    options.tolerance = tolerance;
    return options;
}

SvdOptions randomized(std::optional<std::int64_t> rank, std::int64_t oversampling) {
    SvdOptions options;
    options.method = SvdMethod::randomized;
    options.rank = rank;
    options.oversampling = oversampling;
    return options;
}

EighOptions range(std::int64_t first, std::int64_t count) {
    EighOptions options;
    options.first = first;
    options.count = count;
    return options;
}

/// A view of a 4 x 4 array that every rank has room for.
BlockCyclic<double> view_of(const World& world, std::vector<double>& array) {
    array.resize(16);
    BlockCyclic<double> view{world};
    view.data = array.data();
    view.rows = view.columns = 4;
    return view;
}

/// Changes a view and reads it.
void read_view(const World& world, const std::function<void(BlockCyclic<double>&)>& change) {
    std::vector<double> array;
    auto view = view_of(world, array);
    change(view);
    from_block_cyclic(view, "V");
}

/// Two views of 4 x 4 for a QR in place.
void factorize_views(const World& world, const std::function<void(BlockCyclic<double>&, BlockCyclic<double>&)>& change) {
    std::vector<double> first, second;
    auto a = view_of(world, first), r = view_of(world, second);
    change(a, r);
    qr(a, r);
}

TEST(WrongUses, OfMatricizationsAreRefused) {
    check_uses({
        {ARGES_USE(svd(N["ij"])), invalid, {"N[\"ij\"]", "no bar", "T[\"ab|ij\"]"}},
        {ARGES_USE(qr(E["p|q|rs"])), invalid, {"E[\"p|q|rs\"]", "more than one bar"}},
        {ARGES_USE(svd(N["|ij"])), invalid, {"N[\"|ij\"]", "left of the bar", "extent 1"}},
        {ARGES_USE(svd(N["ij|"])), invalid, {"N[\"ij|\"]", "right of the bar"}},
        {ARGES_USE(qr(N["i|i"])), invalid, {"label 'i' occurs twice", "diagonal"}},
        {ARGES_USE(qr(N["i|jk"])), invalid, {"3 labels for a tensor of order 2"}},
        {ARGES_USE(qr(N["ij->i|k"])), invalid, {"label 'k' is not in front of the arrow"}},
        {ARGES_USE(qr(E["pqrs->pq|r"])), invalid, {"3 labels behind the arrow and 4 in front"}},
        {ARGES_USE(qr(N["i|*"])), invalid, {"\"*\" is not a label"}},
        {ARGES_USE(N["i|j"] = N["ij"]), invalid, {"N"}},
        {ARGES_USE(svd(D["i|j"])), invalid, {"no shape yet"}},
        {ARGES_USE(svd(Tensor<double>(World::dry_run(4), {4, 4}, "dry")["i|j"])), unsupported, {"dry[\"i|j\"]", "dry run"}},
        {ARGES_USE(svd(with_nan(N)["i|j"])), invalid, {"row 1, column 2", "infinite or not a number"}},
        {ARGES_USE(svd(with_nan(N)["i|j"], randomized(2, 1))), invalid, {"infinite or not a number"}},
        {ARGES_USE(qr(with_nan(N)["ij->j|i"])), invalid, {"row 2, column 1", "infinite or not a number"}},
        {ARGES_USE(qr(W["i|j"])), "OutOfMemory", {"bytes on a rank", "limit"}},
    });
}

TEST(WrongUses, OfFactorizationsAreRefused) {
    check_uses({
        {ARGES_USE(svd(N["i|j"], of_rank(0))), invalid, {"svd of N[\"i|j\"]", "rank 0", "at least 1"}},
        {ARGES_USE(svd(N["i|j"], of_rank(-3))), invalid, {"rank -3"}},
        {ARGES_USE(svd(N["i|j"], with_tolerance(-0.1))), invalid, {"tolerances -0.1", "must not be negative"}},
        {ARGES_USE(svd(N["i|j"], with_tolerance(std::numeric_limits<double>::quiet_NaN()))), invalid, {"tolerances"}},
        {ARGES_USE(svd(N["i|j"], randomized({}, 4))), invalid, {"needs a rank", "SvdOptions::rank"}},
        {ARGES_USE(svd(N["i|j"], randomized(2, -1))), invalid, {"oversampling -1"}},
        {ARGES_USE(eigh(M["i|j"])), invalid, {"eigh of M[\"i|j\"]", "4 x 5", "square"}},
        {ARGES_USE(eigh(N["i|j"])), invalid, {"differs from its adjoint", "EighOptions::symmetric"}},
        {ARGES_USE(eigh(A["i|j"])), invalid, {"differs from its adjoint", "2.0"}},
        {ARGES_USE(eigh(S["i|j"], range(2, 3))), invalid, {"eigenvalues 2 to 4 of 4", "from 0"}},
        {ARGES_USE(eigh(S["i|j"], range(-1, 1))), invalid, {"eigenvalues -1 to -1 of 4"}},
        {ARGES_USE(cholesky(M["i|j"])), invalid, {"cholesky of M[\"i|j\"]", "4 x 5", "square"}},
        {ARGES_USE(cholesky(indefinite(world)["i|j"])),
         invalid,
         {"P[\"i|j\"] is not positive definite", "leading minor of order 3", "eigh()"}},
        {ARGES_USE(cholesky(indefinite(world)["i|j"], {1, world.size(), 1})), invalid, {"leading minor of order 3"}},
        {ARGES_USE(solve_positive(indefinite(world)["i|j"], N["i|k"])), invalid, {"leading minor of order 3"}},
        {ARGES_USE(solve_positive(S["i|j"], N["k|l"])), invalid, {"N[\"k|l\"] has k (4)", "S[\"i|j\"] has i (4)", "same labels"}},
        {ARGES_USE(solve_positive(S["i|j"], F["i|k"])), invalid, {"different worlds", "transfer()"}},
        {ARGES_USE(solve_triangular(zero_on_diagonal(world)["i|j"], N["i|k"])), invalid, {"Y[\"i|j\"] is singular", "zero in row 3"}},
        {ARGES_USE(solve_triangular(N["i|j"], M["i|j"], {Side::right, Triangle::lower, Operation::none, false, {}})),
         invalid,
         {"j (5)", "j (4)"}},
        {ARGES_USE(least_squares(M["i|j"], N["k|i"])), invalid, {"same labels"}},
        {ARGES_USE(least_squares(M["i|j"], with_nan(N)["i|k"])), invalid, {"N[\"i|k\"]", "not a number"}},
        {ARGES_USE(solve_positive(AnyTensor(S)["i|j"], N.converted(ElementType::float32)["i|k"])), invalid, {"float64", "float32"}},
        {ARGES_USE(qr(AnyTensor(ElementType::int64, Storage::dense, world, {2, 2})["i|j"])), unsupported, {"linear algebra with elements"}},
        {ARGES_USE(qr(N["i|j"], {false, {-1, 0, 0}})), invalid, {"matrix grid: -1", "must not be negative"}},
        {ARGES_USE(qr(N["i|j"], {false, {100, 2, 0}})), invalid, {"matrix grid: 100 x 2 ranks", "smaller grid"}},
    });
}

TEST(WrongUses, OfBlockCyclicMatricesAreRefused) {
    check_uses({
        {ARGES_USE(read_view(world, [](auto& view) { view.data = nullptr; })), invalid, {"null pointer on rank 0", "4 x 4 elements"}},
        {ARGES_USE(read_view(world, [](auto& view) { view.leading_dimension = 3; })), invalid, {"leading dimension 3 on rank 0", "4 rows"}},
        {ARGES_USE(read_view(world, [](auto& view) { view.row_block = 0; })), invalid, {"blocks of 0 x 64", "at least 1 x 1"}},
        {ARGES_USE(read_view(world, [](auto& view) { view.grid_columns = 99; })), invalid, {"grid of 1 x 99", "not more than the world"}},
        {ARGES_USE(read_view(world, [](auto& view) { view.row_source = 1; })), invalid, {"begins in row 1", "sources run from 0"}},
        {ARGES_USE(read_view(world, [](auto& view) { view.rows = -4; })), invalid, {"must not be negative"}},
        {ARGES_USE(read_view(world, [](auto& view) { view.rows = last(view.world) ? 3 : 4; })), invalid, {"ranks describe different"}, 2},
        {ARGES_USE(read_view(World::dry_run(2), [](auto&) {})), unsupported, {"dry run"}},
        {ARGES_USE(std::vector<double> a; to_block_cyclic(M["i|j"], view_of(world, a))), invalid, {"4 x 4; it must be 4 x 5"}},
        {ARGES_USE(std::vector<double> a; to_block_cyclic(F["i|j"], view_of(world, a))), invalid, {"different worlds"}},
        {ARGES_USE(std::vector<double> a; from_block_cyclic(view_of(world, a), S["i|j"])), invalid, {"S[\"i|j\"] has a symmetry"}},
        {ARGES_USE(factorize_views(world, [](auto&, auto& r) { r.rows = 3; })), invalid, {"R is 3 x 4; it must be 4 x 4"}},
        {ARGES_USE(factorize_views(world, [](auto& a, auto&) { a.grid_columns = a.column_block = 2; })), invalid, {"square blocks"}, 2},
        {ARGES_USE(factorize_views(world, [](auto& a, auto&) { a.grid_columns = 2; })),
         invalid,
         {"not on the same world, grid and blocks"},
         2},
        {ARGES_USE(std::vector<double> a; to_block_cyclic(N.converted(ElementType::float32)["i|j"], view_of(world, a))),
         invalid,
         {"float32", "float64"}},
        {ARGES_USE(from_replicated<double>(world, {2, 3}, std::vector<double>(5))), invalid, {"5 values for 6 elements"}},
        {ARGES_USE(read_view(world, [](auto& view) { view.rows = view.columns = 100000; })),
         unsupported,
         {"ScaLAPACK's indices end at 2147483647", "more ranks"}},
    });
}

}  // namespace
}  // namespace arges::test
