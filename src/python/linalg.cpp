// Linear algebra on matricizations.
#include "python/bindings.hpp"

namespace arges::python {

namespace {

/// None where there is no tensor.
nb::object tensor_or_none(AnyTensor tensor) { return tensor.any_state() ? nb::cast(std::move(tensor)) : nb::none(); }

nb::tuple qr_of(const AnyTensor& a, const std::string& labels) {
    auto result = outside_interpreter([&] { return qr(a[labels]); });
    return nb::make_tuple(std::move(result.Q), std::move(result.R));
}

nb::tuple svd_of(const AnyTensor& a, const std::string& labels, std::optional<std::int64_t> rank, double tolerance, bool vectors,
                 bool randomized, std::uint64_t seed) {
    const SvdOptions options{.rank = rank,
                             .tolerance = tolerance,
                             .left = vectors,
                             .right = vectors,
                             .method = randomized ? SvdMethod::randomized : SvdMethod::exact,
                             .seed = seed};
    auto result = outside_interpreter([&] { return svd(a[labels], options); });
    return nb::make_tuple(tensor_or_none(std::move(result.U)), vector_of(result.s), tensor_or_none(std::move(result.Vh)), result.discarded);
}

nb::tuple eigh_of(const AnyTensor& a, const std::string& labels, bool vectors, std::int64_t first, std::optional<std::int64_t> count) {
    auto result = outside_interpreter([&] { return eigh(a[labels], {.vectors = vectors, .first = first, .count = count}); });
    return nb::make_tuple(vector_of(result.values), tensor_or_none(std::move(result.vectors)));
}

AnyTensor solve_triangular_of(const AnyTensor& a, const std::string& a_labels, const AnyTensor& b, const std::string& b_labels,
                              bool is_right, bool is_upper, int operation, bool unit_diagonal) {
    return solve_triangular(a[a_labels], b[b_labels],
                            {is_right ? Side::right : Side::left, is_upper ? Triangle::upper : Triangle::lower,
                             static_cast<Operation>(operation), unit_diagonal});
}

nb::tuple least_squares_of(const AnyTensor& a, const std::string& a_labels, const AnyTensor& b, const std::string& b_labels,
                           double tolerance) {
    auto result = outside_interpreter([&] { return least_squares(a[a_labels], b[b_labels], {.tolerance = tolerance}); });
    return nb::make_tuple(std::move(result.X), result.rank, result.residual);
}

}  // namespace

void bind_linalg(nb::module_& module) {
    module.def("qr", &qr_of);
    module.def("svd", &svd_of, nb::arg("a"), nb::arg("labels"), nb::arg("rank").none(), nb::arg("tolerance"), nb::arg("vectors"),
               nb::arg("randomized"), nb::arg("seed"));
    module.def("eigh", &eigh_of, nb::arg("a"), nb::arg("labels"), nb::arg("vectors"), nb::arg("first"), nb::arg("count").none());
    module.def(
        "cholesky", [](const AnyTensor& a, const std::string& labels) { return cholesky(a[labels]); },
        nb::call_guard<OutsideInterpreter>());
    module.def(
        "solve_positive",
        [](const AnyTensor& a, const std::string& a_labels, const AnyTensor& b, const std::string& b_labels) {
            return solve_positive(a[a_labels], b[b_labels]);
        },
        nb::call_guard<OutsideInterpreter>());
    module.def("solve_triangular", &solve_triangular_of, nb::call_guard<OutsideInterpreter>());
    module.def("least_squares", &least_squares_of);
}

}  // namespace arges::python
