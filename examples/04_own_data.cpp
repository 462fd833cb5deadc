// Your own numbers in and out: key-value pairs, local loops, slices.
#include <arges/arges.hpp>

#include <cmath>
#include <cstdio>

using namespace arges;

int main(int argc, char** argv) {
    return run(argc, argv, [&](const World& world) {
        int wrong = 0;
        const auto check = [&](const char* what, double value, double expected) {
            const bool right = std::abs(value - expected) <= 1e-12;
            wrong += right ? 0 : 1;
            if (!right || world.rank() == 0) std::printf("%-34s %10g%s\n", what, value, right ? "" : "  WRONG");
        };

        // Each rank brings some rows of a symmetric matrix S(i,j) = 10 max(i,j) + min(i,j), in any order and number. One of
        // S(i,j) and S(j,i) is enough; both are allowed if they agree.
        constexpr std::int64_t n = 6;
        Tensor<double> S(world, {n, n}, "ij", "sym(i,j)", "S");
        std::vector<std::int64_t> keys;
        std::vector<double> values;
        for (std::int64_t i = world.rank(); i < n; i += world.size())
            for (std::int64_t j = 0; j <= i; ++j) {
                keys.push_back(i + n * j);  // first index fastest; S.key({i, j}) says the same
                values.push_back(static_cast<double>(10 * i + j));
            }
        S.write(keys, values);
        // Any rank may read any elements, also none.
        const std::vector<std::int64_t> wanted = {1 + n * 4, 4 + n * 1};
        const std::vector<double> found = S.read(wanted);  // S(1,4) and S(4,1): 41 and 41
        for (double value : found) check("S(1,4) and S(4,1)", value, 41);

        // accumulate() sums what all ranks give for an element: every rank adds 1 to S(0,0) and takes it away again.
        const std::vector<std::int64_t> corner = {0};
        const std::vector<double> one = {1.0};
        S.accumulate(corner, one);
        check("S(0,0) + ranks", S.read(corner)[0], static_cast<double>(world.size()));
        S.accumulate(corner, one, -1.0);

        // The elements that are stored here, one of each orbit, without communication: divide by something of the indices.
        Tensor<double> halved = S;
        halved.for_each_local([](Index x, double& value) { value /= x[0] == x[1] ? 1.0 : 2.0; });
        const double half = halved.read({halved.key({1, 4})})[0];  // 20.5
        check("halved(1,4)", half, 20.5);

        // A slice is a new tensor; it keeps the symmetry where related dimensions have the same range.
        Tensor<double> block = S.slice({2, 2}, {5, 5});  // 3 x 3, 6 elements stored
        block["ij"] *= 2.0;
        S.set_slice({2, 2}, block);
        check("stored elements of a 3 x 3 slice", static_cast<double>(block.packed_size()), 6);
        check("S(4,2) doubled", S.gather()[4 + n * 2], 84);
        check("S(5,2) as it was", S.gather()[5 + n * 2], 52);

        // Tensors one behind the other along a dimension.
        Tensor<double> rows = concatenated(0, block, block);  // 6 x 3, without symmetry
        check("elements that are not zero", static_cast<double>(rows.count_nonzero()), 18);
        return wrong == 0;
    });
}
