/// What calls of LAPACK and ScaLAPACK share: workspace and outcome.
#pragma once

#include "arges/error.hpp"
#include "base/buffer.hpp"
#include "linalg/blacs_grid.hpp"

#include <cmath>
#include <complex>
#include <string>
#include <vector>

namespace arges::linalg {

/// Sizes have been checked by check_size().
inline int to_int(std::int64_t n) { return static_cast<int>(n); }

/// Throws if a routine did not do what it should: an argument that it refuses is a fault of this folder, anything else one of the matrix.
inline void check_outcome(int info, const std::string& what) {
    if (info < 0) throw Error(what + ": argument " + std::to_string(-info) + " was refused; please report this");
    if (info > 0) throw Error(what + ": the iteration did not converge (" + std::to_string(info) + "); scale the matrix, or change it by round-off");
}

/// An array on all ranks of a grid (null: this rank alone). @throws OutOfMemory on all of them
template <class V>
Buffer<V> workspace(const BlacsGrid* grid, std::int64_t count) {
    Buffer<V> result;
    const auto allocate = [&] { result = Buffer<V>(count); };
    if (grid != nullptr)
        grid->members().agree(allocate);
    else
        allocate();
    return result;
}

/// Size that a workspace query has put into the first element; a little more, as single precision rounds it.
template <class V>
std::int64_t queried(V size) {
    const auto value = static_cast<double>(std::real(size));
    return static_cast<std::int64_t>(std::ceil(value * (1 + 1e-6))) + 1;
}

/// Calls f(work, lwork, info) to ask for the size of the workspace, and again with it.
template <class T, class F>
void with_workspace(const BlacsGrid* grid, const std::string& what, F&& f) {
    T size = 0;
    int lwork = -1, info = 0;
    f(&size, &lwork, &info);
    check_outcome(info, what);
    const auto count = queried(size);
    auto work = workspace<T>(grid, count);
    lwork = to_int(count);
    f(work.data(), &lwork, &info);
    check_outcome(info, what);
}

}  // namespace arges::linalg
