/// @file ctf.hpp
/// Programs written for Cyclops Tensor Framework on Arges: the names of its header, over an opaque library. C++11. What
/// differs is in docs/coming_from_cyclops.md.
#pragma once

#include "ctf_functions.hpp"
#include "ctf_int.hpp"

using namespace std;  // programs rely on it: Cyclops' header says so

namespace CTF {

using CTF_int::Term;

/// A tensor with labels.
class Idx_Tensor : public CTF_int::Term {
public:
    CTF_int::tensor* parent;

    Idx_Tensor(CTF_int::tensor* tensor, char const* labels);
    Idx_Tensor(Idx_Tensor const&) = default;
    void operator=(Term const& right) { assign(right, false, 1); }
    void operator=(Idx_Tensor const& right) { assign(right, false, 1); }
    template <class N, class = CTF_int::IfNumber<N>>
    void operator=(N number) {
        assign(of_any(number), false, 1);
    }
    void operator*=(Term const& right) { assign(*this * right, false, 1); }
    template <class N, class = CTF_int::IfNumber<N>>
    void operator*=(N number) {
        assign(scaled(number), false, 1);
    }
    void multeq(double number) { *this *= number; }
};

/// Likewise, with the element type.
template <class T>
class Typ_Idx_Tensor : public Idx_Tensor {
public:
    Typ_Idx_Tensor(CTF_int::tensor* tensor, char const* labels) : Idx_Tensor(tensor, labels) {}
    Typ_Idx_Tensor(Typ_Idx_Tensor const&) = default;
    using Idx_Tensor::operator=;
    void operator=(Typ_Idx_Tensor const& right) { Idx_Tensor::operator=(static_cast<Idx_Tensor const&>(right)); }
    /// The matrix of the labels of U against those of VT is U S VT, where S has one label.
    void svd(Idx_Tensor const& U, Idx_Tensor const& S, Idx_Tensor const& VT, int rank = 0, double threshold = 0, bool use_svd_rand = false,
             int num_iter = 1, int oversamp = 5) const {
        CTF_int::svd(*this, U, S, VT, rank, threshold, use_svd_rand, num_iter, oversamp);
    }
};

template <class T>
class Tensor;

/// Dimensions with these labels are dealt out to the ranks of a grid.
class Idx_Partition {
public:
    std::string labels;
    std::vector<int> ranks;
    Idx_Partition() {}
    Idx_Partition(std::string const& given, std::vector<int> const& grid) : labels(given), ranks(grid) {}
};
/// A grid of ranks.
class Partition {
public:
    Partition(int dimensions, int const* lengths) : lengths_(lengths, lengths + dimensions) {}
    Idx_Partition operator[](char const* labels) const { return Idx_Partition(std::string(labels, lengths_.size()), lengths_); }

private:
    std::vector<int> lengths_;
};

/// Elements of a tensor by keys, on every rank its own.
template <class T>
class Sparse_Tensor {
public:
    Sparse_Tensor(std::vector<std::int64_t> const& keys, Tensor<T>* tensor) : keys_(keys), tensor_(tensor) {}
    void operator=(std::vector<T> const& values) { tensor_->write(keys_.size(), keys_.data(), values.data()); }
    void operator+=(std::vector<T> const& values) { tensor_->put(keys_.size(), keys_.data(), values.data(), nullptr, nullptr); }
    void operator-=(std::vector<T> const& values) { tensor_->write(keys_.size(), T(-1), T(1), keys_.data(), values.data()); }
    void operator=(T value) { *this = std::vector<T>(keys_.size(), value); }
    operator std::vector<T>() const {
        std::vector<T> values(keys_.size());
        tensor_->read(keys_.size(), keys_.data(), values.data());
        return values;
    }

private:
    std::vector<std::int64_t> keys_;
    Tensor<T>* tensor_;
};

/// Pairs as two arrays.
template <class T>
struct Unzipped {
    std::vector<std::int64_t> keys;
    std::vector<T> values;
    Unzipped(std::int64_t count, Pair<T> const* pairs) {
        for (std::int64_t i = 0; i < count; ++i) {
            keys.push_back(pairs[i].k);
            values.push_back(pairs[i].d);
        }
    }
};

/// A tensor over the ranks of a world.
template <class T = double>
class Tensor : public CTF_int::tensor {
    typedef CTF_int::algstrct Algebra;
    typedef std::int64_t Key;

public:
    Tensor() {}
    Tensor(Tensor const& other) = default;
    Tensor(CTF_int::tensor const& other) : CTF_int::tensor(other) { other.require_element(typeid(T)); }
    Tensor(CTF_int::tensor const* other) : Tensor(*other) {}
    Tensor(bool copies, CTF_int::tensor const& other) {
        other.require_element(typeid(T));
        if (copies)
            CTF_int::tensor::operator=(other);
        else
            make_like(other, *other.wrld);
    }
    Tensor(CTF_int::tensor const& other, World const& world) { make_like(other, world); }
    Tensor(CTF_int::tensor const& other, int const* new_sym) { make_with(other, new_sym); }
    template <class L>
    Tensor(int dimensions, L const* lengths, int const* symmetry, World const& world = get_universe(), char const* text = nullptr,
           bool = false, Algebra const& algebra = algebra_of_type()) {
        this->make(algebra, false, dimensions, lengths, symmetry, world, text);
    }
    template <class L>
    Tensor(int dimensions, L const* lengths, int const* symmetry, World const& world, Algebra const& algebra, char const* text = nullptr,
           bool = false) {
        this->make(algebra, false, dimensions, lengths, symmetry, world, text);
    }
    template <class L>
    Tensor(int dimensions, L const* lengths, World const& world = get_universe(), char const* text = nullptr, bool = false,
           Algebra const& algebra = algebra_of_type()) {
        this->make(algebra, false, dimensions, lengths, nullptr, world, text);
    }
    template <class L>
    Tensor(int dimensions, L const* lengths, World const& world, Algebra const& algebra, char const* text = nullptr, bool = false) {
        this->make(algebra, false, dimensions, lengths, nullptr, world, text);
    }
    template <class L>
    Tensor(int dimensions, bool sparse, L const* lengths, int const* symmetry, World const& world = get_universe(),
           Algebra const& algebra = algebra_of_type(), char const* text = nullptr, bool = false) {
        this->make(algebra, sparse, dimensions, lengths, symmetry, world, text);
    }
    template <class L>
    Tensor(int dimensions, bool sparse, L const* lengths, World const& world = get_universe(), Algebra const& algebra = algebra_of_type(),
           char const* text = nullptr, bool = false) {
        this->make(algebra, sparse, dimensions, lengths, nullptr, world, text);
    }
    /// @param rows  how raw data are dealt out
    template <class L>
    Tensor(int dimensions, L const* lengths, int const* symmetry, World const& world, char const* labels, Idx_Partition const& rows,
           Idx_Partition const& = Idx_Partition(), char const* text = nullptr, bool = false, Algebra const& algebra = algebra_of_type()) {
        this->make(algebra, false, dimensions, lengths, symmetry, world, text);
        this->deal_out(std::string(labels, dimensions), rows.labels, rows.ranks);
    }
    Tensor& operator=(Tensor const& other) = default;
    Tensor& operator=(T value) {
        set_all(&value);
        return *this;
    }

    Typ_Idx_Tensor<T> operator[](char const* labels) { return Typ_Idx_Tensor<T>(this, labels); }
    Typ_Idx_Tensor<T> i(char const* labels) { return Typ_Idx_Tensor<T>(this, labels); }
    Sparse_Tensor<T> operator[](std::vector<Key> keys) { return Sparse_Tensor<T>(keys, this); }

    void write(Key count, Key const* keys, T const* values) { put(count, keys, values, nullptr, this->sr->addid()); }
    void write(Key count, Pair<T> const* pairs) {
        Unzipped<T> const arrays(count, pairs);
        write(count, arrays.keys.data(), arrays.values.data());
    }
    void write(Key count, T alpha, T beta, Key const* keys, T const* values) { put(count, keys, values, &alpha, &beta); }
    void write(Key count, T alpha, T beta, Pair<T> const* pairs) {
        Unzipped<T> const arrays(count, pairs);
        write(count, alpha, beta, arrays.keys.data(), arrays.values.data());
    }
    void read(Key count, Key const* keys, T* values) const { get(count, keys, values, nullptr, nullptr); }
    void read(Key count, T alpha, T beta, Key const* keys, T* values) const { get(count, keys, values, &alpha, &beta); }
    void read(Key count, Pair<T>* pairs) const {
        Unzipped<T> arrays(count, pairs);
        read(count, arrays.keys.data(), arrays.values.data());
        for (Key i = 0; i < count; ++i) pairs[i].d = arrays.values[i];
    }
    void read(Key count, T alpha, T beta, Pair<T>* pairs) const {
        Unzipped<T> arrays(count, pairs);
        read(count, alpha, beta, arrays.keys.data(), arrays.values.data());
        for (Key i = 0; i < count; ++i) pairs[i].d = arrays.values[i];
    }
    /// The caller frees keys by free() and values by delete[].
    void get_local_data(Key* count, Key** keys, T** values, bool nonzeros_only = false, bool unpack_sym = false) const {
        local_pairs(
            count, keys, [&](Key n) { return *values = new T[n]; }, nonzeros_only, unpack_sym);
    }
    void read_local(Key* count, Key** keys, T** values, bool unpack_sym = false) const {
        get_local_data(count, keys, values, false, unpack_sym);
    }
    void get_local_pairs(Key* count, Pair<T>** pairs, bool nonzeros_only = false, bool unpack_sym = false) const {
        Key* keys;
        T* values;
        get_local_data(count, &keys, &values, nonzeros_only, unpack_sym);
        *pairs = new Pair<T>[*count];
        for (Key i = 0; i < *count; ++i) (*pairs)[i] = Pair<T>(keys[i], values[i]);
        std::free(keys);
        delete[] values;
    }
    void get_all_data(Key* count, T** values, bool unpack = false) const {
        all_values([&](Key n) { return *count = n, *values = new T[n]; }, unpack);
    }
    void read_all(Key* count, T** values, bool unpack = false) const { get_all_data(count, values, unpack); }
    Key read_all(T* values, bool unpack = false) const {
        Key count = 0;
        all_values([&](Key n) { return count = n, values; }, unpack);
        return count;
    }

    /// Elements of this rank; what is changed there counts from the next use of the tensor on.
    T* get_raw_data(Key* count) { return static_cast<T*>(raw(count)); }

    /// Elements by indices, one tuple after the other.
    template <class L>
    void write_aos_idx(Key count, L const* tuples, T const* values) {
        write(count, keys_of(count, tuples).data(), values);
    }
    template <class L>
    void write_aos_idx(Key count, T alpha, T beta, L const* tuples, T const* values) {
        write(count, alpha, beta, keys_of(count, tuples).data(), values);
    }
    template <class L>
    void read_aos_idx(Key count, L const* tuples, T* values) const {
        read(count, keys_of(count, tuples).data(), values);
    }
    template <class L>
    void read_aos_idx(Key count, T alpha, T beta, L const* tuples, T* values) const {
        read(count, alpha, beta, keys_of(count, tuples).data(), values);
    }
    /// The caller frees tuples by free() and values by delete[].
    template <class L>
    void get_local_data_aos_idx(Key* count, L** tuples, T** values, bool nonzeros_only = false, bool unpack_sym = false) const {
        Key* keys;
        get_local_data(count, &keys, values, nonzeros_only, unpack_sym);
        *tuples = static_cast<L*>(std::malloc((*count * order + 1) * sizeof(L)));
        for (Key i = 0; i < *count; ++i)
            for (Key d = 0, rest = keys[i]; d < order; rest /= lens[d++]) (*tuples)[i * order + d] = static_cast<L>(rest % lens[d]);
        std::free(keys);
    }

    Tensor slice(int const* begin, int const* end) const { return sliced(wide(begin).data(), wide(end).data(), nullptr); }
    Tensor slice(Key const* begin, Key const* end) const { return sliced(begin, end, nullptr); }
    Tensor slice(int const* begin, int const* end, World* world) const { return sliced(wide(begin).data(), wide(end).data(), world); }
    Tensor slice(Key const* begin, Key const* end, World* world) const { return sliced(begin, end, world); }
    /// The end is inclusive.
    Tensor slice(Key begin, Key end, World* world = nullptr) const { return sliced(index_of(begin).data(), past(end).data(), world); }
    void slice(int const* begin, int const* end, T beta, CTF_int::tensor const& A, int const* from, int const* to, T alpha) {
        put_slice(wide(begin).data(), wide(end).data(), &beta, A, wide(from, A.order).data(), wide(to, A.order).data(), &alpha);
    }
    void slice(Key const* begin, Key const* end, T beta, CTF_int::tensor const& A, Key const* from, Key const* to, T alpha) {
        put_slice(begin, end, &beta, A, from, to, &alpha);
    }
    void slice(Key begin, Key end, T beta, Tensor const& A, Key from, Key to, T alpha) {
        put_slice(index_of(begin).data(), past(end).data(), &beta, A, A.index_of(from).data(), A.past(to).data(), &alpha);
    }
    void permute(T beta, CTF_int::tensor& A, int* const* perms, T alpha) { put_permuted(&beta, A, perms, &alpha); }
    void permute(int* const* perms, T beta, CTF_int::tensor& A, T alpha) { get_permuted(perms, &beta, A, &alpha); }
    template <class L>
    Tensor reshape(int dimensions, L const* lengths) const {
        Tensor result;
        result.make_reshaped(*this, std::vector<Key>(lengths, lengths + dimensions));
        return result;
    }
    void reshape(Tensor const& old) { make_reshaped(old, std::vector<Key>(lens, lens + order)); }
    void reshape(Tensor const& old, T alpha, T beta) { add_reshaped(old, &alpha, &beta); }
    void add_to_subworld(Tensor* part, T alpha, T beta) { to_part(part, &alpha, &beta); }
    void add_to_subworld(Tensor* part) { this->to_part(part, nullptr, nullptr); }
    void add_from_subworld(Tensor* part, T alpha, T beta) { from_part(part, &alpha, &beta); }
    void add_from_subworld(Tensor* part) { this->from_part(part, nullptr, nullptr); }

    /// this = alpha * A * B + beta * this.
    void contract(T alpha, CTF_int::tensor& A, char const* a, CTF_int::tensor& B, char const* b, T beta, char const* c) {
        number(beta) * Idx_Tensor(this, c) += number(alpha) * Idx_Tensor(&A, a) * Idx_Tensor(&B, b);
    }
    template <class F>
    void contract(T alpha, CTF_int::tensor& A, char const* a, CTF_int::tensor& B, char const* b, T beta, char const* c, F const& f) {
        number(beta) * Idx_Tensor(this, c) += f(number(alpha) * Idx_Tensor(&A, a), Idx_Tensor(&B, b));
    }
    /// this = alpha * A + beta * this.
    void sum(T alpha, CTF_int::tensor& A, char const* a, T beta, char const* c) {
        number(beta) * Idx_Tensor(this, c) += number(alpha) * Idx_Tensor(&A, a);
    }
    template <class F>
    void sum(T alpha, CTF_int::tensor& A, char const* a, T beta, char const* c, F const& f) {
        number(beta) * Idx_Tensor(this, c) += f(number(alpha) * Idx_Tensor(&A, a));
    }
    void scale(T alpha, char const* c) { Idx_Tensor(this, c) = number(alpha) * Idx_Tensor(this, c); }

    T reduce(OP op) const {
        T result = T();
        reduce_to(op, &result);
        return result;
    }
    double norm1() const { return norm(1); }
    double norm2() const { return norm(2); }
    double norm_infty() const { return norm(0); }
    void norm1(double& result) const { result = norm(1); }
    void norm2(double& result) const { result = norm(2); }
    void norm_infty(double& result) const { result = norm(0); }
    void fill_random(T low, T high) { random(std::real(low), std::real(high)); }
    void fill_random() { random(0, 1); }
    /// Other elements are zero.
    void fill_sp_random(T low, T high, double fraction) { random(std::real(low), std::real(high), fraction); }
    /// Elements as bytes in the order of their keys, those of symmetric tensors unpacked.
    void write_dense_to_file(MPI_File& file, Key offset = 0) const { to_file(file, offset); }
    void write_dense_to_file(char const* path) const { to_file(path); }
    void read_dense_from_file(MPI_File& file, Key offset = 0) { from_file(file, offset); }
    void read_dense_from_file(char const* path) { from_file(path); }
    void print(FILE* file = stdout) const { print_to(file, -1); }
    void print(FILE* file, T cutoff) const { print_to(file, std::abs(cutoff)); }
    /// Stores from now on only the elements that are not zero, that are over a threshold, or that `stays` is true for.
    void sparsify() { this->keep(nullptr); }
    void sparsify(T threshold, bool take_abs = true) {
        sparsify([=](T value) { return over(value, threshold, take_abs, std::is_arithmetic<T>()); });
    }
    template <class F, class = typename std::enable_if<std::is_convertible<F, std::function<bool(T)>>::value &&
                                                       !std::is_convertible<F, T>::value>::type>
    void sparsify(F stays) {
        this->keep([=](void const* element) { return stays(*static_cast<T const*>(element)); });
    }
    void write_sparse_to_file(char const* path, bool with_vals = true, bool rev_order = false) const {
        this->to_text(path, with_vals, rev_order);
    }
    void read_sparse_from_file(char const* path, bool with_vals = true, bool rev_order = false) {
        this->from_text(path, with_vals, rev_order);
    }
    void prnt() const { print(); }
    void compare(Tensor const& other, FILE* file = stdout, double cutoff = -1) const { compare_to(other, file, std::max(cutoff, 0.0)); }

    std::vector<Key> past(Key key) const {
        std::vector<Key> index = index_of(key);
        for (std::size_t d = 0; d < index.size(); ++d) ++index[d];
        return index;
    }

protected:
    static Algebra const& algebra_of_type() { return CTF_int::DefaultAlgebra<T>::get(); }

private:
    CTF_int::Term number(T value) const { return CTF_int::Term::of_value(*this->sr, &value); }
    static bool over(T const& value, T const& threshold, bool take_abs, std::true_type) {
        return (take_abs && value < T(0) ? -value : value) > threshold;
    }
    static bool over(T const& value, T const& threshold, bool, std::false_type) { return std::abs(value) > std::abs(threshold); }
    template <class L>
    std::vector<Key> keys_of(Key count, L const* tuples) const {
        std::vector<Key> keys(count, 0);
        for (Key i = 0; i < count; ++i)
            for (int d = order; d-- > 0;) keys[i] = keys[i] * lens[d] + tuples[i * order + d];
        return keys;
    }
    std::vector<Key> wide(int const* narrow) const { return wide(narrow, order); }
    static std::vector<Key> wide(int const* narrow, int count) { return std::vector<Key>(narrow, narrow + count); }
    Tensor sliced(Key const* begin, Key const* end, World const* world) const {
        Tensor result;
        result.make_slice(*this, begin, end, world);
        return result;
    }
};

template <class T = double>
class Vector;

/// A tensor with two dimensions.
template <class T = double>
class Matrix : public Tensor<T> {
    typedef CTF_int::algstrct Algebra;

public:
    std::int64_t nrow, ncol;
    int symm;

    Matrix() : nrow(0), ncol(0), symm(NS) {}
    Matrix(std::int64_t rows, std::int64_t columns, World const& world, char const* text = nullptr, bool = false,
           Algebra const& algebra = Tensor<T>::algebra_of_type()) {
        begin(rows, columns, NS, world, algebra, text);
    }
    Matrix(std::int64_t rows, std::int64_t columns, World const& world, Algebra const& algebra, char const* text = nullptr, bool = false) {
        begin(rows, columns, NS, world, algebra, text);
    }
    Matrix(std::int64_t rows, std::int64_t columns, int kind = NS, World const& world = get_universe(), char const* text = nullptr,
           bool = false, Algebra const& algebra = Tensor<T>::algebra_of_type()) {
        begin(rows, columns, kind, world, algebra, text);
    }
    Matrix(std::int64_t rows, std::int64_t columns, int kind, World const& world, Algebra const& algebra, char const* text = nullptr,
           bool = false) {
        begin(rows, columns, kind, world, algebra, text);
    }
    Matrix(Matrix const& other) = default;
    Matrix(Tensor<T> const& other) : Tensor<T>(other) {
        other.require_order(2);
        nrow = other.lens[0];
        ncol = other.lens[1];
        symm = other.sym[0];
    }
    Matrix& operator=(Matrix const& other) = default;

    void print_matrix() const { this->print(); }
    void qr(Matrix& Q, Matrix& R) const {
        Tensor<T> q, r;
        CTF_int::qr(*this, q, r);
        Q = Matrix(q);
        R = Matrix(r);
    }
    /// this = U * diag(S) * VT.
    void svd(Matrix& U, Vector<T>& S, Matrix& VT, int rank = 0, double threshold = 0) const {
        Tensor<T> u, s, vt;
        CTF_int::svd(*this, u, s, vt, rank, threshold);
        U = Matrix(u);
        S = Vector<T>(s);
        VT = Matrix(vt);
    }
    /// this = U * diag(D) * U^H.
    void eigh(Matrix& U, Vector<T>& D) const {
        Tensor<T> u, d;
        CTF_int::eigh(*this, u, d);
        U = Matrix(u);
        D = Vector<T>(d);
    }
    /// Some singular values by random vectors: faster, and less exact.
    void svd_rand(Matrix& U, Vector<T>& S, Matrix& VT, int rank, int iter = 1, int oversamp = 5) const {
        Tensor<T> u, s, vt;
        CTF_int::svd_rand(*this, u, s, vt, rank, iter, oversamp);
        U = Matrix(u);
        S = Vector<T>(s);
        VT = Matrix(vt);
    }
    void cholesky(Matrix& L, bool lower = true) const {
        Tensor<T> l;
        CTF_int::cholesky(*this, l, lower);
        L = Matrix(l);
    }
    /// M * X = this, M positive definite.
    void solve_spd(Matrix const& M, Matrix& X) const {
        Tensor<T> x;
        CTF_int::solve_spd(M, *this, x);
        X = Matrix(x);
    }
    /// L * X = this, or X * L = this, with L or its transpose.
    void solve_tri(Matrix const& L, Matrix& X, bool lower = true, bool from_left = true, bool transp_L = false) const {
        Tensor<T> x;
        CTF_int::solve_tri(L, *this, x, lower, from_left, transp_L);
        X = Matrix(x);
    }

private:
    void begin(std::int64_t rows, std::int64_t columns, int kind, World const& world, Algebra const& algebra, char const* text) {
        nrow = rows;
        ncol = columns;
        symm = kind & 3;
        std::int64_t const lengths[] = {rows, columns};
        int const symmetry[] = {symm, NS};
        this->make(algebra, (kind & SP) != 0, 2, lengths, symmetry, world, text);
    }
};

/// A tensor with one dimension.
template <class T>
class Vector : public Tensor<T> {
    typedef CTF_int::algstrct Algebra;

public:
    std::int64_t len;

    Vector() : len(0) {}
    Vector(std::int64_t length, World const& world = get_universe(), char const* text = nullptr, bool = false,
           Algebra const& algebra = Tensor<T>::algebra_of_type()) {
        begin(length, 0, world, algebra, text);
    }
    Vector(std::int64_t length, World const& world, Algebra const& algebra, char const* text = nullptr, bool = false) {
        begin(length, 0, world, algebra, text);
    }
    Vector(std::int64_t length, int kind, World const& world = get_universe(), char const* text = nullptr, bool = false,
           Algebra const& algebra = Tensor<T>::algebra_of_type()) {
        begin(length, kind, world, algebra, text);
    }
    Vector(std::int64_t length, int kind, World const& world, Algebra const& algebra, char const* text = nullptr, bool = false) {
        begin(length, kind, world, algebra, text);
    }
    Vector(Vector const& other) = default;
    Vector(Tensor<T> const& other) : Tensor<T>(other) {
        other.require_order(1);
        len = other.lens[0];
    }
    Vector& operator=(Vector const& other) = default;

private:
    void begin(std::int64_t length, int kind, World const& world, Algebra const& algebra, char const* text) {
        len = length;
        this->make(algebra, kind > 0, 1, &length, nullptr, world, text);
    }
};

/// A tensor with one element.
template <class T = double>
class Scalar : public Tensor<T> {
    typedef CTF_int::algstrct Algebra;

public:
    explicit Scalar(World const& world = get_universe(), Algebra const& algebra = Tensor<T>::algebra_of_type()) { begin(world, algebra); }
    Scalar(T value, World const& world = get_universe(), Algebra const& algebra = Tensor<T>::algebra_of_type()) {
        begin(world, algebra);
        set_val(value);
    }
    Scalar(Scalar const& other) = default;
    Scalar& operator=(Scalar const& other) = default;
    T get_val() const {
        T value = T();
        std::int64_t const key = 0;
        this->read(1, &key, &value);
        return value;
    }
    void set_val(T value) { this->set_all(&value); }
    operator T() const { return get_val(); }

private:
    void begin(World const& world, Algebra const& algebra) {
        this->make(algebra, false, 0, static_cast<std::int64_t const*>(nullptr), nullptr, world, nullptr);
    }
};

/// start + k * step.
template <class T>
Vector<T> arange(T start, std::int64_t length, T step, World const& world = get_universe()) {
    Vector<T> result(length, world);
    std::vector<std::int64_t> keys;
    std::vector<T> values;
    for (std::int64_t k = world.rank; k < length; k += world.np) {
        keys.push_back(k);
        values.push_back(start + T(k) * step);
    }
    result.write(keys.size(), keys.data(), values.data());
    return result;
}

/// Timers measure nothing here: Arges reports by itself.
class Timer {
public:
    explicit Timer(char const*) {}
    void start() {}
    void stop() {}
    void exit() {}
};
class Function_timer : public Timer {
public:
    explicit Function_timer(char const* name) : Timer(name) {}
};
class Timer_epoch {
public:
    explicit Timer_epoch(char const*) {}
    void begin() {}
    void end() {}
};

/// Operations of products, as if all tensors were dense.
inline void initialize_flops_counter() { CTF_int::estimated_flops() = 0; }
inline std::int64_t get_estimated_flops() { return CTF_int::estimated_flops(); }
class Flop_counter {
public:
    std::int64_t start_count;
    Flop_counter() { zero(); }
    void zero() { start_count = CTF_int::estimated_flops(); }
    /// Those since the counter was made or zeroed: of all ranks together, as every rank counts them.
    std::int64_t count() const { return CTF_int::estimated_flops() - start_count; }
    std::int64_t count(MPI_Comm) const { return count(); }
};

}  // namespace CTF

#include "ctf_multilinear.hpp"

typedef CTF::World CTF_World;
typedef CTF::Tensor<> CTF_Tensor;
typedef CTF::Matrix<> CTF_Matrix;
typedef CTF::Vector<> CTF_Vector;
typedef CTF::Scalar<> CTF_Scalar;
template <class T>
using tCTF_Tensor = CTF::Tensor<T>;
template <class T>
using tCTF_Matrix = CTF::Matrix<T>;
template <class T>
using tCTF_Vector = CTF::Vector<T>;
template <class T>
using tCTF_Scalar = CTF::Scalar<T>;
