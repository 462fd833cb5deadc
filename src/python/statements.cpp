// Expressions, statements, plans, functions of elements.
#include "python/bindings.hpp"

#include "python/arrays.hpp"

namespace arges::python {

namespace {

std::vector<Labels> all_labels_of(const std::vector<nb::object>& labels) {
    std::vector<Labels> result;
    for (const auto& own : labels) result.push_back(labels_of(own));
    return result;
}

ExpressionHandle projected(ExpressionHandle right, int projection) {
    for (auto& term : right.terms()) term.projection = static_cast<Projection>(projection);
    return right;
}

ExpressionHandle vouched(ExpressionHandle right, nb::handle labels, bool summed) {
    const auto names = labels_of(labels).names();
    for (auto& term : right.terms()) {
        auto& list = summed ? term.summed : term.repeated;
        list.insert(list.end(), names.begin(), names.end());
    }
    return right;
}

/// f is called with an array to fill, and one for each operand.
void apply(const TensorHandle& left, nb::handle labels, const std::vector<TensorHandle>& operands, const std::vector<nb::object>& of,
           const nb::callable& f, bool accumulate, int over) {
    std::vector<ElementType> types;
    for (const auto& operand : operands) types.push_back(operand.element());
    const auto result_type = left.element();
    const auto call = [&](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
        const nb::gil_scoped_acquire hold;
        nb::list arguments;
        arguments.append(array_over(results, result_type, {count}, nb::none()));
        for (std::size_t i = 0; i < inputs.size(); ++i)
            arguments.append(array_over(const_cast<void*>(inputs[i]), types[i], {count}, nb::none()));
        f(*nb::tuple(arguments));
    };
    // Errors of Python are told as the library's own, which all ranks see; the interpreter's lock is free for the threads that call.
    const auto guarded = [&](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
        std::string message;
        {
            const nb::gil_scoped_acquire hold;
            try {
                call(inputs, results, count);
            } catch (nb::python_error& error) {
                message = "the function of elements: " + nb::cast<std::string>(error.type().attr("__name__")) + ": " +
                          nb::cast<std::string>(nb::str(error.value()));
            }
        }
        if (!message.empty()) throw InvalidArgument(message);
    };
    const auto names = labels_of(labels);
    const auto others = all_labels_of(of);
    const OutsideInterpreter outside;
    handles::apply(left, names, operands, others, guarded, accumulate, static_cast<MapOver>(over));
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
void run_over(const TensorHandle& left, const Labels& labels, const ExpressionHandle& right, bool accumulate) {
    using T = typename A::value_type;
    std::optional<Expression<T>> fitting;
    std::optional<Factor> target;
    left.world().agree([&] {
        fitting = right.of<T>();
        if (left.element() != element_type_of<T>())
            throw InvalidArgument(left.title() + ": its elements are " + to_string(left.element()) + ", those of the algebra " +
                                  to_string(element_type_of<T>()) + "; convert the tensor");
        target = left.factor(labels);
    });
    if (accumulate)
        over<A>(IndexedTensor<T>(*target)) += *fitting;
    else
        over<A>(IndexedTensor<T>(*target)) = *fitting;
}

void run_algebra(const std::string& algebra, const TensorHandle& left, nb::handle labels, const ExpressionHandle& right, bool accumulate) {
    const auto names = labels_of(labels);
    const OutsideInterpreter outside;
    const bool is_integer = left.element() == ElementType::int64;
    const auto run = [&]<class Real, class Integer>() {
        if (is_integer)
            run_over<Integer>(left, names, right, accumulate);
        else
            run_over<Real>(left, names, right, accumulate);
    };
    if (algebra == "min_plus") return run.template operator()<Tropical<double, false>, Tropical<std::int64_t, false>>();
    if (algebra == "max_plus") return run.template operator()<Tropical<double, true>, Tropical<std::int64_t, true>>();
    if (algebra == "max_times") return run_over<MaxTimes<double>>(left, names, right, accumulate);
    if (algebra == "or_and") return run_over<PlusTimes<bool>>(left, names, right, accumulate);
    if (algebra == "product") {
        if (left.element() == ElementType::complex128) return run_over<Product<std::complex<double>>>(left, names, right, accumulate);
        return run.template operator()<Product<double>, Product<std::int64_t>>();
    }
    throw InvalidArgument("algebra \"" + algebra + "\"; there are min_plus, max_plus, max_times, or_and and product");
}

}  // namespace

void bind_statements(nb::module_& module) {
    nb::class_<ExpressionHandle>(module, "Expression")
        .def_prop_ro("element", [](const ExpressionHandle& e) { return static_cast<int>(e.element()); })
        .def_prop_ro("terms", [](const ExpressionHandle& e) { return e.terms().size(); })
        .def("plus", [](const ExpressionHandle& a, const ExpressionHandle& b) { return a + b; })
        .def("times", [](const ExpressionHandle& a, const ExpressionHandle& b) { return a * b; })
        .def("scaled", [](const ExpressionHandle& a, const Number& number) { return number * a; })
        .def("conj", [](const ExpressionHandle& a) { return conjugate(a); })
        .def("projected", &projected)
        .def("vouched", &vouched)
        .def("masked", [](const ExpressionHandle& e, const TensorHandle& mask, nb::handle labels,
                          bool complement) { return handles::masked(mask, labels_of(labels), complement, e); })
        .def("total", [](const ExpressionHandle& e) {
            const auto found = outside_interpreter([&] { return handles::total(e); });
            return std::visit([](const auto& value) { return nb::cast(value); }, found);
        });
    module.def("labelled", [](const TensorHandle& tensor, nb::handle labels) { return ExpressionHandle(tensor, labels_of(labels)); });
    module.def("number", [](const Number& number, int type) { return ExpressionHandle(number, static_cast<ElementType>(type)); });
    module.def("assign", [](const TensorHandle& left, nb::handle labels, const ExpressionHandle& right, const Number& beta) {
        const auto names = labels_of(labels);
        const OutsideInterpreter outside;
        handles::assign(left, names, right, beta);
    });
    module.def("add", [](const TensorHandle& left, nb::handle labels, const ExpressionHandle& right) {
        const auto names = labels_of(labels);
        const OutsideInterpreter outside;
        handles::add(left, names, right);
    });
    module.def("scale", [](const TensorHandle& left, nb::handle labels, const Number& number) {
        const auto names = labels_of(labels);
        const OutsideInterpreter outside;
        handles::scale(left, names, number);
    });
    module.def("divide", [](const TensorHandle& left, nb::handle labels, const ExpressionHandle& divisor) {
        const auto names = labels_of(labels);
        const OutsideInterpreter outside;
        handles::divide(left, names, divisor);
    });
    module.def("explain", [](const TensorHandle& left, nb::handle labels, const ExpressionHandle& right, const Number& beta,
                             std::int64_t ranks) { return handles::explain(left, labels_of(labels), right, beta, ranks); });
    module.def("einsum", [](const std::vector<TensorHandle>& operands, const std::vector<nb::object>& labels, nb::handle output) {
        const auto names = all_labels_of(labels);
        const auto out = labels_of(output);
        const OutsideInterpreter outside;
        return handles::einsum(operands, names, out);
    });
    module.def("apply", &apply);
    module.def("run_algebra", &run_algebra);
}

}  // namespace arges::python
