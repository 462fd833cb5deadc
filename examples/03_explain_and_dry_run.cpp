// What will a statement do? explain() says it before anything runs, and a dry run says it for a machine that you do not have.
// docs/a_contraction_step_by_step.md follows this contraction on 4 ranks by hand.
#include <arges/arges.hpp>

#include <cmath>
#include <cstdio>

using namespace arges;

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        bool right = true;
        {
            Tensor<double> V(world, {4, 4, 4, 4}, "abef", "antisym(a,b) antisym(e,f)", "V");
            Tensor<double> T(world, {4, 4, 3, 3}, "efij", "antisym(e,f) antisym(i,j)", "T");
            Tensor<double> Z(world, {4, 4, 3, 3}, "abij", "antisym(a,b) antisym(i,j)", "Z");
            // Position of a pair a < b in the packed order (0,1) (0,2) (1,2) (0,3) ..., counted from 1.
            const auto pair = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a + b * (b - 1) / 2 + 1); };
            const auto product = [&](Index x) { return pair(x[0], x[1]) * pair(x[2], x[3]); };
            V.fill(product);
            T.fill(product);

            const std::string plan = Z["abij"].explain(0.5 * V["abef"] * T["efij"]);  // computes and moves nothing
            if (world.rank() == 0) std::printf("%s\n", plan.c_str());
            Z["abij"] = 0.5 * V["abef"] * T["efij"];

            // The bytes that this rank sent are those that the plan promised, exactly.
            const OperationReport report = world.last_report();
            const bool promised = report.bytes_sent == report.bytes_planned;

            right &= promised;
            // The sum over e < f of pair^2 is 1 + 4 + 9 + 16 + 25 + 36 = 91; the 1/2 undoes that e,f runs over both orders.
            Z.for_each_local([&](Index x, const double& z) { right &= std::abs(z - 91 * product(x)) < 1e-9; });
        }

        // The same statement on 4096 imaginary ranks of a 16x16x16 torus: 51 GB of V, planned in no time.
        World cluster = World::dry_run({4096, Torus{{16, 16, 16}}});
        Tensor<double> large_V(cluster, {400, 400, 400, 400}, "abef", "antisym(a,b) antisym(e,f)", "V");
        Tensor<double> large_T(cluster, {400, 400, 100, 100}, "efij", "antisym(e,f) antisym(i,j)", "T");
        Tensor<double> large_Z(cluster, {400, 400, 100, 100}, "abij", "antisym(a,b) antisym(i,j)", "Z");
        const std::string dry = large_Z["abij"].explain(0.5 * large_V["abef"] * large_T["efij"]);
        if (world.rank() == 0) std::printf("%s", dry.c_str());
        right &= large_V.packed_size() == std::int64_t{79800} * 79800;

        // MTTKRP on four ranks, in one step (docs/planning.md), and a sweep of CP on 512 (docs/dense_decompositions.md).
        World four = World::dry_run(4);
        Tensor<double> X(four, {192, 192, 192}, "ijk", "", "X");
        Tensor<double> A(four, {192, 24}, "ja", "", "A");
        Tensor<double> B(four, {192, 24}, "ka", "", "B");
        Tensor<double> O(four, {192, 24}, "ia", "", "O");
        const std::string mttkrp = O["ia"].explain(X["ijk"] * A["ja"] * B["ka"]);
        World many = World::dry_run({512, Torus{{8, 8, 8}}});
        CpOptions options;
        options.rank = 32;
        const std::string sweep = explain_cp(Tensor<double>(many, {800, 800, 800}, "X"), options);
        if (world.rank() == 0) std::printf("%s%s", mttkrp.c_str(), sweep.c_str());
        return right;
    });
}
