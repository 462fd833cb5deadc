/* TAPP's functions from a program in C99, against loops over all labels: random products with each property that TAPP's own test program
 * looks at, in all four types. ARGES_TAPP_COUNT: seeds of each property and type. Elements are such that every result is exact. */
#include "tapp.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, C, D, MOST = 12 };

/* Number of labels in A, B and D; in A and D; in B and D; in A and B; in A or B alone; of labels again in A or B; and what else. Below 4
 * it is the largest number. */
typedef struct {
    const char* name;
    int batch, left, right, summed, alone, repeats;
    bool gaps, negative, zero, conjugates, empty, in_place;
} property;

static const property properties[] = {
    {.name = "Hadamard", .batch = 4},
    {.name = "contraction", .left = 2, .right = 2, .summed = 2},
    {.name = "outer product", .left = 2, .right = 2},
    {.name = "to a scalar", .summed = 4},
    {.name = "one operand a scalar", .right = 4},
    {.name = "vectors", .left = 1, .right = 2, .summed = 1},
    {.name = "parts of tensors", .left = 2, .right = 2, .summed = 2, .gaps = true},
    {.name = "negative strides", .left = 2, .right = 2, .summed = 2, .negative = true},
    {.name = "parts backwards", .left = 2, .right = 2, .summed = 2, .negative = true, .gaps = true},
    {.name = "zero strides", .batch = 1, .left = 2, .right = 2, .summed = 2, .zero = true},
    {.name = "isolated labels", .left = 2, .right = 2, .summed = 2, .alone = 2},
    {.name = "repeated labels", .left = 2, .right = 2, .summed = 2, .alone = 1, .repeats = 2},
    {.name = "Hadamard and free labels", .batch = 2, .left = 2, .right = 2},
    {.name = "Hadamard and contraction", .batch = 2, .summed = 2},
    {.name = "conjugates", .batch = 1, .left = 2, .right = 2, .summed = 2, .conjugates = true},
    {.name = "no elements", .batch = 1, .left = 2, .right = 2, .summed = 2, .empty = true},
    {.name = "in place", .left = 2, .right = 2, .summed = 2, .in_place = true},
    {"all of this", 1, 2, 2, 2, 1, 1, .gaps = true, .negative = true, .conjugates = true, .empty = true},
};
static const char* const type_names[] = {"F32", "F64", "C32", "C64"};

/* `values` is the memory in the widest type; the element with index 0 everywhere is values[start]. */
typedef struct {
    int modes;
    int64_t labels[MOST], extents[MOST], strides[MOST], start, size;
    TAPP_element_op op;
    double complex* values;
    void* memory;
} tensor;

/* Labels count from 0, those of D first. */
typedef struct {
    TAPP_datatype type;
    int labels, labels_of_d;
    int64_t extents[MOST];
    tensor tensors[4];
    double complex alpha, beta;
    bool in_place;
} product;

static uint64_t state;

/* A random number from 0 to n - 1. */
static int below(int n) {
    uint64_t mixed = state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return (int)((mixed >> 32) % (uint64_t)n);
}

static bool is_complex(TAPP_datatype type) { return type == TAPP_C32 || type == TAPP_C64; }

/* A random number whose parts are integers from -most to most. */
static double complex number(TAPP_datatype type, int most) {
    const double real = below(2 * most + 1) - most;
    return is_complex(type) ? real + (below(2 * most + 1) - most) * I : real;
}

static void* allocated(int64_t bytes) {
    void* const memory = malloc((size_t)bytes);
    if (memory == NULL) exit(EXIT_FAILURE);
    return memory;
}

static void shuffle(int64_t* list, int n) {
    for (int i = n - 1; i > 0; --i) {
        const int j = below(i + 1);
        const int64_t kept = list[i];
        list[i] = list[j];
        list[j] = kept;
    }
}

static void append(tensor* t, int64_t label) { t->labels[t->modes++] = label; }

/* New labels for all of the tensors; null: none. */
static void add_labels(product* x, int most, tensor* first, tensor* second, tensor* third) {
    for (int count = most < 4 ? below(most + 1) : most; count > 0; --count, ++x->labels) {
        append(first, x->labels);
        if (second != NULL) append(second, x->labels);
        if (third != NULL) append(third, x->labels);
    }
}

static int64_t entries(const product* x, int first, int last) {
    int64_t count = 1;
    for (int i = first; i < last; ++i) count *= x->extents[i];
    return count;
}

/* Every eighth product is grown beyond the 768 multiplications up to which libarges.so lists all offsets. */
static void choose_extents(product* x, bool empty, bool large) {
    for (int i = 0; i < x->labels; ++i) x->extents[i] = empty ? below(4) : 1 + below(3);
    for (int tries = 0; large && x->labels > 0 && tries < 60; ++tries) {
        int64_t* const extent = &x->extents[below(x->labels)];
        if (*extent < 9 && entries(x, 0, x->labels) <= 768) ++*extent;
    }
}

/* Dimensions lie in any order, with gaps, backwards, or repeat one element; two elements on each side belong to no index. */
static void lay_out(const product* x, tensor* t, const property* p, bool zero) {
    int64_t order[MOST], dense = 1, first = 0, last = 0;
    for (int i = 0; i < t->modes; ++i) order[i] = i;
    shuffle(order, t->modes);
    for (int i = 0; i < t->modes; ++i) {
        const int64_t mode = order[i], extent = x->extents[t->labels[mode]], steps = extent > 0 ? extent - 1 : 0;
        int64_t stride = dense * (p->gaps ? 1 + below(2) : 1);
        dense = stride * (steps + 1) + (p->gaps ? below(3) : 0);
        if (p->negative && below(2) == 1) stride = -stride;
        if (zero && below(3) == 0) stride = 0;
        t->extents[mode] = extent;
        t->strides[mode] = stride;
        *(stride < 0 ? &first : &last) += steps * stride;
    }
    t->start = 2 - first;
    t->size = last - first + 5;
    t->values = allocated(t->size * (int64_t)sizeof *t->values);
    t->memory = allocated(t->size * (int64_t)sizeof *t->values);
    for (int64_t i = 0; i < t->size; ++i) t->values[i] = number(x->type, 8) / 8;
    t->op = p->conjugates ? below(2) : TAPP_IDENTITY;
}

static product random_product(const property* p, TAPP_datatype type, bool large) {
    product x = {.type = type, .in_place = p->in_place};
    tensor *const a = &x.tensors[A], *const b = &x.tensors[B], *const c = &x.tensors[C], *const d = &x.tensors[D];
    add_labels(&x, p->batch, a, b, d);
    add_labels(&x, p->left, a, d, NULL);
    add_labels(&x, p->right, b, d, NULL);
    x.labels_of_d = x.labels;
    add_labels(&x, p->summed, a, b, NULL);
    add_labels(&x, p->alone, a, NULL, NULL);
    add_labels(&x, p->alone, b, NULL, NULL);
    for (int i = 0; i < 2 * p->repeats; ++i) {
        tensor* const t = i % 2 == 0 ? a : b;
        if (t->modes > 0) append(t, t->labels[below(t->modes)]);
    }
    for (tensor* t = a; t <= d; ++t) shuffle(t->labels, t->modes);
    memcpy(c->labels, d->labels, sizeof d->labels);
    c->modes = d->modes;
    choose_extents(&x, p->empty, large);
    for (tensor* t = a; t <= d; ++t) lay_out(&x, t, p, p->zero && (t == a || t == b));
    x.alpha = number(type, 2);
    x.beta = number(type, 2);
    return x;
}

/* Where a tensor has the entry of all labels. */
static int64_t place(const tensor* t, const int64_t* index) {
    int64_t at = t->start;
    for (int i = 0; i < t->modes; ++i) at += t->strides[i] * index[t->labels[i]];
    return at;
}

static double complex element(const tensor* t, const int64_t* index, TAPP_element_op op) {
    const double complex value = t->values[place(t, index)];
    return op == TAPP_CONJUGATE ? conj(value) : value;
}

static void next(const product* x, int64_t* index, int first, int last) {
    for (int i = first; i < last; ++i) {
        if (++index[i] < x->extents[i]) return;
        index[i] = 0;
    }
}

/* The memory of D after the product. */
static double complex* by_loops(const product* x) {
    const tensor *const a = &x->tensors[A], *const b = &x->tensors[B], *const c = &x->tensors[C], *const d = &x->tensors[D];
    double complex* const expected = allocated(d->size * (int64_t)sizeof *expected);
    memcpy(expected, d->values, (size_t)d->size * sizeof *expected);
    int64_t index[MOST] = {0};
    for (int64_t i = entries(x, 0, x->labels_of_d); i > 0; --i, next(x, index, 0, x->labels_of_d)) {
        double complex sum = 0;
        for (int64_t k = entries(x, x->labels_of_d, x->labels); k > 0; --k, next(x, index, x->labels_of_d, x->labels))
            sum += element(a, index, a->op) * element(b, index, b->op);
        const double complex result = x->alpha * sum + x->beta * element(x->in_place ? d : c, index, c->op);
        expected[place(d, index)] = d->op == TAPP_CONJUGATE ? conj(result) : result;
    }
    return expected;
}

static void pack(TAPP_datatype type, const double complex* values, int64_t n, void* memory) {
    for (int64_t i = 0; i < n; ++i) {
        switch (type) {
        case TAPP_F32: ((float*)memory)[i] = (float)creal(values[i]); break;
        case TAPP_F64: ((double*)memory)[i] = creal(values[i]); break;
        case TAPP_C32: ((float complex*)memory)[i] = (float complex)values[i]; break;
        default: ((double complex*)memory)[i] = values[i];
        }
    }
}

static double complex unpacked(TAPP_datatype type, const void* memory, int64_t i) {
    switch (type) {
    case TAPP_F32: return ((const float*)memory)[i];
    case TAPP_F64: return ((const double*)memory)[i];
    case TAPP_C32: return ((const float complex*)memory)[i];
    default: return ((const double complex*)memory)[i];
    }
}

static bool succeeded(TAPP_error error) {
    char text[200];
    if (TAPP_check_success(error)) return true;
    TAPP_explain_error(error, sizeof text, text);
    fprintf(stderr, "%s\n", text);
    return false;
}

static bool execute(const product* x) {
    static const size_t bytes[] = {sizeof(float), sizeof(double), sizeof(float complex), sizeof(double complex)};
    TAPP_handle handle = 0;
    TAPP_executor executor = 0;
    TAPP_status status = -1;
    TAPP_tensor_product plan = 0;
    TAPP_tensor_info infos[4];
    union {
        float f;
        double d;
        float complex c;
        double complex z;
    } alpha, beta;
    char* starts[4];
    const tensor *const a = &x->tensors[A], *const b = &x->tensors[B], *const d = &x->tensors[D];
    bool good = succeeded(TAPP_create_handle(&handle)) && succeeded(TAPP_create_executor(&executor));
    for (int i = A; i <= D; ++i) {
        const tensor *const t = &x->tensors[i], *const shape = i == C && x->in_place ? d : t;
        good &= succeeded(TAPP_create_tensor_info(&infos[i], x->type, shape->modes, shape->extents, shape->strides));
        pack(x->type, t->values, t->size, t->memory);
        starts[i] = (char*)t->memory + (size_t)t->start * bytes[x->type];
    }
    pack(x->type, &x->alpha, 1, &alpha);
    pack(x->type, &x->beta, 1, &beta);
    good =
        good && succeeded(TAPP_create_tensor_product(&plan, handle, a->op, infos[A], a->labels, b->op, infos[B], b->labels,
                                                     x->tensors[C].op, infos[C], d->labels, d->op, infos[D], d->labels, TAPP_DEFAULT_PREC));
    good = good && succeeded(TAPP_execute_product(plan, executor, &status, &alpha, starts[A], starts[B], &beta,
                                                  x->in_place ? TAPP_IN_PLACE : starts[C], starts[D]));
    good = good && succeeded(TAPP_destroy_status(status));
    good &= succeeded(TAPP_destroy_tensor_product(plan));
    for (int i = A; i <= D; ++i) good &= succeeded(TAPP_destroy_tensor_info(infos[i]));
    good &= succeeded(TAPP_destroy_executor(executor));
    return succeeded(TAPP_destroy_handle(handle)) && good;
}

static bool holds(const property* p, TAPP_datatype type, int seed) {
    state = (uint64_t)seed;
    product x = random_product(p, type, seed % 8 == 0);
    double complex* const expected = by_loops(&x);
    bool good = execute(&x);
    for (int64_t i = 0; i < x.tensors[D].size; ++i) good &= unpacked(type, x.tensors[D].memory, i) == expected[i];
    free(expected);
    for (int i = A; i <= D; ++i) {
        free(x.tensors[i].values);
        free(x.tensors[i].memory);
    }
    return good;
}

int main(void) {
    const char* const count = getenv("ARGES_TAPP_COUNT");
    const int seeds = count != NULL ? atoi(count) : 1000, all = sizeof properties / sizeof properties[0];
    int products = 0, failed = 0;
    for (const property* p = properties; p < properties + all; ++p)
        for (TAPP_datatype type = TAPP_F32; type <= TAPP_C64; ++type)
            for (int seed = 1; seed <= seeds; ++seed, ++products) {
                if (holds(p, type, seed)) continue;
                ++failed;
                fprintf(stderr, "failed: %s, %s, seed %d\n", p->name, type_names[type], seed);
            }
    printf("conformance in C: %d products of %d properties, %d failed\n", products, all, failed);
    return failed == 0 && products > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
