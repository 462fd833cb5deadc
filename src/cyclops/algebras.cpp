// Algebras of the program: tables of kernels whose elements are bytes and whose operations are the program's.
#include "arges/algebra.hpp"
#include "arges/error.hpp"
#include "cyclops/body.hpp"

#include <algorithm>
#include <deque>

namespace CTF_int {

using arges::ElementKernels;
using arges::InvalidArgument;

namespace {

/// What the tables call now: one program, one call of the library at a time.
const Operations* now = nullptr;

/// An element of so many bytes.
template <std::size_t n>
struct Bytes {
    std::array<unsigned char, n> all;
};

template <class F>
F* operation(F* f, const char* what) {
    if (f == nullptr)
        throw InvalidArgument(std::string("elements without ") + what + "; give the tensor an algebra that has it: Monoid, Group, " +
                              "Semiring or Ring");
    return f;
}

/// The operations of now, on elements of so many bytes.
template <std::size_t n>
struct Current {
    using value_type = Bytes<n>;
    static inline Bytes<n> zero{}, one{};
    static Bytes<n> add(const Bytes<n>& a, const Bytes<n>& b) {
        Bytes<n> result{};
        operation(now->add, "a sum")(now->adds, &a, &b, &result);
        return result;
    }
    /// Movements multiply by one, or its negative, where a symmetry says so; a group knows these two products.
    static Bytes<n> multiply(const Bytes<n>& a, const Bytes<n>& b) {
        const auto same = [&](const Bytes<n>& factor) { return std::memcmp(&a, &factor, n) == 0; };
        if (now->multiply == nullptr && now->negate != nullptr) {
            if (same(one)) return b;
            if (same(negate(one))) return negate(b);
        }
        Bytes<n> result{};
        operation(now->multiply, "a product")(now->multiplies, &a, &b, &result);
        return result;
    }
    static Bytes<n> negate(const Bytes<n>& a) {
        Bytes<n> result{};
        operation(now->negate, "negatives")(now->negates, &a, &result);
        return result;
    }
    static const ElementKernels& table() {
        static const auto kernels = arges::kernels::Generic<Current>::table("");
        return kernels;
    }
};

/// Calls f with the smallest of the sizes that hold an element.
template <class F>
decltype(auto) with_bytes(std::size_t size, F&& f) {
    if (size <= 1) return f.template operator()<1>();
    if (size <= 2) return f.template operator()<2>();
    if (size <= 4) return f.template operator()<4>();
    if (size <= 8) return f.template operator()<8>();
    if (size <= 16) return f.template operator()<16>();
    if (size <= 32) return f.template operator()<32>();
    if (size <= 64) return f.template operator()<64>();
    if (size <= 512) return f.template operator()<512>();
    throw InvalidArgument("elements of " + std::to_string(size) + " bytes; ctf.hpp has tensors of elements of up to 512 bytes");
}

/// An algebra of the program with its table.
struct Algebra {
    std::unique_ptr<algstrct> original;
    std::vector<char> zero{}, one{};
    ElementKernels own{};
    const ElementKernels* kernels = nullptr;
};

std::deque<Algebra>& algebras() {
    static std::deque<Algebra> all;
    return all;
}

/// Names for messages and for what tells tables apart.
std::deque<std::string>& names() {
    static std::deque<std::string> all;
    return all;
}

bool equal(const Operations& a, const Operations& b) {
    return *a.type == *b.type && a.is_plain == b.is_plain && a.adds == b.adds && a.multiplies == b.multiplies && a.negates == b.negates &&
           (a.add == nullptr) == (b.add == nullptr) && (a.multiply == nullptr) == (b.multiply == nullptr) &&
           (a.negate == nullptr) == (b.negate == nullptr) && a.zero == b.zero && a.one == b.one;
}

void make_table(Algebra& algebra) {
    const auto& operations = algebra.original->operations;
    with_bytes(operations.size, [&]<std::size_t n>() {
        algebra.own = Current<n>::table();
        algebra.zero = operations.zero;
        algebra.zero.resize(n);
        algebra.one = operations.one;
        if (algebra.one.empty()) algebra.one.assign(operations.size, algebra.zero[0] == 1 ? 2 : 1);  // stands for one in comparisons only
        algebra.one.resize(n);
    });
    auto& kernels = algebra.own;
    kernels.name = names().emplace_back(operations.type->name()).c_str();
    kernels.type = operations.type;
    kernels.zero = algebra.zero.data();
    kernels.one = algebra.one.data();
    kernels.has_sum = operations.add != nullptr;
    kernels.has_product = operations.multiply != nullptr;
    kernels.has_negative = operations.negate != nullptr;
    if (operations.element == Element::other) return;
    const auto& numbers = arges::element_kernels(static_cast<arges::ElementType>(operations.element));
    kernels.reductions = numbers.reductions;
    kernels.as_number = numbers.as_number;
    kernels.text = numbers.text;
    kernels.agree = numbers.agree;
    kernels.is_larger = numbers.is_larger;
}

const Algebra* found(const ElementKernels& kernels) {
    for (const auto& algebra : algebras())
        if (algebra.kernels == &kernels.on_host()) return &algebra;
    return nullptr;
}

}  // namespace

const ElementKernels& kernels_of(const algstrct& algebra) {
    for (const auto& known : algebras())
        if (equal(known.original->operations, algebra.operations)) return *known.kernels;
    auto& made = algebras().emplace_back(Algebra{std::unique_ptr<algstrct>(algebra.clone())});
    if (algebra.operations.is_plain) {
        made.kernels = &arges::element_kernels(static_cast<arges::ElementType>(algebra.operations.element));
    } else {
        make_table(made);
        made.kernels = &made.own;
    }
    return *made.kernels;
}

algstrct* algebra_of(const ElementKernels& kernels) {
    const auto* const algebra = found(kernels);
    return algebra == nullptr ? nullptr : algebra->original.get();
}

bool is_own(const ElementKernels& kernels) {
    const auto* const algebra = found(kernels);
    return algebra != nullptr && algebra->kernels == &algebra->own;
}

void use(const ElementKernels& kernels) {
    if (!is_own(kernels)) return;
    const auto& algebra = *found(kernels);
    now = &algebra.original->operations;
    with_bytes(now->size, [&]<std::size_t n>() {
        std::memcpy(&Current<n>::zero, algebra.zero.data(), n);
        std::memcpy(&Current<n>::one, algebra.one.data(), n);
    });
}

std::int64_t program_bytes(const ElementKernels& kernels) {
    return is_own(kernels) ? static_cast<std::int64_t>(found(kernels)->original->operations.size) : kernels.size;
}

arges::ElementValue element_of(const arges::Number& number, const ElementKernels& kernels) {
    if (!is_own(kernels)) return arges::element_from(number, *arges::element_type_of(kernels));
    const auto& operations = found(kernels)->original->operations;
    arges::ElementValue result(kernels.size);
    const auto* const whole = std::get_if<std::int64_t>(&number);
    const auto* const real = std::get_if<double>(&number);
    if (whole != nullptr && operations.of_whole != nullptr)
        operations.of_whole(*whole, result.data());
    else if (real != nullptr && operations.of_real != nullptr)
        operations.of_real(*real, result.data());
    else if (whole != nullptr && *whole == 1 && !operations.one.empty())
        std::memcpy(result.data(), operations.one.data(), operations.one.size());
    else
        throw InvalidArgument("a number as an element of the type " + std::string(operations.type->name()) +
                              ", which has none; put the element into a Scalar");
    return result;
}

Values::Values(const ElementKernels& kernels, const void* program, std::int64_t count) : Values(kernels) {
    bytes_.resize(count * size_);
    const auto bytes = program_bytes(kernels);
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(at(i), static_cast<const char*>(program) + i * bytes, bytes);
}

void Values::give(void* program) const {
    const auto bytes = program_bytes(*kernels_);
    for (std::int64_t i = 0; i < count(); ++i) std::memcpy(static_cast<char*>(program) + i * bytes, bytes_.data() + i * size_, bytes);
}

}  // namespace CTF_int
