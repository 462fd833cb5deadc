/// Seeds of randomized tests, and what the environment says of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace arges::test {

/// The number in an environment variable; `otherwise` without it.
inline int from_environment(const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
}

/// Calls f(generator) for `count` seeds from `first` on, or from ARGES_FUZZ_FIRST places behind; ARGES_FUZZ_SEED=s replays one of them.
template <class F>
void for_each_seed(std::uint64_t first, int count, F&& f) {
    first += static_cast<std::uint64_t>(from_environment("ARGES_FUZZ_FIRST", 0));
    const char* replay = std::getenv("ARGES_FUZZ_SEED");
    for (int i = 0; i < count; ++i) {
        const auto seed = first + static_cast<std::uint64_t>(i);
        if (replay != nullptr && seed != std::strtoull(replay, nullptr, 10)) continue;
        SCOPED_TRACE("ARGES_FUZZ_SEED=" + std::to_string(seed));
        std::mt19937_64 random(seed);
        f(random);
    }
}

}  // namespace arges::test
