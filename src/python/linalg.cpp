// Linear algebra on matricizations.
#include "python/bindings.hpp"

namespace arges::python {

namespace {

template <class T>
nb::object vector_of(const std::vector<T>& values) {
    return array_of(std::vector<double>(values.begin(), values.end()), {std::ssize(values)});
}

/// None where there is no tensor.
nb::object tensor_or_none(AnyTensor tensor) { return tensor.any_state() ? nb::cast(std::move(tensor)) : nb::none(); }

/// f(a, b) of two tensors of one type.
template <class F>
nb::object with_both(const AnyTensor& a, const AnyTensor& b, const char* what, F&& f) {
    return with_floating(a, what, [&]<class T>(const Tensor<T>& own) -> nb::object {
        a.world().agree([&] {
            if (b.is_sparse() || b.element() != a.element())
                throw InvalidArgument(std::string(what) + ": tensors of types " + to_string(a.element()) + " and " +
                                      to_string(b.element()) + "; convert them to one, dense");
        });
        return f(own, Tensor<T>(b.dense_state()));
    });
}

nb::tuple qr_of(const AnyTensor& a, const std::string& labels) {
    return with_floating(a, "qr", [&](const auto& own) {
        auto result = outside_interpreter([&] { return qr(own[labels]); });
        return nb::make_tuple(AnyTensor(std::move(result.Q)), AnyTensor(std::move(result.R)));
    });
}

nb::tuple svd_of(const AnyTensor& a, const std::string& labels, std::optional<std::int64_t> rank, double tolerance, bool vectors,
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
    if (!a.is_sparse()) return with_floating(a, "svd", run);
    return with_sparse(a, "svd", [&](const auto& own) -> nb::tuple {
        if constexpr (kernels::has_fractions<element_of<decltype(own)>>)
            return run(own);
        else
            throw InvalidArgument(a.title() + ": svd of elements of type " + to_string(a.element()) + "; convert the tensor");
    });
}

nb::tuple eigh_of(const AnyTensor& a, const std::string& labels, bool vectors, std::int64_t first, std::optional<std::int64_t> count) {
    return with_floating(a, "eigh", [&](const auto& own) {
        auto result = outside_interpreter([&] { return eigh(own[labels], {.vectors = vectors, .first = first, .count = count}); });
        return nb::make_tuple(vector_of(result.values), tensor_or_none(std::move(result.vectors)));
    });
}

nb::object solve_triangular_of(const AnyTensor& a, const std::string& a_labels, const AnyTensor& b, const std::string& b_labels,
                               bool is_right, bool is_upper, int operation, bool unit_diagonal) {
    const TriangularOptions options{is_right ? Side::right : Side::left, is_upper ? Triangle::upper : Triangle::lower,
                                    static_cast<Operation>(operation), unit_diagonal};
    return with_both(a, b, "solve_triangular", [&](const auto& matrix, const auto& right) {
        return nb::cast(AnyTensor(outside_interpreter([&] { return solve_triangular(matrix[a_labels], right[b_labels], options); })));
    });
}

}  // namespace

void bind_linalg(nb::module_& module) {
    module.def("qr", &qr_of);
    module.def("svd", &svd_of, nb::arg("a"), nb::arg("labels"), nb::arg("rank").none(), nb::arg("tolerance"), nb::arg("vectors"),
               nb::arg("randomized"), nb::arg("seed"));
    module.def("eigh", &eigh_of, nb::arg("a"), nb::arg("labels"), nb::arg("vectors"), nb::arg("first"), nb::arg("count").none());
    module.def("cholesky", [](const AnyTensor& a, const std::string& labels) {
        return with_floating(a, "cholesky",
                             [&](const auto& own) { return AnyTensor(outside_interpreter([&] { return cholesky(own[labels]); })); });
    });
    module.def("solve_positive", [](const AnyTensor& a, const std::string& a_labels, const AnyTensor& b, const std::string& b_labels) {
        return with_both(a, b, "solve_positive", [&](const auto& matrix, const auto& right) {
            return nb::cast(AnyTensor(outside_interpreter([&] { return solve_positive(matrix[a_labels], right[b_labels]); })));
        });
    });
    module.def("solve_triangular", &solve_triangular_of);
    module.def("least_squares", [](const AnyTensor& a, const std::string& a_labels, const AnyTensor& b, const std::string& b_labels,
                                   double tolerance) {
        return with_both(a, b, "least_squares", [&](const auto& matrix, const auto& right) -> nb::object {
            auto result = outside_interpreter([&] { return least_squares(matrix[a_labels], right[b_labels], {.tolerance = tolerance}); });
            return nb::make_tuple(AnyTensor(std::move(result.X)), result.rank, result.residual);
        });
    });
}

}  // namespace arges::python
