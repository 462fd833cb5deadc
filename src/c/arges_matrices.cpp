// The functions of arges.h for linear algebra.
#include "arges/linalg.hpp"
#include "c/arges_c.hpp"

#include <algorithm>

using namespace arges::c;
using Matrix = arges::AnyIndexedTensor;

namespace {

/// Numbers of a spectrum as an array for arges_free().
struct Spectrum {
    std::int64_t count = 0;
    FreeArray<double> numbers;

    Spectrum(const arges::World& world, const std::vector<double>& from) : count(std::ssize(from)) {
        world.agree([&] { numbers = free_array<double>(count); });
        std::copy(from.begin(), from.end(), numbers.get());
    }
    void give(std::int64_t* number, double** array) noexcept {
        if (number != nullptr) *number = count;
        if (array != nullptr) *array = numbers.release();
    }
};

/// f(tensor with labels) of a dense floating-point tensor; check() looks at the other arguments.
template <class Check, class F>
arges_status factorized(const char* function, const arges_tensor* a, const char* labels, Check&& check, F&& f) {
    return guarded(function, [&] {
        const auto& own = given(a, "a").tensor;
        std::optional<arges::Labels> own_labels;
        own.world().agree([&] {
            own_labels = labels_of(labels, "labels");
            require_floating(own, function);
            check();
        });
        f(own[*own_labels]);
    });
}

/// x from solve(A, B) for two tensors of one type.
template <class F>
arges_status solved(const char* function, const arges_tensor* a, const char* a_labels, const arges_tensor* b, const char* b_labels,
                    arges_tensor** x, F&& solve) {
    return guarded(function, [&] {
        TensorResult result;
        std::optional<arges::Labels> left, right;
        meeting({a, b}).agree([&] {
            result = TensorResult(x, "x");
            left = labels_of(a_labels, "a_labels");
            right = labels_of(b_labels, "b_labels");
            require_floating(given(a, "a").tensor, function);
            require_floating(given(b, "b").tensor, function);
        });
        result.give(solve(a->tensor[*left], b->tensor[*right]));
    });
}

}  // namespace

arges_status arges_qr(const arges_tensor* a, const char* labels, arges_tensor** q, arges_tensor** r) {
    TensorResult own_q, own_r;
    return factorized(
        __func__, a, labels,
        [&] {
            if (q != nullptr) own_q = {q, "q"};
            if (r != nullptr) own_r = {r, "r"};
        },
        [&](const Matrix& A) {
            auto result = arges::qr(A);
            own_q.give(std::move(result.Q));
            own_r.give(std::move(result.R));
        });
}

arges_status arges_svd(const arges_tensor* a, const char* labels, int64_t rank, double tolerance, arges_tensor** u, int64_t* count,
                       double** s, arges_tensor** vh) {
    TensorResult own_u, own_vh;
    return factorized(
        __func__, a, labels,
        [&] {
            if (u != nullptr) own_u = {u, "u"};
            if (vh != nullptr) own_vh = {vh, "vh"};
        },
        [&](const Matrix& A) {
            arges::SvdOptions options;
            if (rank != 0) options.rank = rank;
            options.tolerance = tolerance;
            options.left = u != nullptr;
            options.right = vh != nullptr;
            auto result = arges::svd(A, options);
            Spectrum spectrum(a->tensor.world(), result.s);
            own_u.give(std::move(result.U));
            spectrum.give(count, s);
            own_vh.give(std::move(result.Vh));
        });
}

arges_status arges_eigh(const arges_tensor* a, const char* labels, int64_t* count, double** values, arges_tensor** vectors) {
    TensorResult own;
    return factorized(
        __func__, a, labels,
        [&] {
            if (vectors != nullptr) own = {vectors, "vectors"};
        },
        [&](const Matrix& A) {
            arges::EighOptions options;
            options.vectors = vectors != nullptr;
            auto result = arges::eigh(A, options);
            Spectrum spectrum(a->tensor.world(), result.values);
            spectrum.give(count, values);
            own.give(std::move(result.vectors));
        });
}

arges_status arges_cholesky(const arges_tensor* a, const char* labels, arges_tensor** l) {
    TensorResult result;
    return factorized(
        __func__, a, labels, [&] { result = TensorResult(l, "l"); }, [&](const Matrix& A) { result.give(arges::cholesky(A)); });
}

arges_status arges_solve_positive(const arges_tensor* a, const char* a_labels, const arges_tensor* b, const char* b_labels,
                                  arges_tensor** x) {
    return solved(__func__, a, a_labels, b, b_labels, x, [](const Matrix& A, const Matrix& B) { return arges::solve_positive(A, B); });
}

arges_status arges_least_squares(const arges_tensor* a, const char* a_labels, const arges_tensor* b, const char* b_labels,
                                 arges_tensor** x) {
    return solved(__func__, a, a_labels, b, b_labels, x, [](const Matrix& A, const Matrix& B) { return arges::least_squares(A, B).X; });
}
