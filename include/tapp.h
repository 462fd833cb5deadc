/** @file tapp.h
 * TAPP, the interface for tensor products of https://github.com/TAPPorg, as Arges implements it. C99 and C++.
 *
 * Names, values and layouts are those of TAPP 0.5: a program that was compiled with TAPP's own headers links with Arges, and one that was
 * compiled with this file links with other implementations. A product is
 *
 *     D = op_D(alpha * op_A(A) * op_B(B) + beta * op_C(C))
 *
 * for tensors in the memory of this process. An integer labels each mode. The labels of D are those of the result; a label in A or B, or in
 * both, that D lacks is summed over; one in A, B and D is taken entry by entry; one that a tensor has several times takes the diagonal.
 *
 * Calls are local: no other rank takes part. Objects may be used by several threads at once unless one of them changes or destroys them.
 * All functions return 0 or what is wrong, see TAPP_explain_error(); none throws.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TAPP_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define TAPP_EXPORT __attribute__((visibility("default"))) /**< Linkage of all functions. */
#endif

/** What a call found: 0, or a number that TAPP_explain_error() puts into words. */
typedef int TAPP_error;

/** Is it 0? */
TAPP_EXPORT bool TAPP_check_success(TAPP_error error);

/** Says in English what a number means, also one that no function returns.
 * @param error the number
 * @param maxlen bytes at `message`; 0: only the length is asked for
 * @param message receives the text, cut to maxlen - 1 characters, and a final zero
 * @return the number of characters written without the zero; for maxlen = 0 that of the whole text */
TAPP_EXPORT size_t TAPP_explain_error(TAPP_error error, size_t maxlen, char* message);

/** The type of the elements of a tensor. */
typedef int TAPP_datatype;

/** Types of elements. F16 and BF16 have names only: TAPP_create_tensor_info() refuses them. */
enum {
    TAPP_F32 = 0,             /**< float */
    TAPP_F64 = 1,             /**< double */
    TAPP_C32 = 2,             /**< two floats, real and imaginary part */
    TAPP_C64 = 3,             /**< two doubles, real and imaginary part */
    TAPP_F16 = 4,             /**< IEEE 754 half precision; refused */
    TAPP_BF16 = 5,            /**< bfloat16; refused */
    TAPP_FLOAT = TAPP_F32,    /**< another name */
    TAPP_DOUBLE = TAPP_F64,   /**< another name */
    TAPP_SCOMPLEX = TAPP_C32, /**< another name */
    TAPP_DCOMPLEX = TAPP_C64  /**< another name */
};

/** The precision in which products are computed. */
typedef int TAPP_prectype;

/** Precisions. Half precisions are computed in single precision. Operands of another precision are converted first; beta * C and the sum
 * with it are computed at least in the precision of D. */
enum {
    TAPP_DEFAULT_PREC = -1,           /**< double if any of A, B and D is, else single */
    TAPP_F32F32_ACCUM_F32 = TAPP_F32, /**< single */
    TAPP_F64F64_ACCUM_F64 = TAPP_F64, /**< double */
    TAPP_F16F16_ACCUM_F16 = TAPP_F16, /**< half */
    TAPP_F16F16_ACCUM_F32 = 5,        /**< half, summed in single */
    TAPP_BF16BF16_ACCUM_F32 = 6       /**< bfloat16, summed in single */
};

/** A context of calls. Handles hold nothing yet: products take any value. */
typedef intptr_t TAPP_handle;

/** Creates a handle. */
TAPP_EXPORT TAPP_error TAPP_create_handle(TAPP_handle* handle);

/** Destroys a handle; 0 is allowed. */
TAPP_EXPORT TAPP_error TAPP_destroy_handle(TAPP_handle handle);

/** Where products are computed: here always by the threads of OpenMP. */
typedef intptr_t TAPP_executor;

/** Creates an executor. */
TAPP_EXPORT TAPP_error TAPP_create_executor(TAPP_executor* exec);

/** Destroys an executor; 0 is allowed. */
TAPP_EXPORT TAPP_error TAPP_destroy_executor(TAPP_executor exec);

/** What became of an execution. Executions are finished when they return: their status is 0. */
typedef intptr_t TAPP_status;

/** Destroys the status of an execution. */
TAPP_EXPORT TAPP_error TAPP_destroy_status(TAPP_status status);

/** An object that has attributes. */
typedef intptr_t TAPP_attr;
/** The name of an attribute. TAPP defines none, and Arges has none. */
typedef int TAPP_key;

/** Sets an attribute. @return an error: there is no such attribute */
TAPP_EXPORT TAPP_error TAPP_attr_set(TAPP_attr attr, TAPP_key key, void* value);

/** Asks for an attribute and sets *value to null. @return an error: there is no such attribute */
TAPP_EXPORT TAPP_error TAPP_attr_get(TAPP_attr attr, TAPP_key key, void** value);

/** Takes an attribute back. @return an error: there is no such attribute */
TAPP_EXPORT TAPP_error TAPP_attr_clear(TAPP_attr attr, TAPP_key key);

/** The shape of a tensor: type, extents and strides; no elements. */
typedef intptr_t TAPP_tensor_info;

/** Describes a tensor.
 * @param info receives the description
 * @param type TAPP_F32, TAPP_F64, TAPP_C32 or TAPP_C64
 * @param nmode number of modes; 0: a scalar, and the arrays may be null
 * @param extents entries of each mode; 0 is allowed
 * @param strides distance of neighbouring entries of each mode, in elements; 0 and negative ones are allowed
 * @return 0, or an error for a number of modes or extents below 0 and for other types */
TAPP_EXPORT TAPP_error TAPP_create_tensor_info(TAPP_tensor_info* info, TAPP_datatype type, int nmode, const int64_t* extents,
                                               const int64_t* strides);

/** Destroys a description, which products that were made from it do not need; 0 is allowed. */
TAPP_EXPORT TAPP_error TAPP_destroy_tensor_info(TAPP_tensor_info info);

/** The number of modes; -1 for info = 0. */
TAPP_EXPORT int TAPP_get_nmodes(TAPP_tensor_info info);

/** Changes the number of modes: the last ones go, or new ones of extent 1 and stride 0 come. Products keep the shape they were made with.
 */
TAPP_EXPORT TAPP_error TAPP_set_nmodes(TAPP_tensor_info info, int nmodes);

/** Writes the extents of all modes. */
TAPP_EXPORT void TAPP_get_extents(TAPP_tensor_info info, int64_t* extents);

/** Changes the extents of all modes; see TAPP_create_tensor_info(). */
TAPP_EXPORT TAPP_error TAPP_set_extents(TAPP_tensor_info info, const int64_t* extents);

/** Writes the strides of all modes, in elements. */
TAPP_EXPORT void TAPP_get_strides(TAPP_tensor_info info, int64_t* strides);

/** Changes the strides of all modes, in elements; see TAPP_create_tensor_info(). */
TAPP_EXPORT TAPP_error TAPP_set_strides(TAPP_tensor_info info, const int64_t* strides);

/** What is done with each element of a tensor. */
typedef int TAPP_element_op;

/** Operations on elements. */
enum {
    TAPP_IDENTITY = 0, /**< nothing */
    TAPP_CONJUGATE = 1 /**< complex conjugation; nothing for real tensors */
};

/** In place of C: D holds C. */
#define TAPP_IN_PLACE NULL

/** A product that is planned once and executed on any elements. */
typedef intptr_t TAPP_tensor_product;

/** Plans a product. Types may differ: products are computed in complex numbers if any of A and B is complex, and a real D takes real parts.
 * @param plan receives the product; also in case of an error, which executing it then returns again
 * @param handle any value
 * @param op_A what is done to the elements of A
 * @param A shape of A
 * @param idx_A the label of each mode of A, any numbers
 * @param op_B likewise of B
 * @param B likewise
 * @param idx_B likewise
 * @param op_C likewise of C
 * @param C likewise
 * @param idx_C likewise
 * @param op_D what is done to the result
 * @param D likewise of D
 * @param idx_D likewise
 * @param prec one of the precisions, see TAPP_DEFAULT_PREC
 * @return 0, or what is wrong: D has a label that A and B lack, C has not the labels of D in the same order, a label has two extents,
 * elements of D may share memory (its strides, sorted, must each lead past what the smaller ones reach), a value that is no operation or
 * precision, no memory */
TAPP_EXPORT TAPP_error TAPP_create_tensor_product(TAPP_tensor_product* plan, TAPP_handle handle, TAPP_element_op op_A, TAPP_tensor_info A,
                                                  const int64_t* idx_A, TAPP_element_op op_B, TAPP_tensor_info B, const int64_t* idx_B,
                                                  TAPP_element_op op_C, TAPP_tensor_info C, const int64_t* idx_C, TAPP_element_op op_D,
                                                  TAPP_tensor_info D, const int64_t* idx_D, TAPP_prectype prec);

/** Destroys a product; 0 is allowed. */
TAPP_EXPORT TAPP_error TAPP_destroy_tensor_product(TAPP_tensor_product plan);

/** Executes a product. D may share memory with A, B and C in any way. Where D has a label several times only its diagonal is written.
 * @param plan of TAPP_create_tensor_product()
 * @param exec from TAPP_create_executor()
 * @param status receives the status; may be null
 * @param alpha one element of the type of D; if it is zero, A and B are not read
 * @param A the element of A with index 0 in all modes
 * @param B likewise of B
 * @param beta one element of the type of D; if it is zero, C is not read
 * @param C TAPP_IN_PLACE: D holds it, and must be described like C
 * @param D receives the result
 * @return 0, the error of the plan, or an error for null pointers and for too little memory */
TAPP_EXPORT TAPP_error TAPP_execute_product(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status* status, const void* alpha,
                                            const void* A, const void* B, const void* beta, const void* C, void* D);

/** Executes a product on several sets of elements, one after the other; see TAPP_execute_product().
 * @param plan as there
 * @param exec as there
 * @param status as there
 * @param num_batches how many; the arrays have so many addresses
 * @param alpha as there
 * @param A addresses as there
 * @param B likewise
 * @param beta as there
 * @param C TAPP_IN_PLACE, or an array, in which TAPP_IN_PLACE is allowed
 * @param D likewise
 * @return the first error, after which the other sets are left out */
TAPP_EXPORT TAPP_error TAPP_execute_batched_product(TAPP_tensor_product plan, TAPP_executor exec, TAPP_status* status, int num_batches,
                                                    const void* alpha, const void** A, const void** B, const void* beta, const void** C,
                                                    void** D);
