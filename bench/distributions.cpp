// Loads and volumes of the distributions of a sparse tensor, by dry run: distributions FILE.tns P...
// For each number of ranks P: SPLATT's grid, the predicted grid (Algorithm 2 of irregularity-aware-cpd-2023) and the best grid
// of our cost model with all layer policies, beside coarse and fine grain: the ratios r_nnz, r_vol and r_Ip (sums over the
// modes), nonzeros and volumes (rows sent and received in an iteration, as SPLATT prints them), largest and mean over the ranks.
// Then HyperTensor's Table 2 of coarse and fine grain, and what choosing costs. FILE: one-based indices and value, by line.
#include "partition/choose.hpp"
#include "partition/statistics.hpp"

#include "arges/error.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace partition = arges::partition;
using partition::DistributionCounts;
using partition::Grid;
using partition::MediumGrain;
using partition::RowRule;
using partition::SliceTable;
using partition::to_string;

constexpr int columns = 16;

struct Indices {
    std::vector<std::vector<std::int64_t>> by_mode;

    partition::IndexView view() const {
        partition::IndexView result;
        for (const auto& indices : by_mode) {
            result.lengths.push_back(indices.empty() ? 0 : *std::max_element(indices.begin(), indices.end()) + 1);
            result.indices.emplace_back(indices);
        }
        return result;
    }
};

Indices read(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw arges::InvalidArgument("the file " + path + " cannot be read");
    Indices result;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::vector<std::int64_t> numbers;
        const char *at = line.data(), *const end = at + line.size();
        std::int64_t number = 0;
        for (auto next = std::from_chars(at, end, number); next.ec == std::errc() && next.ptr != end && *next.ptr == ' ';
             next = std::from_chars(next.ptr + 1, end, number))
            numbers.push_back(number - 1);
        result.by_mode.resize(numbers.size());
        for (std::size_t n = 0; n < numbers.size(); ++n) result.by_mode[n].push_back(numbers[n]);
    }
    return result;
}

void print_header() {
    std::printf("%-34s %6s %6s %6s %11s %11s %11s %11s %9s\n", "distribution", "r_nnz", "r_vol", "r_Ip", "nnz max", "nnz mean",
                "volume max", "volume mean", "ms/iter");
}

void print_row(const std::string& name, const DistributionCounts& counts) {
    const auto ratios = partition::imbalances(counts);
    auto nonzeros = partition::max_mean(partition::total(counts, &partition::ModeCounts::nonzeros));
    const auto modes = static_cast<std::int64_t>(counts.modes.size());
    nonzeros = {nonzeros.max / modes, nonzeros.mean / static_cast<double>(modes)};
    const auto volume = partition::max_mean(partition::total_volume(counts));
    std::printf("%-34s %6.3f %6.3f %6.3f %11lld %11.1f %11lld %11.1f %9.3f\n", name.c_str(), ratios.nonzeros, ratios.volume, ratios.rows,
                static_cast<long long>(nonzeros.max), nonzeros.mean, static_cast<long long>(volume.max), volume.mean,
                1000 * partition::iteration_seconds(counts, columns));
}

void print_summary(const std::string& name, const DistributionCounts& counts) {
    std::printf("%-20s %4s %11s %11s %11s %11s %8s %8s %11s\n", name.c_str(), "mode", "load max", "mean", "sent max", "mean", "msgs max",
                "mean", "lambda-1");
    const auto summaries = partition::summaries(counts);
    for (std::size_t n = 0; n < summaries.size(); ++n) {
        const auto& s = summaries[n];
        std::printf("%-20s %4zu %11lld %11.2f %11lld %11.2f %8lld %8.1f %11lld\n", "", n + 1, static_cast<long long>(s.nonzeros.max),
                    s.nonzeros.mean, static_cast<long long>(s.sent.max), s.sent.mean, static_cast<long long>(s.messages.max),
                    s.messages.mean, static_cast<long long>(counts.modes[n].connectivity));
    }
}

void print_medium(const SliceTable& table, const Grid& grid, const std::string& name, std::initializer_list<RowRule> rules) {
    for (auto rows : rules)
        for (const std::string layers : {"nnz", "set", "ordered-1", "ordered-2", "max-min"})
            print_row(name + " " + to_string(grid) + " " + layers + " " + to_string(rows),
                      partition::count_distribution(table, MediumGrain{grid, partition::parse_layer_rule(layers), rows}));
}

void run(const SliceTable& table, const partition::TensorPart& tensor, std::int64_t ranks) {
    std::vector<std::int64_t> lengths;
    for (const auto& mode : table.modes) lengths.push_back(mode.length);
    const auto layer_counts = partition::layer_counts(table);
    const auto splatt = partition::greedy_grid(ranks, lengths), predicted = partition::predicted_grid(ranks, lengths, layer_counts);
    const arges::Stopwatch choosing;
    const auto choices = partition::choose_medium(partition::Team(), tensor, ranks, columns);
    const double choice_seconds = choosing.seconds();
    const auto& best = choices.front().distribution;
    std::printf("\nP = %lld: %zu grids; SPLATT %s, predicted %s (r_layer %.4f), best %s %s\n", static_cast<long long>(ranks),
                partition::all_grids(ranks, table.order()).size(), to_string(splatt).c_str(), to_string(predicted).c_str(),
                partition::layer_imbalance(predicted, layer_counts), to_string(best.grid).c_str(), to_string(best.layers).c_str());
    print_header();
    const auto coarse = partition::coarse_blocks(table, ranks);
    const auto coarse_counts = partition::count_distribution(table, coarse);
    const auto fine_counts = partition::count_distribution(table, partition::fine_random(table.nonzeros, ranks));
    print_row("coarse block", coarse_counts);
    print_row("coarse block, allgather (DFacTo)", partition::count_allgather(table, coarse));
    print_row("fine random", fine_counts);
    print_row("fine block", partition::count_distribution(table, partition::fine_blocks(table.nonzeros, ranks)));
    print_medium(table, splatt, "splatt", {RowRule::claim, RowRule::even, RowRule::holders});
    if (predicted != splatt) print_medium(table, predicted, "predicted", {RowRule::holders});
    if (best.grid != splatt && best.grid != predicted) print_medium(table, best.grid, "best", {RowRule::holders});
    print_summary("coarse block", coarse_counts);
    print_summary("fine random", fine_counts);
    std::printf("choosing among %zu distributions took %.3f s; the first:\n", choices.size(), choice_seconds);
    for (std::size_t i = 0; i < std::min<std::size_t>(8, choices.size()); ++i)
        std::printf("  %-12s %-10s %9.3f ms/iter%s\n", to_string(choices[i].distribution.grid).c_str(),
                    to_string(choices[i].distribution.layers).c_str(), 1000 * choices[i].seconds, choices[i].counted ? "" : ", estimated");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: distributions FILE.tns P...\n");
        return 2;
    }
    try {
        const auto indices = read(argv[1]);
        const arges::Stopwatch clock;
        const SliceTable table(indices.view());
        const auto tensor = partition::whole_tensor(indices.view(), table);
        std::printf("%s: %s nonzeros, sorted by slices in %.3f s\n", argv[1], arges::with_commas(table.nonzeros).c_str(), clock.seconds());
        for (const auto& mode : table.modes)
            std::printf("  length %s, %s slices with nonzeros\n", arges::with_commas(mode.length).c_str(),
                        arges::with_commas(mode.count()).c_str());
        for (int i = 2; i < argc; ++i) run(table, tensor, std::stoll(argv[i]));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "distributions: %s\n", error.what());
        return 1;
    }
    return 0;
}
