// Layouts, movements between tensors and block-cyclic matrices, and factorizations of the caller's arrays.
#include "linalg/matrices.hpp"
#include "linalg/matrix_layout.hpp"
#include "support/seeds.hpp"

namespace arges::test {
namespace {

using linalg::BlockAxis;

TEST(BlockAxis, PlacesEachIndexOnce) {
    for (const std::int64_t extent : {0, 1, 5, 7, 12, 40})
        for (const std::int64_t block : {1, 2, 3, 50})
            for (const std::int64_t grid_length : {1, 2, 3, 5})
                for (std::int64_t source = 0; source < grid_length; ++source) {
                    const BlockAxis axis{extent, block, grid_length, source};
                    std::vector<std::int64_t> next(static_cast<std::size_t>(grid_length), 0);
                    for (std::int64_t i = 0; i < extent; ++i) {
                        const auto coordinate = axis.coordinate(i);
                        EXPECT_EQ(axis.local(i), next[static_cast<std::size_t>(coordinate)]++);
                        EXPECT_EQ(axis.global(coordinate, axis.local(i)), i);
                    }
                    for (std::int64_t p = 0; p < grid_length; ++p) {
                        EXPECT_EQ(axis.count(p), next[static_cast<std::size_t>(p)]);
                        EXPECT_LE(axis.count(p), axis.max_count());
                    }
                }
    const BlockAxis example{7, 2, 2, 0};  // that of the docstring
    EXPECT_EQ(example.count(0), 4);
    EXPECT_EQ(example.global(0, 2), 4);
    EXPECT_EQ(example.global(1, 2), 6);
}

TEST(MatrixLayout, GridsSuitTheMatrix) {
    const auto shape = [](std::int64_t m, std::int64_t n, std::int64_t ranks) {
        const auto layout = linalg::choose_layout(m, n, ranks, {});
        return std::pair(layout.rows.grid_length, layout.columns.grid_length);
    };
    EXPECT_EQ(shape(4000, 4000, 1), std::pair(1L, 1L));
    EXPECT_EQ(shape(4000, 4000, 3), std::pair(1L, 3L));
    EXPECT_EQ(shape(4000, 4000, 7), std::pair(1L, 7L));
    EXPECT_EQ(shape(4000, 4000, 11), std::pair(2L, 5L));
    EXPECT_EQ(shape(4000, 4000, 64), std::pair(8L, 8L));
    EXPECT_EQ(shape(8000, 1000, 6), std::pair(3L, 2L));
    EXPECT_EQ(shape(100, 100, 64), std::pair(1L, 1L));
    EXPECT_EQ(shape(0, 0, 8), std::pair(1L, 1L));
    EXPECT_THROW(linalg::check_size(linalg::choose_layout(100000, 100000, 1, {}), "A"), Unsupported);
}

/// A view with an array of its own.
template <class T>
struct OwnedView {
    std::vector<T> array;
    BlockCyclic<T> view;

    OwnedView(const World& world, std::int64_t m, std::int64_t n, const BlockCyclic<T>& like) : view(like) {
        view.world = world;
        view.rows = m;
        view.columns = n;
        const auto distance = view.local_rows() + view.leading_dimension;
        array.assign(static_cast<std::size_t>(distance * view.local_columns()), T(-99));
        if (view.leading_dimension > 0) view.leading_dimension = distance;
        view.data = array.data();
    }
    /// Calls f(element, i, j) for each local element.
    template <class F>
    void each(F&& f) {
        const auto ranks = linalg::grid_ranks(view.grid_rows, view.grid_columns, view.order);
        const auto at = std::find(ranks.begin(), ranks.end(), view.world.rank());
        if (at == ranks.end()) return;
        const auto position = at - ranks.begin();
        const auto distance = std::max(view.leading_dimension, view.local_rows());
        for (std::int64_t j = 0, l = 0; j < view.columns; ++j) {
            if ((j / view.column_block + view.column_source) % view.grid_columns != position / view.grid_rows) continue;
            for (std::int64_t i = 0, k = 0; i < view.rows; ++i)
                if ((i / view.row_block + view.row_source) % view.grid_rows == position % view.grid_rows)
                    f(array[static_cast<std::size_t>(k++ + l * distance)], i, j);
            ++l;
        }
    }
    void set(const Dense2<T>& A) {
        each([&](T& x, std::int64_t i, std::int64_t j) { x = A(i, j); });
    }
    Dense2<T> whole() const { return {view.rows, view.columns, from_block_cyclic(view).gather()}; }
};

template <class T>
BlockCyclic<T> random_view(const World& world, std::mt19937_64& random, bool direct) {
    BlockCyclic<T> view{world};
    view.grid_rows = random_integer(random, 1, world.size());
    view.grid_columns = random_integer(random, 1, world.size() / view.grid_rows);
    view.row_block = random_integer(random, 1, 5);
    view.column_block = direct ? view.row_block : random_integer(random, 1, 5);
    view.order = random_integer(random, 0, 1) == 0 ? GridOrder::row_major : GridOrder::column_major;
    if (!direct) {
        view.row_source = random_integer(random, 0, view.grid_rows - 1);
        view.column_source = random_integer(random, 0, view.grid_columns - 1);
    }
    view.leading_dimension = random_integer(random, 0, 2);  // padding here; OwnedView adds the rows
    return view;
}

template <class T>
void check_movement(const World& world, std::mt19937_64& random) {
    const auto c = random_case(world.size(), random, {0, 1, 2, 3, 5, 7});
    const auto labels = c.parsed();
    const auto A = Dense2<T>::random(labels.rows.size, labels.columns.size, random);
    auto tensor = tensor_of(world, A, c);
    OwnedView<T> mine(world, A.m, A.n, random_view<T>(world, random, false));
    SCOPED_TRACE(c.text());
    to_block_cyclic(tensor[c.labels], mine.view);
    mine.each([&](T& x, std::int64_t i, std::int64_t j) { EXPECT_EQ(x, A(i, j)) << i << " " << j; });
    mine.each([&](T& x, std::int64_t, std::int64_t) { x += T(1); });
    from_block_cyclic(mine.view, tensor[c.labels]);
    auto more = A;
    for (auto& x : more.data) x += T(1);
    EXPECT_EQ(matrix_of(tensor.gather(), c).data, more.data);
    BlockCyclic<const T> constant{world,
                                  mine.view.data,
                                  A.m,
                                  A.n,
                                  mine.view.row_block,
                                  mine.view.column_block,
                                  mine.view.grid_rows,
                                  mine.view.grid_columns,
                                  mine.view.order,
                                  mine.view.row_source,
                                  mine.view.column_source,
                                  mine.view.leading_dimension};
    EXPECT_EQ(from_block_cyclic(constant, "M").gather(), more.data);
}

TEST(BlockCyclic, TensorsInAndOut) {
    const World world;
    with_all_mappings(world, [&] {
        for_each_type([&](auto zero) {
            for_each_seed(2000, cases(world, 6), [&](std::mt19937_64& random) { check_movement<decltype(zero)>(world, random); });
        });
    });
}

TEST(BlockCyclic, SmallTensorsThatAreStoredSeveralTimes) {
    const World world;
    std::mt19937_64 random(3);
    for (int i = 0; i < 8; ++i) {
        OwnedView<double> mine(world, 2, 1, random_view<double>(world, random, false));
        Tensor<double> tensor(world, {2, 1}, "t");
        tensor.fill([](Index x) { return static_cast<double>(x[0] + 1); });
        to_block_cyclic(tensor["i|j"], mine.view);
        mine.each([&](double& x, std::int64_t r, std::int64_t) { EXPECT_EQ(x, static_cast<double>(r + 1)); });
        mine.each([&](double& x, std::int64_t, std::int64_t) { x *= 10; });
        from_block_cyclic(mine.view, tensor["i|j"]);
        EXPECT_EQ(tensor.gather(), (std::vector<double>{10, 20}));
        tensor.for_each_local([](Index, const double& x) { EXPECT_GE(x, 10); });  // every copy
    }
}

TEST(BlockCyclic, SymmetricTensorsOut) {
    const World world;
    Tensor<double> A(world, {5, 5}, "ij", "antisym(i,j)", "A");
    A.fill_random(4);
    const Dense2<double> full(5, 5, A.gather());
    BlockCyclic<double> like{world};
    like.row_block = like.column_block = 2;
    like.grid_columns = world.size();
    OwnedView<double> mine(world, 5, 5, like);
    to_block_cyclic(A["i|j"], mine.view);
    mine.each([&](double& x, std::int64_t i, std::int64_t j) { EXPECT_EQ(x, full(i, j)); });
}

TEST(FromReplicated, TakesEachRanksPart) {
    const World world;
    std::vector<double> values(60);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    EXPECT_EQ(from_replicated<double>(world, {3, 4, 5}, values, "t").gather(), values);
    EXPECT_EQ(from_replicated<double>(world, {}, std::vector<double>{3}).scalar(), 3);
}

template <class T>
void check_in_place(const World& world, std::mt19937_64& random) {
    const auto like = random_view<T>(world, random, true);
    const auto m = random_integer(random, 0, 17), n = random_integer(random, 0, 17), k = std::min(m, n),
               count = random_integer(random, 0, 6);
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " on " + std::to_string(like.grid_rows) + " x " +
                 std::to_string(like.grid_columns) + ", blocks of " + std::to_string(like.row_block));
    const auto make = [&](const Dense2<T>& values) {
        OwnedView<T> result(world, values.m, values.n, like);
        result.set(values);
        return result;
    };
    const auto A = Dense2<T>::random(m, n, random);
    {
        auto Q = make(A);
        OwnedView<T> R(world, k, n, like);
        qr(Q.view, R.view);
        const auto whole = Q.whole();
        const Dense2<T> leading(m, k, std::vector<T>(whole.data.begin(), whole.data.begin() + m * k));
        expect_close(A, leading * R.whole());
        expect_orthonormal(leading);
    }
    {
        auto work = make(A);
        OwnedView<T> U(world, m, k, like), Vh(world, k, n, like);
        const auto s = svd(work.view, U.view, Vh.view);
        auto scaled = U.whole();
        for (std::int64_t j = 0; j < k; ++j)
            for (std::int64_t i = 0; i < m; ++i) scaled(i, j) *= s[static_cast<std::size_t>(j)];
        expect_close(A, scaled * Vh.whole());
        expect_orthonormal(U.whole());
        expect_orthonormal(Vh.whole().adjoint());
    }
    auto H = Dense2<T>::random(n, n, random);
    const auto adjoint = H.adjoint();
    for (std::size_t i = 0; i < H.data.size(); ++i) H.data[i] += adjoint.data[i];
    {
        auto work = make(H);
        OwnedView<T> V(world, n, n, like);
        const auto values = eigh(work.view, V.view);
        auto scaled = V.whole();
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i) scaled(i, j) *= values[static_cast<std::size_t>(j)];
        EXPECT_LE((H * V.whole() - scaled).norm(), rounding<T>(n, n) * H.norm());
    }
    auto P = H * H;
    for (std::int64_t i = 0; i < n; ++i) P(i, i) += T(static_cast<real_of<T>>(P.norm()));
    const auto B = Dense2<T>::random(n, count, random);
    auto L = make(P), X = make(B);
    solve_positive(L.view, X.view);
    expect_close(B, P * X.whole(), 10);
    auto factor = L.whole();
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < j; ++i) factor(i, j) = 0;
    expect_close(P, factor * factor.adjoint());
}

TEST(BlockCyclic, FactorizationsInPlace) {
    const World world;
    for_each_type([&](auto zero) {
        for_each_seed(2100, cases(world, 6), [&](std::mt19937_64& random) { check_in_place<decltype(zero)>(world, random); });
    });
}

TEST(Worlds, PartsOfTheRanksAndManyCalls) {
    const World all;
    const auto rank = all.rank();
    // Two worlds at once, with ranks in reverse order; then many calls, to see that contexts and communicators are given back.
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(rank % 2), static_cast<int>(-rank), &half);
    {
        const World world(half);
        std::mt19937_64 random(static_cast<std::uint64_t>(rank % 2));
        for (int i = 0; i < 3; ++i) {
            const auto A = Dense2<double>::random(9 + 2 * (rank % 2), 8, random);
            Tensor<double> t = tensor_of(world, A, {{A.m, A.n}, "i|j", {}});
            SvdOptions options;
            options.checks = true;
            options.grid.rows = 1;
            options.grid.columns = world.size();
            options.grid.block = 2;
            const auto result = svd(t["i|j"], options);
            EXPECT_LE(result.checks.residual, 1e-14);
            EXPECT_LE(result.checks.orthogonality, 1e-13);
        }
    }
    MPI_Comm_free(&half);
    Tensor<double> one(all, {5, 5}, "one");
    one.fill([](Index x) { return x[0] == x[1] ? 4.0 : 1.0; });
    const MatrixGrid grid{1, all.size(), 1};
    const auto first = cholesky(one["i|j"], grid).gather();
    const int calls = all.size() == 2 ? 500 : 20;  // MPICH has about 2,000 contexts
    for (int i = 0; i < calls; ++i) EXPECT_EQ(cholesky(one["i|j"], grid).gather(), first);
}

}  // namespace
}  // namespace arges::test
