// Moved elements without messages: sums over the short lists of each component; and bounds for any rank from extents alone.
#include "plan/movement/movement.hpp"

#include "base/first_error.hpp"
#include "base/math.hpp"
#include "base/workspace.hpp"
#include "plan/movement/lists.hpp"
#include "plan/movement/loops.hpp"
#include "plan/movement/moved_words.hpp"
#include "plan/movement/relay.hpp"
#include "plan/product/pair_split.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace arges {

namespace {

/// The torus coordinates of a combined coordinate of some slots, compared with those of a rank.
class PlaceCheck {
public:
    PlaceCheck(const Movement& spec, const Layout& layout, std::int64_t rank) : spec_(spec), layout_(layout), rank_(rank) {}

    /// True if the coordinate agrees with the rank along all torus dimensions, or along those where the source has copies only.
    bool agrees(const std::vector<int>& slots, std::int64_t coordinate, bool copies_only) const {
        for (int s : slots) {
            auto own = coordinate % layout_.slot(s).grid_length();
            coordinate /= layout_.slot(s).grid_length();
            for (int t : layout_.mapping(s).all()) {
                const auto length = layout_.grid().lengths[t];
                const bool copies = spec_.from.slot_of_torus(t) < 0 && !spec_.from.is_partial(t);
                if ((copies || !copies_only) && own % length != layout_.grid().coordinate(rank_, t)) return false;
                own /= length;
            }
        }
        return true;
    }

private:
    const Movement& spec_;
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

/// What loops move between all coordinates, each pair counted once.
class PairCounts {
public:
    explicit PairCounts(const MovementLoops& loops)
        : loops_(loops), from_grid_length_(loops.from_grid_length()), count_(from_grid_length_ * loops.to_grid_length(), 0) {
        FirstError error;
#pragma omp parallel for schedule(dynamic)
        for (std::size_t i = 0; i < count_.size(); ++i)
            error.run([&] {
                const auto [to, from] = std::div(static_cast<std::int64_t>(i), from_grid_length_);
                for (const auto& part : loops.parts())
                    loops.for_each_run(part, from, to, [&](const LoopRun& run) { count_[i] += run.list.count; });
            });
        error.rethrow();
    }

    /// Equal to counted_lists() for a rank that is not idle, but for the parts of the loops.
    ComponentLists lists(std::int64_t rank) const {
        ComponentLists result;
        for (std::int64_t from = 0; from < from_grid_length_; ++from) add(result.receive, from, from, loops_.to_coordinate(rank));
        for (std::int64_t to = 0; to < loops_.to_grid_length(); ++to) add(result.send, to, loops_.from_coordinate(rank), to);
        return result;
    }

private:
    void add(std::vector<EntryGroup>& groups, std::int64_t peer, std::int64_t from, std::int64_t to) const {
        const auto count = count_[to * from_grid_length_ + from];
        if (count == 0) return;
        groups.emplace_back().peer = peer;
        groups.back().part_begin = {0, count};
    }

    const MovementLoops& loops_;
    std::int64_t from_grid_length_;
    std::vector<std::int64_t> count_;  // by source coordinate, then target coordinate
};

/// The volume of a rank that is not idle, if both sides lie on one grid. @param lists_of  makes the lists of a component
template <class Lists>
Volume volume_on_grid(const Movement& spec, const std::vector<MovementComponent>& components, std::int64_t rank, Lists&& lists_of) {
    const auto& grid = spec.from.grid();
    SideCount sent, received;
    const PlaceCheck target(spec, spec.to, rank), source(spec, spec.from, rank);
    for (const auto& component : components) {
        const auto lists = lists_of(component);
        sent.multiply(lists.send, component.to_slots, target, true);
        received.multiply(lists.receive, component.from_slots, source, false);
    }
    // Along what a layout leaves open, parts of a sum are all sent, and copies of the target all receive.
    for (int t = 0; t < grid.dimensions(); ++t) {
        const auto length = grid.lengths[t];
        const bool copies = spec.from.slot_of_torus(t) < 0 && !spec.from.is_partial(t);
        if (!copies && spec.to.slot_of_torus(t) < 0) sent.all *= length;
        if (spec.from.is_partial(t)) received.all *= length;
    }
    return {sent.others(), received.others()};
}

/// The largest volume of a rank where there are loops and one grid. @param components  the one that they make
Volume largest_volume(const Movement& spec, const std::vector<MovementComponent>& components, const MovementLoops& loops) {
    const PairCounts counts(loops);
    Volume volume;
    for (std::int64_t r = 0; r < spec.ranks(); ++r) {
        const auto own = volume_on_grid(spec, components, r, [&](const auto&) { return counts.lists(r); });
        volume = {std::max(volume.sent, own.sent), std::max(volume.received, own.received)};
    }
    return volume;
}

/// Are both sides on one grid, and messages sent straight?
bool goes_straight(const Movement& spec) { return spec.stages.empty() && spec.from.grid() == spec.to.grid(); }

/// The volume of a rank of a movement that goes straight, with its components as MovementLoops::make() leaves them.
Volume straight_volume(const Movement& spec, const std::vector<MovementComponent>& components, const MovementLoops* loops,
                       std::int64_t rank) {
    if (spec.from.grid().is_idle(rank)) return {};
    return volume_on_grid(spec, components, rank, [&](const auto& component) {
        return loops != nullptr ? counted_lists(spec, *loops, rank) : component_lists(spec, component, rank);
    });
}

/// A count that may be too large for an integer.
std::int64_t rounded(double count) { return static_cast<std::int64_t>(std::min(count, 1e18)); }

/// Stored elements of some slots on a rank, at most.
double largest_part(const Layout& layout, const std::vector<int>& slots) {
    double product = 1;
    for (int s : slots) product *= layout.slot(s).max_local_size();
    return product;
}

double grid_length_of(const Layout& layout, const std::vector<int>& slots) {
    double product = 1;
    for (int s : slots) product *= layout.slot(s).grid_length();
    return product;
}

/// Target elements that a stored source element is needed for, at most: its images under the groups of the slots, by term, for
/// all values of the labels that the source lacks.
double largest_use(const Movement& spec, const MovementComponent& component) {
    if (component.one_to_one) return 1;
    double product = component.terms.size();
    for (const auto& group : component.from_groups) product *= static_cast<double>(group.size());
    std::vector<bool> known(spec.label_extents.size(), false);
    for (int s : component.from_slots)
        for (int d : spec.from.slot_dimensions(s)) known[spec.from_labels[d]] = true;
    for (int l : component.labels)
        if (!known[l]) product *= spec.label_extents[l];
    return product;
}

// Bytes of the lists of lists.hpp and of what redistribute/movement_run.hpp adds to them.
constexpr double bytes_of_send = 8 + 1;         // `from` and `factor`
constexpr double bytes_of_receive = 8 + 8 + 1;  // and `to`
constexpr double bytes_of_dense = 8;            // place in the message
constexpr double bytes_of_message = 512;        // MovementMessage, its axes and its piece
constexpr double bytes_of_entry = 48;           // while lists are built
constexpr double growth = 3;                    // of a vector of unknown length: the old and the doubled one

// Elements are counted on so many ranks, and where there are lists so many entries in all, at most.
constexpr double counted_ranks = 16, counted_entries = 1 << 18;

/// One side of a movement, by component: entries of the lists, and groups of peers.
struct SideBound {
    std::vector<double> entries, groups;
    std::vector<double> listed;  // of the entries; those of progressions are not

    void add(double count, double peers, bool has_lists) {
        entries.push_back(count);
        listed.push_back(has_lists ? count : 0);
        groups.push_back(std::min(count, peers));
    }
    static double product(const std::vector<double>& factors) {
        return std::accumulate(factors.begin(), factors.end(), 1.0, std::multiplies<>());
    }
    double sum_of_listed() const { return std::accumulate(listed.begin(), listed.end(), 0.0); }
    /// Bytes beside the entries themselves.
    double message_bytes(double ranks) const {
        const double messages = product(groups);
        double sum = std::min(messages, ranks) * bytes_of_message;
        for (std::size_t c = 0; ranks > 1 && c < entries.size(); ++c)
            if (groups[c] > 0) sum += listed[c] * messages / groups[c] * bytes_of_dense;
        return sum;
    }
};

}  // namespace

std::int64_t converted_at_once(std::int64_t count) {
    constexpr std::int64_t window = std::int64_t{1} << 16;  // enough for threads
    return std::clamp<std::int64_t>(count, 1, window);
}

std::int64_t conversion_bytes(std::int64_t count, std::int64_t from_bytes, std::int64_t element_bytes) {
    if (from_bytes == 0) return 0;
    return Workspace::padded(converted_at_once(count) * from_bytes) + Workspace::padded(converted_at_once(count) * element_bytes);
}

std::int64_t conversion_bytes(const Movement& spec, std::int64_t written, std::int64_t element_bytes) {
    return conversion_bytes(saturated_product(written, std::ssize(spec.terms)), spec.from_bytes, element_bytes);
}

MovementBound movement_bound(const Movement& spec) {
    if (pair_split(spec)) return {};
    const auto components = movement_components(spec);
    if (const auto pair = pair_unpack(spec, components))
        return {{}, 0, rounded(static_cast<double>(pair->child[0].count() + pair->child[1].count()) * bytes_of_receive), 0};
    const double ranks = spec.ranks();
    auto merged = components;
    const auto loops = MovementLoops::make(spec, merged);
    SideBound sent, received;
    double lists = 0, building = 0;
    for (const auto& component : components) {
        const double to_grid_length = grid_length_of(spec.to, component.to_slots),
                     from_grid_length = grid_length_of(spec.from, component.from_slots);
        const double reads = largest_part(spec.to, component.to_slots) * static_cast<double>(component.terms.size());
        const double needed = largest_part(spec.from, component.from_slots) * largest_use(spec, component);
        received.add(reads, from_grid_length, !component.progressions);
        sent.add(ranks > 1 ? std::min(reads * to_grid_length, needed) : 0, to_grid_length, !component.progressions);
        if (component.progressions) continue;
        lists += sent.entries.back() * bytes_of_send + reads * bytes_of_receive;
        building = std::max({building, reads * bytes_of_entry, sent.entries.back() * bytes_of_entry * growth});
    }
    if (loops) {
        lists = static_cast<double>(loops->bytes()) + (SideBound::product(sent.groups) + SideBound::product(received.groups)) *
                                                          (bytes_of_message + 8 * static_cast<double>(loops->parts().size()));
        building = 0;
    } else {
        lists += sent.message_bytes(ranks) + received.message_bytes(ranks);
    }
    // Along what a layout leaves open, parts of a sum are all sent, and copies of the target all receive.
    double copies = 1, parts = 1;
    for (int t = 0; t < spec.to.grid().dimensions(); ++t)
        if (spec.to.slot_of_torus(t) < 0) copies *= spec.to.grid().lengths[t];
    for (int t = 0; t < spec.from.grid().dimensions(); ++t)
        if (spec.from.is_partial(t)) parts *= spec.from.grid().lengths[t];
    Volume volume;
    if (ranks > 1 && ranks <= counted_ranks && loops && spec.from.grid() == spec.to.grid())
        volume = largest_volume(spec, merged, *loops);
    else if (ranks > 1 && ranks <= counted_ranks && (loops || ranks * (sent.sum_of_listed() + received.sum_of_listed()) <= counted_entries))
        for (std::int64_t r = 0; r < spec.ranks(); ++r) {
            const Volume counted = goes_straight(spec) ? straight_volume(spec, merged, loops.get(), r) : movement_volume(spec, r);
            volume = {std::max(volume.sent, counted.sent), std::max(volume.received, counted.received)};
        }
    else if (ranks > 1)
        volume = {rounded(SideBound::product(sent.entries) * copies), rounded(SideBound::product(received.entries) * parts)};
    return {volume, spec.stages.empty() ? volume.sent + volume.received : relay_buffers(spec), rounded(lists), rounded(building)};
}

double message_count(const Movement& spec) {
    if (spec.ranks() == 1 || pair_split(spec)) return 0;
    double sources = 1;
    bool has_itself = spec.from.grid() == spec.to.grid();
    for (const auto& component : movement_components(spec)) {
        if (!component.progressions) {
            const double elements = largest_part(spec.to, component.to_slots) * static_cast<double>(component.terms.size());
            const double ranks = grid_length_of(spec.from, component.from_slots);
            sources *= std::min(elements, ranks);
            has_itself = has_itself && elements >= ranks;
            continue;
        }
        const int from = component.from_slots[0], to = component.to_slots[0];
        const auto own = source_ranks({spec.from.grid(), spec.from.mapping(from).torus}, {spec.to.grid(), spec.to.mapping(to).torus},
                                      spec.to.slot(to).size());
        sources *= own.count;
        has_itself = has_itself && own.has_itself;
    }
    for (int t = 0; t < spec.from.grid().dimensions(); ++t)
        if (spec.from.is_partial(t)) sources *= spec.from.grid().lengths[t];
    return sources - (has_itself || sources == static_cast<double>(spec.ranks()) ? 1 : 0);
}

Volume movement_volume(const Movement& spec, std::int64_t rank) {
    const auto& grid = spec.from.grid();
    if (spec.ranks() == 1 || pair_split(spec)) return {};
    if (!spec.stages.empty()) return grid.is_idle(rank) ? Volume{} : Relay(spec, rank).volume();
    if (!goes_straight(spec)) return MovementLists(spec, rank).volume();
    auto components = movement_components(spec);
    const auto loops = MovementLoops::make(spec, components);
    return straight_volume(spec, components, loops.get(), rank);
}

}  // namespace arges
