/* Values of Fortran, of any type and rank, for the functions of arges.h. Sections of arrays are copied; arrays are not. */
#include "descriptors.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is wrong on this rank. */
typedef struct {
    arges_status status;
    char text[256];
} problem;

static const char* const type_names[] = {"float32", "float64", "complex64", "complex128", "int16", "int32", "int64", "bool"};
static const size_t type_sizes[] = {4, 8, 8, 16, 2, 4, 8, 1};

static int type_of(const CFI_cdesc_t* values) {
    switch (values->type) {
    case CFI_type_float: return ARGES_FLOAT32;
    case CFI_type_double: return ARGES_FLOAT64;
    case CFI_type_float_Complex: return ARGES_COMPLEX64;
    case CFI_type_double_Complex: return ARGES_COMPLEX128;
    case CFI_type_int16_t: return ARGES_INT16;
    case CFI_type_int32_t: return ARGES_INT32;
    case CFI_type_int64_t: return ARGES_INT64;
    case CFI_type_Bool: return ARGES_BOOL;
    default: return -1;
    }
}

static const char* name_of(int type) { return type < 0 ? "no element type" : type_names[type]; }

static void invalid(problem* wrong, const char* format, const char* a, const char* b) {
    if (wrong->status != ARGES_OK) return;
    wrong->status = ARGES_INVALID_ARGUMENT;
    snprintf(wrong->text, sizeof wrong->text, format, a, b);
}

/* The world's word on what is wrong on any rank. Without a tensor there is none, and the message says so. */
static arges_status agreed(const arges_tensor* tensor, const problem* wrong) {
    arges_world* world = NULL;
    arges_status status = arges_tensor_world(tensor, &world);
    if (status != ARGES_OK) return status;
    status = arges_world_agree(world, wrong->status, wrong->text);
    arges_world_destroy(world);
    return status;
}

/* A tensor's element type; -1 without a tensor. */
static int type_of_tensor(const arges_tensor* tensor) {
    arges_type type;
    return arges_tensor_form(tensor, &type, NULL) == ARGES_OK ? (int)type : -1;
}

static int64_t count_of(const CFI_cdesc_t* values) {
    int64_t count = 1;
    for (int d = 0; d < values->rank; ++d) count *= values->dim[d].extent;
    return count;
}

static int is_contiguous(const CFI_cdesc_t* values) {
    CFI_index_t step = (CFI_index_t)values->elem_len;
    for (int d = 0; d < values->rank; ++d) {
        if (values->dim[d].extent > 1 && values->dim[d].sm != step) return 0;
        step *= values->dim[d].extent;
    }
    return 1;
}

/* Copies the elements of a section to an array, or back; returns the place behind the last one in the array. */
static char* copy_section(const CFI_cdesc_t* values, int dimension, char* place, char* array, int to_array) {
    const size_t size = values->elem_len;
    if (dimension < 0) {
        memcpy(to_array ? array : place, to_array ? place : array, size);
        return array + size;
    }
    for (CFI_index_t i = 0; i < values->dim[dimension].extent; ++i)
        array = copy_section(values, dimension - 1, place + i * values->dim[dimension].sm, array, to_array);
    return array;
}

/* Values as an array: the caller's, or a copy of a section. */
typedef struct {
    const CFI_cdesc_t* values;
    void* data;
    int is_copy;
} array;

static array array_of(const CFI_cdesc_t* values, int type, int64_t count, int is_read, problem* wrong) {
    array result = {values, values->base_addr, 0};
    if (type < 0) return result; /* the tensor is missing, which its function says */
    const int own = type_of(values);
    if (own != type || values->elem_len != type_sizes[type])
        invalid(wrong, "values of type %s for a tensor of type %s; use the same", name_of(own), name_of(type));
    if (values->rank > 0 && values->dim[values->rank - 1].extent < 0)
        invalid(wrong, "an array of assumed size as %s; pass a section with both bounds%s", "values", "");
    if (count_of(values) != count) {
        char there[32], wanted[32];
        snprintf(there, sizeof there, "%lld", (long long)count_of(values));
        snprintf(wanted, sizeof wanted, "%lld", (long long)count);
        invalid(wrong, "%s values where there must be %s", there, wanted);
    }
    if (wrong->status != ARGES_OK || is_contiguous(values)) return result;
    result.data = malloc((size_t)count * values->elem_len);
    result.is_copy = 1;
    if (result.data == NULL) {
        wrong->status = ARGES_OUT_OF_MEMORY;
        snprintf(wrong->text, sizeof wrong->text, "no memory for a copy of an array section of %lld elements", (long long)count);
    } else if (is_read) {
        copy_section(values, values->rank - 1, values->base_addr, result.data, 1);
    }
    return result;
}

/* Ends the use of an array; a copy that was written goes to its section. */
static void release(array* own, int is_written) {
    if (!own->is_copy) return;
    if (is_written) copy_section(own->values, own->values->rank - 1, own->values->base_addr, own->data, 0);
    free(own->data);
}

/* The last statements of a function that calls another one with values as an array, `own`. */
#define CALL_WITH_ARRAY(tensor, values, count, is_read, call)                                                                              \
    array own = array_of(values, type_of_tensor(tensor), count, is_read, &wrong);                                                          \
    arges_status status = agreed(tensor, &wrong);                                                                                          \
    if (status == ARGES_OK) status = call;                                                                                                 \
    release(&own, !(is_read) && status == ARGES_OK);                                                                                       \
    return status

/* A number of any type. */
typedef struct {
    int64_t integer; /* counts where is_integer */
    double real, imaginary;
    int is_integer;
} number;

static number number_of(const CFI_cdesc_t* value, int own) {
    const void* place = value->base_addr;
    number n = {0, 0, 0, own >= ARGES_INT16};
    switch (own) {
    case ARGES_FLOAT32: n.real = *(const float*)place; break;
    case ARGES_FLOAT64: n.real = *(const double*)place; break;
    case ARGES_COMPLEX64: n.real = crealf(*(const float _Complex*)place), n.imaginary = cimagf(*(const float _Complex*)place); break;
    case ARGES_COMPLEX128: n.real = creal(*(const double _Complex*)place), n.imaginary = cimag(*(const double _Complex*)place); break;
    case ARGES_INT16: n.integer = *(const int16_t*)place; break;
    case ARGES_INT32: n.integer = *(const int32_t*)place; break;
    case ARGES_INT64: n.integer = *(const int64_t*)place; break;
    default: n.integer = *(const unsigned char*)place != 0; break;
    }
    const double beyond = 9223372036854775808.0; /* 2^63 */
    if (n.is_integer)
        n.real = (double)n.integer;
    else if (n.real >= -beyond && n.real < beyond)
        n.integer = (int64_t)n.real;
    return n;
}

/* Room for an element of any type. */
typedef union {
    float float32;
    double float64;
    float parts32[2];
    double parts64[2];
    int16_t int16;
    int32_t int32;
    int64_t int64;
    unsigned char boolean;
} element;

static int is_in_float(double x) { return isnan(x) || (double)(float)x == x; }

/* The number as an element of a type; 0 if the type does not have it. */
static int converted(const number* n, int type, element* result) {
    const double beyond = 9223372036854775808.0;
    const int is_real = n->imaginary == 0;
    const int is_double = !n->is_integer || (n->real < beyond && (int64_t)n->real == n->integer);
    const int is_float = is_double && is_in_float(n->real) && is_in_float(n->imaginary);
    const int is_whole = n->is_integer || (is_real && (double)n->integer == n->real);
    switch (type) {
    case ARGES_FLOAT32: result->float32 = (float)n->real; return is_real && is_float;
    case ARGES_FLOAT64: result->float64 = n->real; return is_real && is_double;
    case ARGES_COMPLEX64: result->parts32[0] = (float)n->real, result->parts32[1] = (float)n->imaginary; return is_float;
    case ARGES_COMPLEX128: result->parts64[0] = n->real, result->parts64[1] = n->imaginary; return is_double;
    case ARGES_INT16: result->int16 = (int16_t)n->integer; return is_whole && n->integer >= INT16_MIN && n->integer <= INT16_MAX;
    case ARGES_INT32: result->int32 = (int32_t)n->integer; return is_whole && n->integer >= INT32_MIN && n->integer <= INT32_MAX;
    case ARGES_INT64: result->int64 = n->integer; return is_whole;
    default: result->boolean = n->integer != 0; return is_whole && (n->integer == 0 || n->integer == 1);
    }
}

/* The address of the number in a type, null where there is none. */
static const void* element_of(const CFI_cdesc_t* value, int type, const char* name, element* result, problem* wrong) {
    if (value == NULL || type < 0) return NULL;
    const int own = type_of(value);
    if (value->rank != 0 || own < 0 || value->elem_len != type_sizes[own]) {
        invalid(wrong, "%s is not a number of an element type%s", name, "");
        return NULL;
    }
    const number n = number_of(value, own);
    if (!converted(&n, type, result))
        invalid(wrong, "%s is a number that elements of type %s do not have exactly; round it first", name, name_of(type));
    return result;
}

arges_status arges_f_fill(arges_tensor* tensor, const CFI_cdesc_t* value) {
    problem wrong = {ARGES_OK, ""};
    element own;
    const void* own_number = element_of(value, type_of_tensor(tensor), "value", &own, &wrong);
    const arges_status status = agreed(tensor, &wrong);
    return status == ARGES_OK ? arges_tensor_fill(tensor, own_number) : status;
}

arges_status arges_f_write(arges_tensor* tensor, int64_t count, const int64_t* keys, const CFI_cdesc_t* values, int duplicates) {
    problem wrong = {ARGES_OK, ""};
    CALL_WITH_ARRAY(tensor, values, count, 1, arges_tensor_write(tensor, count, keys, own.data, (arges_duplicates)duplicates));
}

arges_status arges_f_accumulate(arges_tensor* tensor, int64_t count, const int64_t* keys, const CFI_cdesc_t* values,
                                const CFI_cdesc_t* alpha, const CFI_cdesc_t* beta) {
    problem wrong = {ARGES_OK, ""};
    element alpha_element, beta_element;
    const int type = type_of_tensor(tensor);
    array own = array_of(values, type, count, 1, &wrong);
    const void* own_alpha = element_of(alpha, type, "alpha", &alpha_element, &wrong);
    const void* own_beta = element_of(beta, type, "beta", &beta_element, &wrong);
    arges_status status = agreed(tensor, &wrong);
    if (status == ARGES_OK) status = arges_tensor_accumulate(tensor, count, keys, own.data, own_alpha, own_beta);
    release(&own, 0);
    return status;
}

arges_status arges_f_read(const arges_tensor* tensor, int64_t count, const int64_t* keys, CFI_cdesc_t* values) {
    problem wrong = {ARGES_OK, ""};
    CALL_WITH_ARRAY(tensor, values, count, 0, arges_tensor_read(tensor, count, keys, own.data));
}

/* Number of elements of a tensor; an array of more than one dimension must have its extents. */
static int64_t count_for(const arges_tensor* tensor, const CFI_cdesc_t* elements, problem* wrong) {
    int64_t extents[CFI_MAX_RANK + 1], count = 1;
    const int order = arges_tensor_order(tensor);
    if (order < 0) return count_of(elements);
    if (order > CFI_MAX_RANK) {
        invalid(wrong, "the tensor has more dimensions than arrays %s; read its elements by keys%s", "have", "");
        return 0;
    }
    arges_tensor_extents(tensor, extents);
    for (int d = 0; d < order; ++d) count *= extents[d];
    int fits = elements->rank <= 1 || elements->rank == order;
    for (int d = 0; fits && elements->rank > 1 && d < order; ++d) fits = elements->dim[d].extent == extents[d];
    if (!fits) invalid(wrong, "the array has other extents than the tensor%s; use the same, or an array of one dimension%s", "", "");
    return count;
}

arges_status arges_f_gather(const arges_tensor* tensor, CFI_cdesc_t* elements) {
    problem wrong = {ARGES_OK, ""};
    const int64_t count = count_for(tensor, elements, &wrong);
    CALL_WITH_ARRAY(tensor, elements, count, 0, arges_tensor_gather(tensor, own.data));
}

arges_status arges_f_set_array(arges_tensor* tensor, const CFI_cdesc_t* elements) {
    problem wrong = {ARGES_OK, ""};
    const int64_t count = count_for(tensor, elements, &wrong);
    CALL_WITH_ARRAY(tensor, elements, count, 1, arges_tensor_set_array(tensor, own.data, NULL));
}

arges_status arges_f_sum(const arges_tensor* tensor, CFI_cdesc_t* sum) {
    problem wrong = {ARGES_OK, ""};
    CALL_WITH_ARRAY(tensor, sum, 1, 0, arges_tensor_sum(tensor, own.data));
}

arges_status arges_f_dot(const arges_tensor* a, const arges_tensor* b, CFI_cdesc_t* result) {
    problem wrong = {ARGES_OK, ""};
    CALL_WITH_ARRAY(a, result, 1, 0, arges_tensor_dot(a, b, own.data));
}

arges_status arges_f_contract(const CFI_cdesc_t* alpha, const arges_tensor* a, const char* a_labels, const arges_tensor* b,
                              const char* b_labels, const CFI_cdesc_t* beta, arges_tensor* c, const char* c_labels) {
    problem wrong = {ARGES_OK, ""};
    element alpha_element, beta_element;
    const int type = type_of_tensor(c);
    const void* own_alpha = element_of(alpha, type, "alpha", &alpha_element, &wrong);
    const void* own_beta = element_of(beta, type, "beta", &beta_element, &wrong);
    const arges_status status = agreed(c, &wrong);
    return status == ARGES_OK ? arges_contract(own_alpha, a, a_labels, b, b_labels, own_beta, c, c_labels) : status;
}

arges_status arges_f_statement_add(arges_statement* statement, int type, const CFI_cdesc_t* alpha, int count,
                                   const arges_tensor* const* factors, const char* const* labels, const int* conjugated, int projection) {
    problem wrong = {ARGES_OK, ""};
    element own;
    const void* own_number = element_of(alpha, type, "alpha", &own, &wrong);
    const arges_status status = arges_world_agree(NULL, wrong.status, wrong.text);
    if (status != ARGES_OK) return status;
    return arges_statement_add(statement, own_number, count, factors, labels, conjugated, (arges_projection)projection);
}

arges_status arges_f_statement_run(const arges_statement* statement, const arges_world* world, int type, const CFI_cdesc_t* beta) {
    problem wrong = {ARGES_OK, ""};
    element own;
    const void* own_number = element_of(beta, type, "beta", &own, &wrong);
    const arges_status status = arges_world_agree(world, wrong.status, wrong.text);
    return status == ARGES_OK ? arges_statement_run(statement, own_number) : status;
}

arges_status arges_f_statement_explain(const arges_statement* statement, int type, const CFI_cdesc_t* beta, char** text) {
    problem wrong = {ARGES_OK, ""};
    element own;
    const void* own_number = element_of(beta, type, "beta", &own, &wrong);
    const arges_status status = arges_world_agree(NULL, wrong.status, wrong.text);
    return status == ARGES_OK ? arges_statement_explain(statement, own_number, text) : status;
}

arges_status arges_f_take(const arges_tensor* tensor, const void* values, CFI_cdesc_t* to) {
    problem wrong = {ARGES_OK, ""};
    array own = array_of(to, type_of_tensor(tensor), count_of(to), 0, &wrong);
    const arges_status status = arges_world_agree(NULL, wrong.status, wrong.text);
    if (status == ARGES_OK) memcpy(own.data, values, (size_t)count_of(to) * to->elem_len);
    release(&own, status == ARGES_OK);
    return status;
}
