// The first program: a world, three tensors, one statement, and a look at the result.
//     mpiexec.mpich -n 2 build/fast/examples/01_first_contraction
#include <arges/arges.hpp>

#include <cmath>
#include <cstdio>

using arges::Index;
using arges::Tensor;
using arges::World;

namespace {

/// True if a number is what it should be; says so if not.
bool check(const World& world, const char* what, double value, double expected) {
    const bool right = std::abs(value - expected) <= 1e-12 * std::abs(expected);
    if (world.rank() == 0) std::printf("%-12s %12g%s\n", what, value, right ? "" : "  WRONG");
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    bool right = true;
    {                 // Worlds and tensors must be gone before MPI_Finalize: hence the block.
        World world;  // all ranks of MPI_COMM_WORLD

        // Two matrices, spread over all ranks; A(i,k) = i + 1 and B(k,j) = j + 1, indices count from 0.
        Tensor<double> A(world, {3, 4}), B(world, {4, 5}), C(world, {3, 5});
        A.fill([](Index x) { return x[0] + 1.0; });
        B.fill([](Index x) { return x[1] + 1.0; });

        // k is on the right only, so it is summed: C(i,j) = 4 (i + 1) (j + 1).
        C["ij"] = A["ik"] * B["kj"];

        // Keys are linear, first index fastest. Any rank may read any element.
        const double element = C.read({C.key({2, 4})})[0];  // 60
        const double sum = C.sum();                         // 4 * 6 * 15 = 360

        // A scalar is a tensor without dimensions; a label that occurs twice in one factor is a diagonal.
        Tensor<double> s(world, {}), D(world, {3, 3});
        D["ij"] = C["ik"] * C["jk"];
        s[""] = D["ii"];
        const double trace = s.scalar(), norm = C.norm();  // trace = norm * norm

        // Sums of products, numbers in front, +=; the tensor on the left may be on the right, too: C + 2 C - C.
        C["ij"] += 2.0 * C["ij"] - A["ik"] * B["kj"];

        right &= check(world, "C(2,4)", element, 60);
        right &= check(world, "sum of C", sum, 4.0 * 6 * 15);
        right &= check(world, "trace", trace, norm * norm);
        right &= check(world, "sum of 2 C", C.sum(), 2 * 360);
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
