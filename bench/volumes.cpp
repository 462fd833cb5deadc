// Bytes of the products of deinsum-2022, Table IV: volumes [SCALE]
// For each product, first and second run: bytes that a rank sends (largest, mean), what the plan promised, and the lower bound on the mean.
// Ends with an error if measured and planned bytes differ on a rank, or the mean is below the bound. SCALE multiplies the extents.
#include <arges/arges.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

using arges::Tensor;
using arges::World;

/// A product, the extents of i to m, and those of a to e.
struct Row {
    std::string name, text;
    std::int64_t length, columns;
};

std::vector<Row> rows() {
    return {{"1MM", "ij,jk->ik", 1024, 0},
            {"2MM", "ij,jk,kl->il", 512, 0},
            {"3MM", "ij,jk,kl,lm->im", 512, 0},
            {"MTTKRP-3 mode 0", "ijk,ja,ka->ia", 192, 24},
            {"MTTKRP-3 mode 1", "ijk,ia,ka->ja", 192, 24},
            {"MTTKRP-3 mode 2", "ijk,ia,ja->ka", 192, 24},
            {"MTTKRP-5 mode 0", "ijklm,ja,ka,la,ma->ia", 16, 24},
            {"MTTKRP-5 mode 2", "ijklm,ia,ja,la,ma->ka", 16, 24},
            {"MTTKRP-5 mode 4", "ijklm,ia,ja,ka,la->ma", 16, 24},
            {"TTMc-5 mode 0", "ijklm,jb,kc,ld,me->ibcde", 16, 16}};
}

/// The number after a text, commas left out; 0 if the text is not there.
double number_after(const std::string& line, const std::string& text) {
    const auto at = line.find(text);
    double value = 0;
    for (auto p = at == std::string::npos ? line.size() : at + text.size();
         p < line.size() && (std::isdigit(line[p]) != 0 || line[p] == ','); ++p)
        if (line[p] != ',') value = 10 * value + (line[p] - '0');
    return value;
}

/// The largest bound of a step, as explain() states it, on the bytes of all its ranks.
double bound_of(const std::string& plan) {
    double largest = 0, ranks = 0;
    std::istringstream lines(plan);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(" ranks:") != std::string::npos) ranks = number_after(line, "grid of ") + number_after(line, "grid on ");
        largest = std::max(largest, ranks * number_after(line, "lower bound per rank (memory-independent) "));
    }
    return largest;
}

/// Runs a product three times; false if a promise is broken.
bool run(const World& world, const Row& row, double scale) {
    auto tensor = [&](const std::string& labels) {
        std::vector<std::int64_t> extents;
        for (char l : labels)
            extents.push_back(l <= 'e' ? row.columns : static_cast<std::int64_t>(std::lround(static_cast<double>(row.length) * scale)));
        return Tensor<double>(world, extents, labels);
    };
    const auto arrow = row.text.find("->");
    arges::Expression<double> product(1.0);
    for (std::size_t begin = 0; begin < arrow;) {
        const auto end = std::min(row.text.find(',', begin), arrow);
        const auto labels = row.text.substr(begin, end - begin);
        auto factor = tensor(labels);
        factor.fill_random(begin);
        product = product * factor[labels];
        begin = end + 1;
    }
    const auto labels = row.text.substr(arrow + 2);
    auto result = tensor(labels);
    bool kept = true;
    for (int repeat = 1; repeat <= 2; ++repeat) {
        const double bound = bound_of(result[labels].explain(product));
        result[labels] = product;
        const auto& report = world.last_report();
        long long sent = report.bytes_sent, most = 0, total = 0, differ = report.bytes_sent == report.bytes_planned ? 0 : 1, wrong = 0;
        MPI_Allreduce(&sent, &most, 1, MPI_LONG_LONG, MPI_MAX, world.communicator());
        MPI_Allreduce(&sent, &total, 1, MPI_LONG_LONG, MPI_SUM, world.communicator());
        MPI_Allreduce(&differ, &wrong, 1, MPI_LONG_LONG, MPI_SUM, world.communicator());
        const auto ranks = static_cast<double>(world.size());
        const double mean = static_cast<double>(total) / ranks;
        const bool good = wrong == 0 && static_cast<double>(total) + ranks >= bound;
        kept = kept && good;
        if (world.rank() == 0)
            std::printf("%-16s %4lld ranks, run %d: most %10lld, mean %12.0f, bound %10.0f bytes%s\n", row.name.c_str(),
                        static_cast<long long>(world.size()), repeat, most, mean, bound / ranks,
                        wrong > 0 ? "  NOT AS PLANNED"
                        : good    ? ""
                                  : "  BELOW THE BOUND");
    }
    return kept;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool kept = true;
    {
        const World world;
        for (const auto& row : rows()) kept = run(world, row, argc > 1 ? std::atof(argv[1]) : 1) && kept;
    }
    MPI_Finalize();
    return kept ? 0 : 1;
}
