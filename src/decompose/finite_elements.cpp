#include "decompose/finite_elements.hpp"

#include "arges/error.hpp"
#include "decompose/cp/cp_driver.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/known_elements.hpp"

#include <cmath>

namespace arges::decompose {

template <class T>
void check_elements(const Tensor<T>& tensor, double norm_squared) {
    const auto title = tensor.state()->title();
    if (!std::isfinite(norm_squared))
        if (const auto found = not_finite(tensor); found.count() > 0)
            throw InvalidArgument(not_finite_text(title, tensor.size(), found) +
                                  "; replace them, or, if NaN stands for missing elements, use arges cpd --missing or complete");
    check_norm(title, norm_squared);
}

template void check_elements(const Tensor<float>&, double);
template void check_elements(const Tensor<double>&, double);

}  // namespace arges::decompose
