// Plans of sparse products beside what is found when they run, and on numbers of ranks that are not there.
//   sparse_plans [--scale 16] [--mesh 40] RANKS...
// Run under mpiexec. For each statement the forecast from sampled counts for the ranks that there are, beside the multiplications and bytes
// of the busiest rank and the nonzeros of the result; then forecasts for other numbers of ranks.
#include "sparse_matrices.hpp"

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

using arges::SparseTensor;
using arges::Tensor;
using arges::World;

struct MinPlus {
    using value_type = double;
    static constexpr double zero = 1e300, one = 0;
    static double add(double a, double b) { return a < b ? a : b; }
    static double multiply(double a, double b) { return a + b; }
};

/// The number behind a word, with its commas; 0 where the word is not there.
double number_behind(const std::string& text, const std::string& word) {
    const auto at = text.find(word);
    if (at == std::string::npos) return 0;
    std::string digits;
    for (auto c : text.substr(at + word.size()))
        if ((c >= '0' && c <= '9') || c == '.' || c == 'e' || c == '-' || c == '+')
            digits += c;
        else if (c != ',' && c != '~' && c != ' ')
            break;
        else if (c == ',' && digits.empty())
            break;
        else if (c == ' ' && !digits.empty())
            break;
    return digits.empty() ? 0 : std::stod(digits);
}

std::string grid_of(const std::string& text) {
    const auto begin = text.find("grid ") + 5;
    return text.substr(begin, text.find(';', begin) - begin);
}

double bytes_of(const std::string& plan) {
    return number_behind(plan, "bytes to a rank: nonzeros ") + number_behind(plan, ", dense factors ") + number_behind(plan, "), result ") +
           number_behind(plan, ", result ");
}

struct Case {
    std::string name;
    std::function<void()> run;
    std::function<std::string()> explain;
    std::function<std::string(std::int64_t)> explain_on;
};

double largest(double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

void show(const World& world, const Case& one, const std::vector<std::int64_t>& ranks) {
    one.run();
    const auto sent = largest(static_cast<double>(world.last_report().bytes_sent));
    const auto plan = one.explain_on(world.size()), found = one.explain();
    const auto multiplied = largest(number_behind(found, "multiplications on this rank "));
    if (world.rank() == 0) {
        std::printf("%-10s %7lld  %-14s %13.4g %13.4g  %11.4g %11.4g  %11.4g %11.4g\n", one.name.c_str(),
                    static_cast<long long>(world.size()), grid_of(plan).c_str(), number_behind(plan, "multiplications on a rank "),
                    multiplied, number_behind(plan, "to a sparse result of "), number_behind(found, "nonzeros of the result "),
                    bytes_of(plan), sent);
        for (auto n : ranks) {
            const auto other = one.explain_on(n);
            std::printf("%-10s %7lld  %-14s %13.4g %13s  %11s %11s  %11.4g %11s  %11.4g  %9.3g\n", one.name.c_str(),
                        static_cast<long long>(n), grid_of(other).c_str(), number_behind(other, "multiplications on a rank "), "", "", "",
                        bytes_of(other), "", number_behind(other, "memory "), number_behind(other, "seconds "));
        }
    }
}

void run_all(const World& world, int scale, int side, const std::vector<std::int64_t>& ranks) {
    using arges::over;
    const auto A = arges::bench::rmat(world, scale), M = arges::bench::mesh(world, side);
    const auto n = A.lengths()[0];
    if (world.rank() == 0)
        std::printf("%-10s %7s  %-14s %13s %13s  %11s %11s  %11s %11s  %11s  %9s\n", "", "ranks", "grid", "products", "found", "nonzeros",
                    "found", "bytes", "sent", "memory", "seconds");
    SparseTensor<double> C(world, {n, n}, "C"), D(world, M.lengths(), "D");
    Tensor<double> d(world, {n}, "d"), e(world, {n}, "e"), X(world, {n, 16}, "X"), Y(world, {n, 16}, "Y");
    X.fill_random(1);
    d.fill_random(2);
    const std::vector<Case> cases{
        {"A A", [&] { C["ik"] = A["ij"] * A["jk"]; }, [&] { return C["ik"].explain(A["ij"] * A["jk"]); },
         [&](std::int64_t p) { return C["ik"].explain_on(p, A["ij"] * A["jk"]); }},
        {"mesh M M", [&] { D["ik"] = M["ij"] * M["jk"]; }, [&] { return D["ik"].explain(M["ij"] * M["jk"]); },
         [&](std::int64_t p) { return D["ik"].explain_on(p, M["ij"] * M["jk"]); }},
        {"SSSP step", [&] { over<MinPlus>(e["j"]) = d["i"] * A["ij"]; }, [&] { return over<MinPlus>(e["j"]).explain(d["i"] * A["ij"]); },
         [&](std::int64_t p) { return over<MinPlus>(e["j"]).explain_on(p, d["i"] * A["ij"]); }},
        {"SpMM 16", [&] { Y["ik"] = A["ij"] * X["jk"]; }, [&] { return Y["ik"].explain(A["ij"] * X["jk"]); },
         [&](std::int64_t p) { return Y["ik"].explain_on(p, A["ij"] * X["jk"]); }},
    };
    for (const auto& one : cases) show(world, one, ranks);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    try {
        int scale = 16, side = 40;
        std::vector<std::int64_t> ranks;
        for (int a = 1; a < argc; ++a) {
            const std::string word = argv[a];
            if ((word == "--scale" || word == "--mesh") && a + 1 < argc)
                (word == "--scale" ? scale : side) = std::stoi(argv[++a]);
            else
                ranks.push_back(std::stoll(word));
        }
        const World world;
        run_all(world, scale, side, ranks);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sparse_plans: %s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
