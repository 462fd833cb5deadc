#include "linalg/checks.hpp"

#include "base/instantiate.hpp"

namespace arges::linalg {

std::vector<std::string> with_label(std::vector<std::string> labels, const std::string& last) {
    labels.push_back(last);
    return labels;
}

std::vector<std::string> label_first(const std::string& first, const std::vector<std::string>& labels) {
    std::vector<std::string> result{first};
    result.insert(result.end(), labels.begin(), labels.end());
    return result;
}

std::vector<std::string> labels_by_dimension(const Matricization& matrix) {
    std::vector<std::string> result(matrix.rows.dimensions.size() + matrix.columns.dimensions.size());
    for (const auto* side : {&matrix.rows, &matrix.columns})
        for (std::size_t i = 0; i < side->dimensions.size(); ++i) result[side->dimensions[i]] = side->labels[i];
    return result;
}

template <class T>
double orthogonality(const Tensor<T>& Q, bool rows) {
    const auto count = rows ? Q.extents().front() : Q.extents().back();
    std::vector<std::string> names;
    for (int d = 1; d < Q.order(); ++d) names.push_back("x" + std::to_string(d));
    const auto labels = [&](const std::string& own) { return rows ? label_first(own, names) : with_label(names, own); };
    Tensor<T> gram(Q.world(), {count, count}, "gram");
    gram["kl"] = conj(Q[labels("k")]) * Q[labels("l")];
    gram.for_each_local([](Index x, T& value) {
        if (x[0] == x[1]) value -= T(1);
    });
    return gram.norm();
}

template <class T>
Tensor<T> as_tensor(const World& world, const std::vector<real_of<T>>& values) {
    Tensor<T> result(world, {std::ssize(values)}, "values");
    result.fill([&](Index x) { return T(values[x[0]]); });
    return result;
}

template <class T>
double residual(const IndexedTensor<T>& A, const Matricization& labels, const Tensor<T>& U, const std::vector<real_of<T>>* s,
                const Tensor<T>& V) {
    const Tensor<T> whole(A.factor().tensor);
    auto rest = whole.symmetry().trivial() ? whole : whole.with_symmetry(Symmetry::none(whole.order()));
    const auto all = labels_by_dimension(labels);
    const auto left = U[with_label(labels.rows.labels, joint)], right = V[label_first(joint, labels.columns.labels)];
    if (s == nullptr)
        rest[all] -= left * right;
    else
        rest[all] -= left * as_tensor<T>(whole.world(), *s)[{joint.c_str()}] * right;
    return ratio(static_cast<double>(rest.norm()), static_cast<double>(whole.norm()));
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template double orthogonality(const Tensor<T>&, bool);                                                                                 \
    template Tensor<T> as_tensor(const World&, const std::vector<real_of<T>>&);                                                            \
    template double residual(const IndexedTensor<T>&, const Matricization&, const Tensor<T>&, const std::vector<real_of<T>>*,              \
                             const Tensor<T>&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::linalg
