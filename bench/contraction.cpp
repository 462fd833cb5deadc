// Times fixed contractions: contraction CASE SIZE [REPETITIONS] [--explain]
// Prints  case=... n=... ranks=... seconds=<best of the repetitions> gflops=<useful flops per second>
// and zeroes the counts of an MPI profiling library (MPI_Pcontrol) before the last repetition.
#include <arges/arges.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

namespace {

using arges::Tensor;
using arges::World;
using Extents = std::vector<std::int64_t>;

double choose(double n, int k) {
    double result = 1;
    for (int i = 0; i < k; ++i) result *= (n - i) / (i + 1);
    return result;
}

/// One contraction C (+)= factor * A * B, with the flops that it needs.
struct Case {
    double flops = 0, factor = 1;
    Extents a_extents, b_extents, c_extents;
    std::string a_labels, b_labels, c_labels;
    std::string a_symmetry, b_symmetry, c_symmetry;
    bool accumulate = false, antisymmetrize = false;
};

/// C[left right] (+)= factor * A[left middle] * B[middle right], each half of the labels one symmetric group.
Case model(std::int64_t n, const std::string& left, const std::string& middle, const std::string& right,
           const std::string& kind) {
    auto tree = [&](const std::string& first, const std::string& second) {
        if (kind.empty()) return std::string();
        auto group = [&](const std::string& labels) {
            std::string text;
            for (char c : labels) text += (text.empty() ? "" : ",") + std::string(1, c);
            return kind + "(" + text + ")";
        };
        return group(first) + " " + group(second);
    };
    const int k = static_cast<int>(left.size());
    const auto size = static_cast<double>(n);
    const double m = kind.empty() ? std::pow(size, k) : kind == "sym" ? choose(size + k - 1, k) : choose(size, k);
    Case c;
    c.flops = 2 * m * m * m;
    c.a_extents = c.b_extents = c.c_extents = Extents(2 * left.size(), n);
    c.a_labels = left + middle;
    c.b_labels = middle + right;
    c.c_labels = left + right;
    c.a_symmetry = tree(left, middle);
    c.b_symmetry = tree(middle, right);
    c.c_symmetry = tree(left, right);
    return c;
}

Case coupled_cluster(const std::string& name, std::int64_t v) {
    const std::int64_t o = std::max<std::int64_t>(2, v / 4);
    const auto dv = static_cast<double>(v), dn = static_cast<double>(o);
    Case c;
    c.accumulate = true;
    c.c_extents = {v, v, o, o};
    c.c_labels = "abij";
    c.c_symmetry = "antisym(a,b) antisym(i,j)";
    if (name == "ladder") {
        c.flops = 2 * choose(dv, 2) * choose(dv, 2) * choose(dn, 2);
        c.factor = 0.5;
        c.a_extents = {v, v, v, v}, c.a_labels = "abef", c.a_symmetry = "antisym(a,b) antisym(e,f)";
        c.b_extents = {v, v, o, o}, c.b_labels = "efij", c.b_symmetry = "antisym(e,f) antisym(i,j)";
    } else if (name == "ring") {
        c.flops = 2 * dv * dv * dv * dn * dn * dn;
        c.antisymmetrize = true;
        c.a_extents = {o, v, v, o}, c.a_labels = "mbej";
        c.b_extents = {v, v, o, o}, c.b_labels = "aeim", c.b_symmetry = "antisym(a,e) antisym(i,m)";
    } else {
        c.flops = 2 * choose(dv, 2) * dv * dn * dn * choose(dn, 2);
        c.factor = 0.5;
        c.antisymmetrize = true;
        c.a_extents = {o, o, o, v}, c.a_labels = "mnje", c.a_symmetry = "antisym(m,n)";
        c.b_extents = {v, v, v, o, o, o}, c.b_labels = "abeimn", c.b_symmetry = "antisym(a,b,e) antisym(i,m,n)";
    }
    return c;
}

Case make_case(const std::string& name, std::int64_t n) {
    if (name == "mm") return model(n, "i", "j", "k", "");
    if (name == "model4ns") return model(n, "ab", "ij", "kl", "");
    if (name == "model4as") {
        auto c = model(n, "ab", "ij", "kl", "antisym");
        c.factor = 0.5;
        c.accumulate = true;
        return c;
    }
    if (name == "model4sy") return model(n, "ab", "ij", "kl", "sym");
    if (name == "model6as" || name == "model8as") {
        auto c = name == "model6as" ? model(n, "abc", "ijk", "xyz", "antisym") : model(n, "abcd", "ijkl", "wxyz", "antisym");
        c.accumulate = true;
        return c;
    }
    if (name == "ladder" || name == "ring" || name == "t3t2") return coupled_cluster(name, n);
    throw arges::InvalidArgument("unknown case " + name +
                                 "; known: mm model4ns model4as model4sy model6as model8as ladder ring t3t2");
}

Tensor<double> tensor(const World& world, const Extents& extents, const std::string& labels, const std::string& symmetry,
                      std::uint64_t seed) {
    Tensor<double> t(world, extents, labels, symmetry, "tensor " + labels);
    t.fill_random(seed);
    return t;
}

void run(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "mm";
    const std::int64_t n = argc > 2 ? std::atoll(argv[2]) : 512;
    const int repetitions = argc > 3 ? std::atoi(argv[3]) : 5;
    const World world;
    const auto c = make_case(name, n);
    const auto A = tensor(world, c.a_extents, c.a_labels, c.a_symmetry, 1);
    const auto B = tensor(world, c.b_extents, c.b_labels, c.b_symmetry, 2);
    auto C = tensor(world, c.c_extents, c.c_labels, c.c_symmetry, 3);
    const auto product = c.factor * A[c.a_labels] * B[c.b_labels];
    const auto right = c.antisymmetrize ? antisymmetrized(product) : product;
    const double beta = c.accumulate ? 1 : 0;
    if (argc > 4 && std::string(argv[4]) == "--explain" && world.rank() == 0)
        std::fputs(C[c.c_labels].explain(right, beta).c_str(), stdout);
    MPI_Pcontrol(0);
    C[c.c_labels].assign(right, beta);
    double best = 1e300;
    for (int r = 0; r < repetitions; ++r) {
        MPI_Barrier(world.communicator());
        if (r == repetitions - 1) {
            MPI_Pcontrol(2);
            MPI_Pcontrol(1);
        }
        const double start = MPI_Wtime();
        C[c.c_labels].assign(right, beta);
        double seconds = MPI_Wtime() - start;
        MPI_Pcontrol(0);
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, world.communicator());
        best = std::min(best, seconds);
    }
    if (world.rank() == 0)
        std::printf("case=%s n=%lld ranks=%lld seconds=%.6f gflops=%.3f\n", name.c_str(), static_cast<long long>(n),
                    static_cast<long long>(world.size()), best, c.flops / best * 1e-9);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    try {
        run(argc, argv);
    } catch (const arges::Error& error) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) std::fprintf(stderr, "contraction: error: %s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
