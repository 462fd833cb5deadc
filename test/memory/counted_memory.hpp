/// How much memory this process holds in its heap, and the most that it held.
#pragma once

#include <cstdint>
#include <functional>

namespace arges::test {

/// The most that was held while `work` ran, above what was held before, in bytes. Arrays of 2 MiB and more of the library are not counted:
/// tests are to use smaller ones.
std::int64_t most_held(const std::function<void()>& work);

/// Bytes that are held now.
std::int64_t held_now();

}  // namespace arges::test
