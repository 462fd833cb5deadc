// Expressions, statements, plans, functions of elements.
#include "python/bindings.hpp"

#include "interface/statement/check_labels.hpp"
#include "python/arrays.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace arges::python {

namespace {

AnyExpression projected(AnyExpression right, int projection) {
    for (auto& term : right.terms()) term.projection = static_cast<Projection>(projection);
    return right;
}

AnyExpression vouched(AnyExpression right, nb::handle labels, bool summed) {
    const auto names = labels_of(labels).names();
    for (auto& term : right.terms()) {
        auto& list = summed ? term.summed : term.repeated;
        list.insert(list.end(), names.begin(), names.end());
    }
    return right;
}

/// Tensors with their labels.
std::vector<AnyIndexedTensor> labelled(const std::vector<const AnyTensor*>& tensors, const std::vector<nb::object>& labels) {
    std::vector<AnyIndexedTensor> result;
    for (std::size_t o = 0; o < tensors.size(); ++o) result.push_back((*tensors[o])[labels_of(labels.at(o))]);
    return result;
}

/// The function of a name, and its arguments that are numbers: None for tensors.
statements::NamedFunction named_function(const std::string& name, const std::vector<std::optional<Number>>& numbers, ElementType element) {
    statements::NamedFunction named;
    const auto found = std::find(function_names.begin(), function_names.end(), name);
    if (found == function_names.end()) throw InvalidArgument("there is no function " + name);
    named.function = static_cast<Function>(found - function_names.begin());
    for (const auto& number : numbers) named.numbers.push_back(number ? element_from(*number, element) : ElementValue());
    return named;
}

/// f is called with an array to fill, and one for each operand. @param name  of f in function_names, or none
std::string apply(const AnyTensor& left, nb::handle labels, const std::vector<const AnyTensor*>& operands,
                  const std::vector<nb::object>& of, const nb::callable& f, int over, const std::optional<std::string>& name,
                  const std::vector<std::optional<Number>>& numbers, bool explains) {
    std::vector<ElementType> types;
    for (const auto* operand : operands) types.push_back(operand->element());
    const auto result_type = left.element();
    // Errors of Python are told as the library's own, which all ranks see; the interpreter's lock is free for the threads that call.
    const auto guarded = [&](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
        std::string message;
        {
            const nb::gil_scoped_acquire hold;
            try {
                nb::list arguments;
                arguments.append(array_over(results, result_type, {count}, nb::none()));
                for (std::size_t i = 0; i < inputs.size(); ++i)
                    arguments.append(array_over(const_cast<void*>(inputs[i]), types[i], {count}, nb::none()));
                f(*nb::tuple(arguments));
            } catch (nb::python_error& error) {
                message = "the function of elements: " + nb::cast<std::string>(error.type().attr("__name__")) + ": " +
                          nb::cast<std::string>(nb::str(error.value()));
            }
        }
        if (!message.empty()) throw InvalidArgument(message);
    };
    auto target = left[labels_of(labels)];
    const auto factors = labelled(operands, of);
    statements::BulkFunction function = guarded;
    if (name) {
        auto named = named_function(*name, numbers, types.at(0));
        named.on_host = guarded;
        function = std::move(named);
    }
    const OutsideInterpreter outside;
    if (explains) {
        std::vector<Factor> all;
        for (const auto& factor : factors) all.push_back(factor.factor());
        return statements::explain(target.factor(), all, element_kernels(result_type), function);
    }
    target.apply(factors, function, false, static_cast<MapOver>(over));
    return "";
}

/// The order of elements in place of sums: Max<T> has the larger one as a sum, Min<T> the smaller one; products are sums.
template <class T, bool largest>
struct Tropical {
    using value_type = T;
    static constexpr T least = std::is_integral_v<T> ? std::numeric_limits<T>::min() : -std::numeric_limits<T>::infinity();
    static constexpr T most = std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();
    static constexpr T zero = largest ? least : most;
    static constexpr T one = T(0);
    static T add(T a, T b) {
        if (a != a || b != b) return a != a ? a : b;
        return largest ? (a > b ? a : b) : (a < b ? a : b);
    }
    static T multiply(T a, T b) { return a == zero || b == zero ? zero : PlusTimes<T>::add(a, b); }
};

/// Products in place of sums.
template <class T>
struct Product {
    using value_type = T;
    static constexpr T zero = T(1);
    static T add(T a, T b) { return PlusTimes<T>::multiply(a, b); }
};

/// The larger product in place of sums of products: most probable ways, for numbers from 0 on.
template <class T>
struct MaxTimes {
    using value_type = T;
    static constexpr T zero = T(0), one = T(1);
    static T add(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; }
    static T multiply(T a, T b) { return a * b; }
};

template <class A>
void run_over(const AnyIndexedTensor& left, const AnyExpression& right, bool accumulate) {
    using T = typename A::value_type;
    const IndexedTensor<T> target(left.factor());
    std::optional<Expression<T>> fitting;
    world_of(left.factor()).agree([&] {
        fitting = right.of<T>();
        if (left.element() != element_type_of<T>())
            throw InvalidArgument(title_of(left.factor()) + ": its elements are " + to_string(left.element()) + ", those of the algebra " +
                                  to_string(element_type_of<T>()) + "; convert the tensor");
    });
    if (accumulate)
        over<A>(target) += *fitting;
    else
        over<A>(target) = *fitting;
}

void run_algebra(const std::string& algebra, const AnyTensor& tensor, nb::handle labels, const AnyExpression& right, bool accumulate) {
    const auto left = tensor[labels_of(labels)];
    const OutsideInterpreter outside;
    const bool is_integer = left.element() == ElementType::int64;
    const auto run = [&]<class Real, class Integer>() {
        if (is_integer)
            run_over<Integer>(left, right, accumulate);
        else
            run_over<Real>(left, right, accumulate);
    };
    if (algebra == "min_plus") return run.template operator()<Tropical<double, false>, Tropical<std::int64_t, false>>();
    if (algebra == "max_plus") return run.template operator()<Tropical<double, true>, Tropical<std::int64_t, true>>();
    if (algebra == "max_times") return run_over<MaxTimes<double>>(left, right, accumulate);
    if (algebra == "or_and") return run_over<PlusTimes<bool>>(left, right, accumulate);
    if (algebra == "product") {
        if (left.element() == ElementType::complex128) return run_over<Product<std::complex<double>>>(left, right, accumulate);
        return run.template operator()<Product<double>, Product<std::int64_t>>();
    }
    throw InvalidArgument("algebra \"" + algebra + "\"; there are min_plus, max_plus, max_times, or_and and product");
}

}  // namespace

void bind_statements(nb::module_& module) {
    nb::class_<AnyExpression>(module, "Expression")
        .def_prop_ro("element", [](const AnyExpression& e) { return static_cast<int>(e.element()); })
        .def_prop_ro("terms", [](const AnyExpression& e) { return e.terms().size(); })
        .def("plus", [](const AnyExpression& a, const AnyExpression& b) { return a + b; })
        .def("times", [](const AnyExpression& a, const AnyExpression& b) { return a * b; })
        .def("scaled", [](const AnyExpression& a, const Number& number) { return number * a; })
        .def("conj", [](const AnyExpression& a) { return conj(a); })
        .def("projected", &projected)
        .def("vouched", &vouched)
        .def("masked", [](const AnyExpression& e, const AnyTensor& mask, nb::handle labels,
                          bool complement) { return masked(mask[labels_of(labels)], complement, e); })
        .def("total", [](const AnyExpression& e) {
            const auto found = outside_interpreter([&] { return total(e); });
            return std::visit([](const auto& value) { return nb::cast(value); }, found);
        });
    module.def("labelled", [](const AnyTensor& tensor, nb::handle labels) -> AnyExpression { return tensor[labels_of(labels)]; });
    module.def("number", [](const Number& number, int type) { return AnyExpression(number, static_cast<ElementType>(type)); });
    module.def("assign", [](const AnyTensor& left, nb::handle labels, const AnyExpression& right, const Number& beta) {
        auto target = left[labels_of(labels)];
        outside_interpreter([&] { target.assign(right, beta); });
    });
    module.def("add", [](const AnyTensor& left, nb::handle labels, const AnyExpression& right) {
        auto target = left[labels_of(labels)];
        outside_interpreter([&] { target += right; });
    });
    module.def("scale", [](const AnyTensor& left, nb::handle labels, const Number& number) {
        auto target = left[labels_of(labels)];
        outside_interpreter([&] { target *= number; });
    });
    module.def("divide", [](const AnyTensor& left, nb::handle labels, const AnyExpression& divisor) {
        auto target = left[labels_of(labels)];
        outside_interpreter([&] { target /= divisor; });
    });
    module.def("explain", [](const AnyTensor& left, nb::handle labels, const AnyExpression& right, const Number& beta, std::int64_t ranks) {
        const auto target = left[labels_of(labels)];
        return ranks > 0 ? target.explain_on(ranks, right) : target.explain(right, beta);
    });
    module.def("einsum", [](const std::vector<const AnyTensor*>& operands, const std::vector<nb::object>& labels, nb::handle output) {
        const auto factors = labelled(operands, labels);
        const auto out = labels_of(output);
        return outside_interpreter([&] { return einsum(factors, out); });
    });
    module.def("apply", &apply);
    module.def("run_algebra", &run_algebra);
}

}  // namespace arges::python
