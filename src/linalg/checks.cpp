#include "linalg/checks.hpp"

#include "base/element_at.hpp"
#include "linalg/operand.hpp"

namespace arges::linalg {

namespace {

ElementValue minus_one(const ElementKernels& kernels) {
    ElementValue value(kernels.size);
    kernels.multiple(-1, kernels.one, value.data());
    return value;
}

}  // namespace

Factor conjugate(Factor tensor) {
    if (tensor.tensor ? tensor.tensor->kernels->is_complex : tensor.sparse->kernels->is_complex) tensor.conjugated = !tensor.conjugated;
    return tensor;
}

void assign(const Factor& left, std::vector<Factor> product) {
    const auto& kernels = *left.tensor->kernels;
    statements::assign(left, {Term{.factors = std::move(product)}}, kernels.zero, kernels);
}

void subtract(const Factor& left, std::vector<Factor> product) {
    const auto& kernels = *left.tensor->kernels;
    statements::assign(left, {Term{.coefficient = minus_one(kernels), .factors = std::move(product)}}, nullptr, kernels);
}

std::vector<std::string> with_label(std::vector<std::string> labels, const std::string& last) {
    labels.push_back(last);
    return labels;
}

std::vector<std::string> label_first(const std::string& first, const std::vector<std::string>& labels) {
    std::vector<std::string> result{first};
    result.insert(result.end(), labels.begin(), labels.end());
    return result;
}

std::vector<std::string> barred(const std::vector<std::string>& rows, const std::vector<std::string>& columns) {
    auto result = with_label(rows, "|");
    result.insert(result.end(), columns.begin(), columns.end());
    return result;
}

std::vector<std::string> labels_by_dimension(const Matricization& matrix) {
    std::vector<std::string> result(matrix.rows.dimensions.size() + matrix.columns.dimensions.size());
    for (const auto* side : {&matrix.rows, &matrix.columns})
        for (std::size_t i = 0; i < side->dimensions.size(); ++i) result[side->dimensions[i]] = side->labels[i];
    return result;
}

double orthogonality(const DenseTensor& Q, bool rows) {
    const auto count = rows ? Q.extents().front() : Q.extents().back();
    std::vector<std::string> names;
    for (int d = 1; d < Q.order(); ++d) names.push_back("x" + std::to_string(d));
    const auto labels = [&](const std::string& own) { return rows ? label_first(own, names) : with_label(names, own); };
    const DenseTensor gram(Q.kernels(), Q.world(), {count, count}, "gram");
    assign(gram["kl"], {conjugate(Q[labels("k")]), Q[labels("l")]});
    {
        auto& state = *gram.state();
        const auto& kernels = *state.kernels;
        ChangedHostElements changed(state);
        const auto value = minus_one(kernels);
        for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
            if (x[0] == x[1])
                kernels.transfer_listed({.count = 1}, value.data(), element_at(changed.data(), offset, kernels.size), nullptr,
                                        {.accumulate = true});
        });
    }
    return gram.norm();
}

DenseTensor as_tensor(const MatrixKernels& kernels, const World& world, const std::vector<double>& values) {
    DenseTensor result(kernels, world, {std::ssize(values)}, "values");
    auto& state = *result.state();
    ChangedHostElements changed(state);
    for_each_element(state.shape(), state.rank(), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        kernels.set(&values[x[0]], 1, element_at(changed.data(), offset, kernels.size));
    });
    return result;
}

double residual(const DenseTensor& A, const Matricization& labels, const DenseTensor& U, const std::vector<double>* s,
                const DenseTensor& V) {
    const auto rest = A.symmetry().trivial() ? A : A.unpacked();
    std::vector<Factor> product{U[with_label(labels.rows.labels, joint)], V[label_first(joint, labels.columns.labels)]};
    if (s != nullptr) product.insert(product.begin() + 1, as_tensor(A.kernels(), A.world(), *s)[{joint.c_str()}]);
    subtract(rest[labels_by_dimension(labels)], std::move(product));
    return ratio(rest.norm(), A.norm());
}

Operand::Operand(const Factor& A, const std::string& what)
    : state([&]() -> const TensorState& {
          if (A.sparse)
              throw InvalidArgument(what + " of " + A.sparse->title() +
                                    ", which is sparse: of sparse tensors there is svd() with SvdMethod::randomized; else take to_dense()");
          if (!A.tensor) throw InvalidArgument(what + ": labels without a tensor; label one by Tensor::operator[]");
          return *A.tensor;
      }()),
      labels(parse_matricization(A.labels, state.shape().extents(), state.title())), kernels(matrix_kernels(*state.kernels)),
      pointer_(A.tensor) {
    if (state.world->dry())
        throw Unsupported(what + " of " + labels.text +
                          ": the world is a dry run, which has no elements; plan by statements, or use a world of real ranks");
}

const TensorState& Operand::plain() {
    if (copy_.state()) return *copy_.state();
    const auto& layout = state.shape();
    bool plain = layout.slots() == layout.order();
    for (int s = 0; s < layout.slots() && plain; ++s)
        plain = layout.slot(s).node().kind() == NodeKind::leaf && layout.slot(s).size() == layout.slot(s).node().size();
    if (plain) return state;
    copy_ = tensor().unpacked();
    return *copy_.state();
}

void check_same_world(const Operand& A, const Operand& B, const std::string& what) {
    if (A.state.world != B.state.world)
        throw InvalidArgument(what + ": " + A.labels.text + " and " + B.labels.text + " live on different worlds; use transfer() first");
}

}  // namespace arges::linalg
