/// What the loops of one term of a movement look at: slots, children of composite nodes, and tables of what they say of the two inner
/// labels.
#pragma once

#include "base/divider.hpp"
#include "base/related_value.hpp"
#include "plan/movement/loops.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace arges {

namespace movement_nest {

/// Entries of tables that are made once; beyond, lines are made each time.
inline constexpr std::int64_t max_table = std::int64_t(1) << 19;
/// In place of a factor: zero, or not a stored element of the target.
inline constexpr std::uint8_t absent = 0xff;

/// A slot of one side with the labels that its positions have in a term.
struct SlotUse {
    const SlotLayout* layout = nullptr;
    bool target = false;
    std::vector<int> labels;
    std::vector<std::int64_t> offsets;

    int position(int label) const {
        const auto found = std::find(labels.begin(), labels.end(), label);
        return found == labels.end() ? -1 : static_cast<int>(found - labels.begin());
    }
    /// True if the slot is a node over children whose numbers, sorted, make up the element.
    bool is_node() const {
        return !layout->is_blocks() && layout->node().children().size() > 1 && layout->node().kind() != NodeKind::product;
    }
    /// Of such a node, the number of the child that has a position.
    int child_of(int position) const { return position / layout->node().children()[0].width(); }
};

/// What a slot, or a child of a node, says for all values of one label, the others fixed.
struct Line {
    std::vector<std::int64_t> index;       // local index in the slot; of a child, its number
    std::vector<std::int32_t> coordinate;  // of a slot
    std::vector<std::uint8_t> factor;      // or absent: zero, or not a stored element of the target
    // The values of the label that are there, by coordinate of a slot (a child has one coordinate), ascending for each.
    std::vector<std::int32_t> values, begin;

    void sort_by_coordinate(std::int64_t length) {
        begin.assign(static_cast<std::size_t>(length) + 1, 0);
        for (std::size_t z = 0; z < factor.size(); ++z)
            if (factor[z] != absent) ++begin[coordinate_of(z) + 1];
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        values.resize(begin.back());
        auto next = begin;
        for (std::size_t z = 0; z < factor.size(); ++z)
            if (factor[z] != absent) values[next[coordinate_of(z)]++] = z;
    }
    std::int64_t bytes() const {
        return sizeof(Line) + index.size() * sizeof index[0] + factor.size() +
               (coordinate.size() + values.size() + begin.size()) * sizeof values[0];
    }
    std::span<const std::int32_t> values_at(std::int64_t p) const {
        const auto* const first = begin.data() + p;
        return {values.data() + first[0], values.data() + first[1]};
    }

private:
    std::size_t coordinate_of(std::size_t z) const { return coordinate.empty() ? 0 : static_cast<std::size_t>(coordinate[z]); }
};

/// A slot, or a child of a node, whose elements depend on one of the two inner labels.
struct Unit {
    std::size_t slot = 0;               // number of the SlotUse
    int first = 0, width = 0;           // positions
    const PackedNode* child = nullptr;  // of a node; null: a whole slot
    int inner = 0;                      // position of the inner label
    std::vector<int> fixed;             // the other positions
    std::vector<Line> table;            // by the combined values of the fixed labels; empty: made each time
};

/// The slots of a component in a term.
inline std::vector<SlotUse> uses(const Movement& spec, const MovementComponent& component, const LabelTerm& term) {
    std::vector<SlotUse> result;
    const auto add = [&](const Layout& layout, const std::vector<int>& slots, const std::vector<int>& labels,
                         const std::vector<std::int64_t>& offset, bool target) {
        for (int s : slots) {
            SlotUse use{&layout.slot(s), target, {}, {}};
            for (int d : layout.slot_dimensions(s)) {
                const int label = labels[d];
                use.labels.push_back(target ? label : term.image[label]);
                use.offsets.push_back(offset.empty() ? 0 : offset[d]);
            }
            result.push_back(std::move(use));
        }
    };
    add(spec.from, component.from_slots, spec.from_labels, spec.from_offset, false);
    add(spec.to, component.to_slots, spec.to_labels, spec.to_offset, true);
    return result;
}

/// True if x and y can be the inner labels.
inline bool separates(const std::vector<SlotUse>& slots, int x, int y) {
    return std::all_of(slots.begin(), slots.end(), [&](const SlotUse& slot) {
        const int a = slot.position(x), b = slot.position(y);
        return a < 0 || b < 0 || (slot.is_node() && slot.child_of(a) != slot.child_of(b));
    });
}

/// The inner labels with the most values, the longer one first.
inline std::optional<std::array<int, 2>> inner_labels(const Movement& spec, const MovementComponent& component,
                                                      const std::vector<SlotUse>& slots) {
    const auto extent = [&](int l) { return spec.label_extents[l]; };
    std::optional<std::array<int, 2>> best;
    for (std::size_t i = 0; i < component.labels.size(); ++i)
        for (std::size_t j = i + 1; j < component.labels.size(); ++j) {
            const int a = component.labels[i], b = component.labels[j];
            if (!separates(slots, a, b)) continue;
            if (best && extent(a) * extent(b) <= extent((*best)[0]) * extent((*best)[1])) continue;
            best = extent(a) >= extent(b) ? std::array{a, b} : std::array{b, a};
        }
    return best;
}

/// What a child adds to the coordinate of an element, and to its local index there. Of the sum over the children the coordinate is taken
/// modulo the number of coordinates, and the quotient is added to the index.
struct Share {
    std::int64_t coordinate = 0, index = 0;
    Share& operator+=(const Share& other) {
        coordinate += other.coordinate;
        index += other.index;
        return *this;
    }
};

/// A node with both inner labels, which are in different children.
class NodeUse {
public:
    NodeUse() = default;
    NodeUse(const SlotLayout& layout, std::size_t slot, std::array<int, 2> child)
        : slot_(slot), child_(child), node_(&layout.node()), by_grid_length_(layout.grid_length()), numbers_(node_->children()[0].size()) {
        for (int c = 0; c < children(); ++c) {
            if (c != child[0] && c != child[1]) fixed_children_.push_back(c);
            for (std::int64_t number = 0; number < numbers_; ++number) shares_.push_back(share_of(layout, number, c));
        }
    }

    explicit operator bool() const { return node_ != nullptr; }
    std::size_t slot() const { return slot_; }
    /// The child with an inner label.
    int child(std::size_t axis) const { return child_[axis]; }
    /// The others, ascending.
    const std::vector<int>& fixed_children() const { return fixed_children_; }
    const PackedNode& node() const { return *node_; }
    int children() const { return node_->children().size(); }
    std::int64_t grid_length() const { return by_grid_length_.divisor(); }
    /// What the child with this number adds that is at a position among the sorted ones.
    const Share& share(std::int64_t number, int position) const { return shares_[position * numbers_ + number]; }
    /// Where the other children add up to `others`: the coordinate that the last one must add so that the element is at `own`. What is over
    /// goes into the index of `others`.
    std::int64_t complete(Share& others, std::int64_t own) const {
        const auto turn = by_grid_length_.quotient(others.coordinate), coordinate = others.coordinate - turn * grid_length();
        others.index += turn + (coordinate > own ? 1 : 0);
        return own - coordinate + (coordinate > own ? grid_length() : 0);
    }
    std::int64_t bytes() const { return shares_.size() * sizeof(Share); }

private:
    Share share_of(const SlotLayout& layout, std::int64_t number, int position) const {
        if (layout.is_rows()) {
            if (position == 0) return {0, number};
            return {number % grid_length(), layout.row_start(number % grid_length(), number / grid_length())};
        }
        const auto index = choose(number + (node_->strict() ? 0 : position), position + 1);
        return {index % grid_length(), index / grid_length()};
    }

    std::size_t slot_ = 0;
    std::array<int, 2> child_{};
    std::vector<int> fixed_children_;
    const PackedNode* node_ = nullptr;
    Divider by_grid_length_;
    std::int64_t numbers_ = 0;
    std::vector<Share> shares_;  // by position and number
};

}  // namespace movement_nest

/// The loops of one term.
class MovementLoops::Nest {
public:
    using Line = movement_nest::Line;
    using NodeUse = movement_nest::NodeUse;
    using SlotUse = movement_nest::SlotUse;
    using Unit = movement_nest::Unit;

    Nest(const Movement& spec, const MovementComponent& component, const LabelTerm& term)
        : slots_(movement_nest::uses(spec, component, term)), inner_(*movement_nest::inner_labels(spec, component, slots_)),
          extents_(spec.label_extents) {
        for (int l : component.labels)
            if (l != inner_[0] && l != inner_[1]) outer_.push_back(l);
        for (int l : outer_) steps_ *= extents_[l];
        factor_ = factor_bits(term.negative, term.conjugate);
        for (std::size_t s = 0; s < slots_.size(); ++s) add_units(s);
        for (auto& units : units_)
            for (auto& unit : units) make_table(unit);
    }

    std::int64_t steps() const { return steps_; }
    std::int64_t bytes() const {
        std::int64_t sum = from_node_.bytes() + to_node_.bytes();
        for (const auto& units : units_)
            for (const auto& unit : units)
                for (const auto& line : unit.table) sum += line.bytes();
        return sum;
    }

private:
    friend class MovementLoops::Walk;

    void add_units(std::size_t s) {
        const auto& slot = slots_[s];
        const std::array<int, 2> at{slot.position(inner_[0]), slot.position(inner_[1])};
        if (at[0] < 0 && at[1] < 0) {
            fixed_slots_.push_back(s);
            return;
        }
        const bool both = at[0] >= 0 && at[1] >= 0;
        if (both) (slot.target ? to_node_ : from_node_) = NodeUse(*slot.layout, s, {slot.child_of(at[0]), slot.child_of(at[1])});
        for (std::size_t axis = 0; axis < 2; ++axis) {
            if (at[axis] < 0) continue;
            Unit unit;
            unit.slot = s;
            unit.width = slot.labels.size();
            if (both) {
                const int c = slot.child_of(at[axis]);
                unit.child = &slot.layout->node().children()[c];
                unit.width = unit.child->width();
                unit.first = c * unit.width;
            }
            unit.inner = at[axis];
            for (int i = unit.first; i < unit.first + unit.width; ++i)
                if (i != unit.inner) unit.fixed.push_back(i);
            units_[axis].push_back(std::move(unit));
        }
    }

    std::int64_t extent_at(const Unit& unit, int position) const { return extents_[slots_[unit.slot].labels[position]]; }

    /// Fills a line for given values of all labels.
    void fill(const Unit& unit, std::vector<std::int64_t>& value, Line& line) const {
        const auto& slot = slots_[unit.slot];
        const std::size_t n = extent_at(unit, unit.inner);
        line.index.resize(n);
        if (unit.child == nullptr) line.coordinate.resize(n);
        line.factor.resize(n);
        std::array<std::int64_t, max_slot_order> tuple, stored, below;
        for (int i = unit.first; i < unit.first + unit.width; ++i) {
            const std::size_t p = i;
            tuple[p] = value[slot.labels[p]] + slot.offsets[p];
        }
        auto& z = tuple[unit.inner];
        z = slot.offsets[unit.inner];
        const auto* const first = tuple.data() + unit.first;
        for (std::size_t k = 0; k < n; ++k, ++z) {
            std::copy(first, first + unit.width, stored.begin());
            bool there = true;
            std::uint8_t factor = 0;
            if (unit.child != nullptr) {
                const auto c = slot.target ? unit.child->canonicalize(stored.data(), nullptr) : unit.child->find(first, below.data());
                line.index[k] = c.index;
                there = !c.zero;
                factor = factor_bits(c.negative, c.conjugate);
            } else {
                const auto at = slot.target ? slot.layout->locate(stored.data()) : slot.layout->find(first);
                line.index[k] = at.index;
                line.coordinate[k] = at.coordinate;
                there = !at.zero;
                factor = factor_bits(at.negative, at.conjugate);
            }
            there = there && std::equal(first, first + unit.width, stored.begin());
            line.factor[k] = there ? factor : movement_nest::absent;
        }
        line.sort_by_coordinate(unit.child == nullptr ? slot.layout->grid_length() : 1);
    }

    void make_table(Unit& unit) const {
        std::int64_t lines = 1;
        for (int i : unit.fixed) lines *= extent_at(unit, i);
        if (lines * extent_at(unit, unit.inner) > movement_nest::max_table) return;
        std::vector<std::int64_t> value(extents_.size(), 0);
        unit.table.resize(lines);
        for (std::int64_t l = 0; l < lines; ++l) {
            auto rest = l;
            for (int i : unit.fixed) {
                const auto n = extent_at(unit, i);
                value[slots_[unit.slot].labels[i]] = rest % n;
                rest /= n;
            }
            fill(unit, value, unit.table[l]);
        }
    }

    std::vector<SlotUse> slots_;
    std::array<int, 2> inner_;  // labels: of the inner loop, of the one around it
    std::vector<int> outer_;    // the other labels, the first one fastest
    std::vector<std::int64_t> extents_;
    std::int64_t steps_ = 1;
    std::uint8_t factor_ = 0;
    std::vector<std::size_t> fixed_slots_;    // slots without inner labels
    std::array<std::vector<Unit>, 2> units_;  // by inner label
    NodeUse from_node_, to_node_;             // slots that have both inner labels
};

}  // namespace arges
