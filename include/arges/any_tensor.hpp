/// @file any_tensor.hpp
/// Tensors whose element type and storage are known at run time: what programs in other languages hold, and what Tensor<T> and
/// SparseTensor<T> are typed views of.
#pragma once

#include "arges/element_type.hpp"
#include "arges/expression.hpp"
#include "arges/symmetry.hpp"
#include "arges/world.hpp"

#include <complex>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace arges {

enum class MapOver : std::uint8_t;
/// @cond
class AnyTensorState;
class AnyIndexedTensor;
/// @endcond

/// How a tensor has its elements.
enum class Storage : std::uint8_t {
    dense,  ///< all of them, each orbit of the symmetry once
    sparse  ///< those that are not zero, with their indices
};

/// What to do when several values are given for one element.
enum class Duplicates {
    refuse,      ///< an error that names the element
    sum,         ///< the element is their sum, added in the order given (by rank, then by place)
    keep_first,  ///< the first one counts; a value that is stored already comes before all new ones
    keep_last,   ///< the last one counts, also where a value is stored already
    mean,        ///< their mean; for files only, see read_sparse()
};

/// A number before it takes on the type of the elements that it meets.
using Number = std::variant<std::int64_t, double, std::complex<double>>;

/// The number as an element. @throws InvalidArgument if the type does not have it: a fraction of an integer type, an imaginary part
ElementValue element_from(const Number& number, ElementType type);
/// An element as a number.
Number number_from(const void* element, ElementType type);
/// The type of sums and products of two types: the narrowest that has the numbers of both.
/// @throws InvalidArgument if there is none: 64-bit integers beside floating-point numbers
ElementType common_type(ElementType a, ElementType b);

/// Indices of one element.
using Index = std::span<const std::int64_t>;

/// A value together with the indices of its element.
template <class T>
struct Extremum {
    T value{};                        ///< the value
    std::vector<std::int64_t> index;  ///< indices of an element with that value; empty for a tensor without elements
};

/// The element that stands for an orbit, and how another element of the orbit follows from it.
struct CanonicalKey {
    std::int64_t key = 0;    ///< of the element that is stored
    bool negative = false;   ///< element = -stored
    bool conjugate = false;  ///< element = conj(stored)
    bool zero = false;       ///< the element is zero by symmetry, and nothing is stored
    bool real = false;       ///< the element is real by symmetry
};

/// @cond
/// A symmetry as callers give it: a tree, Cyclops' vector form, a text over letters, or none.
class GivenSymmetry {
public:
    GivenSymmetry() : made_([](int, const std::string&) { return Symmetry(); }) {}
    GivenSymmetry(Symmetry symmetry)
        : made_([=](int, const std::string&) { return symmetry; }), is_given_(true) {}  // NOLINT: implicit on purpose
    explicit GivenSymmetry(std::vector<Relation> relations);
    GivenSymmetry(std::string_view letters, std::string_view text);
    /// @throws InvalidArgument if it does not fit the order of a tensor of that name
    Symmetry of(int order, const std::string& title) const { return made_(order, title); }
    bool is_given() const { return is_given_; }

private:
    std::function<Symmetry(int order, const std::string& title)> made_;
    bool is_given_ = false;
};

/// Room for so many elements.
using ElementRoom = std::function<void*(std::int64_t count)>;
/// What a test of elements asks.
using ElementTest = std::function<bool(Index, const void*)>;
/// @endcond

/// A dense or sparse tensor of any element type; see Tensor and SparseTensor, which are this with a type. Elements are given by address as
/// arrays of the tensor's type. What only one storage has is refused for the other. Copying copies the elements; moving does not. Calls are
/// collective over the world unless marked local.
class AnyTensor {
public:
    /// No tensor; assign one before use. Local.
    AnyTensor() = default;
    /// Zeros, or a sparse tensor that stores nothing. @throws as the constructors of Tensor and SparseTensor
    AnyTensor(ElementType element, Storage storage, const World& world, std::vector<std::int64_t> extents, const Symmetry& symmetry = {},
              std::string name = "");
    AnyTensor(const AnyTensor& other) { *this = other; }         ///< Copies the elements; sparse tensors share the indices.
    AnyTensor(AnyTensor&& other) noexcept = default;             ///< Leaves `other` without a tensor. Local.
    AnyTensor& operator=(const AnyTensor& other);                ///< Replaces all but the name of a dense tensor.
    AnyTensor& operator=(AnyTensor&& other) noexcept = default;  ///< Likewise by moving. Local.
    ~AnyTensor() = default;

    /// The element type. Local. @throws InvalidArgument for types of the user's
    ElementType element() const;
    /// Is only a part of the elements stored? Local.
    bool is_sparse() const;
    /// Number of dimensions. Local.
    int order() const;
    /// Length of each dimension. Local.
    const std::vector<std::int64_t>& extents() const;
    /// The symmetry tree; trivial where there is none. Local.
    const Symmetry& symmetry() const;
    /// The world. Local.
    const World& world() const;
    /// The name given at construction. Local.
    const std::string& name() const;
    /// Changes the name. Local.
    void set_name(std::string name);
    /// Name for messages: "tensor" where there is none. Local.
    std::string title() const;
    /// Elements of the full tensor. Local. @throws InvalidArgument if there are more than 2^63 - 1
    std::int64_t size() const;
    /// Elements stored over all ranks; with symmetry one of each orbit. Local.
    std::int64_t stored() const;
    /// True if 64-bit keys reach every element. Local.
    bool has_keys() const;
    /// Key of an index tuple. Local.
    /// @throws InvalidArgument if the tuple has the wrong length or is out of range, or for a tensor without keys
    std::int64_t key(Index index) const;
    /// Likewise, as in key({0, 1}).
    std::int64_t key(std::initializer_list<std::int64_t> index) const { return key(Index(index.begin(), index.size())); }
    /// The element that is stored for the orbit of an element: that which local_pairs() and for_each_local() show. Local.
    /// @throws as key()
    CanonicalKey canonical_key(Index index) const;
    /// Likewise, as in canonical_key({1, 0}).
    CanonicalKey canonical_key(std::initializer_list<std::int64_t> index) const {
        return canonical_key(Index(index.begin(), index.size()));
    }
    /// Index tuple of a key. Local.
    std::vector<std::int64_t> index(std::int64_t key) const;
    /// How dimensions of a dense tensor lie on the torus, as text. Local.
    std::string layout_to_string() const;
    /// Stored elements on this rank of a sparse tensor. Local.
    std::int64_t local_nonzeros() const;
    /// Indices in one dimension of these, counted from 0; valid until the tensor is changed. Local.
    std::span<const std::int64_t> local_indices(int mode) const;

    /// The tensor with labels, for statements. Local.
    AnyIndexedTensor operator[](const Labels& labels) const;

    /// Sets every element, of a sparse tensor every stored one.
    /// @throws InvalidArgument for a number that the type does not have, or a value that the symmetry does not allow
    void fill(const Number& value);
    /// As Tensor::fill_random(), for dense tensors with floating-point elements.
    void fill_random(std::uint64_t seed, double low = -0.5, double high = 0.5) { fill_random_between(seed, low, high); }
    /// Elements begin <= index < end of each dimension as a new tensor, as Tensor::slice() and SparseTensor::slice().
    AnyTensor slice(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end) const;
    /// this[begin + x] = part[x]. @throws InvalidArgument also for a part of another type or storage
    void set_slice(const std::vector<std::int64_t>& begin, const AnyTensor& part);
    /// Same elements with another symmetry tree, as Tensor::with_symmetry() and SparseTensor::with_symmetry().
    AnyTensor with_symmetry(const Symmetry& symmetry) const;
    /// As Tensor::reshaped().
    AnyTensor reshaped(const std::vector<std::int64_t>& extents, bool last_fastest = false) const;
    /// The same elements in another type, rounded where it holds less.
    /// @throws InvalidArgument for complex elements as real ones, or a number that is not within an integer type
    AnyTensor converted(ElementType element) const;
    /// All elements, with the same symmetry; a copy of a dense tensor.
    AnyTensor to_dense() const;
    /// The elements whose absolute value is over a cutoff, or all that are not zero for a negative one; a copy of a sparse tensor.
    AnyTensor to_sparse(double cutoff) const;
    /// Removes the stored elements of a sparse tensor whose absolute value is at most `cutoff`.
    void drop(double cutoff = 0);
    /// Removes all stored elements of a sparse tensor.
    void erase();

    /// Sum over the full tensor, as the elements add up: by "or" for bool.
    Number sum() const;
    /// Sum of absolute values of a dense tensor.
    double norm1() const;
    /// Square root of the sum of squared absolute values; squares may be too large or too small for their type.
    double norm() const;
    /// Largest absolute value of a dense tensor.
    double norm_max() const;
    /// Sum over the full tensor of conj(this) * other, for dense tensors of one type and shape.
    Number dot(const AnyTensor& other) const;
    /// As Tensor::largest_magnitude().
    Extremum<Number> largest_magnitude() const;
    /// As Tensor::minimum().
    Extremum<Number> minimum() const;
    /// As Tensor::maximum().
    Extremum<Number> maximum() const;
    /// Elements of the full dense tensor that are not the zero of their type; NaN is not zero.
    std::int64_t count_nonzero() const;

    /// As Tensor::write() and SparseTensor::write(); the tolerance is of dense tensors, what to do with duplicates of sparse ones.
    void write_pairs(std::span<const std::int64_t> keys, const void* values, std::int64_t count, Duplicates duplicates,
                     double tolerance = 0);
    /// As Tensor::accumulate(); null factors stand for one.
    void accumulate_pairs(std::span<const std::int64_t> keys, const void* values, std::int64_t count, const void* alpha, const void* beta);
    /// Values of any elements, in the order of the keys, written to room(number of keys).
    void read_pairs(std::span<const std::int64_t> keys, const std::function<void*(std::int64_t count)>& room) const;
    /// Keys of the elements that this rank stores; their values are written to room(number of them). Each orbit of a dense tensor once over
    /// all ranks, by ascending key. Local.
    std::vector<std::int64_t> pairs_here(const std::function<void*(std::int64_t count)>& room) const;
    /// The full dense tensor in key order, on every rank.
    void gather_all(const std::function<void*(std::int64_t count)>& room) const;
    /// As Tensor::set_array().
    void write_array(const void* data, std::span<const std::int64_t> strides);
    /// As Tensor::array(). Local.
    void* array_here();

    /// @cond
    AnyTensor(const ElementKernels& kernels, Storage storage, const World& world, std::vector<std::int64_t> extents,
              const GivenSymmetry& symmetry, std::string name);
    explicit AnyTensor(std::shared_ptr<AnyTensorState> state) : state_(std::move(state)) {}
    explicit AnyTensor(std::shared_ptr<TensorState> state);
    explicit AnyTensor(std::shared_ptr<SparseState> state);
    const std::shared_ptr<AnyTensorState>& any_state() const { return state_; }
    /// Null where it is sparse, or there is none.
    std::shared_ptr<TensorState> dense_state() const;
    /// Null where it is dense, or there is none.
    std::shared_ptr<SparseState> sparse_state() const;
    const ElementKernels& kernels() const;
    /// Refuses a tensor of another type, by the name that the caller has for it. Local.
    AnyTensor&& checked(const ElementKernels& kernels, Storage storage) &&;

    Factor labelled(const Labels& labels) const;
    void fill_with(const void* value);
    void for_each_element_here(const char* where, const std::function<void(Index, void*)>& f) const;
    void fill_random_between(std::uint64_t seed, long double low, long double high);
    void keep_real();
    ElementValue only_element() const;
    AnyTensor converted_to(const ElementKernels& kernels) const;
    void gather_at(std::int64_t root, const ElementRoom& room) const;
    static AnyTensor adopted(const ElementKernels& kernels, const World& world, std::vector<std::int64_t> extents, void* data,
                             std::shared_ptr<const void> owner, std::string name);
    void write_slice(const std::vector<std::int64_t>& begin, const AnyTensor& part, const void* alpha, const void* beta);
    static AnyTensor joined(int dimension, const std::vector<const AnyTensor*>& parts);
    static AnyTensor transferred(const ElementKernels& kernels, const World& meeting, const AnyTensor& source, const World& target);
    AnyTensor conjugated() const;
    AnyTensor part_of_complex(bool imaginary, const ElementKernels& real) const;

    static AnyTensor made_from(const ElementKernels& kernels, const World& world, std::vector<std::int64_t> lengths,
                               const std::vector<std::vector<std::int64_t>>& indices, std::int64_t count,
                               const std::function<void(void*)>& copy_values, Duplicates duplicates, std::string name);
    /// The elements that `stays` is true for. @param cutoff  what that depends on
    AnyTensor sparse_where(const std::function<bool(const void*)>& stays, double cutoff) const;
    void write_tuples(std::span<const std::int64_t> tuples, const void* values, std::int64_t count, Duplicates duplicates);
    void accumulate_tuples(std::span<const std::int64_t> tuples, const void* values, std::int64_t count, const void* alpha,
                           const void* beta);
    void read_tuples(std::span<const std::int64_t> tuples, const ElementRoom& room) const;
    void keep_if(const char* where, const ElementTest& stays, double cutoff = 0);
    double density() const;
    const void* values_here() const;
    void* values_here();
    /// Writes the values; gives the indices. @param last_index_fastest  else elements are in the order of keys
    std::vector<std::vector<std::int64_t>> gather_entries(const ElementRoom& room, bool last_index_fastest) const;

    void sum_to(void* element) const;
    std::complex<double> sum_of_stored() const;
    double norm_of_stored() const;
    void dot_to(const AnyTensor& other, void* element) const;
    long double norm1_of_all() const;
    long double norm_of_all() const;
    long double norm_max_of_all() const;
    std::vector<std::int64_t> largest_magnitude_to(void* element) const;
    std::vector<std::int64_t> least_or_largest_to(bool largest, void* element) const;
    void print(std::ostream& stream, long double cutoff) const;

private:
    std::shared_ptr<AnyTensorState> state_;
    /// @endcond
};

/// A sum of terms of an element type that is known at run time; see Expression. Nothing is computed until it is assigned.
class AnyExpression {
public:
    /// An empty sum (zero).
    explicit AnyExpression(ElementType element) : element_(element) {}
    /// A number as a term of an expression of a type. @throws as element_from()
    AnyExpression(const Number& number, ElementType element);
    /// An expression with a type.
    template <class T>
    AnyExpression(const Expression<T>& typed) : element_(element_type_of<T>()), terms_(typed.terms()) {}  // NOLINT: implicit on purpose
    /// The element type.
    ElementType element() const { return element_; }
    /// The terms of the sum.
    const std::vector<Term>& terms() const { return terms_; }
    /// The terms, to be changed.
    std::vector<Term>& terms() { return terms_; }
    /// In another type. @throws InvalidArgument if it does not have all numbers of this one
    AnyExpression as(ElementType element) const;
    /// Likewise with that type.
    template <class T>
    Expression<T> of() const {
        Expression<T> typed;
        typed.terms() = as(element_type_of<T>()).terms_;
        return typed;
    }
    /// Multiplies the coefficients by an element.
    void scale(const void* element);

    /// Sum, of the type that has the numbers of both.
    friend AnyExpression operator+(const AnyExpression& a, const AnyExpression& b);
    /// Product, likewise; sums are multiplied out.
    friend AnyExpression operator*(const AnyExpression& a, const AnyExpression& b);
    /// Multiplied by a number; the type widens where it does not have it.
    friend AnyExpression operator*(const Number& number, const AnyExpression& a);
    /// Negation, likewise.
    friend AnyExpression operator-(const AnyExpression& a) { return std::int64_t{-1} * a; }
    /// Difference, likewise.
    friend AnyExpression operator-(const AnyExpression& a, const AnyExpression& b) { return a + -b; }
    /// Complex conjugate of a term by term.
    friend AnyExpression conj(AnyExpression a);

private:
    ElementType element_;
    std::vector<Term> terms_;
};

/// A tensor with labels: a term of an expression, and the left-hand side of a statement; see IndexedTensor. Statements are collective over
/// the tensor's world, and also refuse a right-hand side whose numbers the tensor's type does not have.
class AnyIndexedTensor : public AnyExpression {
public:
    /// Made by AnyTensor::operator[].
    AnyIndexedTensor(Factor factor, ElementType element);
    /// An indexed tensor with a type.
    template <class T>
    explicit AnyIndexedTensor(const IndexedTensor<T>& typed) : AnyExpression(typed) {}
    /// Copies the expression (not the tensor).
    AnyIndexedTensor(const AnyIndexedTensor&) = default;
    /// Replaces the elements that the labels name; by zeros for an empty sum.
    void operator=(const AnyExpression& right);
    /// Likewise by another indexed tensor.
    void operator=(const AnyIndexedTensor& right) { *this = static_cast<const AnyExpression&>(right); }
    /// Adds.
    void operator+=(const AnyExpression& right);
    /// Subtracts.
    void operator-=(const AnyExpression& right) { *this += -right; }
    /// Multiplies the elements that the labels name by a number; also by zero, so that NaN stays.
    void operator*=(const Number& number) { assign(AnyExpression(element()), number); }
    /// Divides element by element, as IndexedTensor::operator/=().
    void operator/=(const AnyExpression& divisor);
    /// this = right + beta * this; where beta is zero and `right` has terms, the elements are replaced, and not read.
    void assign(const AnyExpression& right, const Number& beta);
    /// this = f(operands) or this += f(operands) by a function of arrays, see map(); f is called by several threads.
    void apply(const std::vector<AnyIndexedTensor>& operands,
               const std::function<void(const std::vector<const void*>& inputs, void* results, std::int64_t count)>& f, bool accumulate,
               MapOver over);
    /// The plan of this = right + beta * this as text. Local.
    std::string explain(const AnyExpression& right, const Number& beta) const;
    /// Likewise on another number of ranks, see IndexedTensor::explain_on(). Local.
    std::string explain_on(std::int64_t ranks, const AnyExpression& right) const;
    /// The tensor and its labels.
    const Factor& factor() const { return terms()[0].factors[0]; }
};

/// The terms of an expression where a sparse tensor stores elements, or where it stores none; see where() and where_not() with a type.
AnyExpression masked(const AnyIndexedTensor& mask, bool is_complement, AnyExpression right);
/// The sum over all labels, on every rank. Collective.
Number total(const AnyExpression& right);
/// Labels for all dimensions, none of them repeated.
Labels all_labels(int order);

/// The product of tensors as a new one: sparse if all operands are, or if one that is has the labels of the output and no others, else
/// dense. Collective. @throws InvalidArgument as einsum() with a type
AnyTensor einsum(const std::vector<AnyIndexedTensor>& operands, const Labels& output, std::string name = "");
/// Likewise of a text.
AnyTensor einsum(const std::string& text, const std::vector<const AnyTensor*>& operands);
/// As concatenated() with a type. @throws InvalidArgument also for tensors of several types, or sparse ones
AnyTensor concatenated(int dimension, const std::vector<const AnyTensor*>& parts);
/// As transfer() with a type: a copy on another world, in the storage of the source.
AnyTensor transfer(ElementType element, const World& meeting, const AnyTensor& source, const World& target);
/// Complex conjugate of every element; keeps the symmetry. Collective.
AnyTensor conj(const AnyTensor& A);
/// Real part; a hermitian tree becomes symmetric. Collective. @throws InvalidArgument for real elements
AnyTensor real(const AnyTensor& A);
/// Imaginary part; a hermitian node becomes antisymmetric. Collective. @throws InvalidArgument for real elements
AnyTensor imag(const AnyTensor& A);

}  // namespace arges
