// Factorizations of tensors against plain ScaLAPACK calls on the same matrices, which lie in block-cyclic layout already.
//   linalg [ORDER] [TALL_ROWS] [TALL_COLUMNS] [REPETITIONS] [BLOCK]
// Prints one line per case: seconds of ScaLAPACK and of Arges (medians of runs in turn), their ratio, and residual and
// orthogonality of both. ScaLAPACK runs on a grid of all ranks, as square as it can be, with blocks of 64 or BLOCK.
//
// Both sides begin with a matrix that they must keep and end with all factors in arrays of their own. For ScaLAPACK this means a
// copy of the matrix, as its routines overwrite it, and the upper triangle of P?GEQRF's result copied to R before P?ORGQR
// overwrites it; arrays are allocated, touched and set to zero beforehand. For Arges it means new tensors each time, and elements
// moved from the tensor and back.
#include <arges/arges.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

extern "C" {
int Csys2blacs_handle(MPI_Comm comm);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void pdlacpy_(const char* uplo, const int* m, const int* n, const double* a, const int* ia, const int* ja, const int* desc, double* b,
              const int* ib, const int* jb, const int* descb);
void pdgeqrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desc, double* tau, double* work,
              const int* lwork, int* info);
void pdorgqr_(const int* m, const int* n, const int* k, double* a, const int* ia, const int* ja, const int* desc, const double* tau,
              double* work, const int* lwork, int* info);
void pdgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desc,
              double* s, double* u, const int* iu, const int* ju, const int* descu, double* vt, const int* ivt, const int* jvt,
              const int* descvt, double* work, const int* lwork, int* info);
void pdsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* ia, const int* ja, const int* desc, double* w,
              double* z, const int* iz, const int* jz, const int* descz, double* work, const int* lwork, int* iwork, const int* liwork,
              int* info);
void pdpotrf_(const char* uplo, const int* n, double* a, const int* ia, const int* ja, const int* desc, int* info);
}

namespace {

using arges::BlockCyclic;
using arges::Tensor;
using arges::World;

const int one = 1;

/// Where ScaLAPACK works.
struct Grid {
    std::int64_t rows = 1, columns = 1, block = 64;
    int context = -1;
};

/// A matrix in ScaLAPACK's layout, and its descriptor.
struct Plain {
    std::vector<double> array;
    BlockCyclic<double> view;
    int descriptor[9] = {};

    Plain(const World& world, const Grid& grid, std::int64_t rows, std::int64_t columns) : view{world} {
        view.rows = rows;
        view.columns = columns;
        view.row_block = view.column_block = grid.block;
        view.grid_rows = grid.rows;
        view.grid_columns = grid.columns;
        array.resize(static_cast<std::size_t>(view.local_rows() * view.local_columns()) + 1);
        view.data = array.data();
        const auto narrow = [](std::int64_t n) { return static_cast<int>(n); };
        const int block = narrow(grid.block), distance = narrow(std::max<std::int64_t>(1, view.local_rows()));
        const int values[9] = {1, grid.context, narrow(rows), narrow(columns), block, block, 0, 0, distance};
        std::copy_n(values, 9, descriptor);
    }
    Tensor<double> tensor() const { return from_block_cyclic(view, "plain"); }
    /// Takes the values of a matrix of the same shape.
    void copy(const Plain& from) { std::copy(from.array.begin(), from.array.end(), array.begin()); }
    /// Takes the upper ("U") or lower ("L") triangle of one with at least as many rows.
    void copy_triangle(const char* which, const Plain& from) {
        const int m = descriptor[2], n = descriptor[3];
        pdlacpy_(which, &m, &n, from.array.data(), &one, &one, from.descriptor, array.data(), &one, &one, descriptor);
    }
};

/// Calls f(work, lwork, info) for the size of the workspace and with it.
void with_work(const std::function<void(double*, const int*, int*)>& f) {
    double size = 0;
    int lwork = -1, info = 0;
    f(&size, &lwork, &info);
    std::vector<double> work(static_cast<std::size_t>(size) + 1);
    lwork = static_cast<int>(work.size());
    f(work.data(), &lwork, &info);
    if (info != 0) std::fprintf(stderr, "info %d\n", info);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

double seconds(const World& world, const std::function<void()>& work) {
    MPI_Barrier(world.communicator());
    const double start = MPI_Wtime();
    work();
    double time = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, world.communicator());
    return time;
}

/// What is measured: how good the factors are.
struct Quality {
    double residual = 0, orthogonality = 0;
};

double distance_from_identity(const Tensor<double>& Q, const char* left, const char* right) {
    const auto n = left[0] == 'k' ? Q.extents()[0] : Q.extents()[1];
    Tensor<double> gram(Q.world(), {n, n});
    gram["kl"] = Q[left] * Q[right];
    gram.for_each_local([](arges::Index x, double& value) { value -= x[0] == x[1] ? 1 : 0; });
    return gram.norm();
}

Quality of_product(const Tensor<double>& A, const Tensor<double>& left, const Tensor<double>& right, bool orthogonal_left) {
    auto rest = A;
    rest["ij"] -= left["ik"] * right["kj"];
    return {rest.norm() / A.norm(), orthogonal_left ? distance_from_identity(left, "ik", "il") : 0};
}

Tensor<double> scaled_columns(const Tensor<double>& U, const std::vector<double>& s) {
    auto result = U;
    result.for_each_local([&](arges::Index x, double& value) { value *= s[static_cast<std::size_t>(x[1])]; });
    return result;
}

class Comparison {
public:
    Comparison(const World& world, int repetitions, std::int64_t block) : world_(world), repetitions_(repetitions) {
        grid_.block = block;
        if (world.rank() == 0)
            std::printf("%-22s %5s %8s | %10s %10s %6s | %10s %10s | %10s %10s\n", "case", "ranks", "grid", "plain s", "arges s", "ratio",
                        "residual", "orthogon.", "residual", "orthogon.");
    }

    /// Runs `plain` and `ours` in turn.
    void run(const std::string& name, const std::function<void()>& plain, const std::function<void()>& ours,
             const std::function<Quality()>& plain_quality, const std::function<Quality()>& our_quality) {
        std::vector<double> plain_seconds, our_seconds;
        for (int r = 0; r < repetitions_; ++r) {
            plain_seconds.push_back(seconds(world_, plain));
            our_seconds.push_back(seconds(world_, ours));
        }
        const auto p = plain_quality(), q = our_quality();
        const double a = median(plain_seconds), b = median(our_seconds);
        if (world_.rank() == 0)
            std::printf("%-22s %5lld %8s | %10.4f %10.4f %6.2f | %10.2e %10.2e | %10.2e %10.2e\n", name.c_str(),
                        static_cast<long long>(world_.size()), (std::to_string(grid_.rows) + "x" + std::to_string(grid_.columns)).c_str(),
                        a, b, b / a, p.residual, p.orthogonality, q.residual, q.orthogonality);
    }

    void qr(std::int64_t m, std::int64_t n) {
        open(m > 4 * n);
        Tensor<double> A(world_, {m, n}, "A");
        A.fill_random(1);
        Plain given(world_, grid_, m, n), a(world_, grid_, m, n), r(world_, grid_, n, n);
        to_block_cyclic(A["i|j"], given.view);
        const int mi = static_cast<int>(m), ni = static_cast<int>(n);
        std::vector<double> tau(static_cast<std::size_t>(n + 64));
        arges::QrResult<double> result;
        run(
            "qr " + std::to_string(m) + " x " + std::to_string(n),
            [&] {
                a.copy(given);
                with_work([&](double* work, const int* lwork, int* info) {
                    pdgeqrf_(&mi, &ni, a.array.data(), &one, &one, a.descriptor, tau.data(), work, lwork, info);
                });
                r.copy_triangle("U", a);
                with_work([&](double* work, const int* lwork, int* info) {
                    pdorgqr_(&mi, &ni, &ni, a.array.data(), &one, &one, a.descriptor, tau.data(), work, lwork, info);
                });
            },
            [&] { result = arges::qr(A["i|j"]); }, [&] { return of_product(A, a.tensor(), r.tensor(), true); },
            [&] { return of_product(A, result.Q, result.R, true); });
        Cblacs_gridexit(grid_.context);
    }

    void svd(std::int64_t m, std::int64_t n) {
        open(m > 4 * n);
        Tensor<double> A(world_, {m, n}, "A");
        A.fill_random(2);
        Plain given(world_, grid_, m, n), a(world_, grid_, m, n), u(world_, grid_, m, n), vt(world_, grid_, n, n);
        to_block_cyclic(A["i|j"], given.view);
        const int mi = static_cast<int>(m), ni = static_cast<int>(n);
        std::vector<double> s(static_cast<std::size_t>(n));
        arges::SvdResult<double> result;
        run(
            "svd " + std::to_string(m) + " x " + std::to_string(n),
            [&] {
                a.copy(given);
                with_work([&](double* work, const int* lwork, int* info) {
                    pdgesvd_("V", "V", &mi, &ni, a.array.data(), &one, &one, a.descriptor, s.data(), u.array.data(), &one, &one,
                             u.descriptor, vt.array.data(), &one, &one, vt.descriptor, work, lwork, info);
                });
            },
            [&] { result = arges::svd(A["i|j"]); }, [&] { return of_product(A, scaled_columns(u.tensor(), s), vt.tensor(), false); },
            [&] {
                auto quality = of_product(A, scaled_columns(result.U, result.s), result.Vh, false);
                quality.orthogonality =
                    std::max(distance_from_identity(result.U, "ik", "il"), distance_from_identity(result.Vh, "kj", "lj"));
                return quality;
            });
        Cblacs_gridexit(grid_.context);
    }

    void eigh(std::int64_t n) {
        open(false);
        Tensor<double> A(world_, {n, n}, "ij", "sym(i,j)", "A");
        A.fill_random(3);
        const auto full = A.with_symmetry(arges::Symmetry::none(2));
        Plain given(world_, grid_, n, n), a(world_, grid_, n, n), z(world_, grid_, n, n);
        to_block_cyclic(full["i|j"], given.view);
        const int ni = static_cast<int>(n);
        std::vector<double> w(static_cast<std::size_t>(n));
        arges::EighResult<double> result;
        const auto quality = [&](const Tensor<double>& V, const std::vector<double>& values) {
            auto rest = scaled_columns(V, values);
            rest["ik"] -= A["ij"] * V["jk"];
            return Quality{rest.norm() / A.norm(), distance_from_identity(V, "ik", "il")};
        };
        run(
            "eigh " + std::to_string(n) + " x " + std::to_string(n),
            [&] {
                a.copy(given);
                std::vector<int> indices(1);
                with_work([&](double* work, const int* lwork, int* info) {
                    const int size = *lwork < 0 ? -1 : static_cast<int>(indices.size());
                    // The room for P?ORMTR that the driver forgets.
                    pdsyevd_("V", "L", &ni, a.array.data(), &one, &one, a.descriptor, w.data(), z.array.data(), &one, &one, z.descriptor,
                             work, lwork, indices.data(), &size, info);
                    if (size < 0) {
                        indices.resize(static_cast<std::size_t>(indices[0]));
                        work[0] += static_cast<double>(2 * grid_.block * (n + grid_.block));
                    }
                });
            },
            [&] { result = arges::eigh(full["i|j"]); }, [&] { return quality(z.tensor(), w); },
            [&] { return quality(result.vectors, result.values); });
        Cblacs_gridexit(grid_.context);
    }

    void cholesky(std::int64_t n) {
        open(false);
        Tensor<double> A(world_, {n, n}, "ij", "sym(i,j)", "A");
        A.fill_random(4);
        A.for_each_local([&](arges::Index x, double& value) { value += x[0] == x[1] ? static_cast<double>(n) : 0; });
        const auto full = A.with_symmetry(arges::Symmetry::none(2));
        Plain given(world_, grid_, n, n), a(world_, grid_, n, n);
        to_block_cyclic(full["i|j"], given.view);
        const int ni = static_cast<int>(n);
        Tensor<double> L;
        const auto quality = [&](const Tensor<double>& factor) {
            auto rest = full;
            rest["ij"] -= factor["ik"] * factor["jk"];
            return Quality{rest.norm() / full.norm(), 0};
        };
        run(
            "cholesky " + std::to_string(n) + " x " + std::to_string(n),
            [&] {
                a.copy_triangle("L", given);
                int info = 0;
                pdpotrf_("L", &ni, a.array.data(), &one, &one, a.descriptor, &info);
            },
            [&] { L = arges::cholesky(full["i|j"]); }, [&] { return quality(a.tensor()); }, [&] { return quality(L); });
        Cblacs_gridexit(grid_.context);
    }

private:
    /// A grid of all ranks: a column of them for tall matrices.
    void open(bool tall) {
        grid_.rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(world_.size())));
        while (world_.size() % grid_.rows != 0) --grid_.rows;
        if (tall) grid_.rows = world_.size();
        grid_.columns = world_.size() / grid_.rows;
        grid_.context = Csys2blacs_handle(world_.communicator());
        Cblacs_gridinit(&grid_.context, "Row", static_cast<int>(grid_.rows), static_cast<int>(grid_.columns));
    }

    World world_;
    int repetitions_;
    Grid grid_;
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        const auto argument = [&](int i, std::int64_t otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
        const std::int64_t n = argument(1, 1000), m = argument(2, 20000), k = argument(3, 100);
        Comparison comparison(World(), static_cast<int>(argument(4, 3)), argument(5, 64));
        comparison.qr(n, n);
        comparison.qr(m, k);
        comparison.svd(n, n);
        comparison.svd(m, k);
        comparison.eigh(n);
        comparison.cholesky(n);
    }
    MPI_Finalize();
    return 0;
}
