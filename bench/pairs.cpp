// Key-value pairs: seconds to write and to read them, and memory beside the caller's arrays.
// mpiexec.mpich -n P build/fast/bench/pairs [pairs per rank] [extent]
#include "arges/arges.hpp"
#include "key_value_pairs.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

using arges::Tensor;
using arges::World;

double largest(double value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

double median_seconds(const std::function<void()>& work) {
    std::vector<double> seconds;
    for (int run = 0; run < 3; ++run) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        work();
        seconds.push_back(largest(MPI_Wtime() - begin));
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[1];
}

double peak_megabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

void measure(const World& world, std::int64_t count, std::int64_t extent, const char* symmetry, bool ascending) {
    Tensor<double> A(world, {extent, extent, extent}, "abc", symmetry);
    A.fill(1.0);  // its memory is there before
    const auto pairs = bench::pairs_of(extent, count, world.rank(), ascending);
    const auto& [keys, values] = pairs;
    const double before = largest(peak_megabytes());
    const double write = median_seconds([&] { A.write(keys, values); });
    const double after = largest(peak_megabytes());
    std::vector<double> back;
    const double read = median_seconds([&] { back = A.read(keys); });
    if (back != values) std::printf("rank %d: wrong values\n", static_cast<int>(world.rank()));
    const auto millions = static_cast<double>(count) * 1e-6;
    if (world.rank() == 0)
        std::printf("%-10s %-10s %9.3f %9.3f %9.1f %9.1f %10.2f\n", symmetry[0] == 0 ? "none" : symmetry,
                    ascending ? "ascending" : "random", write, read, millions / write, millions / read,
                    (after - before) / (static_cast<double>(count) * 16 / 1048576));
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        const World world;
        const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : (std::int64_t(1) << 24) / world.size();
        const std::int64_t extent = argc > 2 ? std::atoll(argv[2]) : 256;
        if (world.rank() == 0)
            std::printf("%lld ranks, %lld pairs per rank, extents %lld^3\n%-10s %-10s %9s %9s %9s %9s %10s\n",
                        static_cast<long long>(world.size()), static_cast<long long>(count), static_cast<long long>(extent), "symmetry",
                        "keys", "write s", "read s", "M/s", "M/s", "peak/pairs");
        for (const char* const symmetry : {"", "sym(a,b)"})
            for (const bool ascending : {true, false}) measure(world, count, extent, symmetry, ascending);
    }
    MPI_Finalize();
    return 0;
}
