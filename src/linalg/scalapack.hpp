/// What calls of LAPACK and ScaLAPACK share: where they run, workspace and outcome.
#pragma once

#include "arges/error.hpp"
#include "base/buffer.hpp"
#include "base/math.hpp"
#include "linalg/blacs_grid.hpp"
#include "linalg/distributed_matrix.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace arges::linalg {

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
inline HeldMemory hold_workspace(const DistributedMatrix& matrix, std::int64_t bytes, const std::string& what) {
    return {matrix.shared_world(), matrix.world().communicator().maximum(bytes), what, "working arrays"};
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
