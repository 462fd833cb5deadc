// Movements of composite nodes that are distributed by packed indices: seconds to prepare and to run them, and bytes of their lists for
// each element that a rank writes, all of the slowest rank.
//   mpiexec.mpich -n P build/fast/bench/movements [REPETITIONS]
#include "layouts.hpp"
#include "redistribute/movement_run.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace arges;
using namespace bench;

const char* const eightfold = "sym(sym(p,q),sym(r,s))";
const char* const pairs = "sym(product(a,i),product(b,j))";
const char* const triples = "sym(product(a,i),product(b,j),product(c,k))";

std::vector<Relayout> cases() {
    const std::vector<std::int64_t> large(4, 94), small(4, 60), vo{220, 20, 220, 20}, vo_small{120, 30, 120, 30},
        vovovo{48, 8, 48, 8, 48, 8}, vovovo_small{20, 8, 20, 8, 20, 8};
    return {{"(pq|rs), packed to packed, other place first", "pqrs", large, {eightfold}, {eightfold}},
            {"(pq|rs), packed to rows", "pqrs", large, {eightfold}, {eightfold, true}},
            {"(pq|rs), packed to dense", "pqrs", small, {eightfold}, {""}},
            {"(pq|rs), rows to dense", "pqrs", small, {eightfold, true}, {""}},
            {"(pq|rs), dense to packed", "pqrs", small, {""}, {eightfold}},
            {"(ai)(bj), packed to rows", "aibj", vo, {pairs}, {pairs, true}},
            {"(ai)(bj), packed to dense", "aibj", vo_small, {pairs}, {""}},
            {"(ai)(bj)(ck), packed to packed", "aibjck", vovovo, {triples}, {triples}},
            {"(ai)(bj)(ck), packed to dense", "aibjck", vovovo_small, {triples}, {""}},
            {"(ai)(bj)(ck), dense to packed", "aibjck", vovovo_small, {""}, {triples}},
            {"a vector, to its copies", "a", {std::int64_t(1) << 23}, {""}, {""}}};
}

void measure(const Communicator& comm, const Relayout& c, int repetitions) {
    const auto spec = copy_between(layout_of(c, c.from, comm.size(), false), layout_of(c, c.to, comm.size(), true));
    const std::vector<double> from(static_cast<std::size_t>(spec.from.local_size(comm.rank())), 1);
    std::vector<double> to(static_cast<std::size_t>(spec.to.local_size(comm.rank())));
    Workspace workspace;
    comm.barrier();
    const double begin = MPI_Wtime();
    MovementRun movement(comm.size() > 1 ? &comm : nullptr, spec, comm.rank());
    comm.barrier();
    const double prepared = MPI_Wtime() - begin;
    std::vector<double> seconds;
    for (int run = 0; run < repetitions; ++run) {
        comm.barrier();
        const double start = MPI_Wtime();
        movement.run(from.data(), to.data(), 1.0, 0.0, false, workspace);
        comm.barrier();
        seconds.push_back(MPI_Wtime() - start);
    }
    std::sort(seconds.begin(), seconds.end());
    const double run = seconds[seconds.size() / 2], elements = static_cast<double>(comm.sum(static_cast<std::int64_t>(to.size())));
    const auto bytes = static_cast<double>(comm.maximum(movement.list_bytes()));
    if (comm.rank() == 0)
        std::printf("%-46s %9.1f %9.3f %9.3f %9.1f %12.4f\n", c.name, elements * 1e-6, prepared, run, elements * 1e-6 / run,
                    bytes / static_cast<double>(to.size()));
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        const Communicator comm(MPI_COMM_WORLD);
        if (comm.rank() == 0)
            std::printf("%lld ranks\n%-46s %9s %9s %9s %9s %12s\n", static_cast<long long>(comm.size()), "", "10^6", "prepare s", "run s",
                        "10^6/s", "list B/elem.");
        for (const auto& c : cases()) measure(comm, c, argc > 1 ? std::atoi(argv[1]) : 5);
    }
    MPI_Finalize();
}
