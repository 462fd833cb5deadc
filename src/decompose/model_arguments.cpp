#include "decompose/model_arguments.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"

namespace arges::decompose {

void check_forecast(const WorldState& world, const std::string& title, std::int64_t forecast, std::int64_t held, const std::string& cures) {
    std::int64_t minima[] = {0};
    world.agree([&] { minima[0] = world.free_bytes() + held; }, minima);
    if (forecast > minima[0])
        throw OutOfMemory(title + ": the decomposition takes up to " + with_commas(forecast) +
                          " bytes on a rank, but the memory limit leaves " + with_commas(minima[0]) + "; " + cures +
                          ", or raise the limit (--memory, ARGES_MEMORY_LIMIT)");
}

}  // namespace arges::decompose
