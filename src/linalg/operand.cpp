#include "linalg/operand.hpp"

namespace arges::linalg {

const Communicator* ranks_of(const AnyIndexedTensor& A) {
    const auto& factor = A.factor();
    return factor.sparse   ? factor.sparse->world->movement_communicator()
           : factor.tensor ? factor.tensor->world->movement_communicator()
                           : nullptr;
}

MatrixOperand::MatrixOperand(const AnyIndexedTensor& A, const std::string& what)
    : tensor(A.factor().tensor), state([&]() -> const TensorState& {
          if (const auto& sparse = A.factor().sparse)
              throw InvalidArgument(what + " of " + sparse->title() +
                                    ", which is sparse: of sparse tensors there is svd() with SvdMethod::randomized; else take to_dense()");
          if (!A.factor().tensor) throw InvalidArgument(what + ": labels without a tensor; label one by Tensor::operator[]");
          return *A.factor().tensor;
      }()),
      labels(parse_matricization(A.factor().labels, state.shape().extents(), state.title())), kernels(matrix_kernels(*state.kernels)) {
    if (state.world->dry())
        throw Unsupported(what + " of " + labels.text +
                          ": the world is a dry run, which has no elements; plan by statements, or use a world of real ranks");
}

const TensorState& MatrixOperand::plain() {
    if (copy_.any_state()) return *copy_.dense_state();
    const auto& layout = state.shape();
    bool plain = layout.slots() == layout.order();
    for (int s = 0; s < layout.slots() && plain; ++s)
        plain = layout.slot(s).node().kind() == NodeKind::leaf && layout.slot(s).size() == layout.slot(s).node().size();
    if (plain) return state;
    copy_ = tensor.with_symmetry(Symmetry::none(tensor.order()));
    return *copy_.dense_state();
}

void check_alike(const MatrixOperand& A, const MatrixOperand& B, const std::string& what) {
    if (A.state.world != B.state.world)
        throw InvalidArgument(what + ": " + A.labels.text + " and " + B.labels.text + " live on different worlds; use transfer() first");
    if (&A.kernels != &B.kernels)
        throw InvalidArgument(what + ": " + A.labels.text + " has elements of type " + to_string(A.tensor.element()) + " and " +
                              B.labels.text + " of type " + to_string(B.tensor.element()) + "; convert one of the tensors");
}

AnyTensor zeros_like(const AnyTensor& like, std::vector<std::int64_t> extents, const char* name) {
    return AnyTensor(like.element(), Storage::dense, like.world(), std::move(extents), {}, name);
}

AnyTensor as_tensor(const AnyTensor& like, const std::vector<double>& values) {
    auto result = zeros_like(like, {std::ssize(values)}, "values");
    const auto set = matrix_kernels(like.kernels()).set;
    result.for_each_element_here("linear algebra", [&](Index x, void* element) { set(&values[x[0]], 1, element); });
    return result;
}

std::vector<std::string> barred(const std::vector<std::string>& rows, const std::vector<std::string>& columns) {
    return joined(joined(rows, {"|"}), columns);
}

std::vector<std::string> labels_by_dimension(const Matricization& matrix) {
    std::vector<std::string> result(matrix.rows.dimensions.size() + matrix.columns.dimensions.size());
    for (const auto* side : {&matrix.rows, &matrix.columns})
        for (std::size_t i = 0; i < side->dimensions.size(); ++i) result[side->dimensions[i]] = side->labels[i];
    return result;
}

double orthogonality(const AnyTensor& Q, bool rows) {
    const auto count = rows ? Q.extents().front() : Q.extents().back();
    std::vector<std::string> names;
    for (int d = 1; d < Q.order(); ++d) names.push_back("x" + std::to_string(d));
    const auto labels = [&](const std::string& own) { return rows ? joined({own}, names) : joined(names, {own}); };
    const auto gram = zeros_like(Q, {count, count}, "gram");
    gram["kl"] = conj(Q[labels("k")]) * Q[labels("l")];
    gram["kk"] += as_tensor(Q, std::vector<double>(count, -1))["k"];
    return gram.norm();
}

double residual(const AnyTensor& A, const Matricization& labels, const AnyTensor& U, const std::vector<double>* s, const AnyTensor& V) {
    const auto rest = A.symmetry().trivial() ? A : A.with_symmetry(Symmetry::none(A.order()));
    AnyExpression product = U[joined(labels.rows.labels, {joint})];
    if (s != nullptr) product = product * as_tensor(A, *s)[{joint.c_str()}];
    rest[labels_by_dimension(labels)] += std::int64_t{-1} * (product * V[joined({joint}, labels.columns.labels)]);
    return ratio(rest.norm(), A.norm());
}

}  // namespace arges::linalg
