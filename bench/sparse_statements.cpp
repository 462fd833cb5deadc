// Sparse statements on graphs and meshes, in seconds.
//   sparse_statements [--scale 16] [--mesh 40] [--repeats 5] [--write FOLDER] [CASE...]
// Run under mpiexec. An R-MAT graph of 2^scale vertices with about 8 edges for each (a = .57, b = c = .19), a 3D mesh of 27 neighbours, a
// tensor of order 3 with elements that crowd likewise, and a rectangular matrix. They are the same on any number of ranks.
// The first run inspects the nonzeros; the median is that of later ones, with `fresh` runs of products of two sparse tensors inspected
// again each time. --write leaves the matrices as text, row, column and value, for other programs.
#include "arges/arges.hpp"
#include "betweenness.hpp"
#include "sparse_matrices.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

using arges::Index;
using arges::SparseTensor;
using arges::Tensor;
using arges::World;
using arges::bench::crowded_tensor;
using arges::bench::mesh;
using arges::bench::rectangle;
using arges::bench::rmat;

struct Settings {
    int scale = 16, mesh = 40, repeats = 5;
    std::string folder;
    std::vector<std::string> cases;
};

struct MinPlus {
    using value_type = double;
    static constexpr double zero = 1e300, one = 0;
    static double add(double a, double b) { return a < b ? a : b; }
    static double multiply(double a, double b) { return a + b; }
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// The same elements with other values.
template <class T, class F>
SparseTensor<T> with_values(const SparseTensor<double>& graph, F value) {
    arges::SparseEntries<T> mine;
    for (int mode = 0; mode < graph.order(); ++mode) {
        const auto indices = graph.local_indices(mode);
        mine.indices.emplace_back(indices.begin(), indices.end());
    }
    for (auto old : graph.local_values()) mine.values.push_back(value(old));
    return SparseTensor<T>::from_entries(graph.world(), graph.lengths(), mine, arges::Duplicates::refuse, graph.name());
}

/// The lower triangle without values: 1 for each edge in either direction.
SparseTensor<double> lower(const SparseTensor<double>& graph) {
    arges::SparseEntries<double> mine;
    mine.indices.resize(2);
    for (std::int64_t k = 0; k < graph.local_nonzeros(); ++k) {
        const auto i = graph.local_indices(0)[static_cast<std::size_t>(k)], j = graph.local_indices(1)[static_cast<std::size_t>(k)];
        if (i == j) continue;
        mine.indices[0].push_back(std::max(i, j));
        mine.indices[1].push_back(std::min(i, j));
        mine.values.push_back(1);
    }
    return SparseTensor<double>::from_entries(graph.world(), graph.lengths(), mine, arges::Duplicates::keep_first, "L");
}

void write(const SparseTensor<double>& tensor, const std::string& file) {
    const auto entries = tensor.gather();
    if (tensor.world().rank() != 0) return;
    std::ofstream out(file);
    for (std::size_t k = 0; k < entries.values.size(); ++k)
        out << entries.indices[0][k] << ' ' << entries.indices[1][k] << ' ' << entries.values[k] << '\n';
}

class Bench {
public:
    Bench(const World& world, const Settings& settings) : world_(world), settings_(settings) {
        if (world.rank() == 0) std::printf("%-24s %12s %12s %14s\n", "case", "first, s", "median, s", "bytes sent");
    }
    bool is_wanted(const std::string& name) const {
        return settings_.cases.empty() || std::any_of(settings_.cases.begin(), settings_.cases.end(),
                                                      [&](const auto& part) { return name.find(part) != std::string::npos; });
    }
    void run(const std::string& name, const std::function<void()>& statement, const std::function<void()>& before = {}) const {
        if (!is_wanted(name)) return;
        std::vector<double> seconds;
        double first = 0;
        for (int r = 0; r <= settings_.repeats; ++r) {
            if (before) before();
            MPI_Barrier(MPI_COMM_WORLD);
            const auto start = now();
            statement();
            MPI_Barrier(MPI_COMM_WORLD);
            (r == 0 ? first : seconds.emplace_back()) = now() - start;
        }
        if (world_.rank() == 0)
            std::printf("%-24s %12.5f %12.5f %14lld\n", name.c_str(), first, median(seconds),
                        static_cast<long long>(world_.last_report().bytes_sent));
        std::fflush(stdout);
    }

    /// Prints a result, for comparisons with other programs and numbers of ranks.
    void check(const std::string& name, const std::string& what, double value) const {
        if (is_wanted(name) && world_.rank() == 0) std::printf("  %s %.12g\n", what.c_str(), value);
    }

private:
    const World& world_;
    const Settings& settings_;
};

void run_tensor(const World& world, const Bench& bench) {
    const std::int64_t rank = 16;
    const auto T = crowded_tensor(world, 12);
    const auto n = T.lengths()[0];
    Tensor<double> U(world, {n, rank}, "U"), V(world, {n, rank}, "V"), W(world, {n, rank}, "W"), M(world, {n, rank}, "M");
    U.fill([](Index x) { return 1.0 / static_cast<double>(1 + (x[0] + x[1]) % 5); });
    V.fill([](Index x) { return 1.0 / static_cast<double>(1 + (x[0] + x[1]) % 7); });
    W.fill([](Index x) { return 1.0 / static_cast<double>(1 + (x[0] + x[1]) % 11); });
    SparseTensor<double> S(world, T.lengths(), "S");
    bench.run("MTTKRP", [&] { M["ir"] = T["ijk"] * V["jr"] * W["kr"]; });
    bench.check("MTTKRP", "norm", M.norm());
    bench.run("TTTP", [&] { S["ijk"] = T["ijk"] * U["ir"] * V["jr"] * W["kr"]; });
    bench.check("TTTP", "norm", S.norm());
    SparseTensor<double> Y(world, {n, n, rank}, "Y");
    bench.run("TTM", [&] { Y["ijr"] = T["ijk"] * U["kr"]; });
    bench.check("TTM", "nonzeros", static_cast<double>(Y.nonzeros()));
    bench.check("TTM", "norm", Y.norm());
    bench.run(
        "TTM fresh", [&] { Y["ijr"] = T["ijk"] * U["kr"]; },
        [&] {
            Y = SparseTensor<double>(world, {n, n, rank}, "Y");
        });
}

void run_rectangle(const World& world, const Bench& bench) {
    const auto B = rectangle(world, 65536, 4096);
    const auto n = B.lengths()[1];
    SparseTensor<double> C(world, {n, n}, "C");
    bench.run("B' B", [&] { C["ij"] = B["ki"] * B["kj"]; });
    bench.check("B' B", "nonzeros", static_cast<double>(C.nonzeros()));
    bench.check("B' B", "norm", C.norm());
    bench.run(
        "B' B fresh", [&] { C["ij"] = B["ki"] * B["kj"]; },
        [&] {
            C = SparseTensor<double>(world, {n, n}, "C");
        });
}

/// Breadth-first search from the vertex with most edges: with a dense array of what is reached, and with lists of what is new.
void run_search(const World& world, const Bench& bench, const SparseTensor<double>& graph) {
    const auto n = graph.lengths()[0];
    const auto E = with_values<bool>(graph, [](double) { return true; });
    const auto ones = with_values<double>(graph, [](double) { return 1.0; });
    Tensor<double> degree(world, {n}, "degree");
    degree["i"] = sum("j", ones["ij"]);
    const auto degrees = degree.gather();
    const auto start = std::max_element(degrees.begin(), degrees.end()) - degrees.begin();
    int levels = 0;
    Tensor<bool> reached(world, {n}, "reached"), before(world, {n}, "before");
    Tensor<std::int64_t> changed(world, {n}, "changed");
    bench.run("search", [&] {
        reached.fill([&](Index x) { return x[0] == start; });
        levels = 0;
        do {
            before = reached;
            reached["j"] += before["i"] * E["ij"];
            changed["j"] = map([](bool now, bool then) -> std::int64_t { return now == then ? 0 : 1; }, reached["j"], before["j"]);
            ++levels;
        } while (changed.sum() > 0);
    });
    const auto all = reached.gather();
    bench.check("search", "levels", levels);
    bench.check("search", "reached", static_cast<double>(std::count(all.begin(), all.end(), true)));

    SparseTensor<bool> seen(world, {n}, "seen"), front(world, {n}, "front"), next(world, {n}, "next");
    arges::SparseEntries<bool> first{{{}}, {}};
    if (world.rank() == 0) first = {{{start}}, {true}};
    bench.run("search by fronts", [&] {
        seen = front = SparseTensor<bool>::from_entries(world, {n}, first);
        for (levels = 0; front.nonzeros() > 0; ++levels) {
            next["j"] = where_not(seen["j"], front["i"] * E["ij"]);
            seen["j"] += next["j"];
            front = next;
        }
    });
    bench.check("search by fronts", "levels", levels);
    bench.check("search by fronts", "reached", static_cast<double>(seen.nonzeros()));
}

void run_betweenness(const World& world, const Bench& bench, const SparseTensor<double>& graph) {
    Tensor<double> central(world, {graph.lengths()[0]}, "central");
    int rounds = 0;
    bench.run(
        "betweenness 16", [&] { rounds = add_betweenness(central, graph, 16); }, [&] { central.fill(0); });
    bench.check("betweenness 16", "rounds", rounds);
    bench.check("betweenness 16", "sum", central.sum());
}

void run_all(const World& world, const Settings& settings) {
    const auto A = rmat(world, settings.scale);
    const auto M = mesh(world, settings.mesh);
    const auto n = A.lengths()[0];
    const auto L = lower(A);
    if (!settings.folder.empty()) {
        write(A, settings.folder + "/rmat.txt");
        write(M, settings.folder + "/mesh.txt");
        write(L, settings.folder + "/lower.txt");
        return;
    }
    if (world.rank() == 0)
        std::printf("R-MAT %lld x %lld; mesh %lld x %lld\n", static_cast<long long>(n), static_cast<long long>(A.nonzeros()),
                    static_cast<long long>(M.lengths()[0]), static_cast<long long>(M.nonzeros()));
    const Bench bench(world, settings);
    Tensor<double> x(world, {n}, "x"), y(world, {n}, "y");
    x.fill_random(1);
    bench.run("SpMV", [&] { y["i"] = A["ij"] * x["j"]; });
    bench.run("SpMV transposed", [&] { y["j"] = A["ij"] * x["i"]; });
    for (const std::int64_t columns : {16, 64}) {
        const auto c = std::to_string(columns);
        Tensor<double> X(world, {n, columns}, "X"), Y(world, {n, columns}, "Y"), Z(world, {n, columns}, "Z");
        Tensor<double> Xt(world, {columns, n}, "X'"), Yt(world, {columns, n}, "Y'");
        X.fill_random(2);
        Z.fill_random(3);
        Xt.fill_random(2);
        bench.run("SpMM " + c, [&] { Y["ik"] = A["ij"] * X["jk"]; });
        bench.run("SpMM rows " + c, [&] { Yt["ki"] = A["ij"] * Xt["kj"]; });
        SparseTensor<double> S(world, {n, n}, "S");
        bench.run("SDDMM " + c, [&] { S["ij"] = A["ij"] * X["ik"] * Z["jk"]; });
    }
    {
        SparseTensor<double> C(world, {n, n}, "C");
        bench.run("A A", [&] { C["ik"] = A["ij"] * A["jk"]; });
        bench.check("A A", "nonzeros", static_cast<double>(C.nonzeros()));
        bench.run(
            "A A fresh", [&] { C["ik"] = A["ij"] * A["jk"]; },
            [&] {
                C = SparseTensor<double>(world, {n, n}, "C");
            });
    }
    {
        SparseTensor<double> C(world, M.lengths(), "C");
        bench.run("mesh M M", [&] { C["ik"] = M["ij"] * M["jk"]; });
        bench.run(
            "mesh M M fresh", [&] { C["ik"] = M["ij"] * M["jk"]; }, [&] { C = SparseTensor<double>(world, M.lengths(), "C"); });
    }
    double triangles = 0;
    bench.run("triangles", [&] {
        SparseTensor<double> T(world, {n, n}, "T");
        T["ij"] = L["ij"] * L["ik"] * L["jk"];
        triangles = T.sum();
    });
    if (world.rank() == 0 && triangles > 0) std::printf("  %.0f triangles\n", triangles);
    Tensor<double> d(world, {n}, "d");
    bench.run("shortest paths", [&] {
        d.fill(MinPlus::zero);
        d.write(world.rank() == 0 ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{},
                world.rank() == 0 ? std::vector<double>{0} : std::vector<double>{});
        for (int step = 0; step < 10; ++step) over<MinPlus>(d["j"]) += d["i"] * A["ij"];
    });
    double reached = 0, total = 0;
    for (auto length : d.gather())
        if (length < MinPlus::zero) {
            ++reached;
            total += length;
        }
    bench.check("shortest paths", "reached", reached);
    bench.check("shortest paths", "sum", total);
    run_search(world, bench, A);
    run_betweenness(world, bench, A);
    run_tensor(world, bench);
    run_rectangle(world, bench);
}

Settings parse(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&]() -> std::string {
            if (i + 1 == argc) throw arges::InvalidArgument(word + " needs a value behind it");
            return argv[++i];
        };
        if (word == "--scale")
            settings.scale = std::stoi(value());
        else if (word == "--mesh")
            settings.mesh = std::stoi(value());
        else if (word == "--repeats")
            settings.repeats = std::stoi(value());
        else if (word == "--write")
            settings.folder = value();
        else
            settings.cases.push_back(word);
    }
    return settings;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    try {
        const World world;
        run_all(world, parse(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sparse_statements: %s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
