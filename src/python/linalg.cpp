// Linear algebra on matricizations.
#include "python/bindings.hpp"

namespace arges::python {

namespace {

template <class T>
nb::object vector_of(const std::vector<T>& values) {
    return array_of(std::vector<double>(values.begin(), values.end()), {std::ssize(values)});
}

/// None where there is no tensor.
template <class T>
nb::object tensor_or_none(Tensor<T>&& tensor) {
    return tensor.state() ? nb::cast(TensorHandle(std::move(tensor))) : nb::none();
}

/// f(a, b) of two tensors of one type.
template <class F>
nb::object with_both(const TensorHandle& a, const TensorHandle& b, const char* what, F&& f) {
    return a.visit_floating(what, [&](const auto& own) -> nb::object {
        using Own = std::remove_cvref_t<decltype(own)>;
        Own other;
        own.world().agree([&] {
            b.visit([&](const auto& held) {
                if constexpr (std::is_same_v<std::remove_cvref_t<decltype(held)>, Own>)
                    other = Own(held.state());
                else
                    throw InvalidArgument(std::string(what) + ": tensors of types " + to_string(a.element()) + " and " +
                                          to_string(b.element()) + "; convert them to one, dense");
            });
        });
        return f(own, other);
    });
}

nb::tuple qr_of(const TensorHandle& a, const std::string& labels) {
    return a.visit_floating("qr", [&](const auto& own) {
        auto result = outside_interpreter([&] { return qr(own[labels]); });
        return nb::make_tuple(TensorHandle(std::move(result.Q)), TensorHandle(std::move(result.R)));
    });
}

nb::tuple svd_of(const TensorHandle& a, const std::string& labels, std::optional<std::int64_t> rank, double tolerance, bool vectors,
                 bool randomized, std::uint64_t seed) {
    const SvdOptions options{.rank = rank,
                             .tolerance = tolerance,
                             .left = vectors,
                             .right = vectors,
                             .method = randomized ? SvdMethod::randomized : SvdMethod::exact,
                             .seed = seed};
    const auto run = [&](const auto& own) {
        auto result = outside_interpreter([&] { return svd(own[labels], options); });
        return nb::make_tuple(tensor_or_none(std::move(result.U)), vector_of(result.s), tensor_or_none(std::move(result.Vh)),
                              result.discarded);
    };
    if (!a.is_sparse()) return a.visit_floating("svd", run);
    return a.visit_sparse("svd", [&](const auto& own) -> nb::tuple {
        if constexpr (kernels::has_fractions<handles::element_of<decltype(own)>>)
            return run(own);
        else
            throw InvalidArgument(a.title() + ": svd of elements of type " + to_string(a.element()) + "; convert the tensor");
    });
}

nb::tuple eigh_of(const TensorHandle& a, const std::string& labels, bool vectors, std::int64_t first, std::optional<std::int64_t> count) {
    return a.visit_floating("eigh", [&](const auto& own) {
        auto result = outside_interpreter([&] { return eigh(own[labels], {.vectors = vectors, .first = first, .count = count}); });
        return nb::make_tuple(vector_of(result.values), tensor_or_none(std::move(result.vectors)));
    });
}

nb::object solve_triangular_of(const TensorHandle& a, const std::string& a_labels, const TensorHandle& b, const std::string& b_labels,
                               bool is_right, bool is_upper, int operation, bool unit_diagonal) {
    const TriangularOptions options{is_right ? Side::right : Side::left, is_upper ? Triangle::upper : Triangle::lower,
                                    static_cast<Operation>(operation), unit_diagonal};
    return with_both(a, b, "solve_triangular", [&](const auto& matrix, const auto& right) {
        return nb::cast(TensorHandle(outside_interpreter([&] { return solve_triangular(matrix[a_labels], right[b_labels], options); })));
    });
}

}  // namespace

void bind_linalg(nb::module_& module) {
    module.def("qr", &qr_of);
    module.def("svd", &svd_of, nb::arg("a"), nb::arg("labels"), nb::arg("rank").none(), nb::arg("tolerance"), nb::arg("vectors"),
               nb::arg("randomized"), nb::arg("seed"));
    module.def("eigh", &eigh_of, nb::arg("a"), nb::arg("labels"), nb::arg("vectors"), nb::arg("first"), nb::arg("count").none());
    module.def("cholesky", [](const TensorHandle& a, const std::string& labels) {
        return a.visit_floating("cholesky",
                                [&](const auto& own) { return TensorHandle(outside_interpreter([&] { return cholesky(own[labels]); })); });
    });
    module.def(
        "solve_positive", [](const TensorHandle& a, const std::string& a_labels, const TensorHandle& b, const std::string& b_labels) {
            return with_both(a, b, "solve_positive", [&](const auto& matrix, const auto& right) {
                return nb::cast(TensorHandle(outside_interpreter([&] { return solve_positive(matrix[a_labels], right[b_labels]); })));
            });
        });
    module.def("solve_triangular", &solve_triangular_of);
    module.def("least_squares", [](const TensorHandle& a, const std::string& a_labels, const TensorHandle& b, const std::string& b_labels,
                                   double tolerance) {
        return with_both(a, b, "least_squares", [&](const auto& matrix, const auto& right) -> nb::object {
            auto result = outside_interpreter([&] { return least_squares(matrix[a_labels], right[b_labels], {.tolerance = tolerance}); });
            return nb::make_tuple(TensorHandle(std::move(result.X)), result.rank, result.residual);
        });
    });
}

}  // namespace arges::python
