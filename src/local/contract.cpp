// A contraction on one rank by the cheapest of three kernels, halved until the copies of operands fit into the workspace.
#include "local/contract.hpp"

#include "base/first_error.hpp"
#include "base/instantiate.hpp"
#include "local/contract_plan.hpp"
#include "local/fold.hpp"
#include "local/pack.hpp"
#include "local/scalar.hpp"

#include <omp.h>

#include <algorithm>
#include <complex>

namespace arges::local {
namespace {

constexpr std::int64_t cached_bytes = 1 << 20;     // of copies that stay in the caches
constexpr std::int64_t shortest_copied_axis = 32;  // shorter pieces of an axis are copied inefficiently

constexpr double smallest_skinny_cost = 4000;  // below, the kernel for skinny products is not tried

enum class Method { vectors, gemm, skinny };

/// How a contraction is computed.
struct Choice {
    /// `real`: of real numbers, for which there is a kernel for skinny products.
    Choice(const FoldedContraction& f, bool real) : by_vectors(plan_vector(f)), by_gemm(plan_gemm(f)) {
        const bool vectors = by_vectors.cost <= by_gemm.cost;
        method = vectors ? Method::vectors : Method::gemm;
        copied = vectors ? packed_elements(by_vectors) : packed_elements(by_gemm);
        if (!real || std::min(by_vectors.cost, by_gemm.cost) < smallest_skinny_cost) return;
        by_skinny = plan_skinny(f, omp_in_parallel() ? 1 : omp_get_max_threads());
        if (by_skinny.cost >= std::min(by_vectors.cost, by_gemm.cost + reading_cost(by_gemm))) return;
        method = Method::skinny;
        copied = 0;
    }

    VectorPlan by_vectors;
    GemmPlan by_gemm;
    SkinnyPlan by_skinny;
    Method method;        ///< which of the plans is used
    std::int64_t copied;  ///< elements that it copies
};

/// A part of a contraction that is computed at once.
template <class T>
struct Piece {
    Choice choice;
    Operands<T> x;
};

/// The parts of a contraction.
template <class T>
struct Pieces {
    std::vector<Piece<T>> list;
    std::int64_t copied_bytes = 0;  ///< of the piece that copies most
    bool ordered = false;           ///< some of them add to the same elements of C
};

/// The axis of more than one entry for which `measure` is largest, a batch axis if there is any;
/// null if there is none.
template <class Measure>
FoldAxis* axis_to_halve(FoldedContraction& f, Measure measure) {
    FoldAxis* best = nullptr;
    const auto consider = [&](std::vector<FoldAxis>& axes) {
        for (FoldAxis& axis : axes)
            if (axis.size > 1 && (!best || measure(axis) > measure(*best))) best = &axis;
    };
    consider(f.batch);
    if (best) return best;
    for (auto* axes : {&f.m, &f.n, &f.k}) consider(*axes);
    return best;
}

/// Halves a simplified contraction without empty axes until the copies of each piece fit into the
/// workspace. Copies that only one piece uses are kept in the caches.
template <class T>
void split(FoldedContraction f, const Operands<T>& x, Pieces<T>& pieces) {
    Choice choice(f, !is_complex<T>);
    const bool vectors = choice.method == Method::vectors;
    FoldAxis* const halved = vectors ? axis_to_halve(f, [](const FoldAxis& axis) { return axis.stride_c; })
                                     : axis_to_halve(f, [](const FoldAxis& axis) { return axis.size; });
    const bool used_once = vectors || !f.batch.empty();
    const bool keep_cached = used_once && halved && halved->size > shortest_copied_axis;
    const std::int64_t bytes = choice.copied * std::int64_t{sizeof(T)};
    if (!halved || bytes <= (keep_cached ? cached_bytes : max_workspace_bytes)) {
        pieces.copied_bytes = std::max(pieces.copied_bytes, bytes);
        return pieces.list.push_back({std::move(choice), x});
    }
    const FoldAxis whole = *halved;
    Operands<T> second = x;
    second.a += whole.size / 2 * whole.stride_a;
    second.b += whole.size / 2 * whole.stride_b;
    second.c += whole.size / 2 * whole.stride_c;
    if (whole.stride_c == 0) {
        second.beta = 1;
        pieces.ordered = true;
    }
    halved->size = whole.size / 2;
    split(f, x, pieces);
    halved->size = whole.size - whole.size / 2;
    split(std::move(f), second, pieces);
}

template <class T>
void compute(Piece<T>& piece, Workspace<T>& workspace) {
    if constexpr (!is_complex<T>)
        if (piece.choice.method == Method::skinny) return contract_skinny<T>(piece.choice.by_skinny, piece.x);
    if (piece.choice.method == Method::vectors)
        contract_vectors<T>(std::move(piece.choice.by_vectors), piece.x, workspace);
    else
        contract_gemm<T>(std::move(piece.choice.by_gemm), piece.x, workspace);
}

/// Do threads compute pieces of their own?
template <class T>
bool runs_in_parallel(const Pieces<T>& pieces, int threads) {
    const bool independent = !pieces.ordered && pieces.copied_bytes * threads <= max_workspace_bytes;
    return threads > 1 && independent && static_cast<int>(pieces.list.size()) >= 2 * threads;
}

/// Gives every thread pieces of its own.
template <class T>
void compute_in_parallel(std::vector<Piece<T>>& pieces, int threads) {
    const auto count = std::ssize(pieces);
    FirstError error;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int thread = 0; thread < threads; ++thread)
        error.run([&] {
            Workspace<T> workspace;
            for (std::int64_t i = count * thread / threads; i < count * (thread + 1) / threads; ++i) compute(pieces[i], workspace);
        });
    error.rethrow();
}

}  // namespace

template <class T>
void contract(const FoldedContraction& f, T alpha, const T* a, const T* b, T beta, T* c) {
    FoldedContraction simple = simplify(f);
    const std::vector<FoldAxis> of_result = join({simple.m, simple.n, simple.batch});
    if (entries(of_result) == 0) return;
    if (entries(simple.k) == 0) return scale_result<T>(of_result, beta, c);
    Pieces<T> pieces;
    split<T>(std::move(simple), {alpha, a, b, beta, c}, pieces);
    const int threads = omp_in_parallel() ? 1 : omp_get_max_threads();
    if (runs_in_parallel(pieces, threads)) return compute_in_parallel(pieces.list, threads);
    Workspace<T> workspace;
    for (Piece<T>& piece : pieces.list) compute(piece, workspace);
}

template <class T>
std::int64_t contract_memory(const FoldedContraction& f) {
    FoldedContraction simple = simplify(f);
    if (entries(join({simple.m, simple.n, simple.batch, simple.k})) == 0) return 0;
    Pieces<T> pieces;
    split<T>(std::move(simple), {}, pieces);
    const int threads = omp_get_max_threads();
    std::int64_t blas = 0;
    for (const Piece<T>& piece : pieces.list)
        if (piece.choice.method == Method::gemm) blas = std::max(blas, blas_memory(piece.choice.by_gemm, sizeof(T)));
    return pieces.copied_bytes * (runs_in_parallel(pieces, threads) ? threads : 1) + blas * threads;
}

template <class T>
void reduce(const FoldedContraction& f, T alpha, const T* a, T beta, T* c) {
    FoldedContraction with_one = {f.m, {}, f.k, f.batch};
    for (auto* axes : {&with_one.m, &with_one.k, &with_one.batch})
        for (FoldAxis& axis : *axes) axis.stride_b = 0;
    const T one = 1;
    contract<T>(with_one, alpha, a, &one, beta, c);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void contract<T>(const FoldedContraction&, T, const T*, const T*, T, T*);                                                     \
    template std::int64_t contract_memory<T>(const FoldedContraction&);                                                                    \
    template void reduce<T>(const FoldedContraction&, T, const T*, T, T*);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

}  // namespace arges::local
