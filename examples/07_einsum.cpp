// One product of many tensors: the factor update of a CP decomposition (MTTKRP), and what the second run saves.
#include <arges/arges.hpp>

#include <cstdio>

using namespace arges;

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        Tensor<double> X(world, {40, 30, 20}, "X"), A(world, {30, 6}, "A"), B(world, {20, 6}, "B"), O(world, {40, 6}, "O");
        X.fill_random(1);
        A.fill_random(2);
        B.fill_random(3);

        O["ia"] = X["ijk"] * A["ja"] * B["ka"];
        const auto first = world.last_report().bytes_sent;
        O["ia"] = X["ijk"] * A["ja"] * B["ka"];
        const auto second = world.last_report().bytes_sent;

        const auto same = einsum("ijk,ja,ka->ia", X, A, B);
        O["ia"] -= same["ia"];
        const double difference = O.norm();
        const int wrong = difference < 1e-10 ? 0 : 1;
        if (world.rank() == 0)
            std::printf("rank 0 sent %lld bytes in the first run, %lld in the second; difference to einsum %.1e\n%s",
                        static_cast<long long>(first), static_cast<long long>(second), difference,
                        O["ia"].explain(X["ijk"] * A["ja"] * B["ka"]).c_str());
        return wrong == 0;
    });
}
