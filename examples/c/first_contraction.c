/* The particle-particle ladder of CCD from C: Z(abij) = 1/2 V(abef) T(efij) with antisymmetric tensors, of which one element of each orbit
 * is stored. Compile: mpicc first_contraction.c $(pkg-config --cflags --libs arges-c), and run on any number of ranks. */
#include <arges.h>
#include <mpi.h>

#include <stdio.h>

/* Errors come back on all ranks alike; here they end the program. */
static void check(arges_status status) {
    if (status == ARGES_OK) return;
    fprintf(stderr, "%s\n", arges_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    arges_world* world;
    check(arges_world_create(MPI_COMM_WORLD, NULL, &world));

    const int64_t o = 4, v = 6, integrals[] = {v, v, v, v}, amplitudes[] = {v, v, o, o};
    arges_tensor *V, *T, *Z;
    check(arges_tensor_create(world, ARGES_FLOAT64, 4, integrals, "abef", "antisym(a,b) antisym(e,f)", "V", &V));
    check(arges_tensor_create(world, ARGES_FLOAT64, 4, amplitudes, "abij", "antisym(a,b) antisym(i,j)", "T", &T));
    check(arges_tensor_create(world, ARGES_FLOAT64, 4, amplitudes, "abij", "antisym(a,b) antisym(i,j)", "Z", &Z));
    check(arges_tensor_fill_random(V, 1, -0.5, 0.5));
    check(arges_tensor_fill_random(T, 2, -0.5, 0.5));

    const double half = 0.5;
    check(arges_contract(&half, V, "abef", T, "efij", NULL, Z, "abij"));

    /* Any rank may ask for any elements; sign and order follow from the symmetry. */
    const int64_t keys[] = {1 + v * (0 + v * (0 + o * 2)), 0 + v * (1 + v * (0 + o * 2))}; /* Z(1,0,0,2) and Z(0,1,0,2) */
    double values[2], norm;
    int64_t full, stored;
    check(arges_tensor_read(Z, 2, keys, values));
    check(arges_tensor_norm(Z, &norm));
    check(arges_tensor_size(Z, &full, &stored));
    if (rank == 0) {
        printf("Z has %lld elements, %lld are stored\n", (long long)full, (long long)stored);
        printf("|Z| = %.10f, Z(1,0,0,2) = %.10f, Z(0,1,0,2) = %.10f\n", norm, values[0], values[1]);
    }

    arges_tensor_destroy(V);
    arges_tensor_destroy(T);
    arges_tensor_destroy(Z);
    arges_world_destroy(world);
    MPI_Finalize();
    return 0;
}
