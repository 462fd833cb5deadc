/// @file ctf_int.hpp
/// What ctf.hpp has without element types: worlds, tensors whose values are given by address, and right-hand sides. C++11.
#pragma once

#include "ctf_algebra.hpp"

#include <mpi.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <complex>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

/// How a dimension is tied to the next one; SP marks sparse matrices and vectors.
enum STRUCTURE { NS, SY, AS, SH, SP };
typedef STRUCTURE SYM;

namespace CTF_int {

/// The type that a number is handed on in.
template <class N>
struct Wide {
    typedef typename std::conditional<std::is_integral<N>::value, std::int64_t, double>::type type;
};
template <class N>
struct Wide<std::complex<N>> {
    typedef std::complex<double> type;
};
template <class N>
struct IsNumber : std::is_arithmetic<N> {};
template <class N>
struct IsNumber<std::complex<N>> : std::is_arithmetic<N> {};
template <class N>
using IfNumber = typename std::enable_if<IsNumber<N>::value>::type;

class WorldBody;
class Body;
class Formula;

/// Calls f for `count` elements: out[i] = f(in[0][i], ...), or f changes out[i].
typedef std::function<void(std::int64_t count, void const* const* in, void* out)> Loop;

/// Multiplications and additions of products so far, as if all tensors were dense.
std::int64_t& estimated_flops();
/// Bytes that tensors of all worlds hold on this rank.
std::int64_t get_tensor_data_bytes_allocated();
/// Prime factors of n, ascending, allocated by malloc().
void factorize(int n, int* nfactor, int** factor);

}  // namespace CTF_int

namespace CTF {

/// What reduce() makes of the elements.
enum OP { OP_SUM, OP_SUMABS, OP_SUMSQ, OP_MAX, OP_MIN, OP_MAXABS, OP_MINABS };

/// The ranks of a communicator. Worlds over the same communicator are the same world.
class World {
public:
    MPI_Comm comm;
    int rank;
    int np;

    World(MPI_Comm communicator = MPI_COMM_WORLD, int ppn = 1, int argc = 0, char* const* argv = nullptr);
    World(MPI_Comm communicator, int argc, char* const* argv);
    World(int argc, char* const* argv);
    /// No world yet.
    explicit World(char const* empty) : comm(MPI_COMM_NULL), rank(0), np(0) { (void)empty; }
    bool operator==(World const& other) const { return body_ == other.body_; }

    std::shared_ptr<CTF_int::WorldBody> const& body() const { return body_; }

private:
    std::shared_ptr<CTF_int::WorldBody> body_;
};

/// The world of all processes.
World& get_universe();

/// A key and a value.
template <class T = double>
class Pair {
public:
    std::int64_t k;
    T d;
    Pair() : k(0), d() {}
    Pair(std::int64_t key, T value) : k(key), d(value) {}
    bool operator<(Pair const& other) const { return k < other.k; }
};

class Idx_Tensor;

}  // namespace CTF

namespace CTF_int {

class tensor;

/// A = U S VT, with one label for S. @param rank  at most so many singular values; 0: all
void svd(CTF::Idx_Tensor const& A, CTF::Idx_Tensor const& U, CTF::Idx_Tensor const& S, CTF::Idx_Tensor const& VT, int rank,
         double threshold, bool randomized, int iterations, int oversampling);
}  // namespace CTF_int

namespace CTF_int {

/// The address of a tensor's elements on this rank, when it is asked for: as tensor::raw(). Collective.
class Address {
public:
    explicit Address(tensor& owner) : owner_(&owner) {}
    Address(Address const&) = delete;
    Address& operator=(Address const&) = delete;
    operator char*() const;
    template <class T>
    explicit operator T*() const {
        return reinterpret_cast<T*>(static_cast<char*>(*this));
    }

private:
    tensor* owner_;
};

/// A tensor of any element type; values are given by address.
class tensor {
public:
    int order;
    std::int64_t* lens;
    int* sym;
    std::int64_t size;
    bool is_sparse;
    std::int64_t nnz_tot;
    algstrct* sr;
    CTF::World* wrld;
    char* name;
    Address data;

    tensor();
    tensor(tensor const& other);
    tensor& operator=(tensor const& other);
    virtual ~tensor();

    void set_name(char const* text);
    char const* get_name() const { return name; }
    void profile_on() {}
    void profile_off() {}
    void print_map(FILE* = stdout, bool = true) const {}
    bool has_symmetry() const;
    std::int64_t get_tot_size(bool packed) const;
    /// Of a sparse tensor: removes all elements.
    void set_zero();
    /// Replaces elements by their negatives.
    void addinv();
    /// All elements are stored from now on.
    void densify();
    /// Gives the elements up; the tensor is as one made without arguments.
    void free_self();
    int align(tensor const&) { return 1; }  // tensors of one shape have the same elements on a rank

    /// A null `symmetry` means none.
    void make(algstrct const& algebra, bool sparse, int dimensions, std::int64_t const* lengths, int const* symmetry,
              CTF::World const& world, char const* text);
    void make(algstrct const& algebra, bool sparse, int dimensions, int const* lengths, int const* symmetry, CTF::World const& world,
              char const* text);
    /// As `other`, without its elements.
    void make_like(tensor const& other, CTF::World const& world);
    /// The elements of `other` that are stored under another symmetry.
    void make_with(tensor const& other, int const* symmetry);

    void set_all(void const* value);
    /// @param fraction  of the elements; the others are zero
    void random(double low, double high, double fraction = 1);
    /// Stores the elements only that `stays` is true for; null: that are not the zero of the algebra.
    void keep(std::function<bool(void const*)> const& stays);
    /// Lines of indices, from 0, and values. @param reversed  the last index comes first
    void to_text(char const* path, bool values, bool reversed) const;
    void from_text(char const* path, bool values, bool reversed);
    void to_file(MPI_File file, std::int64_t offset) const;
    void to_file(char const* path) const;
    void from_file(MPI_File file, std::int64_t offset);
    void from_file(char const* path);
    void put(std::int64_t count, std::int64_t const* keys, void const* values, void const* alpha, void const* beta);
    /// values = alpha * elements + beta * values; null factors stand for 1 and 0.
    void get(std::int64_t count, std::int64_t const* keys, void* values, void const* alpha, void const* beta) const;
    /// Keys are allocated by malloc(); values are written to room(count).
    void local_pairs(std::int64_t* count, std::int64_t** keys, std::function<void*(std::int64_t)> const& room, bool nonzeros,
                     bool unpack) const;
    void all_values(std::function<void*(std::int64_t)> const& room, bool unpack) const;

    /// Says which dimensions, among those with labels, raw() deals out to how many ranks.
    void deal_out(std::string const& labels, std::string const& dealt, std::vector<int> const& ranks);
    /// Elements of this rank, in the order of keys; what is changed there counts from the next use of the tensor on. Collective.
    void* raw(std::int64_t* count);

    void make_slice(tensor const& source, std::int64_t const* begin, std::int64_t const* end, CTF::World const* world);
    void put_slice(std::int64_t const* begin, std::int64_t const* end, void const* beta, tensor const& source, std::int64_t const* from,
                   std::int64_t const* to, void const* alpha);
    /// Indices of a key.
    std::vector<std::int64_t> index_of(std::int64_t key) const;
    /// this[p(i)] = beta * this[p(i)] + alpha * source[i].
    void put_permuted(void const* beta, tensor const& source, int* const* permutation, void const* alpha);
    /// this[i] = beta * this[i] + alpha * source[p(i)].
    void get_permuted(int* const* permutation, void const* beta, tensor const& source, void const* alpha);
    void make_reshaped(tensor const& source, std::vector<std::int64_t> const& lengths);
    /// this = alpha * source + beta * this, by the order of keys.
    void add_reshaped(tensor const& source, void const* alpha, void const* beta);
    /// part = alpha * this + beta * part; null where this rank has no part.
    void to_part(tensor* part, void const* alpha, void const* beta) const;
    /// this = alpha * part + beta * this.
    void from_part(tensor const* part, void const* alpha, void const* beta);

    void reduce_to(CTF::OP op, void* result) const;
    double norm(int which) const;
    void print_to(FILE* file, double cutoff) const;
    /// Prints the elements that differ by more than `cutoff`, with those of `other`.
    void compare_to(tensor const& other, FILE* file, double cutoff) const;

    /// @throws std::exception if the elements are of another type
    void require_element(std::type_info const& type) const;
    /// @throws std::exception if there are more or fewer dimensions
    void require_order(int dimensions) const;
    std::shared_ptr<Body> const& body() const { return body_; }
    /// Sets the number of stored elements.
    void tell_stored();
    /// Takes elements over. @param world  null: that of `like`
    void become(std::shared_ptr<Body> const& body, tensor const& like, CTF::World const* world);

private:
    void hold(std::shared_ptr<Body> const& body, CTF::World const& world);
    std::shared_ptr<Body> body_;
};

/// A right-hand side: a sum of products of labelled tensors, or a function of elements. Computed where it is assigned.
class Term {
public:
    explicit Term(std::shared_ptr<Formula const> formula) : formula_(formula) {}
    Term(Term const&) = default;
    Term& operator=(Term const&) = delete;

    Term operator*(Term const& other) const;
    Term operator+(Term const& other) const;
    Term operator-(Term const& other) const;
    Term operator-() const { return scaled(-1.0); }
    template <class N, class = IfNumber<N>>
    Term operator*(N number) const {
        return scaled(number);
    }
    template <class N, class = IfNumber<N>>
    friend Term operator*(N number, Term const& term) {
        return term.scaled(number);
    }

    /// Of `c * A["i"]`: A = c * A + right.
    void operator+=(Term const& right) const { assign(right, true, 1); }
    void operator-=(Term const& right) const { assign(right, true, -1); }
    template <class N, class = IfNumber<N>>
    void operator+=(N number) const {
        assign(of_any(number), true, 1);
    }
    template <class N, class = IfNumber<N>>
    void operator-=(N number) const {
        assign(of_any(number), true, -1);
    }

    /// The sum over all labels, on every rank; of a complex tensor its real part where a real number is asked for.
    operator double() const { return value(); }
    operator std::complex<double>() const { return complex_value(); }
    operator float() const { return static_cast<float>(value()); }
    operator int() const { return static_cast<int>(integer()); }
    operator std::int64_t() const { return integer(); }

    std::shared_ptr<Formula const> const& formula() const { return formula_; }
    static Term of_value(algstrct const& algebra, void const* value);
    static Term of_function(algstrct const& result, std::vector<Term> const& operands, Loop const& loop, bool intersects);
    /// The last operand is changed.
    static void transform(std::vector<Term> const& operands, Loop const& loop);

protected:
    static Term of_number(double number);
    static Term of_number(std::int64_t number);
    static Term of_number(std::complex<double> number);
    template <class N>
    static Term of_any(N number) {
        return of_number(typename Wide<N>::type(number));
    }
    template <class N>
    Term scaled(N number) const {
        return of_any(number) * *this;
    }
    void assign(Term const& right, bool keeps, int sign) const;

private:
    double value() const;
    std::complex<double> complex_value() const;
    std::int64_t integer() const;
    std::shared_ptr<Formula const> formula_;
};

inline Address::operator char*() const {
    std::int64_t count = 0;
    return static_cast<char*>(owner_->raw(&count));
}

inline double& operator+=(double& number, Term const& term) { return number = number + double(term); }
inline double& operator-=(double& number, Term const& term) { return number = number - double(term); }
inline float& operator+=(float& number, Term const& term) { return number = number + float(term); }
inline std::int64_t& operator+=(std::int64_t& number, Term const& term) { return number = number + std::int64_t(term); }
inline int& operator+=(int& number, Term const& term) { return number = number + int(term); }
typedef Term Contract_Term;
typedef Term Sum_Term;

/// Factorizations of matrices; the results become other tensors. They need ScaLAPACK.
void qr(tensor const& A, tensor& Q, tensor& R);
/// @param rank  so many singular values at most; 0: all  @param threshold  smaller ones are cut
void svd(tensor const& A, tensor& U, tensor& S, tensor& VT, std::int64_t rank, double threshold);
/// Some singular values by random vectors. @param iterations  products with A^H and A  @param more  vectors beyond the rank
void svd_rand(tensor const& A, tensor& U, tensor& S, tensor& VT, std::int64_t rank, int iterations, std::int64_t more);
void eigh(tensor const& A, tensor& U, tensor& D);
/// A = L * L^H, or A = L^H * L with an upper L unless `lower`.
void cholesky(tensor const& A, tensor& L, bool lower);
/// A * X = B for a positive definite A.
void solve_spd(tensor const& A, tensor const& B, tensor& X);
/// L * X = B, or X * L = B from the right, with L or its transpose; the other triangle is not read.
void solve_tri(tensor const& L, tensor const& B, tensor& X, bool lower, bool from_left, bool transposed);

}  // namespace CTF_int
