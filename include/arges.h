/** @file arges.h
 *  Arges from C: distributed tensors with symmetry, statements, einsum, plans, linear algebra, files.
 *
 *  Link with -larges of libarges.so (pkg-config: arges-c). Local products of strided arrays as TAPP defines them are in tapp.h.
 *
 *  Every function returns an arges_status. After another status than ARGES_OK the message is at arges_message(); what the call would have
 *  changed is as it was, and results are not written. No C++ exception leaves the library. Functions marked collective are called by all
 *  ranks of the world with the same arguments; an error on any rank comes back on all of them (a null handle does so only if another handle
 *  of the call tells the world).
 *
 *  Objects are handles. What a function creates is destroyed by the caller, with the function of the same name ending in _destroy, before
 *  MPI_Finalize; null is destroyed too. Numbers (alpha, beta, values) are passed by address and have the element type of the tensor that
 *  they are for: float, double, float _Complex, double _Complex, int16_t, int32_t, int64_t or bool (_Bool, one byte).
 *
 *  Labels are letters, one for each dimension ("abij"); with a comma, names ("a1,a2,i1"). Keys are linear indices into the full tensor,
 *  first index fastest. */
#ifndef ARGES_H
#define ARGES_H

#include <mpi.h>

#include <stdint.h>

#define ARGES_VERSION_MAJOR 0 /**< Versions of one major number can replace each other; before 1, those of one minor number. */
#define ARGES_VERSION_MINOR 1 /**< Grows with new functions. */

#if defined(__GNUC__)
#define ARGES_EXPORT __attribute__((visibility("default"))) /**< What libarges.so shows. */
#else
#define ARGES_EXPORT /**< What libarges.so shows. */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a call says. */
typedef enum arges_status {
    ARGES_OK = 0,               /**< done */
    ARGES_INVALID_ARGUMENT = 1, /**< an argument is wrong: labels, extents, a key, a file */
    ARGES_OUT_OF_MEMORY = 2,    /**< over the limit of the world, or an allocation failed */
    ARGES_UNSUPPORTED = 3,      /**< meaningful, but not implemented */
    ARGES_MPI_ERROR = 4,        /**< MPI reported an error */
    ARGES_ERROR = 5             /**< any other error, as an iteration that diverges */
} arges_status;

/** Element types. */
typedef enum arges_type {
    ARGES_FLOAT32 = 0,    /**< float */
    ARGES_FLOAT64 = 1,    /**< double */
    ARGES_COMPLEX64 = 2,  /**< float _Complex */
    ARGES_COMPLEX128 = 3, /**< double _Complex */
    ARGES_INT16 = 4,      /**< int16_t */
    ARGES_INT32 = 5,      /**< int32_t */
    ARGES_INT64 = 6,      /**< int64_t */
    ARGES_BOOL = 7        /**< bool */
} arges_type;

/** How a term is fitted to the symmetry of the left-hand side. */
typedef enum arges_projection {
    ARGES_AS_IT_IS = 0,        /**< it must have the symmetry by structure */
    ARGES_ANTISYMMETRIZED = 1, /**< signed sum over the distinct permutations of antisymmetric groups */
    ARGES_SYMMETRIZED = 2,     /**< sum over those of symmetric groups */
    ARGES_CANONICAL = 3        /**< the caller's word that it has the symmetry */
} arges_projection;

/** What to do with several values for one element of a sparse tensor. */
typedef enum arges_duplicates {
    ARGES_REFUSE = 0,    /**< an error */
    ARGES_SUM = 1,       /**< their sum */
    ARGES_KEEP_FIRST = 2 /**< the first one, by rank and place; a stored one comes before all */
} arges_duplicates;

typedef struct arges_world arges_world;           /**< Ranks that tensors are spread over. */
typedef struct arges_tensor arges_tensor;         /**< A dense or sparse tensor. */
typedef struct arges_statement arges_statement;   /**< A left-hand side, and terms to assign to it. */
typedef struct arges_checkpoint arges_checkpoint; /**< A file that is being written. */

/** Message of the latest call of this thread; "" after ARGES_OK. Valid until the next call; arges_free() and functions that end in _destroy
 *  leave it as it is. */
ARGES_EXPORT const char* arges_message(void);
/** Version of the library, which may be newer than ARGES_VERSION_MAJOR and ARGES_VERSION_MINOR of this header. */
ARGES_EXPORT void arges_version(int* major, int* minor);
/** Frees a text or an array that a function has allocated; null is fine. */
ARGES_EXPORT void arges_free(void* allocated);

/** @name Worlds
 *  @{ */
/** All ranks of a communicator, which is duplicated. `torus` is the shape of the machine as "4x4x2"; null: detected. Collective. */
ARGES_EXPORT arges_status arges_world_create(MPI_Comm comm, const char* torus, arges_world** world);
/** Likewise with the communicator of Fortran. Collective. */
ARGES_EXPORT arges_status arges_world_create_f(MPI_Fint comm, const char* torus, arges_world** world);
/** Likewise with the elements of dense tensors of floating-point numbers on a device: "cuda", or "none" for the host. Each rank may hold
 *  `device_memory` bytes there; 0: its part of what is free. Collective. ARGES_INVALID_ARGUMENT also if there is no such device, or the
 *  library was built without it. */
ARGES_EXPORT arges_status arges_world_create_on_device(MPI_Comm comm, const char* device, int64_t device_memory, const char* torus,
                                                       arges_world** world);
/** Likewise with the communicator of Fortran. Collective. */
ARGES_EXPORT arges_status arges_world_create_on_device_f(MPI_Fint comm, const char* device, int64_t device_memory, const char* torus,
                                                         arges_world** world);
/** Imaginary ranks for planning: no data, statements are planned and not executed. `ranks` may be 0 where torus or coordinates hold them,
 *  `ranks_per_node` 0 for unknown; texts may be null. The machine file is as `arges calibrate` writes, the file of coordinates has a line
 *  for each rank. Local. */
ARGES_EXPORT arges_status arges_world_create_dry_run(int64_t ranks, const char* torus, int64_t ranks_per_node, const char* machine_file,
                                                     const char* coordinates_file, arges_world** world);
/** Another handle of the same world. Local. */
ARGES_EXPORT arges_status arges_world_copy(const arges_world* world, arges_world** copy);
/** Destroys the handle; tensors keep their world. Local. */
ARGES_EXPORT arges_status arges_world_destroy(arges_world* world);
/** Number of ranks. Local. */
ARGES_EXPORT arges_status arges_world_size(const arges_world* world, int64_t* size);
/** The calling rank. Local. */
ARGES_EXPORT arges_status arges_world_rank(const arges_world* world, int64_t* rank);
/** Returns ARGES_OK on all ranks if all give it, else the status and message of the lowest rank that gives another: for checks of the
 *  caller's own that may fail on some ranks. A null world is this rank alone, a null message none. Collective. */
ARGES_EXPORT arges_status arges_world_agree(const arges_world* world, arges_status status, const char* message);
/** Limit in bytes on what tensors and operations hold on one rank. Local. */
ARGES_EXPORT arges_status arges_world_memory_limit(const arges_world* world, int64_t* bytes);
/** Sets it; the smallest value of the ranks counts. Collective. */
ARGES_EXPORT arges_status arges_world_set_memory_limit(arges_world* world, int64_t bytes);
/** Bytes of tensors on this rank now, and the most that tensors and planned work have taken since the last reset. Local. */
ARGES_EXPORT arges_status arges_world_memory(const arges_world* world, int64_t* in_use, int64_t* peak);
/** Starts a new measurement of the peak. Local. */
ARGES_EXPORT arges_status arges_world_reset_peak(arges_world* world);
/** What the latest statement took over all ranks: payload bytes and messages sent, seconds of the slowest rank. Collective. */
ARGES_EXPORT arges_status arges_world_report(const arges_world* world, int64_t* bytes_sent, int64_t* messages, double* seconds);
/** @} */

/** @name Tensors
 *  @{ */
/** Zeros. Collective.
 *  @param world    where the elements live
 *  @param type     of the elements
 *  @param order    number of dimensions
 *  @param extents  their lengths
 *  @param letters  a letter for each dimension, for `symmetry`; null without symmetry
 *  @param symmetry as "antisym(a,b) antisym(i,j)"; null: none. Nodes: product, sym, antisym, hollow, hermitian
 *  @param name     for messages; null: none
 *  @param tensor   receives the tensor */
ARGES_EXPORT arges_status arges_tensor_create(const arges_world* world, arges_type type, int order, const int64_t* extents,
                                              const char* letters, const char* symmetry, const char* name, arges_tensor** tensor);
/** A sparse tensor without elements; arguments as above. Collective. */
ARGES_EXPORT arges_status arges_tensor_create_sparse(const arges_world* world, arges_type type, int order, const int64_t* extents,
                                                     const char* letters, const char* symmetry, const char* name, arges_tensor** tensor);
/** A copy with elements of its own. Collective. */
ARGES_EXPORT arges_status arges_tensor_copy(const arges_tensor* tensor, arges_tensor** copy);
/** The elements in another type, rounded where it holds less. Collective. */
ARGES_EXPORT arges_status arges_tensor_convert(const arges_tensor* tensor, arges_type type, arges_tensor** result);
/** A sparse tensor in dense form. Collective. */
ARGES_EXPORT arges_status arges_tensor_to_dense(const arges_tensor* tensor, arges_tensor** result);
/** The elements of a dense tensor whose magnitude is over a cutoff; below 0: those that are not zero. Collective. */
ARGES_EXPORT arges_status arges_tensor_to_sparse(const arges_tensor* tensor, double cutoff, arges_tensor** result);
/** Destroys a tensor. Local. */
ARGES_EXPORT arges_status arges_tensor_destroy(arges_tensor* tensor);
/** Number of dimensions, -1 for null. Local. */
ARGES_EXPORT int arges_tensor_order(const arges_tensor* tensor);
/** Lengths of the dimensions: writes as many numbers as the order. Local. */
ARGES_EXPORT arges_status arges_tensor_extents(const arges_tensor* tensor, int64_t* extents);
/** Element type, and 1 for a sparse tensor, else 0. Either may be null. Local. */
ARGES_EXPORT arges_status arges_tensor_form(const arges_tensor* tensor, arges_type* type, int* is_sparse);
/** The world as a new handle. Local. */
ARGES_EXPORT arges_status arges_tensor_world(const arges_tensor* tensor, arges_world** world);
/** Elements of the full tensor, and those stored over all ranks. Either may be null. Collective. */
ARGES_EXPORT arges_status arges_tensor_size(const arges_tensor* tensor, int64_t* full, int64_t* stored);
/** Sets every element, of a sparse tensor every stored one. Collective. */
ARGES_EXPORT arges_status arges_tensor_fill(arges_tensor* tensor, const void* value);
/** Uniform random values in [low, high), the same on any number of ranks. Dense floating-point tensors. Collective. */
ARGES_EXPORT arges_status arges_tensor_fill_random(arges_tensor* tensor, uint64_t seed, double low, double high);
/** Writes elements by key; a rank may give any number of pairs, also none. Several values for one element must agree (dense), or are dealt
 *  with as `duplicates` says (sparse; dense tensors ignore it). Collective. */
ARGES_EXPORT arges_status arges_tensor_write(arges_tensor* tensor, int64_t count, const int64_t* keys, const void* values,
                                             arges_duplicates duplicates);
/** element = beta * element + alpha * (sum of the values given for it), for the elements with keys. Null alpha or beta stand for 1.
 *  Collective. */
ARGES_EXPORT arges_status arges_tensor_accumulate(arges_tensor* tensor, int64_t count, const int64_t* keys, const void* values,
                                                  const void* alpha, const void* beta);
/** Reads any elements, in the order of the keys. Collective. */
ARGES_EXPORT arges_status arges_tensor_read(const arges_tensor* tensor, int64_t count, const int64_t* keys, void* values);
/** Keys and values that this rank stores, ascending for dense tensors; arrays for arges_free(). Local. */
ARGES_EXPORT arges_status arges_tensor_local_pairs(const arges_tensor* tensor, int64_t* count, int64_t** keys, void** values);
/** The full dense tensor on every rank, first index fastest; there must be room for all elements. Collective. */
ARGES_EXPORT arges_status arges_tensor_gather(const arges_tensor* tensor, void* elements);
/** Copies an array that every rank has whole into a dense tensor without symmetry; nothing is sent. Strides are in elements, of any sign,
 * one for each dimension; null: first index fastest. Collective. */
ARGES_EXPORT arges_status arges_tensor_set_array(arges_tensor* tensor, const void* elements, const int64_t* strides);
/** Elements begin <= index < end as a new tensor. Collective. */
ARGES_EXPORT arges_status arges_tensor_slice(const arges_tensor* tensor, const int64_t* begin, const int64_t* end, arges_tensor** result);
/** tensor[begin + x] = part[x]. Collective. */
ARGES_EXPORT arges_status arges_tensor_set_slice(arges_tensor* tensor, const int64_t* begin, const arges_tensor* part);
/** The elements under another symmetry: one of each orbit is taken, or all are unpacked (null, null). Collective. */
ARGES_EXPORT arges_status arges_tensor_with_symmetry(const arges_tensor* tensor, const char* letters, const char* symmetry,
                                                     arges_tensor** result);
/** Sum of all elements; `sum` has the element type. Collective. */
ARGES_EXPORT arges_status arges_tensor_sum(const arges_tensor* tensor, void* sum);
/** Square root of the sum of squared magnitudes. Collective. */
ARGES_EXPORT arges_status arges_tensor_norm(const arges_tensor* tensor, double* norm);
/** Largest magnitude of a dense tensor. Collective. */
ARGES_EXPORT arges_status arges_tensor_norm_max(const arges_tensor* tensor, double* norm);
/** Sum of conj(a) * b over all elements of two dense tensors of one type; `result` has it. Collective. */
ARGES_EXPORT arges_status arges_tensor_dot(const arges_tensor* a, const arges_tensor* b, void* result);
/** @} */

/** @name Statements
 *  @{ */
/** C = alpha A B + beta C by labels, as arges_contract(&half, V, "abef", T, "efij", &one, Z, "abij"): labels that C lacks are summed. B may
 *  be null: C = alpha A + beta C. alpha and beta have the element type of C; null stands for 1, and of beta for 0. Collective. */
ARGES_EXPORT arges_status arges_contract(const void* alpha, const arges_tensor* a, const char* a_labels, const arges_tensor* b,
                                         const char* b_labels, const void* beta, arges_tensor* c, const char* c_labels);
/** Product of any number of tensors as a new one, e.g. "ijk,ja,ka->ia"; order, fusion and grid are chosen for the whole. Collective. */
ARGES_EXPORT arges_status arges_einsum(const char* text, int count, const arges_tensor* const* operands, arges_tensor** result);
/** A statement without terms; it keeps its tensors. Local. */
ARGES_EXPORT arges_status arges_statement_create(arges_tensor* left, const char* labels, arges_statement** statement);
/** Destroys a statement. Local. */
ARGES_EXPORT arges_status arges_statement_destroy(arges_statement* statement);
/** Adds alpha times a product of tensors. Local.
 *  @param statement  to which the term is added
 *  @param alpha      of the element type of the left-hand side; null: 1
 *  @param count      number of factors; none: the number alpha
 *  @param factors    tensors, of types whose numbers that of the left-hand side has, too
 *  @param labels     of each factor
 *  @param conjugated for each factor, whether its complex conjugate is meant; null: none is
 *  @param projection how the term is fitted to the symmetry of the left-hand side */
ARGES_EXPORT arges_status arges_statement_add(arges_statement* statement, const void* alpha, int count, const arges_tensor* const* factors,
                                              const char* const* labels, const int* conjugated, arges_projection projection);
/** Restricts all terms to the elements that a sparse tensor stores, or does not store (complement). Local. */
ARGES_EXPORT arges_status arges_statement_where(arges_statement* statement, const arges_tensor* mask, const char* labels, int complement);
/** Vouches for labels that may look mistyped in all terms: those of the output that a term does not depend on, and those that occur once
 *  and are summed. Either may be null. Local. */
ARGES_EXPORT arges_status arges_statement_vouch(arges_statement* statement, const char* repeated, const char* summed);
/** left = terms + beta * left; beta null: 0. May run many times; plans are kept. Collective. */
ARGES_EXPORT arges_status arges_statement_run(const arges_statement* statement, const void* beta);
/** The plan as text, for arges_free(): grid, bytes per step and rank, memory. Local. */
ARGES_EXPORT arges_status arges_statement_explain(const arges_statement* statement, const void* beta, char** text);
/** Divides the left-hand side by the sum of the terms, element by element. Collective. */
ARGES_EXPORT arges_status arges_statement_divide(const arges_statement* statement);
/** @} */

/** @name Linear algebra
 *  Matricizations are labels with a bar: "ab|ij" has rows (a, b) and columns (i, j); "abij->bi|aj" names the dimensions first. Dense
 *  floating-point tensors. Results that are null are not computed.
 *  @{ */
/** A = Q R. Collective. */
ARGES_EXPORT arges_status arges_qr(const arges_tensor* a, const char* labels, arges_tensor** q, arges_tensor** r);
/** A = U diag(s) Vh. At most `rank` singular values are kept, with 0 all, and as many are cut as leave |A - U S Vh| <= tolerance |A|. They
 *  come on every rank, as an array for arges_free(). Collective. */
ARGES_EXPORT arges_status arges_svd(const arges_tensor* a, const char* labels, int64_t rank, double tolerance, arges_tensor** u,
                                    int64_t* count, double** s, arges_tensor** vh);
/** Eigenvalues, ascending, an array for arges_free(), and vectors of a symmetric (Hermitian) matrix. Collective. */
ARGES_EXPORT arges_status arges_eigh(const arges_tensor* a, const char* labels, int64_t* count, double** values, arges_tensor** vectors);
/** A = L L^H. Collective. */
ARGES_EXPORT arges_status arges_cholesky(const arges_tensor* a, const char* labels, arges_tensor** l);
/** A X = B for a positive definite A. Collective. */
ARGES_EXPORT arges_status arges_solve_positive(const arges_tensor* a, const char* a_labels, const arges_tensor* b, const char* b_labels,
                                               arges_tensor** x);
/** The X of least norm that makes |A X - B| least. Collective. */
ARGES_EXPORT arges_status arges_least_squares(const arges_tensor* a, const char* a_labels, const arges_tensor* b, const char* b_labels,
                                              arges_tensor** x);
/** @} */

/** @name Files
 *  @{ */
/** Reads a dense tensor of a .npy or HDF5 file ("file.h5:/group/name"); axis d is dimension d. Collective. */
ARGES_EXPORT arges_status arges_read_tensor(const arges_world* world, const char* path, arges_type type, arges_tensor** tensor);
/** Writes a dense floating-point tensor as .npy. Collective. */
ARGES_EXPORT arges_status arges_write_npy(const arges_tensor* tensor, const char* path);
/** Reads a sparse tensor: .tns, .tns.gz, MatrixMarket, .atns, SPLATT's .bin. Collective. */
ARGES_EXPORT arges_status arges_read_sparse(const arges_world* world, const char* path, arges_type type, arges_tensor** tensor);
/** Writes a sparse tensor in the form that the name asks for. Collective. */
ARGES_EXPORT arges_status arges_write_sparse(const arges_tensor* tensor, const char* path);
/** Starts a checkpoint; it has its name from arges_checkpoint_commit() on. Collective. */
ARGES_EXPORT arges_status arges_checkpoint_create(const arges_world* world, const char* path, arges_checkpoint** checkpoint);
/** Adds a dense floating-point tensor. Collective. */
ARGES_EXPORT arges_status arges_checkpoint_add(arges_checkpoint* checkpoint, const char* name, const arges_tensor* tensor);
/** Keeps an integer, as the number of iterations; that of rank 0 counts. Collective. */
ARGES_EXPORT arges_status arges_checkpoint_set_int64(arges_checkpoint* checkpoint, const char* name, int64_t value);
/** Keeps a number, as an energy; that of rank 0 counts. Collective. */
ARGES_EXPORT arges_status arges_checkpoint_set_float64(arges_checkpoint* checkpoint, const char* name, double value);
/** Completes the file. Collective. */
ARGES_EXPORT arges_status arges_checkpoint_commit(arges_checkpoint* checkpoint);
/** Destroys the handle; a file that was not committed is discarded. Collective. */
ARGES_EXPORT arges_status arges_checkpoint_destroy(arges_checkpoint* checkpoint);
/** Reads a tensor of a checkpoint, with its symmetry and its type. Collective. */
ARGES_EXPORT arges_status arges_checkpoint_read(const arges_world* world, const char* path, const char* name, arges_tensor** tensor);
/** Reads an integer of a checkpoint. Collective. */
ARGES_EXPORT arges_status arges_checkpoint_read_int64(const arges_world* world, const char* path, const char* name, int64_t* value);
/** Reads a number of a checkpoint. Collective. */
ARGES_EXPORT arges_status arges_checkpoint_read_float64(const arges_world* world, const char* path, const char* name, double* value);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
