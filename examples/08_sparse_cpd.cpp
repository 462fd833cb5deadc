// A sparse CP decomposition of a knowledge graph: who is related to whom, how, and when.
//
// The tensor has 201,089 facts of YAGO: entity x relation x entity x year, each with the value 1. Without negative elements, a component
// is a group of facts: the entities, relations and years with large weights in it. Run it in the project's folder, or give the file's name.
#include <arges/arges.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace arges;

/// The rows of a factor with the largest weights in a component; weights that differ only by rounding count as equal.
std::vector<std::int64_t> heaviest(const std::vector<double>& factor, int rank, int component, std::size_t count) {
    std::vector<std::int64_t> rows(factor.size() / static_cast<std::size_t>(rank));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
    const auto weight = [&](std::int64_t i) { return std::round(1e6 * factor[static_cast<std::size_t>(i * rank + component)]); };
    count = std::min(count, rows.size());
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(),
                      [&](auto a, auto b) { return weight(a) != weight(b) ? weight(a) > weight(b) : a < b; });
    rows.resize(count);
    return rows;
}

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        bool right = true;
        const auto file = read_sparse<double>(world, argc > 1 ? argv[1] : "test/data/yago-4d.tns.gz");

        CpOptions options;
        options.rank = 6;
        options.algorithm = CpAlgorithm::nonnegative;
        options.max_iterations = 50;
        options.tolerance = 1e-6;
        const auto result = cp_decompose(file.tensor, options);

        std::vector<std::vector<double>> factors;
        for (int mode = 0; mode < 4; ++mode) factors.push_back(result.model.gather(mode));
        if (world.rank() == 0) {
            std::printf("fit %.3f after %d iterations\n", result.fit, result.iterations);
            for (int c = 0; c < result.model.rank(); ++c) {
                std::printf("component %d, weight %.1f\n", c + 1, result.model.lambda()[static_cast<std::size_t>(c)]);
                const char* names[] = {"subjects", "relations", "objects", "years"};
                for (int mode = 0; mode < 4; ++mode) {
                    std::printf("  %-9s", names[mode]);
                    for (auto row : heaviest(factors[static_cast<std::size_t>(mode)], options.rank, c, 4))
                        std::printf(" %6lld (%.2f)", static_cast<long long>(row + 1),
                                    factors[static_cast<std::size_t>(mode)][static_cast<std::size_t>(row * options.rank + c)]);
                    std::printf("\n");
                }
            }
        }
        return right;
    });
}
