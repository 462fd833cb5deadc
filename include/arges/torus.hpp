/// @file torus.hpp
/// The shape of the machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

}  // namespace arges
