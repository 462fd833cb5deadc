/// Measurements of the machine that the program runs on, for the constants of plans.
#pragma once

#include "comm/communicator.hpp"
#include "plan/product/machine_model.hpp"

#include <cstdint>
#include <vector>

namespace arges::cli {

/// Matrix products of one size.
struct ProductRate {
    std::int64_t edge = 0;        ///< of square matrices
    double flops_per_second = 0;  ///< of the slowest rank
};

/// Messages between ranks that are equally far from each other, one each way at a time.
struct LinkRate {
    double message_seconds = 0;   ///< half of the time in which a small message goes there and back
    double bytes_per_second = 0;  ///< that a rank sends
};

/// What was measured, and the constants that follow from it.
struct MachineMeasurement {
    MachineModel machine;
    std::vector<ProductRate> products;  ///< from the smallest matrices to the largest
    std::int64_t ranks = 1, ranks_per_node = 1;
    bool has_network = false;  ///< there are two ranks or more
    bool has_nodes = false;    ///< they are on several nodes, with several ranks on each
};

/// Measures, in a few seconds. Collective.
/// @param ranks_per_node of ranks that follow each other; 0: as detected
/// @throws InvalidArgument if the number of ranks is no multiple of it
MachineMeasurement measure_machine(const Communicator& comm, std::int64_t ranks_per_node);

/// The rate of large matrices and the edge at which half of it is reached, from the seconds per multiplication of two sizes: these are
/// proportional to 1 + half_rate_edge / edge. An edge that is not above 0 is given as 0. Pure. @param small, large rates, by size
void set_product_rate(MachineModel& machine, const ProductRate& small, const ProductRate& large);

}  // namespace arges::cli
