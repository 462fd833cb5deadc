/// @file torus.hpp
/// The shape of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arges {

/// A torus of ranks: one length per dimension, first dimension fastest. The product is the number of ranks.
class Torus {
public:
    /// No shape: a World then takes the detected one.
    Torus() = default;
    /// A shape, for example {4, 4, 2}.
    /// @throws InvalidArgument if a length is below 1, or there are more than 2^31 - 1 ranks, the most that MPI can number
    Torus(std::vector<std::int64_t> lengths);  // NOLINT: implicit on purpose
    /// Reads "4x4x2".
    /// @throws InvalidArgument for anything else
    static Torus parse(std::string_view text);
    /// The lengths; empty if no shape was given.
    const std::vector<std::int64_t>& lengths() const { return lengths_; }
    /// Product of the lengths.
    std::int64_t ranks() const;
    /// "4x4x2".
    std::string to_string() const;
    /// Same lengths.
    bool operator==(const Torus&) const = default;

private:
    std::vector<std::int64_t> lengths_;
};

/// The machine that a plan is for, which need not be there: what World::dry_run(), plan_einsum() and forecasts take.
struct PlannedMachine {
    std::optional<std::int64_t> ranks{};  ///< none: as many as torus or coordinates hold, else one
    Torus torus{};  ///< its shape; empty: that of the coordinates, else of the file if it is one of so many ranks, else nodes
    std::int64_t ranks_per_node = 0;  ///< 0: as the file says, else unknown. Where there is a torus its links count
    std::string file{};         ///< of constants and interconnect, as of `arges calibrate`; empty: the one of ARGES_MACHINE, or defaults
    std::string coordinates{};  ///< file with a line for each rank, as that of ARGES_COORDINATES, which itself is for real ranks only

    /// What only torus or coordinates say.
    PlannedMachine() = default;
    /// So many ranks, in this shape.
    PlannedMachine(std::int64_t count, Torus shape = {}) : ranks(count), torus(std::move(shape)) {}  // NOLINT: implicit on purpose
    /// All the same.
    bool operator==(const PlannedMachine&) const = default;
    /// Are ranks, torus or coordinates given?
    bool has_ranks() const { return ranks || !torus.lengths().empty() || !coordinates.empty(); }
};

}  // namespace arges
