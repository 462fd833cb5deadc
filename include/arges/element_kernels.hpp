/// @file element_kernels.hpp
/// What the library does with elements: bulk operations over arrays, as a table for each element type and algebra. Statements, movements
/// and products are compiled once and reach elements through these tables only.
#pragma once

#include "arges/memory_space.hpp"
#include "arges/scalar.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

namespace arges::local {

/// One axis of a transfer: entry i reads at from_offset(i) and writes at to_offset(i).
struct TransferAxis {
    std::int64_t count = 0;                ///< number of entries
    std::int64_t from_stride = 0;          ///< entry i reads at i * from_stride when there is no list
    std::int64_t to_stride = 0;            ///< entry i writes at i * to_stride when there is no list
    const std::int64_t* from = nullptr;    ///< explicit offsets (both lists or none)
    const std::int64_t* to = nullptr;      ///< explicit offsets (both lists or none)
    const std::uint8_t* factor = nullptr;  ///< per entry: bit 0 negates, bit 1 conjugates; null: none
};

/// What a transfer does to the target besides writing.
struct TransferMode {
    bool conjugate = false;   ///< conjugate every element that is read
    bool accumulate = false;  ///< add to the target
};

/// Elements that go one by one: entry i is read at from[i] and written at to[i].
struct ListedTransfer {
    std::int64_t count = 0;                 ///< number of entries
    const std::int64_t* from = nullptr;     ///< offsets; null: i
    const std::int64_t* to = nullptr;       ///< offsets; null: i
    const std::uint8_t* factors = nullptr;  ///< per entry: bit 0 negates, bit 1 conjugates; null: none
    std::uint8_t factor = 0;                ///< of all entries
};

/// An axis of the iteration space of a product with its stride in each operand (0 and unused where the operand lacks it).
struct FoldAxis {
    std::int64_t size = 1;      ///< number of entries
    std::int64_t stride_a = 0;  ///< in the first operand
    std::int64_t stride_b = 0;  ///< in the second operand
    std::int64_t stride_c = 0;  ///< in the result
};

/// The axes of a contraction, grouped by the operands that have them.
struct FoldedContraction {
    std::vector<FoldAxis> m{};      ///< in A and C
    std::vector<FoldAxis> n{};      ///< in B and C
    std::vector<FoldAxis> k{};      ///< in A and B, summed over
    std::vector<FoldAxis> batch{};  ///< in A, B and C
};

struct RowProduct;
struct SparseLoop;

/// Elements at equal distances, each of which may stand for several.
struct ElementRow {
    std::int64_t count = 0;           ///< of elements
    std::int64_t stride = 1;          ///< element i is at i * stride
    const double* weights = nullptr;  ///< how many elements each one stands for; null: one
};

/// What is summed over a row.
enum class RowSum : std::uint8_t {
    value,         ///< the elements
    cancelled,     ///< elements minus themselves: zero, or NaN where they are not finite
    real,          ///< the real parts of pairs of conjugate elements
    magnitude,     ///< absolute values
    square,        ///< squares of absolute values
    product,       ///< conj(element) times that of another row
    real_product,  ///< likewise, the real part as above
};

/// A sum with double precision at least; one of the numbers, by the element type.
struct WideSum {
    std::complex<double> number{};  ///< of elements with fractions, and absolute values
    long double extended = 0;       ///< of long double
    std::int64_t integer = 0;       ///< of integers, which wrap around

    /// The same number of a norm.
    long double real() const { return static_cast<long double>(number.real()) + extended; }
};

/// Which of two elements is the better one; NaN is better than all others.
enum class Best : std::uint8_t { least, largest, magnitude };

}  // namespace arges::local

namespace arges::sparse {
struct NonzeroSums;
struct NonzeroFit;
struct NonzeroLosses;
}  // namespace arges::sparse

namespace arges {

struct SparseKernels;
enum class Function : std::uint8_t;
struct FunctionOperand;
/// @cond
/// Sums and extrema of numbers. What takes rows is in the memory space of the elements.
struct Reductions {
    /// The sum over a row, of 2^exponent times each element for RowSum::square.
    local::WideSum (*sum_row)(local::RowSum what, const local::ElementRow& row, const void* elements, const void* others,
                              int exponent) = nullptr;
    /// Where the first of the best of `count` elements is, at least one.
    std::int64_t (*place_of_best)(local::Best what, const void* elements, std::int64_t count) = nullptr;
    /// Is a better than b?
    bool (*is_better)(local::Best what, const void* a, const void* b) = nullptr;
    /// Absolute value; NaN where a part is NaN.
    long double (*magnitude)(const void* element) = nullptr;
    /// A sum as an element.
    void (*narrow)(const local::WideSum& sum, void* element) = nullptr;
    /// Writes an element as its type is written.
    void (*print)(std::ostream& stream, const void* element) = nullptr;
};
/// Those of a type of numbers, which the library has.
template <class T>
const Reductions& reductions();

struct PairSplit;
struct PairUnpack;
/// @endcond

/// One element of any type.
class ElementValue {
public:
    /// No element.
    ElementValue() = default;
    /// Room for an element of so many bytes, which are zero.
    explicit ElementValue(std::int64_t bytes) : bytes_(bytes), large_(bytes_ > sizeof small_ ? bytes_ / sizeof(Piece) + 1 : 0) {}
    /// A copy of an element of so many bytes.
    ElementValue(const void* element, std::int64_t bytes) : ElementValue(bytes) { std::memcpy(data(), element, bytes_); }
    /// A copy of an element.
    template <class T>
    static ElementValue of(const T& element) {
        return ElementValue(&element, sizeof(T));
    }
    /// Where it is.
    void* data() { return large_.empty() ? static_cast<void*>(small_.data()) : large_.data(); }
    /// Where it is; null if there is none.
    const void* data() const { return bytes_ == 0 ? nullptr : large_.empty() ? static_cast<const void*>(small_.data()) : large_.data(); }
    /// Its bytes.
    std::int64_t size() const { return bytes_; }

private:
    struct alignas(std::max_align_t) Piece {  // std::max_align_t may have no name of its own, which nvcc 13 takes ill in a vector
        std::byte bytes[sizeof(std::max_align_t)];
    };
    std::size_t bytes_ = 0;
    std::array<Piece, 2> small_{};
    std::vector<Piece> large_;
};

/// The operations on elements of one type under one algebra. Arrays and single elements are given by address; alpha and beta are single
/// elements. Where beta is the algebra's zero what it would multiply is not read. A function that an algebra cannot have is null.
///
/// Elements of tensors are touched by these functions alone. With a `space` of their own they lie there, and the functions that take arrays
/// take those of the space and of the host; single elements, lists and weights are always on the host.
struct ElementKernels {
    const char* name = "";                   ///< for messages: the type, and the algebra unless it is plus-times
    const std::type_info* type = nullptr;    ///< of an element
    std::int64_t size = 0;                   ///< bytes of an element
    const MemorySpace* space = nullptr;      ///< where tensors have their elements; null: on the host
    const ElementKernels* host = nullptr;    ///< of a table with a space, the one for the host; see on_host()
    bool is_complex = false;                 ///< elements have conjugates that differ from them
    bool is_field = false;                   ///< halves exist, and kernels for the plans that form parts of operands
    bool has_negative = false;               ///< else no antisymmetric trees
    bool has_product = false;                ///< else sums only
    bool has_sum = false;                    ///< else elements are only moved
    const void* zero = nullptr;              ///< neutral element of the sum
    const void* one = nullptr;               ///< neutral element of the product; null where there is none
    const SparseKernels* sparse = nullptr;   ///< loops over nonzeros
    const Reductions* reductions = nullptr;  ///< sums and extrema; null where there are none
    const std::type_info* actor = nullptr;   ///< elements of which type act on these, see Action; null: none do

    /// The table of these elements for the host's memory.
    const ElementKernels& on_host() const { return host == nullptr ? *this : *host; }
    /// Is it the neutral element of the sum?
    bool (*is_zero)(const void* element) = nullptr;
    /// Is it the neutral element of the product?
    bool (*is_one)(const void* element) = nullptr;
    /// Its value, about, for messages and comparisons of structure.
    std::complex<double> (*as_number)(const void* element) = nullptr;
    /// Its value for messages.
    std::string (*text)(const void* element) = nullptr;
    /// Are two values the same but for 8 units in the last place of the larger one, and a tolerance? Two NaN are. Types without fractions:
    /// exactly.
    bool (*agree)(const void* a, const void* b, double tolerance) = nullptr;
    /// Is the magnitude of a larger?
    bool (*is_larger)(const void* a, const void* b) = nullptr;
    /// result = factor * element: the sum of `factor` elements, or minus that; in fields any number.
    void (*multiple)(double factor, const void* element, void* result) = nullptr;
    /// result = a * b.
    void (*product)(const void* a, const void* b, void* result) = nullptr;
    /// Sets `count` elements.
    void (*fill)(void* to, std::int64_t count, const void* value) = nullptr;
    /// to = beta * to on `count` elements, also for beta = 0.
    void (*scale)(void* to, std::int64_t count, const void* beta) = nullptr;
    /// to = to / divisor on `count` elements; null where there is no division.
    void (*divide)(void* to, const void* divisor, std::int64_t count) = nullptr;
    /// For every combination of axis entries: to (+)= alpha * sign * conj?(from); see local::TransferAxis. No axes mean one element. Every
    /// target is written once, except that an accumulating transfer may repeat a target in consecutive entries of a listed axis, or have an
    /// axis of target stride 0, which sums over it.
    void (*transfer)(std::span<const local::TransferAxis> axes, const void* from, void* to, const void* alpha,
                     local::TransferMode mode) = nullptr;
    /// The same for a list of elements.
    void (*transfer_listed)(const local::ListedTransfer& list, const void* from, void* to, const void* alpha,
                            local::TransferMode mode) = nullptr;
    /// to = from on `count` elements of another type; null where only the host converts. @throws InvalidArgument if values could change
    void (*convert)(const std::type_info& type, const void* from, void* to, std::int64_t count) = nullptr;
    /// results[i] = f of the operands' elements i; null in tables for the host. Operands are of this type, and so are results but for the
    /// absolute values of complex elements. @param f  one that runs_on_device() names
    void (*apply)(Function f, std::span<const FunctionOperand> operands, void* results, std::int64_t count) = nullptr;
    /// Drops the imaginary parts of `count` elements; null for real ones.
    void (*make_real)(void* data, std::int64_t count) = nullptr;
    /// C = alpha * sum over k of A * B + beta * C.
    void (*contract)(const local::FoldedContraction& f, const void* alpha, const void* a, const void* b, const void* beta,
                     void* c) = nullptr;
    /// C[m, batch] = alpha * sum over k of A[m, k, batch] + beta * C.
    void (*reduce)(const local::FoldedContraction& f, const void* alpha, const void* a, const void* beta, void* c) = nullptr;
    /// Sum of the weights of elements that are not zero; weights[i] is that of element i * stride.
    std::int64_t (*count_nonzero)(const void* elements, std::int64_t stride, std::span<const double> weights) = nullptr;
    /// Replaces every element by so many of it as weights[i] says, i being its index along `axis`.
    void (*scale_along)(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides, int axis,
                        std::span<const double> weights, void* data) = nullptr;
    /// Products with a packed pair node by rows; fields only, may be null.
    void (*multiply_rows)(const local::RowProduct& product, const void* alpha, const void* a, const void* b, void* c, std::int64_t result,
                          void* copies, std::int64_t threads) = nullptr;
    /// Fills one part of a tensor with joint pair symmetry; fields only, may be null.
    void (*split_pair)(const PairSplit& split, const void* from, void* to, const void* alpha, bool conjugate) = nullptr;
    /// Fills a dense array from a packed pair node; may be null.
    void (*unpack_pair)(const PairUnpack& pair, const void* from, void* to, const void* alpha, bool conjugate, bool accumulate) = nullptr;
    /// Nonzeros times dense factors, see local::SparseLoop, whose arrays and lists all lie in the space; null in tables for the host, which
    /// has loops of its own.
    void (*multiply_nonzeros)(const local::SparseLoop& loop) = nullptr;
    /// Sums over nonzeros that lie in the space, with rows of matrices there; null in tables for the host, which has loops of its own.
    void (*sum_nonzeros)(const sparse::NonzeroSums& sums) = nullptr;
    /// Likewise: sums[0] = sum of weight * (value - model)^2 over nonzeros, sums[1] = sum of weight * model^2. `sums` is on the host.
    void (*fit_nonzeros)(const sparse::NonzeroFit& fit, double* sums) = nullptr;
    /// Likewise: what a model costs at nonzeros, and the derivatives of that; see sparse::NonzeroLosses. @return the sum of the losses
    double (*derive_nonzeros)(const sparse::NonzeroLosses& losses) = nullptr;
};

/// The table of an element type under plus-times, for the host. The library has those of the types of ElementType; for any other one
/// include `arges/algebra.hpp`, as `arges/arges.hpp` does. Local.
template <class T>
const ElementKernels& element_kernels();

/// The table of an algebra, which `arges/algebra.hpp` makes. Local.
template <class A>
const ElementKernels& algebra_kernels();

/// @cond
template <>
const ElementKernels& element_kernels<float>();
template <>
const ElementKernels& element_kernels<double>();
template <>
const ElementKernels& element_kernels<std::complex<float>>();
template <>
const ElementKernels& element_kernels<std::complex<double>>();
extern template const ElementKernels& element_kernels<std::int16_t>();
extern template const ElementKernels& element_kernels<std::int32_t>();
extern template const ElementKernels& element_kernels<std::int64_t>();
extern template const ElementKernels& element_kernels<bool>();
/// @endcond

}  // namespace arges
