/* The smallest program in C against an installed Arges, built by scripts/check_install.sh. */
#include <arges.h>
#include <stdio.h>

int main(int argc, char** argv) {
    arges_world* world = NULL;
    arges_tensor* A = NULL;
    const int64_t extents[] = {3, 3};
    double norm = 0;
    int64_t rank = 0;
    MPI_Init(&argc, &argv);
    int failed = arges_world_create(MPI_COMM_WORLD, NULL, &world) != ARGES_OK;
    failed = failed || arges_tensor_create(world, ARGES_FLOAT64, 2, extents, NULL, NULL, "A", &A) != ARGES_OK;
    failed = failed || arges_tensor_fill_random(A, 1, -0.5, 0.5) != ARGES_OK || arges_tensor_norm(A, &norm) != ARGES_OK;
    failed = failed || arges_world_rank(world, &rank) != ARGES_OK;
    if (failed) fprintf(stderr, "%s\n", arges_message());
    if (!failed && rank == 0) printf("norm %.6f\n", norm);
    arges_tensor_destroy(A);
    arges_world_destroy(world);
    MPI_Finalize();
    return failed;
}
