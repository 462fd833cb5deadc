/// Factors that CP iterations begin with, other than random ones.
#pragma once

#include "decompose/cp/cp_driver.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace arges::decompose {

/// Of CpInit::hosvd: leading left singular vectors of the unfoldings, as many as a Tucker decomposition may have; others are random.
template <class T>
struct HosvdStart {
    std::optional<CpModel<T>> model{};  ///< none where the options want none
    std::int64_t bytes = 0;             ///< that finding it took at most on a rank
    std::int64_t model_bytes = 0;       ///< of this rank

    /// Bytes of a decomposition that begins with it. Pure.
    std::int64_t with(std::int64_t decomposition) const { return std::max(bytes, decomposition + model_bytes); }
};

/// Collective. @param tensor  sparse or dense @throws as tucker_decompose()
template <class T, class Tensor>
HosvdStart<T> hosvd_start(const Tensor& tensor, const std::vector<std::int64_t>& lengths, const CpOptions& options);

/// Of CpInit::sketched: each factor becomes an orthonormal basis of its MTTKRP with random factors, of which those before it are such bases
/// already; where that has a smaller rank, columns are random. Of factors that must not be negative the absolute values. Collective.
/// @param seed of the random ones, which are in the state
template <class T>
void sketch_factors(CpOperator<T>& tensor, CpState<T>& state, std::uint64_t seed, bool is_nonnegative);

/// The model must not have negative elements. Pure.
bool wants_nonnegative(const CpOptions& options);

}  // namespace arges::decompose
