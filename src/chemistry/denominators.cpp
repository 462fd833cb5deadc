#include "chemistry/denominators.hpp"

namespace arges::chemistry {

void divide_by_denominators(Tensor<double>& residual, const std::vector<double>& occupied,
                            const std::vector<double>& virtuals) {
    const std::size_t half = static_cast<std::size_t>(residual.order()) / 2;
    residual.for_each_local([&](Index x, double& value) {
        double denominator = 0;
        for (std::size_t d = 0; d < half; ++d)
            denominator += occupied[static_cast<std::size_t>(x[half + d])] -
                           virtuals[static_cast<std::size_t>(x[d])];
        value /= denominator;
    });
}

}  // namespace arges::chemistry
