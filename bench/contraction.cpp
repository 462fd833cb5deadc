// Times fixed contractions: contraction CASE SIZE [REPETITIONS] [--explain: the plan of the last run]
// Prints  case=... n=... ranks=... first=<seconds of the first run> seconds=<best of the repetitions> gflops=<useful flops per second>
// planned=<seconds that the last run's plan predicts> bytes=... messages=<sent by the busiest rank in the last run> bound=<lower bound of
// bytes> flops=<useful ones> exposed=<seconds that messages kept the slowest rank in the last run> and zeroes the counts of an MPI
// profiling library (MPI_Pcontrol) before the last repetition.
#include <arges/arges.hpp>

#include "statements.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;
using arges::World;

/// Stops (0), goes on with (1) or zeroes (2) the counts of a profiling library.
void count_bytes([[maybe_unused]] int level) {
#ifndef ARGES_SIMULATED  // SimGrid has no MPI_Pcontrol
    MPI_Pcontrol(level);
#endif
}

/// The tensors of a case and its right-hand side.
struct Operands {
    arges::Tensor<double> output;
    arges::Expression<double> right;
};

Operands operands(const World& world, const Case& c) { return {random_tensor(world, c.c, 3), right_of(world, c)}; }

/// The number that follows the last of some words in a text that people read, as 1,024; 0 without them.
double number_after(const std::string& text, const std::string& words) {
    const auto found = text.rfind(words);
    if (found == std::string::npos) return 0;
    auto digits = text.substr(found + words.size(), 40);
    std::erase(digits, ',');
    return std::atof(digits.c_str());
}

void run(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "mm";
    const std::int64_t n = argc > 2 ? std::atoll(argv[2]) : 512;
    const int repetitions = argc > 3 ? std::max(1, std::atoi(argv[3])) : 5;
    const World world;
    const auto c = make_case(name, n);
    auto now = operands(world, c);
    const double beta = c.accumulate ? 1 : 0;
    count_bytes(0);
    std::vector<double> seconds;
    double end = 0;
    for (int r = -1; r < repetitions; ++r) {
        if (c.starts_anew) now = operands(world, c);
        // Repetitions follow each other without a barrier, whose end some ranks see later than others.
        if (r < 1 || c.starts_anew) {
            MPI_Barrier(world.communicator());
            end = MPI_Wtime();
        }
        if (r == repetitions - 1) {
            count_bytes(2);
            count_bytes(1);
        }
        now.output[c.c.labels].assign(now.right, beta);
        count_bytes(0);
        const double start = std::exchange(end, MPI_Wtime());
        seconds.push_back(end - start);
    }
    MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, world.communicator());
    const double first = seconds[0], best = *std::min_element(seconds.begin() + 1, seconds.end());
    long long sent[] = {world.last_report().bytes_sent, world.last_report().messages_sent};
    MPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_LONG_LONG, MPI_MAX, world.communicator());
    double exposed = world.last_report().exposed_seconds;
    MPI_Allreduce(MPI_IN_PLACE, &exposed, 1, MPI_DOUBLE, MPI_MAX, world.communicator());
    if (c.starts_anew) now = operands(world, c);
    if (world.rank() != 0) return;
    const auto plan = now.output[c.c.labels].explain(now.right, beta);
    if (argc > 4 && std::string(argv[4]) == "--explain") std::fputs(plan.c_str(), stdout);
    const auto bound = number_after(plan, "(largest of a step) ");
    std::printf("case=%s n=%lld ranks=%lld first=%.7f seconds=%.7f gflops=%.3f planned=%.7f bytes=%lld messages=%lld bound=%.0f flops=%.4g "
                "exposed=%.7f\n",
                name.c_str(), static_cast<long long>(n), static_cast<long long>(world.size()), first, best, c.flops / best * 1e-9,
                number_after(plan, "predicted seconds ") + number_after(plan, "agreement of all ranks, seconds "), sent[0], sent[1],
                bound > 0 ? bound : number_after(plan, "(memory-independent) "), c.flops, exposed);
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
