#include "local/contract.hpp"

#include "local/contract_gemm.hpp"
#include "local/contract_plan.hpp"
#include "local/contract_vectors.hpp"
#include "local/fold.hpp"
#include "local/pack.hpp"
#include "local/scalar.hpp"

#include <complex>

namespace arges::local {
namespace {

/// The longest axis of more than one entry, a batch axis if there is any; null if there is none.
FoldAxis* axis_to_halve(FoldedContraction& f) {
    FoldAxis* longest = nullptr;
    const auto consider = [&](std::vector<FoldAxis>& axes) {
        for (FoldAxis& axis : axes)
            if (axis.size > 1 && (!longest || axis.size > longest->size)) longest = &axis;
    };
    consider(f.batch);
    if (longest) return longest;
    for (auto* axes : {&f.m, &f.n, &f.k}) consider(*axes);
    return longest;
}

/// Computes a simplified contraction without empty axes; halves it until its copies fit into the workspace.
template <class T>
void contract_within_workspace(FoldedContraction f, Operands<T> x, Workspace<T>& workspace) {
    VectorPlan by_vectors = plan_vector(f);
    GemmPlan by_gemm = plan_gemm(f);
    const bool vectors = by_vectors.cost <= by_gemm.cost;
    const std::int64_t copies = vectors ? packed_elements(by_vectors) : packed_elements(by_gemm);
    FoldAxis* const halved = axis_to_halve(f);
    if (!halved || copies * static_cast<std::int64_t>(sizeof(T)) <= max_workspace_bytes)
        return vectors ? contract_vectors<T>(std::move(by_vectors), x, workspace)
                       : contract_gemm<T>(std::move(by_gemm), x, workspace);
    const FoldAxis whole = *halved;
    const bool summed = whole.stride_c == 0;
    halved->size = whole.size / 2;
    contract_within_workspace<T>(f, x, workspace);
    halved->size = whole.size - whole.size / 2;
    x.a += whole.size / 2 * whole.stride_a;
    x.b += whole.size / 2 * whole.stride_b;
    x.c += whole.size / 2 * whole.stride_c;
    if (summed) x.beta = 1;
    contract_within_workspace<T>(std::move(f), x, workspace);
}

}  // namespace

template <class T>
void contract(const FoldedContraction& f, T alpha, const T* a, const T* b, T beta, T* c) {
    FoldedContraction simple = simplify(f);
    const std::vector<FoldAxis> of_result = join({simple.m, simple.n, simple.batch});
    if (entries(of_result) == 0) return;
    if (entries(simple.k) == 0 || alpha == T(0)) return scale_result<T>(of_result, beta, c);
    Workspace<T> workspace;
    contract_within_workspace<T>(std::move(simple), {alpha, a, b, beta, c}, workspace);
}

template <class T>
void reduce(const FoldedContraction& f, T alpha, const T* a, T beta, T* c) {
    FoldedContraction with_one = {f.m, {}, f.k, f.batch};
    for (auto* axes : {&with_one.m, &with_one.k, &with_one.batch})
        for (FoldAxis& axis : *axes) axis.stride_b = 0;
    const T one = 1;
    contract<T>(with_one, alpha, a, &one, beta, c);
}

#define ARGES_INSTANTIATE(T)                                                                       \
    template void contract<T>(const FoldedContraction&, T, const T*, const T*, T, T*);             \
    template void reduce<T>(const FoldedContraction&, T, const T*, T, T*);
ARGES_FOR_ELEMENT_TYPES(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local
