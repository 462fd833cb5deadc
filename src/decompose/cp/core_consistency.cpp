// Core consistency of CP models (Bro and Kiers, J. Chemometrics 17, 2003).
#include "arges/core_consistency.hpp"

#include "arges/error.hpp"
#include "comm/collective_call.hpp"
#include "decompose/cp/gram_solver.hpp"
#include "decompose/factor_tensor.hpp"
#include "decompose/model_arguments.hpp"
#include "decompose/tucker/core_arrays.hpp"
#include "decompose/tucker/tucker_elements.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/world/world_state.hpp"
#include "linalg/small_matrices.hpp"

#include <cmath>

namespace arges {

namespace {

constexpr double most_core_elements = 1 << 24;

/// The pseudo-inverse of a Gram matrix of factors, over all ranks. Collective.
template <class T>
std::vector<double> inverse_gram(const Communicator& comm, const CpModel<T>& model, int mode) {
    const std::size_t n = model.rank();
    std::vector<double> result(n * n, 0);
    const auto eigen = linalg::symmetric_eigen(decompose::factor_gram(comm, model, mode, model.rank()), model.rank());
    const double rounding = std::is_same_v<T, float> ? 1e-6 : 1e-13;
    for (std::size_t k = 0; k < n; ++k) {
        if (!(eigen.values[k] > rounding * eigen.values[n - 1])) continue;
        for (std::size_t c = 0; c < n; ++c)
            for (std::size_t r = 0; r < n; ++r) result[r + c * n] += eigen.vectors[r + k * n] * eigen.vectors[c + k * n] / eigen.values[k];
    }
    return result;
}

/// The tensor times the transposed factors, on every rank. Collective.
template <class T>
std::vector<double> projected(const AnyTensor& tensor, const CpModel<T>& model) {
    const std::int64_t n = model.rank();
    auto labels = decompose::numbered_labels('x', model.order());
    AnyExpression product = tensor[labels];
    for (int m = 0; m < model.order(); ++m) {
        const std::size_t place = m;
        const Tensor<T> factor = decompose::factor_tensor<T>(model.world(), model.rows(m), model.factor(m), n, 0, model.lengths()[place]);
        const auto truncated = "y" + std::to_string(m + 1);
        product = product * static_cast<const AnyTensor&>(factor)[std::vector<std::string>{labels[place], truncated}];
        labels[place] = truncated;
    }
    Tensor<T> core(model.world(), std::vector<std::int64_t>(static_cast<std::size_t>(model.order()), n), "core");
    static_cast<AnyTensor&>(core)[labels] = product;
    const auto values = core.gather();
    return {values.begin(), values.end()};
}

template <class T>
double consistency(const AnyTensor& tensor, const CpModel<T>& model) {
    const std::size_t n = model.rank();
    if (tensor.extents() != model.lengths())
        throw InvalidArgument("core_consistency: the lengths of " + tensor.title() + " and of the model differ");
    if (std::pow(static_cast<double>(n), model.order()) > most_core_elements)
        throw InvalidArgument("core_consistency: a core of " + std::to_string(n) + " to the power of " + std::to_string(model.order()) +
                              " elements is too large; use a model of fewer components");
    const auto& comm = model.world().state()->communicator();
    auto core = projected(tensor, model);
    const std::vector<int> lengths(static_cast<std::size_t>(model.order()), model.rank());
    std::size_t stride = 1, diagonal = 0;
    for (int m = 0; m < model.order(); ++m) {
        core = decompose::times_in_mode(core, lengths, model.order() - 1 - m, inverse_gram(comm, model, m));  // the first mode is fastest
        diagonal += stride;
        stride *= n;
    }
    double sum = 0;
    for (std::size_t i = 0; i < core.size(); ++i) {
        const double weight = model.lambda()[i % n], value = weight != 0 ? core[i] / weight : 0;  // weights belong to the first factor
        const bool is_diagonal = i % diagonal == 0 && i / diagonal < n;
        sum += (value - (is_diagonal ? 1 : 0)) * (value - (is_diagonal ? 1 : 0));
    }
    return 100 * (1 - sum / static_cast<double>(n));
}

}  // namespace

template <class T>
double core_consistency(const SparseTensor<T>& tensor, const CpModel<T>& model) {
    const CollectiveCall call(ranks_of(model.world()), "core_consistency", tensor, ModelArgument{&model});
    return consistency<T>(tensor, model);
}

template <class T>
double core_consistency(const Tensor<T>& tensor, const CpModel<T>& model) {
    const CollectiveCall call(ranks_of(model.world()), "core_consistency", tensor, ModelArgument{&model});
    return consistency<T>(tensor, model);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template double core_consistency(const SparseTensor<T>&, const CpModel<T>&);                                                           \
    template double core_consistency(const Tensor<T>&, const CpModel<T>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
