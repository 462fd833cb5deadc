// The smallest program against an installed Arges, built by scripts/check_install.sh.
#include <arges/arges.hpp>
#include <cstdio>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    {
        arges::World world(MPI_COMM_WORLD);
        arges::Tensor<double> A(world, {3, 3});
        A.fill_random(1);
        const double norm = A.norm();
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) std::printf("norm %.6f\n", norm);
    }
    MPI_Finalize();
}
