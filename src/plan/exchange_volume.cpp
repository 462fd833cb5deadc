#include "plan/exchange_volume.hpp"

#include "plan/exchange_lists.hpp"
#include "plan/pair_split.hpp"

namespace arges {

namespace {

/// The coordinates of a combined place of some slots, compared with those of a rank.
class PlaceCheck {
public:
    PlaceCheck(const ExchangeSpec& spec, const Layout& layout, std::int64_t rank) : spec_(spec), layout_(layout), rank_(rank) {}

    /// True if the place agrees with the rank along all torus dimensions, or along those where the source has copies only.
    bool agrees(const std::vector<int>& slots, std::int64_t place, bool copies_only) const {
        for (int s : slots) {
            auto own = place % layout_.slot(s).places();
            place /= layout_.slot(s).places();
            for (int t : layout_.mapping(s).all()) {
                const auto length = layout_.grid().lengths[static_cast<std::size_t>(t)];
                const bool copies = spec_.from.slot_of_torus(t) < 0 && !spec_.from.is_partial(t);
                if ((copies || !copies_only) && own % length != layout_.grid().coordinate(rank_, t)) return false;
                own /= length;
            }
        }
        return true;
    }

private:
    const ExchangeSpec& spec_;
    const Layout& layout_;
    std::int64_t rank_;
};

/// Elements of a side's messages, and those of the message of the rank to itself.
struct SideCount {
    std::int64_t all = 1, own = 1;

    void multiply(const std::vector<EntryGroup>& groups, const std::vector<int>& slots, const PlaceCheck& check, bool sending) {
        std::int64_t sum = 0, mine = 0;
        for (const auto& group : groups) {
            if (!sending || check.agrees(slots, group.peer, true)) sum += group.count();
            if (check.agrees(slots, group.peer, false)) mine += group.count();
        }
        all *= sum;
        own *= mine;
    }
    std::int64_t others() const { return all - own; }
};

}  // namespace

Volume exchange_volume(const ExchangeSpec& spec, std::int64_t rank) {
    const auto& grid = spec.from.grid();
    if (spec.ranks() == 1 || pair_split(spec)) return {};
    if (!(grid == spec.to.grid())) return ExchangeLists(spec, rank).volume();
    if (grid.is_idle(rank)) return {};
    SideCount sent, received;
    const PlaceCheck target(spec, spec.to, rank), source(spec, spec.from, rank);
    for (const auto& component : exchange_components(spec)) {
        const auto lists = component_lists(spec, component, rank);
        sent.multiply(lists.send, component.to_slots, target, true);
        received.multiply(lists.receive, component.from_slots, source, false);
    }
    // Along what a layout leaves open, parts of a sum are all sent, and copies of the target all receive.
    for (int t = 0; t < grid.dimensions(); ++t) {
        const auto length = grid.lengths[static_cast<std::size_t>(t)];
        const bool copies = spec.from.slot_of_torus(t) < 0 && !spec.from.is_partial(t);
        if (!copies && spec.to.slot_of_torus(t) < 0) sent.all *= length;
        if (spec.from.is_partial(t)) received.all *= length;
    }
    return {sent.others(), received.others()};
}

}  // namespace arges
