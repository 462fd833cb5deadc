// What will a statement do? explain() says it before anything runs, and a dry run says it for a machine that you do not have.
// docs/a_contraction_step_by_step.md follows this contraction on 4 ranks by hand.
#include <arges/arges.hpp>

#include <cmath>
#include <cstdio>

using namespace arges;

namespace {

/// Position of a pair a < b in the packed order (0,1) (0,2) (1,2) (0,3) ..., counted from 1.
double pair(std::int64_t a, std::int64_t b) { return static_cast<double>(a + b * (b - 1) / 2 + 1); }

/// The tensors of Z(abij) = 1/2 sum over e,f of V(abef) T(efij), all with antisymmetric pairs.
struct Ladder {
    Tensor<double> V, T, Z;
    Ladder(const World& world, std::int64_t v, std::int64_t o)
        : V(world, {v, v, v, v}, "abef", "antisym(a,b) antisym(e,f)", "V"),
          T(world, {v, v, o, o}, "efij", "antisym(e,f) antisym(i,j)", "T"),
          Z(world, {v, v, o, o}, "abij", "antisym(a,b) antisym(i,j)", "Z") {}
    Expression<double> right() const { return 0.5 * V["abef"] * T["efij"]; }
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool right = true;
    {
        World world;
        Ladder small(world, 4, 3);
        small.V.fill([](Index x) { return pair(x[0], x[1]) * pair(x[2], x[3]); });
        small.T.fill([](Index x) { return pair(x[0], x[1]) * pair(x[2], x[3]); });

        const std::string plan = small.Z["abij"].explain(small.right());  // computes and moves nothing
        if (world.rank() == 0) std::printf("%s\n", plan.c_str());
        small.Z["abij"] = small.right();

        // The bytes that this rank sent are those that the plan promised, exactly.
        const OperationReport report = world.last_report();
        right &= report.bytes_sent == report.bytes_planned;
        // The sum over e < f of pair^2 is 1 + 4 + 9 + 16 + 25 + 36 = 91; the 1/2 undoes that e,f runs over both orders.
        small.Z.for_each_local([&](Index x, const double& z) {
            right &= std::abs(z - 91 * pair(x[0], x[1]) * pair(x[2], x[3])) < 1e-9;
        });

        // The same statement on 4096 imaginary ranks of a 16x16x16 torus: 51 GB of V, planned in no time.
        World cluster = World::dry_run(4096, Torus{{16, 16, 16}});
        Ladder large(cluster, 400, 100);
        const std::string dry = large.Z["abij"].explain(large.right());
        if (world.rank() == 0) std::printf("%s", dry.c_str());
        right &= large.V.packed_size() == std::int64_t{79800} * 79800;
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
