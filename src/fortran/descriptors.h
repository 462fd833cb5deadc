/** @file descriptors.h
 *  What the Fortran module needs besides arges.h: values of any type and rank, as descriptors (ISO_Fortran_binding.h). */
#ifndef ARGES_DESCRIPTORS_H
#define ARGES_DESCRIPTORS_H

#include "arges.h"

#include <ISO_Fortran_binding.h>

/* Functions are collective or local as their namesakes in arges.h are. An argument that is wrong on one rank is an error on all. Values
 * that are read have the tensor's element type; numbers (fill, alpha, beta) have any type, if the element type has them exactly; null
 * numbers stand for what null stands for in arges.h. A descriptor that is not const receives values. */

arges_status arges_f_fill(arges_tensor* tensor, const CFI_cdesc_t* value);
arges_status arges_f_write(arges_tensor* tensor, int64_t count, const int64_t* keys, const CFI_cdesc_t* values, int duplicates);
arges_status arges_f_accumulate(arges_tensor* tensor, int64_t count, const int64_t* keys, const CFI_cdesc_t* values,
                                const CFI_cdesc_t* alpha, const CFI_cdesc_t* beta);
arges_status arges_f_read(const arges_tensor* tensor, int64_t count, const int64_t* keys, CFI_cdesc_t* values);
arges_status arges_f_gather(const arges_tensor* tensor, CFI_cdesc_t* elements);
arges_status arges_f_set_array(arges_tensor* tensor, const CFI_cdesc_t* elements);
arges_status arges_f_sum(const arges_tensor* tensor, CFI_cdesc_t* sum);
arges_status arges_f_dot(const arges_tensor* a, const arges_tensor* b, CFI_cdesc_t* result);
arges_status arges_f_contract(const CFI_cdesc_t* alpha, const arges_tensor* a, const char* a_labels, const arges_tensor* b,
                              const char* b_labels, const CFI_cdesc_t* beta, arges_tensor* c, const char* c_labels);
/* `type` is that of the left-hand side. */
arges_status arges_f_statement_add(arges_statement* statement, int type, const CFI_cdesc_t* alpha, int count,
                                   const arges_tensor* const* factors, const char* const* labels, const int* conjugated, int projection);
arges_status arges_f_statement_run(const arges_statement* statement, const arges_world* world, int type, const CFI_cdesc_t* beta);
arges_status arges_f_statement_explain(const arges_statement* statement, int type, const CFI_cdesc_t* beta, char** text);
/* Copies values of arges_tensor_local_pairs() to an array of the tensor's type. Local. */
arges_status arges_f_take(const arges_tensor* tensor, const void* values, CFI_cdesc_t* to);

#endif
