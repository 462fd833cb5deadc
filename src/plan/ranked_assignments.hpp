/// The ways to give torus dimensions to targets, the most promising first. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace arges {

/// By torus dimension: a target, or -1 for none.
using Assignment = std::vector<int>;

/// What may be assigned to what.
struct AssignmentSpace {
    std::vector<std::int64_t> lengths;  ///< of the torus dimensions
    std::vector<double> capacity;       ///< of the targets: most ranks along each
    /// Seconds of an assignment of the first torus dimensions, the others given to none. Equal for assignments with equal numbers of ranks along
    /// every target, unless `by_assignment`.
    std::function<double(const Assignment&)> estimate;
    bool by_assignment = false;
};

/// Assignments by ascending estimate: all where there are few, else those of a beam search over the torus dimensions. Of equal estimates that
/// comes first which gives the earlier dimension to none or to the lower target.
/// @param most  return so many at most
std::vector<Assignment> ranked_assignments(const AssignmentSpace& space, std::size_t most);

}  // namespace arges
