// Measured times of medium-grain distributions beside predicted ones (irregularity-aware-cpd-2023, Figures 7 and 12).
//   speedups [--rank 16] [--iterations 10] [--repeats 3] [--greedy] FILE...
// Run under mpiexec. CP-ALS with every grid of the ranks and every policy (--greedy: with SPLATT's grid only): the median over the repeats
// of the median iteration of a run, its first iteration left out, beside the prediction, which is for one core per rank; both relative to
// SPLATT's grid with layers of equal nonzeros. Repeats take turns. Then bytes that the busiest rank sends in an iteration, as counted
// by the communicator, beside rows that it moves, as counted without a run: they are right where ranks share cores, too.
#include "arges/cpd.hpp"
#include "arges/error.hpp"
#include "arges/sparse_io.hpp"
#include "decompose/distribution/given_parts.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/world/world_state.hpp"
#include "partition/choose.hpp"
#include "partition/statistics.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

namespace partition = arges::partition;
using arges::World;

struct Settings {
    arges::CpOptions cp;
    int repeats = 3;
    bool only_greedy = false;
    std::vector<std::string> files;
};

/// A grid with a policy, and what is known of it.
struct Case {
    partition::MediumGrain distribution;
    double predicted = 0;            ///< seconds of an iteration
    std::int64_t rows = 0;           ///< that the busiest rank sends and receives in an iteration
    std::vector<double> measured{};  ///< seconds of the median iteration, by run
    std::int64_t bytes = 0;          ///< that the busiest rank sends in an iteration
    std::string name() const { return partition::to_string(distribution.grid) + " " + to_string(distribution.layers); }
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto n = values.size();
    return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

Settings parse(int argc, char** argv) {
    Settings settings;
    settings.cp.rank = 16;
    settings.cp.max_iterations = 10;
    settings.cp.tolerance = 0;
    settings.cp.distribution = "medium";
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto number = [&] {
            if (i + 1 == argc) throw arges::InvalidArgument(word + " needs a number behind it");
            return std::stoi(argv[++i]);
        };
        if (word == "--rank")
            settings.cp.rank = number();
        else if (word == "--iterations")
            settings.cp.max_iterations = std::max(2, number());
        else if (word == "--repeats")
            settings.repeats = number();
        else if (word == "--greedy")
            settings.only_greedy = true;
        else
            settings.files.push_back(word);
    }
    if (settings.files.empty())
        throw arges::InvalidArgument("usage: speedups [--rank N] [--iterations N] [--repeats N] [--greedy] FILE...");
    return settings;
}

/// SPLATT's distribution first, then all others with different layers, with predictions. Collective.
std::vector<Case> cases_of(const World& world, const arges::SparseTensor<double>& tensor, const Settings& settings) {
    const auto& comm = world.state()->communicator();
    const auto indices = arges::decompose::gather_indices(comm, *tensor.state()->pattern());
    const auto greedy = partition::greedy_grid(world.size(), tensor.lengths());
    std::vector<partition::Grid> grids{greedy};
    if (!settings.only_greedy)
        for (const auto& grid : partition::all_grids(world.size(), tensor.order()))
            if (grid != greedy) grids.push_back(grid);
    std::vector<Case> cases;
    for (const auto& grid : grids)
        for (const auto& rule : partition::all_policies()) cases.push_back({{grid, rule}});
    std::vector<std::int64_t> rows(cases.size());
    std::vector<double> seconds(cases.size());
    comm.agree([&] {
        if (comm.rank() != 0) return;
        partition::IndexView view{tensor.lengths(), {indices.begin(), indices.end()}};
        const partition::SliceTable table(view);
        for (std::size_t i = 0; i < cases.size(); ++i) {
            const auto counts = count_distribution(table, cases[i].distribution);
            seconds[i] = iteration_seconds(counts, settings.cp.rank);
            rows[i] = partition::max_mean(total_volume(counts)).max;
        }
    });
    comm.broadcast(rows, 0);
    comm.broadcast(seconds, 0);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        cases[i].predicted = seconds[i];
        cases[i].rows = rows[i];
    }
    return cases;
}

/// Decomposes once with a distribution. Collective.
void run(const World& world, const arges::SparseTensor<double>& tensor, arges::CpOptions options, Case& now) {
    const auto& comm = world.state()->communicator();
    options.grid = partition::to_string(now.distribution.grid);
    options.policy = to_string(now.distribution.layers);
    std::vector<double> seconds;
    std::int64_t first = 0, last = 0;
    const auto result = cp_decompose(tensor, options, [&](const arges::CpIteration& iteration, const auto&) {
        if (iteration.number == 1) first = comm.traffic().bytes_sent;
        last = comm.traffic().bytes_sent;
        if (iteration.number > 1) seconds.push_back(iteration.seconds);
    });
    now.measured.push_back(median(seconds));
    now.bytes = comm.maximum((last - first) / (options.max_iterations - 1));
    if (result.volume_rows_max != now.rows)
        throw arges::Error(now.name() + ": the run moves " + std::to_string(result.volume_rows_max) + " rows, but " +
                           std::to_string(now.rows) + " were counted");
}

void print(const std::vector<Case>& cases) {
    const double base = median(cases.front().measured), predicted_base = cases.front().predicted;
    std::printf("%-22s %12s %9s %13s %9s %14s %14s\n", "grid and policy", "measured ms", "speedup", "predicted ms", "speedup", "bytes sent",
                "rows moved");
    for (const auto& c : cases) {
        const double measured = median(c.measured);
        std::printf("%-22s %12.3f %9.2f %13.3f %9.2f %14lld %14lld\n", c.name().c_str(), 1000 * measured, base / measured,
                    1000 * c.predicted, predicted_base / c.predicted, static_cast<long long>(c.bytes), static_cast<long long>(c.rows));
    }
    const auto fastest = [&](auto seconds) {
        return *std::min_element(cases.begin(), cases.end(), [&](const Case& a, const Case& b) { return seconds(a) < seconds(b); });
    };
    const auto best = fastest([](const Case&c) { return median(c.measured); }),
               expected = fastest([](const Case&c) { return c.predicted; });
    std::printf("fastest measured %s, predicted %s, which is measured %.1f %% above it\n", best.name().c_str(), expected.name().c_str(),
                100 * (median(expected.measured) / median(best.measured) - 1));
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    return arges::run(argc, argv, [&](const World& world) {
        const auto settings = parse(argc, argv);
        for (const auto& file : settings.files) {
            const auto tensor = arges::read_sparse<double>(world, file).tensor;
            auto cases = cases_of(world, tensor, settings);
            for (int r = 0; r < settings.repeats; ++r)
                for (auto& now : cases) run(world, tensor, settings.cp, now);
            if (world.rank() != 0) continue;
            std::printf("\n%s on %lld ranks, %d components\n", file.c_str(), static_cast<long long>(world.size()), settings.cp.rank);
            print(cases);
        }
        return true;
    });
}
