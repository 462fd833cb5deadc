// Times fixed contractions: contraction CASE SIZE [REPETITIONS] [--explain]
// Prints  case=... n=... ranks=... first=<seconds of the first run> seconds=<best of the repetitions> gflops=<useful flops per second>
// and zeroes the counts of an MPI profiling library (MPI_Pcontrol) before the last repetition.
#include <arges/arges.hpp>

#include "statements.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace bench;
using arges::World;

/// Stops (0), goes on with (1) or zeroes (2) the counts of a profiling library.
void count_bytes([[maybe_unused]] int level) {
#ifndef ARGES_SIMULATED  // SimGrid has no MPI_Pcontrol
    MPI_Pcontrol(level);
#endif
}

void run(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "mm";
    const std::int64_t n = argc > 2 ? std::atoll(argv[2]) : 512;
    const int repetitions = argc > 3 ? std::atoi(argv[3]) : 5;
    const World world;
    const auto c = make_case(name, n);
    auto C = random_tensor(world, c.c, 3);
    const auto right = right_of(world, c);
    const double beta = c.accumulate ? 1 : 0;
    if (argc > 4 && std::string(argv[4]) == "--explain" && world.rank() == 0)
        std::fputs(C[c.c.labels].explain(right, beta).c_str(), stdout);
    count_bytes(0);
    double best = 1e300, first = 0;
    for (int r = -1; r < repetitions; ++r) {
        MPI_Barrier(world.communicator());
        if (r == repetitions - 1) {
            count_bytes(2);
            count_bytes(1);
        }
        const double start = MPI_Wtime();
        C[c.c.labels].assign(right, beta);
        double seconds = MPI_Wtime() - start;
        count_bytes(0);
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, world.communicator());
        if (r < 0)
            first = seconds;
        else
            best = std::min(best, seconds);
    }
    if (world.rank() == 0)
        std::printf("case=%s n=%lld ranks=%lld first=%.6f seconds=%.6f gflops=%.3f\n", name.c_str(), static_cast<long long>(n),
                    static_cast<long long>(world.size()), first, best, c.flops / best * 1e-9);
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
