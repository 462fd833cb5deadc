// The messages of a movement as products of one short list per component, in an order that both sides find without keys
// (cyclops-2012, section 4.3, generalised).
#include "plan/movement/lists.hpp"

#include "base/first_error.hpp"
#include "plan/movement/loops.hpp"
#include "plan/product/pair_split.hpp"

#include <algorithm>
#include <functional>

namespace arges {

namespace {

/// Coordinates along the torus; -1 where a message does not fix them.
using Coordinates = std::vector<std::int64_t>;

/// Writes the coordinates that a combined coordinate of some slots stands for.
void spread_coordinate(const Layout& layout, const std::vector<int>& slots, std::int64_t coordinate, Coordinates& result) {
    for (int s : slots) {
        auto own = coordinate % layout.slot(s).grid_length();
        coordinate /= layout.slot(s).grid_length();
        for (int t : layout.mapping(s).all()) {
            const auto length = layout.grid().lengths[t];
            result[t] = own % length;
            own /= length;
        }
    }
}

/// Which copy of the source sends to a rank, where source and target lie on grids of their own: copy number (rank mod copies).
struct CopyChoice {
    std::int64_t copies = 1;
    std::vector<int> torus;  // along which the source has copies

    explicit CopyChoice(const Layout& source) {
        for (int t = 0; t < source.grid().dimensions(); ++t) {
            if (source.slot_of_torus(t) >= 0 || source.is_partial(t)) continue;
            torus.push_back(t);
            copies *= source.grid().lengths[t];
        }
    }
    bool is_along(int t) const { return std::find(torus.begin(), torus.end(), t) != torus.end(); }
    /// Writes the coordinates of the copy that sends to `rank`.
    void set_coordinates(const RankGrid& grid, std::int64_t rank, Coordinates& result) const {
        auto number = rank % copies;
        for (int t : torus) {
            result[t] = number % grid.lengths[t];
            number /= grid.lengths[t];
        }
    }
    /// The number of the copy that a source rank has.
    std::int64_t number_of(const RankGrid& grid, std::int64_t rank) const { return grid.coordinate_of(torus, rank); }
};

/// Builds the messages of one side from the components' groups.
class MessageBuilder {
public:
    MessageBuilder(const Movement& spec, const std::vector<MovementComponent>& components, std::int64_t rank, bool sending)
        : spec_(spec), peer_side_(sending ? spec.to : spec.from), rank_(rank), sending_(sending),
          one_grid_(spec.from.grid() == spec.to.grid()), choice_(spec.from), components_(components) {}

    std::vector<MovementMessage> build(const std::vector<ComponentLists>& lists) {
        messages_.clear();
        if ((sending_ ? spec_.from : spec_.to).grid().is_idle(rank_)) return {};
        Coordinates c(peer_side_.grid().lengths.size(), -1);
        combine(lists, 0, c, MovementMessage{});
        std::sort(messages_.begin(), messages_.end(), [](const auto& a, const auto& b) { return a.peer < b.peer; });
        return std::move(messages_);
    }

private:
    void combine(const std::vector<ComponentLists>& lists, std::size_t i, Coordinates& c, const MovementMessage& so_far) {
        if (i == lists.size()) {
            spread(0, c, so_far);
            return;
        }
        const auto& slots = sending_ ? components_[i].to_slots : components_[i].from_slots;
        for (const auto& group : sending_ ? lists[i].send : lists[i].receive) {
            auto message = so_far;
            message.groups.push_back(&group);
            message.count *= group.count();
            spread_coordinate(peer_side_, slots, group.peer, c);
            combine(lists, i + 1, c, message);
        }
    }

    /// Fills the coordinates that the peer's layout leaves open: copies of the target all receive; every part of a sum sends; of
    /// copies of the source one sends, on one grid that with the target's own coordinates, else the one of CopyChoice.
    void spread(int t, Coordinates& c, MovementMessage message) {
        const auto& grid = peer_side_.grid();
        if (t == grid.dimensions()) {
            if (!one_grid_ && !sending_) choice_.set_coordinates(grid, rank_, c);
            message.peer = rank_at(c);
            if (one_grid_ || !sending_ || message.peer % choice_.copies == choice_.number_of(spec_.from.grid(), rank_))
                messages_.push_back(std::move(message));
            return;
        }
        auto& own = c[t];
        const bool open = peer_side_.slot_of_torus(t) < 0;
        if (one_grid_ && choice_.is_along(t)) {
            const auto mine = grid.coordinate(rank_, t);
            if (open) own = mine;
            if (own == mine) spread(t + 1, c, message);
            return;
        }
        const bool all = open && (sending_ || peer_side_.is_partial(t));
        for (std::int64_t x = 0; x < (all ? grid.lengths[t] : 1); ++x) {
            if (all) own = x;
            spread(t + 1, c, message);
        }
    }

    std::int64_t rank_at(const Coordinates& c) const {
        const auto& grid = peer_side_.grid();
        std::int64_t rank = 0;
        for (auto d = c.size(); d-- > 0;) rank = rank * grid.lengths[d] + c[d];
        return rank;
    }

    const Movement& spec_;
    const Layout& peer_side_;
    std::int64_t rank_;
    bool sending_, one_grid_;
    CopyChoice choice_;
    const std::vector<MovementComponent>& components_;
    std::vector<MovementMessage> messages_;
};

}  // namespace

ComponentLists counted_lists(const Movement& spec, const MovementLoops& loops, std::int64_t rank) {
    const auto counted = [&](std::int64_t from_coordinate, std::int64_t to_coordinate) {
        std::vector<std::int64_t> begin{0};
        for (const auto& part : loops.parts()) {
            auto count = begin.back();
            loops.for_each_run(part, from_coordinate, to_coordinate, [&count](const LoopRun& run) { count += run.list.count; });
            begin.push_back(count);
        }
        return begin;
    };
    // One group for each peer that there are elements for; the peers are shared among the threads.
    const auto groups = [&](std::int64_t peers, const std::function<std::vector<std::int64_t>(std::int64_t)>& count) {
        std::vector<EntryGroup> result(peers);
        FirstError error;
#pragma omp parallel for schedule(dynamic) if (peers > 1)
        for (std::int64_t peer = 0; peer < peers; ++peer)
            error.run([&] {
                auto& group = result[peer];
                group.peer = peer;
                group.part_begin = count(peer);
            });
        error.rethrow();
        std::erase_if(result, [](const auto& group) { return group.count() == 0; });
        return result;
    };
    ComponentLists lists;
    if (!spec.to.grid().is_idle(rank))
        lists.receive =
            groups(loops.from_grid_length(), [&, own = loops.to_coordinate(rank)](std::int64_t peer) { return counted(peer, own); });
    if (spec.ranks() > 1 && !spec.from.grid().is_idle(rank))
        lists.send =
            groups(loops.to_grid_length(), [&, own = loops.from_coordinate(rank)](std::int64_t peer) { return counted(own, peer); });
    return lists;
}

MovementLists::MovementLists(const Movement& spec, std::int64_t rank, LoopUse loops) {
    if (auto split = pair_split(spec)) {
        split_ = std::make_unique<const PairSplit>(*split);
        single_source_ = false;
        return;
    }
    auto components = movement_components(spec);
    if (auto pair = pair_unpack(spec, components)) {
        pair_ = std::make_unique<const PairUnpack>(*std::move(pair));
        return;
    }
    loops_ = MovementLoops::make(spec, components, loops == LoopUse::always);
    for (const auto& component : components)
        components_.push_back(loops_ ? counted_lists(spec, *loops_, rank) : component_lists(spec, component, rank));
    receives_ = MessageBuilder(spec, components, rank, false).build(components_);
    if (spec.ranks() > 1) {
        sends_ = MessageBuilder(spec, components, rank, true).build(components_);
        std::erase_if(sends_, [&](const auto& m) { return m.peer == rank; });
    }
    for (const auto& m : sends_) volume_.sent += m.count;
    for (const auto& m : receives_)
        if (m.peer != rank) volume_.received += m.count;
    for (const auto& component : components) {
        single_source_ = single_source_ && component.terms.size() == 1;
        pattern_ = pattern_ || component.pattern;
    }
    for (int t = 0; t < spec.from.grid().dimensions(); ++t) single_source_ = single_source_ && !spec.from.is_partial(t);
}

MovementLists::~MovementLists() = default;

std::int64_t MovementLists::written() const {
    if (pair_) return pair_->count();
    std::int64_t sum = 0;
    for (const auto& m : receives_) sum += m.count;
    return sum;
}

std::int64_t MovementLists::bytes() const {
    std::int64_t sum = loops_ ? loops_->bytes() : 0;
    for (const auto& component : components_)
        for (const auto* side : {&component.send, &component.receive})
            for (const auto& group : *side)
                sum += (group.from.size() + group.to.size() + group.part_begin.size()) * sizeof(std::int64_t) + group.factor.size();
    return sum;
}

}  // namespace arges
