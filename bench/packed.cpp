// Packed against dense: the same contraction with and without declared symmetry.
//   packed [REPETITIONS]
// Prints one line per case: seconds without and with symmetry (medians of runs in turn), their ratio and the storage saved.
#include <arges/arges.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using arges::Tensor;
using arges::World;
using Extents = std::vector<std::int64_t>;

struct Operand {
    std::string labels, symmetry;
    Extents extents;
};

/// C += A * B, or its antisymmetrisation.
struct Case {
    std::string name;
    Operand a, b, c;
    bool antisymmetrize = false;
};

Extents same(std::int64_t n, std::size_t order) { return Extents(order, n); }

std::vector<Case> cases() {
    const std::int64_t v = 40, o = 10;
    return {
        {"antisymmetric pairs, (ab)(ij)(kl), n = 32",
         {"abij", "antisym(a,b) antisym(i,j)", same(32, 4)},
         {"ijkl", "antisym(i,j) antisym(k,l)", same(32, 4)},
         {"abkl", "antisym(a,b) antisym(k,l)", same(32, 4)}},
        {"symmetric pairs, (ab)(ij)(kl), n = 32",
         {"abij", "sym(a,b) sym(i,j)", same(32, 4)},
         {"ijkl", "sym(i,j) sym(k,l)", same(32, 4)},
         {"abkl", "sym(a,b) sym(k,l)", same(32, 4)}},
        {"antisymmetric triples, (abc)(ijk)(xyz), n = 10",
         {"abcijk", "antisym(a,b,c) antisym(i,j,k)", same(10, 6)},
         {"ijkxyz", "antisym(i,j,k) antisym(x,y,z)", same(10, 6)},
         {"abcxyz", "antisym(a,b,c) antisym(x,y,z)", same(10, 6)}},
        {"antisymmetric ladder, v = 40, o = 10",
         {"abef", "antisym(a,b) antisym(e,f)", same(v, 4)},
         {"efij", "antisym(e,f) antisym(i,j)", {v, v, o, o}},
         {"abij", "antisym(a,b) antisym(i,j)", {v, v, o, o}}},
        {"antisymmetric ring (groups broken), v = 40, o = 10",
         {"mbej", "", {o, v, v, o}},
         {"aeim", "antisym(a,e) antisym(i,m)", {v, v, o, o}},
         {"abij", "antisym(a,b) antisym(i,j)", {v, v, o, o}},
         true},
        {"pair symmetry, R(abij) += V(abef) T(efij), v = 40, o = 10",
         {"abef", "sym(product(a,e),product(b,f))", same(v, 4)},
         {"efij", "sym(product(e,i),product(f,j))", {v, v, o, o}},
         {"abij", "sym(product(a,i),product(b,j))", {v, v, o, o}}},
        {"eightfold integrals, J(pq) += (pq|rs) D(rs), n = 64",
         {"pqrs", "sym(sym(p,q),sym(r,s))", same(64, 4)},
         {"rs", "sym(r,s)", same(64, 2)},
         {"pq", "sym(p,q)", same(64, 2)}},
    };
}

/// One side of the comparison.
class Side {
public:
    Side(const World& world, const Case& c, bool packed)
        : A(make(world, c.a, packed, 1)), B(make(world, c.b, packed, 2)), C(make(world, c.c, packed, 3)), R(C), case_(c), packed_(packed) {}

    double seconds() {
        MPI_Barrier(A.world().communicator());
        const double start = MPI_Wtime();
        const auto product = A[case_.a.labels] * B[case_.b.labels];
        if (!case_.antisymmetrize) {
            C[case_.c.labels] += product;
        } else if (packed_) {
            C[case_.c.labels] += antisymmetrized(product);
        } else {
            // What a dense code writes: P(ab) P(ij) of the product, term by term.
            R["abij"] = product;
            C["abij"] += R["abij"] - R["baij"] - R["abji"] + R["baji"];
        }
        double time = MPI_Wtime() - start;
        MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, A.world().communicator());
        return time;
    }
    double stored() const { return static_cast<double>(A.packed_size() + B.packed_size() + C.packed_size()); }

private:
    static Tensor<double> make(const World& world, const Operand& operand, bool packed, std::uint64_t seed) {
        Tensor<double> t(world, operand.extents, operand.labels, packed ? operand.symmetry : "", operand.labels);
        t.fill_random(seed);
        return t;
    }
    Tensor<double> A, B, C, R;
    const Case& case_;
    bool packed_;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void run(int repetitions) {
    const World world;
    if (world.rank() == 0) std::printf("%-62s %10s %10s %12s %8s\n", "case", "dense s", "packed s", "dense/packed", "storage");
    for (const auto& c : cases()) {
        Side dense(world, c, false), packed(world, c, true);
        dense.seconds();
        packed.seconds();
        std::vector<double> dense_seconds, packed_seconds;
        for (int r = 0; r < repetitions; ++r) {
            dense_seconds.push_back(dense.seconds());
            packed_seconds.push_back(packed.seconds());
        }
        const double d = median(dense_seconds), p = median(packed_seconds);
        if (world.rank() == 0)
            std::printf("%-62s %10.6f %10.6f %12.2f %8.2f\n", c.name.c_str(), d, p, d / p, dense.stored() / packed.stored());
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    run(argc > 1 ? std::atoi(argv[1]) : 9);
    MPI_Finalize();
    return 0;
}
