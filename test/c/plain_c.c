/* arges.h from a program in C99: every element type, errors, and what a program holds to its end. */
#include "arges.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed = 0, failed = 0;

static void expect(int holds, const char* what) {
    if (holds) {
        ++passed;
    } else {
        ++failed;
        fprintf(stderr, "failed: %s (%s)\n", what, arges_message());
    }
}

static void expect_ok(arges_status status, const char* what) { expect(status == ARGES_OK && *arges_message() == '\0', what); }

/* Writes and sums two elements of a type; the tensor is destroyed. */
static void try_type(const arges_world* world, arges_type type, const void* values, const void* sum, size_t size, const char* what) {
    const int64_t extents[] = {3}, keys[] = {0, 2};
    arges_tensor* tensor = NULL;
    char back[48], total[16];
    int64_t rank = 0;
    expect_ok(arges_world_rank(world, &rank), "a rank");
    expect_ok(arges_tensor_create(world, type, 1, extents, NULL, NULL, what, &tensor), what);
    expect_ok(arges_tensor_write(tensor, rank == 0 ? 2 : 0, keys, values, ARGES_REFUSE), what);
    expect_ok(arges_tensor_read(tensor, 2, keys, back), what);
    expect(memcmp(back, values, 2 * size) == 0, what);
    expect_ok(arges_tensor_gather(tensor, back), what);
    expect(memcmp(back + 2 * size, (const char*)values + size, size) == 0, what);
    expect_ok(arges_tensor_sum(tensor, total), what);
    expect(memcmp(total, sum, size) == 0, what);
    expect_ok(arges_tensor_destroy(tensor), what);
}

static void try_types(const arges_world* world) {
    const float f[] = {1.5F, -3.0F}, f_sum = -1.5F;
    const double d[] = {1.5, -3.0}, d_sum = -1.5;
    const float _Complex c[] = {1.0F + 2.0F * I, -3.0F}, c_sum = -2.0F + 2.0F * I;
    const double _Complex z[] = {1.0 + 2.0 * I, -3.0}, z_sum = -2.0 + 2.0 * I;
    const int16_t s[] = {7, -9}, s_sum = -2;
    const int32_t i[] = {7, -9}, i_sum = -2;
    const int64_t l[] = {7, -9}, l_sum = -2;
    const bool b[] = {true, false}, b_sum = true;
    try_type(world, ARGES_FLOAT32, f, &f_sum, sizeof f[0], "float");
    try_type(world, ARGES_FLOAT64, d, &d_sum, sizeof d[0], "double");
    try_type(world, ARGES_COMPLEX64, c, &c_sum, sizeof c[0], "float _Complex");
    try_type(world, ARGES_COMPLEX128, z, &z_sum, sizeof z[0], "double _Complex");
    try_type(world, ARGES_INT16, s, &s_sum, sizeof s[0], "int16_t");
    try_type(world, ARGES_INT32, i, &i_sum, sizeof i[0], "int32_t");
    try_type(world, ARGES_INT64, l, &l_sum, sizeof l[0], "int64_t");
    try_type(world, ARGES_BOOL, b, &b_sum, sizeof b[0], "bool");
}

static void try_statement(const arges_world* world) {
    const int64_t extents[] = {4, 4};
    arges_tensor *a = NULL, *x = NULL;
    arges_statement* statement = NULL;
    const double two = 2.0;
    double norm = 0;
    char* plan = NULL;
    expect_ok(arges_tensor_create(world, ARGES_FLOAT64, 2, extents, "ij", "antisym(i,j)", "A", &a), "an antisymmetric tensor");
    expect_ok(arges_tensor_create(world, ARGES_FLOAT64, 2, extents, NULL, NULL, "X", &x), "a tensor");
    expect_ok(arges_tensor_fill_random(a, 1, -1.0, 1.0), "random elements");
    expect_ok(arges_statement_create(x, "ij", &statement), "a statement");
    const arges_tensor* once[] = {a};
    const char *labels[] = {"ij"}, *transposed[] = {"ji"};
    expect_ok(arges_statement_add(statement, &two, 1, once, labels, NULL, ARGES_AS_IT_IS), "a term");
    expect_ok(arges_statement_add(statement, &two, 1, once, transposed, NULL, ARGES_AS_IT_IS), "its transpose");
    expect_ok(arges_statement_explain(statement, NULL, &plan), "a plan");
    expect(plan != NULL && strlen(plan) > 20, "the text of a plan");
    arges_free(plan);
    expect_ok(arges_statement_run(statement, NULL), "a run");
    expect_ok(arges_tensor_norm(x, &norm), "a norm");
    expect(norm == 0, "an antisymmetric matrix and its transpose cancel");
    expect(arges_tensor_gather(NULL, &norm) == ARGES_INVALID_ARGUMENT && strstr(arges_message(), "null") != NULL, "no tensor");
    expect(arges_contract(&two, a, "ijk", NULL, NULL, NULL, x, "ij") == ARGES_INVALID_ARGUMENT, "labels that do not fit");
    arges_statement_destroy(statement);
    arges_tensor_destroy(a);
    arges_tensor_destroy(x);
}

int main(int argc, char** argv) {
    arges_world* world = NULL;
    int rank, major = -1, minor = -1, counts[2], all[2];
    expect(arges_world_create(MPI_COMM_WORLD, NULL, &world) == ARGES_INVALID_ARGUMENT, "a world before MPI_Init");
    expect(world == NULL && strstr(arges_message(), "MPI_Init") != NULL, "what to do about it");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    arges_version(&major, &minor);
    expect(major == ARGES_VERSION_MAJOR && minor == ARGES_VERSION_MINOR, "the version");
    expect_ok(arges_world_create(MPI_COMM_WORLD, NULL, &world), "a world");
    try_types(world);
    try_statement(world);
    arges_world_destroy(world);
    counts[0] = passed, counts[1] = failed;
    MPI_Allreduce(counts, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("plain C: %d passed, %d failed\n", all[0], all[1]);
    MPI_Finalize();
    return all[1] == 0 && all[0] > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
