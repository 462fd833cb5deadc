#include <arges/arges.hpp>
#include <iostream>

using namespace arges;

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        World world;  // all ranks
        Tensor<double> V(world, {20, 20, 20, 20}, "abef", "antisym(a,b) antisym(e,f)", "V");
        Tensor<double> T(world, {20, 20, 8, 8}, "efij", "antisym(e,f) antisym(i,j)", "T");
        Tensor<double> Z(world, {20, 20, 8, 8}, "abij", "antisym(a,b) antisym(i,j)", "Z");
        V.fill_random(1);
        T.fill_random(2);

        const auto plan = Z["abij"].explain(0.5 * V["abef"] * T["efij"]);  // what would be moved and computed
        Z["abij"] += 0.5 * V["abef"] * T["efij"];                          // sums over e and f
        const double norm = Z.norm();                                      // 167.925: the same random numbers on any number of ranks
        if (world.rank() == 0) std::cout << plan << "norm " << norm << '\n';
    }
    MPI_Finalize();
}
