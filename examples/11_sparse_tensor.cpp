// A sparse tensor from your own arrays: each rank gives the nonzeros that it has, one array of indices for each mode.
#include <arges/arges.hpp>

#include <cmath>
#include <cstdio>

using namespace arges;

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        // Sales: customer x article x day, each with an amount. A rank may have any of them, also none.
        SparseEntries<double> mine{{{}, {}, {}}, {}};
        for (std::int64_t sale = world.rank(); sale < 600; sale += world.size()) {
            mine.indices[0].push_back(sale % 20);                     // customer, from 0
            mine.indices[1].push_back(sale % 2 == 0 ? sale % 7 : 9);  // article
            mine.indices[2].push_back(sale / 20);                     // day
            mine.values.push_back(1.0 + static_cast<double>(sale % 3));
        }

        // Several values for one element are added, on whichever ranks they are, as they are when a file is read.
        const auto sales = SparseTensor<double>::from_entries(world, {20, 10, 30}, mine);
        const auto stored = sales.nonzeros();
        const double sum = sales.sum();
        if (world.rank() == 0) std::printf("%lld nonzeros, %.0f in all\n", static_cast<long long>(stored), sum);

        CpOptions options;
        options.rank = 2;
        options.algorithm = CpAlgorithm::nonnegative;
        const auto result = cp_decompose(sales, options, [&](const CpIteration& now, const auto&) {
            if (world.rank() == 0 && now.number == 1) std::printf("the iterations begin\n");
        });
        if (world.rank() == 0) std::printf("fit %.2f, converged: %s\n", result.fit, result.converged ? "yes" : "no");
        return true;
    });
}
