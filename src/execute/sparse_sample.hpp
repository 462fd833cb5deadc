/// How large a product of two sparse factors will be, from samples of their nonzeros.
#pragma once

#include "execute/sparse_move.hpp"
#include "plan/sparse/sparse_step.hpp"

namespace arges {

/// The indices of a factor's nonzeros on this rank, a column for each label.
struct SampledFactor {
    IndexSpans shared;  ///< labels of both factors, in the same order for both
    IndexSpans output;  ///< labels of the result that the other factor lacks
    IndexSpans common;  ///< labels of the result that both factors have, in the same order for both; they are among `shared`, too
};

/// Estimates multiplications by the nonzeros of the second factor that nonzeros of the first meet, for evenly spaced ones of these, and the
/// nonzeros of the result by rows drawn in proportion to their lengths (Hansen and Hurwitz, 1943), whose different columns are counted by
/// hashes (Whang, Vander-Zanden, Taylor, ACM Trans. Database Syst. 15, 1990). Every nonzero of the second factor is looked at twice; what
/// is sent does not grow with the factors. The same on all ranks. Collective. @param comm null for one rank
ProductCounts sample_product(const Communicator* comm, const SampledFactor& a, const SampledFactor& b);

/// What sampling takes on a rank, an upper bound. Pure. @param nonzeros_of_a, nonzeros_of_b  over all ranks
std::int64_t sample_bytes(std::int64_t nonzeros_of_a, std::int64_t nonzeros_of_b);

}  // namespace arges
