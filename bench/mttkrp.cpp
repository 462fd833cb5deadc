// Every format's MTTKRP in each mode, beside the memory bandwidth of the machine.
//   mttkrp FILE.tns [COLUMNS] [REPEATS] [FORMAT ...]
// The file has 1-based indices and a value on each line; empty slices are removed first. Prints for each format the bytes that it
// takes, the seconds to make it, the least seconds of REPEATS runs in each mode and their sum, nonzeros per second, and the
// bandwidth: bytes that have to be moved if no row of a factor is found in a cache (the format once, a row of each other factor
// for each nonzero, the result once) over the seconds, absolute and as a share of a triad a = b + s c on all threads. A share
// above 1 means that caches served rows.
#include "sparse/mttkrp.hpp"
#include "arges/error.hpp"
#include "base/buffer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <omp.h>
#include <string>
#include <vector>

namespace {

using namespace arges::sparse;
using Nonzeros = LocalNonzeros<double>;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Numbers the indices of a mode that occur 0, 1, ..., in their order, and returns how many there are.
std::int64_t compact(std::vector<std::uint32_t>& index) {
    auto seen = index;
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (auto& i : index) i = static_cast<std::uint32_t>(std::lower_bound(seen.begin(), seen.end(), i) - seen.begin());
    return static_cast<std::int64_t>(seen.size());
}

Nonzeros read(const char* path) {
    std::ifstream file(path);
    if (!file) throw arges::InvalidArgument(std::string("cannot open ") + path);
    Nonzeros result;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::vector<double> numbers;
        const char* at = line.c_str();
        for (char* end = nullptr;; at = end) {
            const double number = std::strtod(at, &end);
            if (end == at) break;
            numbers.push_back(number);
        }
        if (result.indices.empty()) result.indices.resize(numbers.size() - 1);
        for (std::size_t m = 0; m < result.indices.size(); ++m) result.indices[m].push_back(static_cast<std::uint32_t>(numbers.at(m) - 1));
        result.values.push_back(numbers.back());
    }
    for (auto& index : result.indices) result.rows.push_back(compact(index));
    return result;
}

/// Bytes per second of a = b + s c on arrays that no cache holds.
double triad() {
    const std::int64_t n = 1 << 24;
    std::vector<double> a(n), b(n), c(n);
    double best = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 6; ++repeat) {
        const double start = now();
#pragma omp parallel for schedule(static)
        for (std::int64_t i = 0; i < n; ++i)
            a[static_cast<std::size_t>(i)] = b[static_cast<std::size_t>(i)] + 3 * c[static_cast<std::size_t>(i)];
        best = std::min(best, now() - start);
    }
    return 24.0 * static_cast<double>(n) / best;
}

struct Factors {
    std::vector<arges::Buffer<double>> data;  // on cache lines, as rows should be
    std::vector<RowMatrix<const double>> views;

    Factors(const Nonzeros& nonzeros, int columns) {
        for (auto rows : nonzeros.rows) {
            data.emplace_back(rows * columns);
            for (std::int64_t i = 0; i < rows * columns; ++i) data.back()[i] = 0.5 + static_cast<double>(i * 2654435761 % 1024) / 1024;
            views.push_back({data.back().data(), rows, columns, columns});
        }
    }
};

void measure(const Nonzeros& nonzeros, Format format, int columns, int repeats, double bandwidth) {
    std::vector<int> modes(nonzeros.rows.size());
    std::iota(modes.begin(), modes.end(), 0);
    const Factors factors(nonzeros, columns);
    const double start = now();
    const auto made = make_mttkrp(nonzeros, format, modes);
    const double making = now() - start;

    double sum = 0, moved = 0;
    std::string per_mode;
    for (int mode : modes) {
        const auto rows = nonzeros.rows[static_cast<std::size_t>(mode)];
        arges::Buffer<double> out(rows * columns);
        double best = std::numeric_limits<double>::infinity();
        for (int r = 0; r < repeats + 1; ++r) {
            const double before = now();
            made->multiply(mode, factors.views, {out.data(), rows, columns, columns});
            best = std::min(best, now() - before);
        }
        sum += best;
        const double copies = format == Format::csf_all ? static_cast<double>(modes.size()) : 1;
        moved +=
            static_cast<double>(made->bytes()) / copies +
            8.0 * columns * (static_cast<double>(nonzeros.count()) * static_cast<double>(modes.size() - 1) + static_cast<double>(rows));
        char text[32];
        std::snprintf(text, sizeof text, " %9.5f", best);
        per_mode += text;
    }
    std::printf("%-12s %8.1f %6.2f %s %9.5f %8.1f %7.1f %6.2f\n", to_string(made->format()).c_str(),
                1e-6 * static_cast<double>(made->bytes()), making, per_mode.c_str(), sum,
                1e-6 * static_cast<double>(nonzeros.count()) * static_cast<double>(modes.size()) / sum, 1e-9 * moved / sum,
                moved / sum / bandwidth);
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) {
        std::fprintf(stderr, "usage: mttkrp FILE.tns [COLUMNS] [REPEATS] [FORMAT ...]\n");
        return 2;
    }
    const int columns = argc > 2 ? std::atoi(argv[2]) : 16, repeats = argc > 3 ? std::atoi(argv[3]) : 10;
    const auto nonzeros = read(argv[1]);
    const double bandwidth = triad();
    std::printf("%s: ", argv[1]);
    for (auto rows : nonzeros.rows) std::printf("%lld ", static_cast<long long>(rows));
    std::printf("rows, %lld nonzeros, %d columns, %d threads, triad %.1f GB/s\n", static_cast<long long>(nonzeros.count()), columns,
                omp_get_max_threads(), 1e-9 * bandwidth);
    std::printf("%-12s %8s %6s  seconds by mode, their sum, million nonzeros/s, GB/s, share of triad\n", "format", "MB", "make");
    std::vector<Format> formats{Format::coordinates, Format::csf_one, Format::csf_two, Format::csf_all, Format::hicoo, Format::linear};
    if (argc > 4) formats.clear();
    for (int i = 4; i < argc; ++i) formats.push_back(parse_format(argv[i]));
    for (auto format : formats) measure(nonzeros, format, columns, repeats, bandwidth);
} catch (const std::exception& error) {
    std::fprintf(stderr, "mttkrp: %s\n", error.what());
    return 1;
}
