// Linear algebra, decompositions and files called with other arguments on one rank.
#include "arges/arges.hpp"
#include "interface/wrong_uses.hpp"
#include "misuse/on_last.hpp"

namespace arges::test {
namespace {

CpOptions of_seed(std::uint64_t seed) {
    CpOptions options;
    options.rank = 2;
    options.seed = seed;
    return options;
}

TuckerOptions of_ranks(int rank) {
    TuckerOptions options;
    options.ranks = {rank, rank};
    return options;
}

SvdOptions keeping(std::int64_t rank) {
    SvdOptions options;
    options.rank = rank;
    return options;
}

SparseTensor<double> diagonal(const World& world) {
    SparseTensor<double> result(world, {4, 4});
    if (world.rank() == 0) {
        const Keys keys{0, 5, 10};
        const Reals values{1, 2, 3};
        result.write(keys, values, Duplicates::refuse);
    } else {
        result.write({}, {}, Duplicates::refuse);
    }
    return result;
}

TEST(OneRankDiffers, LinearAlgebra) {
    check_uses({
        {ARGES_USE(qr(M[on_last<std::string>(world, "i|j", "j|i")])), invalid, {}, 2},
        {ARGES_USE(qr((last(world) ? N : M)["i|j"])), invalid, {"qr", "arguments differ"}, 2},
        {ARGES_USE(svd(M["i|j"], keeping(on_last<std::int64_t>(world, 1, 2)))), invalid, {"svd", "arguments differ"}, 2},
        {ARGES_USE(EighOptions options; options.count = on_last<std::int64_t>(world, 1, 2); eigh(S["i|j"], options)), invalid, {"eigh"}, 2},
        {ARGES_USE(cholesky(S["i|j"], MatrixGrid{on_last<std::int64_t>(world, 1, 0), 0, 0})), invalid, {"cholesky"}, 2},
        {ARGES_USE(solve_positive(S["i|j"], N[on_last<std::string>(world, "i|k", "k|i")])), invalid, {}, 2},
        {ARGES_USE(TriangularOptions options; options.side = on_last(world, Side::left, Side::right);
                   solve_triangular(N["i|j"], N["i|j"], options)),
         invalid,
         {"solve_triangular"},
         2},
        {ARGES_USE(LeastSquaresOptions options; options.tolerance = on_last(world, .1, .2); least_squares(N["i|j"], N["i|k"], options)),
         invalid,
         {"least_squares"},
         2},
        {ARGES_USE(const std::vector<double> all(static_cast<std::size_t>(on_last(world, 4, 2)));
                   from_replicated<double>(world, {2, 2}, all)),
         invalid,
         {"from_replicated"},
         2},
    });
}

TEST(OneRankDiffers, Decompositions) {
    check_uses({
        {ARGES_USE(SparseTensor<double> T(world, {4, on_last<std::int64_t>(world, 4, 5)})),
         invalid,
         {"SparseTensor", "arguments differ"},
         2},
        {ARGES_USE(diagonal(world).write({}, {}, on_last(world, Duplicates::sum, Duplicates::refuse))),
         invalid,
         {"SparseTensor::write"},
         2},
        {ARGES_USE(cp_decompose(diagonal(world), of_seed(on_last<std::uint64_t>(world, 1, 2)))), invalid, {"cp_decompose"}, 2},
        {ARGES_USE(cp_decompose(M, of_seed(on_last<std::uint64_t>(world, 1, 2)))), invalid, {"cp_decompose"}, 2},
        {ARGES_USE(tucker_decompose(M, of_ranks(on_last(world, 1, 2)))), invalid, {"tucker_decompose"}, 2},
        {ARGES_USE(tucker_decompose(diagonal(world), of_ranks(on_last(world, 1, 2)))), invalid, {"tucker_decompose"}, 2},
        {ARGES_USE(cp_decompose(M, of_seed(1)).model.gather(on_last(world, 0, 1))), invalid, {"CpModel::gather"}, 2},
        {ARGES_USE(reconstruct(cp_decompose(M, of_seed(1)).model, {0, on_last<std::int64_t>(world, 0, 1)}, {2, 2})),
         invalid,
         {"reconstruct"},
         2},
    });
}

TEST(OneRankDiffers, Files) {
    check_uses({
        {ARGES_USE(read_tensor<double>(world, on_last<std::string>(world, "one.npy", "another.npy"))),
         invalid,
         {"read_tensor", "arguments differ"},
         2},
        {ARGES_USE(write_npy(M, on_last<std::string>(world, "one.npy", "another.npy"))), invalid, {"write_npy"}, 2},
        {ARGES_USE(read_sparse<double>(world, on_last<std::string>(world, "one.tns", "another.tns"))), invalid, {"read_sparse"}, 2},
        {ARGES_USE(write_sparse(diagonal(world), "same.tns", on_last(world, IndexBase::one, IndexBase::zero))),
         invalid,
         {"write_sparse"},
         2},
        {ARGES_USE(CheckpointReader reader(world, on_last<std::string>(world, "one.h5", "another.h5"))), invalid, {"CheckpointReader"}, 2},
        {ARGES_USE(CheckpointWriter writer(world, on_last<std::string>(world, "one.h5", "another.h5"))), invalid, {"CheckpointWriter"}, 2},
        {ARGES_USE(load_model<double>(world, on_last<std::string>(world, "one", "another"))), invalid, {"load_model"}, 2},
    });
}

}  // namespace
}  // namespace arges::test
