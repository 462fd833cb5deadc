#include "handles/statement_handle.hpp"

#include "arges/error.hpp"

#include <map>
#include <optional>
#include <set>

namespace arges::handles {

namespace {

template <class F>
decltype(auto) with_types(ElementType a, ElementType b, F&& f) {
    return with_element_type(
        a, [&]<class A>() -> decltype(auto) { return with_element_type(b, [&]<class B>() { return f.template operator()<A, B>(); }); });
}

bool holds(ElementType wide, ElementType narrow) {
    return with_types(wide, narrow, []<class W, class N>() { return std::is_same_v<W, N> || is_lossless<N, W>; });
}

}  // namespace

ElementType common_type(ElementType a, ElementType b) {
    using enum ElementType;
    for (auto type : {boolean, int16, int32, int64, float32, float64, complex64, complex128})
        if (holds(type, a) && holds(type, b)) return type;
    throw InvalidArgument("no element type has the numbers of both " + to_string(a) + " and " + to_string(b) +
                          "; convert one of them first");
}

ExpressionHandle::ExpressionHandle(const TensorHandle& tensor, const Labels& labels)
    : held_(tensor.visit([&](const auto& t) -> Held { return static_cast<Expression<element_of<decltype(t)>>>(t[labels]); })) {}

ExpressionHandle::ExpressionHandle(const Number& number, ElementType element)
    : held_(with_element_type(element, [&]<class T>() -> Held { return Expression<T>(element_from<T>(number)); })) {}

ExpressionHandle ExpressionHandle::as(ElementType element) const {
    if (element == this->element()) return *this;
    return with_element_type(element, [&]<class T>() -> ExpressionHandle {
        return visit([&]<class S>(const Expression<S>& own) -> ExpressionHandle {
            if constexpr (is_lossless<S, T> && !std::is_same_v<S, T>)
                return Expression<T>(own);
            else
                throw InvalidArgument("an expression of type " + to_string(element_type_of<S>()) + " in a statement of type " +
                                      to_string(element_type_of<T>()) + ", which does not have all its numbers; convert its tensors first");
        });
    });
}

ExpressionHandle operator+(const ExpressionHandle& a, const ExpressionHandle& b) {
    return with_element_type(common_type(a.element(), b.element()), [&]<class T>() -> ExpressionHandle { return a.of<T>() + b.of<T>(); });
}

ExpressionHandle operator*(const ExpressionHandle& a, const ExpressionHandle& b) {
    return with_element_type(common_type(a.element(), b.element()), [&]<class T>() -> ExpressionHandle { return a.of<T>() * b.of<T>(); });
}

ExpressionHandle operator*(const Number& number, const ExpressionHandle& a) {
    using enum ElementType;
    auto type = a.element();
    const bool is_integer = type >= int16 && type <= int64;
    if (type == boolean) type = std::holds_alternative<std::int64_t>(number) ? int64 : common_type(type, float64);
    if (std::holds_alternative<double>(number) && is_integer) type = common_type(type, float64);
    if (std::holds_alternative<std::complex<double>>(number)) type = common_type(type, is_integer ? complex128 : complex64);
    return with_element_type(type, [&]<class T>() -> ExpressionHandle {
        auto result = a.of<T>();
        result.scale(element_from<T>(number));
        return result;
    });
}

ExpressionHandle conjugate(const ExpressionHandle& a) {
    return a.visit([](const auto& own) -> ExpressionHandle { return conj(own); });
}

ExpressionHandle masked(const TensorHandle& mask, const Labels& labels, bool is_complement, ExpressionHandle right) {
    auto factor = mask.factor(labels);
    factor.is_mask = true;
    factor.is_complement = is_complement;
    for (auto& term : right.terms()) term.factors.push_back(factor);
    return right;
}

void assign(const TensorHandle& left, const Labels& labels, const ExpressionHandle& right, const Number& beta) {
    with_element_type(left.element(), [&]<class T>() {
        std::optional<Expression<T>> fitting;
        std::optional<Factor> target;
        T factor{};
        left.world().agree([&] {
            fitting = right.of<T>();
            target = left.factor(labels);
            factor = element_from<T>(beta);
        });
        IndexedTensor<T>(*target).assign(*fitting, factor);
    });
}

void add(const TensorHandle& left, const Labels& labels, const ExpressionHandle& right) {
    with_element_type(left.element(), [&]<class T>() {
        std::optional<Expression<T>> fitting;
        std::optional<Factor> target;
        left.world().agree([&] {
            fitting = right.of<T>();
            target = left.factor(labels);
        });
        IndexedTensor<T>(*target) += *fitting;
    });
}

void scale(const TensorHandle& left, const Labels& labels, const Number& number) {
    with_element_type(left.element(), [&]<class T>() {
        std::optional<Factor> target;
        T factor{};
        left.world().agree([&] {
            target = left.factor(labels);
            factor = element_from<T>(number);
        });
        IndexedTensor<T>(*target).assign(Expression<T>(), factor);
    });
}

void divide(const TensorHandle& left, const Labels& labels, const ExpressionHandle& divisor) {
    with_element_type(left.element(), [&]<class T>() {
        std::optional<Expression<T>> fitting;
        std::optional<Factor> target;
        left.world().agree([&] {
            if constexpr (std::is_integral_v<T>)
                throw InvalidArgument(left.title() + ": division of elements of type " + to_string(left.element()) +
                                      "; convert the tensor to a type with fractions");
            fitting = divisor.of<T>();
            target = left.factor(labels);
        });
        statements::divide(*target, fitting->terms());
    });
}

std::string explain(const TensorHandle& left, const Labels& labels, const ExpressionHandle& right, const Number& beta, std::int64_t ranks) {
    return with_element_type(left.element(), [&]<class T>() {
        const IndexedTensor<T> target(left.factor(labels));
        if (ranks > 0) return target.explain_on(ranks, right.of<T>());
        return target.explain(right.of<T>(), element_from<T>(beta));
    });
}

Number total(const ExpressionHandle& right) {
    return right.visit([]<class T>(const Expression<T>& own) -> Number {
        T result{};
        statements::total(own.terms(), element_kernels<T>(), &result);
        return number_from(result);
    });
}

TensorHandle einsum(const std::vector<TensorHandle>& operands, const std::vector<Labels>& labels, const Labels& output) {
    if (operands.empty()) throw InvalidArgument("einsum without operands; give a tensor for each");
    std::optional<ExpressionHandle> product;
    std::vector<std::int64_t> extents;
    bool is_sparse = false;
    operands[0].world().agree([&] {
        bool all_sparse = true;
        const std::set<std::string> wanted(output.names().begin(), output.names().end());
        if (operands.size() != labels.size())
            throw InvalidArgument("einsum: labels for " + std::to_string(labels.size()) + " operands, but " +
                                  std::to_string(operands.size()) + " are given");
        std::map<std::string, std::int64_t> extent;
        for (std::size_t o = 0; o < operands.size(); ++o) {
            const auto& names = labels[o].names();
            const auto& lengths = operands[o].extents();
            if (names.size() != lengths.size())
                throw InvalidArgument("einsum: operand " + std::to_string(o + 1) + " has " + std::to_string(lengths.size()) +
                                      " dimensions, but " + std::to_string(names.size()) + " labels");
            for (std::size_t d = 0; d < names.size(); ++d) {
                const auto known = extent.emplace(names[d], lengths[d]).first->second;
                if (known != lengths[d])
                    throw InvalidArgument("einsum: label " + names[d] + " of operand " + std::to_string(o + 1) + " has the extent " +
                                          std::to_string(lengths[d]) + ", elsewhere " + std::to_string(known) + "; make them equal");
            }
            all_sparse = all_sparse && operands[o].is_sparse();
            const bool has_output = names.size() == wanted.size() && std::set<std::string>(names.begin(), names.end()) == wanted;
            is_sparse = is_sparse || (operands[o].is_sparse() && has_output);
            const ExpressionHandle factor(operands[o], labels[o]);
            product = product ? *product * factor : factor;
        }
        for (const auto& name : output.names()) {
            const auto found = extent.find(name);
            if (found == extent.end()) throw InvalidArgument("einsum: label " + name + " of the output is on no operand");
            extents.push_back(found->second);
        }
        is_sparse = is_sparse || all_sparse;
    });
    auto result = made_tensor(product->element(), is_sparse && !extents.empty(), operands[0].world(), extents, {}, "");
    assign(result, output, *product, std::int64_t{0});
    return result;
}

TensorHandle einsum(const std::string& text, const std::vector<TensorHandle>& operands) {
    if (operands.empty()) throw InvalidArgument("einsum \"" + text + "\" without operands; give a tensor for each");
    EinsumText parsed;
    operands[0].world().agree([&] { parsed = parse_einsum(text); });
    const std::vector<Labels> labels(parsed.operands.begin(), parsed.operands.end());
    return einsum(operands, labels, parsed.output);
}

void apply(const TensorHandle& left, const Labels& labels, const std::vector<TensorHandle>& operands, const std::vector<Labels>& of,
           const statements::BulkFunction& f, bool accumulate, MapOver over) {
    const auto second = [](ElementType type) { return with_element_type(type, []<class T>() { return &algebra_kernels<Second<T>>(); }); };
    statements::SparseRule rule{.over = over};
    std::optional<Factor> target;
    std::vector<Factor> factors;
    left.world().agree([&] {
        target = left.factor(labels);
        for (std::size_t o = 0; o < operands.size(); ++o) {
            factors.push_back(operands[o].factor(of.at(o)));
            rule.readers.push_back(second(operands[o].element()));
        }
        rule.result_reader = second(left.element());
    });
    statements::apply(*target, factors, left.kernels(), f, accumulate, rule);
}

}  // namespace arges::handles
