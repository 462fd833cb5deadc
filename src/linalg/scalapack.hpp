/// What calls of LAPACK and ScaLAPACK share: grids of the BLACS on the ranks that a matrix lies on, workspace and outcome.
#pragma once

#include "arges/error.hpp"
#include "base/buffer.hpp"
#include "base/math.hpp"
#include "comm/communicator.hpp"
#include "linalg/distributed_matrix.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <optional>
#include <string>
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

/// The grid of a layout for ScaLAPACK; null where one rank has the matrix. Collective.
std::unique_ptr<BlacsGrid> make_grid(const WorldState& world, const MatrixLayout& layout);

/// Elements (i, i + shift) for 0 <= i < count, on every rank. Collective.
std::vector<std::complex<double>> diagonal_values(const DistributedMatrix& matrix, std::int64_t count, std::int64_t shift = 0);

/// Throws if a routine did not do what it should: an argument that it refuses is a fault of this folder, anything else one of the
/// matrix.
inline void check_outcome(int info, const std::string& what) {
    if (info < 0) throw Error(what + ": argument " + std::to_string(-info) + " was refused; please report this");
    if (info > 0)
        throw Error(what + ": the iteration did not converge (" + std::to_string(info) + "); scale the matrix, or change it by round-off");
}

/// Runs `work` on the ranks that take part; every rank throws if one does. Collective.
template <class F>
void on_grid(const DistributedMatrix& matrix, F&& work) {
    matrix.world().agree([&] {
        if (matrix.takes_part()) work();
    });
}

/// Accounts for working arrays of the ranks that have a matrix, each with its own number of bytes. Collective.
/// @throws OutOfMemory on every rank
inline MatrixMemory hold_workspace(const DistributedMatrix& matrix, std::int64_t bytes, const std::string& what) {
    return {matrix.shared_world(), matrix.world().communicator().maximum(bytes), what, "workspace"};
}

/// Runs `allocate` on all ranks of a grid (null: this rank alone). @throws OutOfMemory on all of them
template <class F>
void allocate_on(const BlacsGrid* grid, F&& allocate) {
    if (grid != nullptr)
        grid->members().agree(allocate);
    else
        allocate();
}

/// Size that a workspace query has put into the first element; a little more, as single precision rounds it.
/// @throws Unsupported if the routine's own indices cannot express it
inline std::int64_t queried(double size, const std::string& what) {
    const auto value = std::ceil(size * (1 + 1e-6)) + 1;
    if (value >= 1 && value <= std::numeric_limits<int>::max()) return static_cast<std::int64_t>(value);
    throw Unsupported(what + ": the working arrays of a rank have more than 2^31 - 1 elements; use more ranks");
}

/// Calls f(work, lwork, info) on the ranks that take part to ask for the size of the workspace, and again with it. Collective.
/// @throws OutOfMemory on every rank if the workspace is over the memory limit
template <class F>
void with_workspace(const DistributedMatrix& matrix, const BlacsGrid* grid, const std::string& what, F&& f) {
    const auto& kernels = matrix.kernels();
    std::int64_t count = 0;
    on_grid(matrix, [&] {
        ElementValue size(kernels.size);
        int ask = -1, info = 0;
        f(size.data(), &ask, &info);
        check_outcome(info, what);
        count = queried(kernels.real_parts(size.data(), 1)[0], what);
    });
    const auto held = hold_workspace(matrix, count * kernels.size, what);
    on_grid(matrix, [&] {
        Buffer<std::byte> work;
        allocate_on(grid, [&] { work = Buffer<std::byte>(count * kernels.size); });
        const int lwork = to_int(count);
        int info = 0;
        f(work.data(), &lwork, &info);
        check_outcome(info, what);
    });
}

}  // namespace arges::linalg
