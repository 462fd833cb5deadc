#include "interface/world/call_arguments.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"

#include <limits>

namespace arges {

void require_same_factor(const Communicator* ranks, const ElementKernels& kernels, bool gives_elements, const void* factor,
                         const std::string& where) {
    if (ranks == nullptr) return;
    // Half of a digest, so that a rank without elements says what is larger than any.
    const std::int64_t bits = Digest().add(ElementArgument{kernels, factor}).value() >> 1U;
    constexpr auto none = std::numeric_limits<std::int64_t>::max();
    std::array<std::int64_t, 2> ends{gives_elements ? bits : none, gives_elements ? -bits : none};
    ranks->agree([] {}, ends);
    if (ends[0] != none && ends[0] != -ends[1])
        throw InvalidArgument(where + ": the ranks that give elements give different factors for them; give the same ones on every rank");
}

void require_same_in_worlds(const Communicator* meeting, const WorldState* own, std::uint64_t digest, const std::string& where) {
    if (meeting == nullptr) return;
    struct Given {
        std::uint64_t world = 0, digest = 0;
        std::int64_t ranks = 0;
    };
    std::vector<Given> mine(1);
    if (own != nullptr && !own->dry()) mine[0] = {Digest().add(meeting->numbers_of(own->communicator())).value(), digest, own->size()};
    const auto all = gathered(*meeting, mine);
    for (const auto& one : all) {
        if (one.ranks == 0) continue;
        std::int64_t alike = 0;
        for (const auto& other : all) alike += other.ranks > 0 && other.world == one.world && other.digest == one.digest ? 1 : 0;
        if (alike != one.ranks)
            throw InvalidArgument(where + ": ranks of one world differ in the tensor or its place, or only some of them give one; give the "
                                          "same on every rank of the tensor's world");
    }
}

}  // namespace arges
