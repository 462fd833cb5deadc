/// Lets an allocation of the library fail on the last rank, one after the other, and looks at what all ranks make of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace arges::test {

/// From here on counts the allocations of at least `least` bytes of this process, and lets one of them fail: the first is number
/// 1, with 0 none does. Counted are those of operator new, and arrays of the library from 1 to 2 MiB.
void arm_allocations(std::size_t least, std::int64_t failing);
/// Ends that; returns how many there were.
std::int64_t disarm_allocations();

/// A collective operation that is tried with each of its large allocations failing on the last rank.
struct Trial {
    std::string name;
    std::function<void()> prepare;  ///< before each time; collective
    std::function<void()> run;
    std::size_t least = 4096;  ///< bytes of the smallest allocation that fails
};

/// Runs the trial with allocation 1, 2, ... failing on the last rank, until it needs no more: each time all ranks must throw
/// OutOfMemory, or none (some code does with less memory). A rank that hangs ends the process, with the name of the trial.
/// Collective.
void expect_agreement(const Trial& trial);

}  // namespace arges::test
