// Gathers and scattered sums along lines of a torus, stage by stage (cyclops-2012, section 4.2, maps tensors for the sake of such
// collectives; Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19, 2005, compare rings with other ways). A sum is the
// transposed gather: the same messages, the other way and backwards in time, are added.
#include "plan/movement/relay.hpp"

#include "base/math.hpp"
#include "plan/movement/components.hpp"

#include <algorithm>

namespace arges {

namespace {

/// The torus dimensions behind those that a slot lies along on the other side; none if the lists differ otherwise.
std::optional<std::vector<int>> further(const SlotMapping& narrow, const SlotMapping& wide) {
    if (narrow.torus.size() > wide.torus.size() || !std::equal(narrow.torus.begin(), narrow.torus.end(), wide.torus.begin()))
        return std::nullopt;
    return std::vector<int>(wide.torus.begin() + narrow.torus.size(), wide.torus.end());
}

bool holds_all(const SlotMapping& mapping) { return mapping.begin == 0 && mapping.end < 0; }

/// The shape of a gather or of a sum; its dimensions are none if the movement is no such.
RelayShape shape_of(const Movement& spec, const std::vector<MovementComponent>& components, bool gathers) {
    const auto& wide = gathers ? spec.from : spec.to;
    const auto& narrow = gathers ? spec.to : spec.from;
    RelayShape shape{gathers, {}, std::vector<int>(wide.slots(), -1)};
    std::vector<int> torus;
    for (const auto& c : components) {
        const int s = gathers ? c.from_slots[0] : c.to_slots[0], other = gathers ? c.to_slots[0] : c.from_slots[0];
        shape.slots[s] = other;
        const auto more = further(narrow.mapping(other), wide.mapping(s));
        if (!more || !holds_all(wide.mapping(s))) return shape;
        for (const int t : *more)
            if (gathers || spec.from.is_partial(t)) torus.push_back(t);
    }
    std::sort(torus.begin(), torus.end());
    for (int t = 0; t < spec.from.grid().dimensions(); ++t)
        if (spec.from.is_partial(t) && (gathers || !std::binary_search(torus.begin(), torus.end(), t))) return shape;
    shape.torus = std::move(torus);
    return shape;
}

/// Ranks before one that is `coordinate` along some dimensions, among those that are 0 along them.
std::int64_t rank_along(const RankGrid& grid, const std::vector<int>& torus, std::int64_t coordinate) {
    std::int64_t rank = 0;
    for (const int t : torus) {
        const auto length = grid.lengths[t];
        rank += coordinate % length * grid.stride(t);
        coordinate /= length;
    }
    return rank;
}

std::int64_t length_along(const RankGrid& grid, const std::vector<int>& torus) {
    std::int64_t length = 1;
    for (const int t : torus) length *= grid.lengths[t];
    return length;
}

void add_piece(std::vector<RelayPiece>& pieces, const RelayPiece& piece) {
    if (piece.count > 0) pieces.push_back(piece);
}

}  // namespace

std::optional<RelayShape> relay_shape(const Movement& spec) {
    if (!(spec.from.grid() == spec.to.grid()) || spec.terms.size() != 1 || !spec.from_offset.empty() || !spec.to_offset.empty())
        return std::nullopt;
    const auto components = movement_components(spec);
    const bool alike = std::all_of(components.begin(), components.end(),
                                   [](const auto& c) { return c.progressions && !c.terms.front().negative && !c.terms.front().conjugate; });
    for (const bool gathers : {true, false})
        if (auto shape = alike ? shape_of(spec, components, gathers) : RelayShape(); !shape.torus.empty()) return shape;
    return std::nullopt;
}

Relay::Relay(const Movement& spec, std::int64_t rank) {
    const auto shape = relay_shape(spec).value();
    gathers_ = shape.gathers;
    const auto& wide = gathers_ ? spec.from : spec.to;
    const auto& narrow = gathers_ ? spec.to : spec.from;
    const auto& slots = shape.slots;
    const auto& grid = wide.grid();
    std::vector<Member> members;
    std::int64_t first = rank;
    std::vector<std::int64_t> ranks{0};  // of the group, less the first
    for (const auto& stage : spec.stages) {
        const auto own = grid.coordinate_of(stage.torus, rank);
        first -= rank_along(grid, stage.torus, own);
        const auto length = length_along(grid, stage.torus);
        members.push_back({own, length});
        const auto before = ranks.size();
        for (std::int64_t c = 1; c < length; ++c)
            for (std::size_t b = 0; b < before; ++b) ranks.push_back(ranks[b] + rank_along(grid, stage.torus, c));
    }
    begin_ = {0};
    for (auto peer : ranks) {
        peer += first;
        blocks_.emplace_back(peer, blocks_.size());
        std::int64_t count = 1;
        for (int s = 0; s < wide.slots(); ++s) {
            const auto& window = narrow.slot(slots[s]);
            const auto coordinate = wide.coordinate(peer, s), length = wide.slot(s).grid_length();
            count *=
                count_residues(window.begin() + window.size(), coordinate, length) - count_residues(window.begin(), coordinate, length);
        }
        begin_.push_back(begin_.back() + count);
    }
    std::sort(blocks_.begin(), blocks_.end());
    for (std::size_t i = 0; i < members.size(); ++i) take_stage(members, i, grid, spec.stages[i], rank);
    if (gathers_) return;
    std::reverse(steps_.begin(), steps_.end());
    for (auto& step : steps_) std::swap(step.sends, step.receives);
}

void Relay::take_stage(const std::vector<Member>& members, std::size_t stage, const RankGrid& grid, const RelayStage& how,
                       std::int64_t rank) {
    std::int64_t held = 1, base = 0, stride = 1;  // blocks of a coordinate; the first one with the rank's later coordinates
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (i < stage) held *= members[i].ranks;
        if (i > stage) base += members[i].coordinate * stride;
        stride *= members[i].ranks;
    }
    const auto [own, length] = members[stage];
    const auto peer_at = [&, own = own](std::int64_t c) {
        return rank + rank_along(grid, how.torus, c) - rank_along(grid, how.torus, own);
    };
    const auto piece = [&](std::int64_t peer, std::int64_t chunk) {
        const std::size_t first = base + chunk * held;
        return RelayPiece{peer_at(peer), begin_[first], begin_[first + static_cast<std::size_t>(held)] - begin_[first]};
    };
    if (how.way == RelayWay::direct) {
        auto& step = steps_.emplace_back();
        for (std::int64_t c = 0; c < length; ++c) {
            if (c == own) continue;
            add_piece(step.sends, piece(c, own));
            add_piece(step.receives, piece(c, c));
        }
        return;
    }
    const bool wraps = how.way == RelayWay::ring;
    const auto chunk = [&, length = length](std::int64_t c) -> std::int64_t {
        return wraps ? (c % length + length) % length : c >= 0 && c < length ? c : -1;
    };
    const auto right = chunk(own + 1), left = chunk(own - 1);
    for (std::int64_t k = 1; k <= (wraps ? length / 2 : length - 1); ++k) {
        auto& step = steps_.emplace_back();
        // Half of what is opposite on a ring comes from either side.
        const bool halves = wraps && 2 * k == length;
        const auto add = [&](std::vector<RelayPiece>& pieces, std::int64_t peer, std::int64_t c, bool upwards) {
            if (peer < 0 || chunk(c) < 0) return;
            auto part = piece(peer, chunk(c));
            const auto half = part.count / 2;
            if (halves && !upwards) part.begin += half;
            if (halves) part.count = upwards ? half : part.count - half;
            add_piece(pieces, part);
        };
        add(step.sends, right, own - k + 1, true);
        add(step.sends, left, own + k - 1, false);
        add(step.receives, left, own - k, true);
        add(step.receives, right, own + k, false);
    }
}

RelayPiece Relay::block_of(std::int64_t peer) const {
    const auto known = std::lower_bound(blocks_.begin(), blocks_.end(), std::pair(peer, std::size_t{0}));
    return {peer, begin_[known->second], begin_[known->second + 1] - begin_[known->second]};
}

std::int64_t Relay::most_received() const {
    std::int64_t most = 0;
    for (const auto& step : steps_) {
        std::int64_t sum = 0;
        for (const auto& piece : step.receives) sum += piece.count;
        most = std::max(most, sum);
    }
    return most;
}

Volume Relay::volume() const {
    Volume volume;
    for (const auto& step : steps_) {
        for (const auto& piece : step.sends) volume.sent += piece.count;
        for (const auto& piece : step.receives) volume.received += piece.count;
    }
    return volume;
}

std::int64_t relay_buffers(const Movement& spec) {
    const auto shape = relay_shape(spec).value();
    if (shape.gathers) return spec.to.max_local_size();
    std::int64_t group = 1;
    for (const auto& stage : spec.stages) group *= length_along(spec.to.grid(), stage.torus);
    return spec.from.max_local_size() + (group - 1) * spec.to.max_local_size();
}

}  // namespace arges
