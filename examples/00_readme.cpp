// The program of the README.
#include <arges/arges.hpp>
#include <iostream>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    double norm = 0;
    {
        arges::World world;  // all ranks
        arges::Tensor<double> V(world, {20, 20, 20, 20}, "abef", "antisym(a,b) antisym(e,f)", "V");
        arges::Tensor<double> T(world, {20, 20, 8, 8}, "efij", "antisym(e,f) antisym(i,j)", "T");
        arges::Tensor<double> Z(world, {20, 20, 8, 8}, "abij", "antisym(a,b) antisym(i,j)", "Z");
        V.fill_random(1);
        T.fill_random(2);

        const auto plan = Z["abij"].explain(0.5 * V["abef"] * T["efij"]);  // what would be moved and computed
        Z["abij"] += 0.5 * V["abef"] * T["efij"];                         // sums over e and f
        norm = Z.norm();
        if (world.rank() == 0) std::cout << plan << "norm " << norm << '\n';
    }
    MPI_Finalize();
    return norm > 167.924 && norm < 167.926 ? 0 : 1;  // the same random numbers on any number of ranks
}
