/// Process grids of the BLACS on the ranks that a matrix lies on.
#pragma once

#include "comm/communicator.hpp"
#include "linalg/matrix_layout.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace arges::linalg {

/// A matrix descriptor of ScaLAPACK.
using Descriptor = std::array<int, 9>;

/// How messages of the PBLAS run, which is one setting of the process for all grids. Some routines of ScaLAPACK (P?ORGQR) change
/// it and leave it so: ranks that took part in different grids would then wait for each other in different patterns, for ever. In
/// this object's scope the setting is the default one at the start, and what the caller had chosen comes back at the end.
class DefaultTopologies {
public:
    DefaultTopologies();
    ~DefaultTopologies();
    DefaultTopologies(const DefaultTopologies&) = delete;
    DefaultTopologies& operator=(const DefaultTopologies&) = delete;

private:
    std::array<char, 6> before_{};
};

/// A BLACS context over the grid of a layout, and freed with it. ScaLAPACK makes grids of its own out of the ranks of the system
/// context, with calls that are collective over these: so the system context has the ranks of the grid only, never those that
/// wait.
class BlacsGrid {
public:
    /// Collective over `all`.
    BlacsGrid(const Communicator& all, const MatrixLayout& layout);
    ~BlacsGrid();
    BlacsGrid(const BlacsGrid&) = delete;
    BlacsGrid& operator=(const BlacsGrid&) = delete;

    /// True on ranks of the grid.
    bool takes_part() const { return members_.has_value(); }
    /// The context; on ranks of the grid.
    int context() const { return context_; }
    /// A second grid, of the first rank alone; its context is -1 on the other ranks. Collective over the ranks of the grid.
    int first_rank_context();
    /// Descriptor of a matrix on the grid.
    Descriptor describe(const MatrixLayout& layout, std::int64_t leading_dimension) const;
    /// Descriptor of a whole matrix on the first rank.
    Descriptor describe_on_first(std::int64_t rows, std::int64_t columns);
    const Communicator& members() const { return *members_; }

private:
    DefaultTopologies topologies_;
    std::optional<Communicator> members_;
    int system_ = -1, context_ = -1, first_context_ = -1;
    bool has_first_ = false;
    std::vector<int> order_;  ///< ranks of the members, by position on the grid
};

}  // namespace arges::linalg
