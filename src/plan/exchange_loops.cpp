#include "plan/exchange_loops.hpp"

#include "base/related_value.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace arges {

namespace {

/// Elements of a component on a rank, and the part of the movement's elements, from which on lists are too long: shorter ones are kept, and read
/// faster than loops begin.
constexpr double min_elements = 1 << 16, min_part = 1.0 / 16;
/// Seconds to list an element, and to look at a value of an inner label for a pair of places, from a table or without; on one machine, but their
/// ratio is what counts.
constexpr double seconds_of_entry = 1e-7, seconds_of_value = 3e-9, seconds_of_value_without_table = 1.2e-7;
/// A rank counts its messages by going through the loops for each place of its peers. On very many ranks that takes longer than making
/// lists: how many times as long, at most. Lists need memory, too.
constexpr double most_counting = 8;
/// Entries of tables that are made once; beyond, lines are made each time.
constexpr std::int64_t max_table = std::int64_t(1) << 19;
/// Parts of a term, about.
constexpr std::int64_t parts_of_term = 32;

constexpr std::uint8_t absent = 0xff;

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
    /// The child of a node over two that has a position.
    int child_of(int position) const { return position < layout->node().children()[0].width() ? 0 : 1; }
    /// True if the slot is a node over two children whose element follows from the numbers of the children, place by place.
    bool is_pair() const {
        const auto& node = layout->node();
        return !layout->is_blocks() && node.children().size() == 2 && node.kind() != NodeKind::product && (layout->is_rows() || layout->places() == 1);
    }
};

/// What a slot, or a child of a pair, says for all values of one label, the others fixed.
struct Line {
    std::vector<std::int64_t> index;   // local index in the slot; of a child, its packed index
    std::vector<std::int32_t> place;   // of a slot
    std::vector<std::uint8_t> factor;  // or absent: zero, or not a stored element of the target
};

/// A slot or child whose elements depend on one of the two inner labels.
struct Unit {
    std::size_t slot = 0;                 // number of the SlotUse
    int first = 0, width = 0;             // positions
    const PackedNode* child = nullptr;    // null: a whole slot
    int inner = 0;                        // position of the inner label
    std::vector<int> fixed;               // the other positions
    std::vector<Line> table;              // by the combined values of the fixed labels; empty: made each time
};

std::vector<SlotUse> uses(const ExchangeSpec& spec, const ExchangeComponent& component, const LabelTerm& term) {
    std::vector<SlotUse> result;
    const auto add = [&](const Layout& layout, const std::vector<int>& slots, const std::vector<int>& labels, const std::vector<std::int64_t>& offset,
                         bool target) {
        for (int s : slots) {
            SlotUse use{&layout.slot(s), target, {}, {}};
            for (int d : layout.slot_dimensions(s)) {
                const int label = labels[static_cast<std::size_t>(d)];
                use.labels.push_back(target ? label : term.image[static_cast<std::size_t>(label)]);
                use.offsets.push_back(offset.empty() ? 0 : offset[static_cast<std::size_t>(d)]);
            }
            result.push_back(std::move(use));
        }
    };
    add(spec.from, component.from_slots, spec.from_labels, spec.from_offset, false);
    add(spec.to, component.to_slots, spec.to_labels, spec.to_offset, true);
    return result;
}

/// True if x and y can be the inner labels.
bool separates(const std::vector<SlotUse>& slots, int x, int y) {
    return std::all_of(slots.begin(), slots.end(), [&](const SlotUse& slot) {
        const int a = slot.position(x), b = slot.position(y);
        return a < 0 || b < 0 || (slot.is_pair() && slot.child_of(a) != slot.child_of(b));
    });
}

/// The inner labels with the most values, the longer one first.
std::optional<std::array<int, 2>> inner_labels(const ExchangeSpec& spec, const ExchangeComponent& component, const std::vector<SlotUse>& slots) {
    const auto extent = [&](int l) { return spec.label_extents[static_cast<std::size_t>(l)]; };
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

bool occur_once(const ExchangeComponent& component, const Layout& layout, const std::vector<int>& slots, const std::vector<int>& labels) {
    std::vector<int> found;
    for (int s : slots)
        for (int d : layout.slot_dimensions(s)) found.push_back(labels[static_cast<std::size_t>(d)]);
    std::sort(found.begin(), found.end());
    return found == component.labels;  // which ascend
}

bool has_window(const SlotUse& use) { return !use.layout->is_blocks() && use.layout->size() != use.layout->node().size(); }

std::int64_t combined_places(const Layout& layout, const std::vector<int>& slots) {
    std::int64_t places = 1;
    for (int s : slots) places *= layout.slot(s).places();
    return places;
}

std::int64_t combined_place(const Layout& layout, const std::vector<int>& slots, std::int64_t rank) {
    std::int64_t place = 0, stride = 1;
    for (int s : slots) {
        place += layout.place(rank, s) * stride;
        stride *= layout.slot(s).places();
    }
    return place;
}

/// What the lists of a movement would be.
class ListCost {
public:
    void add(const ExchangeSpec& spec, const ExchangeComponent& component) {
        const bool one_rank = spec.ranks() == 1;
        double reads = static_cast<double>(component.terms.size()), written = 1, stored = one_rank ? 0 : 1;
        for (int s : component.to_slots) written *= static_cast<double>(spec.to.slot(s).max_local_size());
        for (int s : component.from_slots) stored *= static_cast<double>(spec.from.slot(s).max_local_size());
        reads *= written;
        // A list for a small slice of a large source is short, but made by a walk over the source.
        longest_ = std::max({longest_, reads, stored});
        written_ *= written;
        stored_ *= stored;
        seconds_ += (reads + stored * static_cast<double>(component.terms.size())) * seconds_of_entry;
    }
    bool are_long() const { return longest_ >= min_elements && longest_ >= min_part * std::max(written_, stored_); }
    double seconds() const { return seconds_; }

private:
    double longest_ = 0, written_ = 1, stored_ = 1, seconds_ = 0;
};

/// Time to count what a rank sends and receives by the loops of a term.
double counting_seconds(const ExchangeSpec& spec, const ExchangeComponent& component, const std::array<int, 2>& inner) {
    double steps = 1, values = 0, longest_pair = 0;
    for (int l : component.labels) {
        const auto extent = static_cast<double>(spec.label_extents[static_cast<std::size_t>(l)]);
        longest_pair = std::max(longest_pair, extent * extent);
        if (l == inner[0] || l == inner[1])
            values += extent;
        else
            steps *= extent;
    }
    const auto places = static_cast<double>(combined_places(spec.from, component.from_slots) + combined_places(spec.to, component.to_slots));
    return places * steps * values * (longest_pair > static_cast<double>(max_table) ? seconds_of_value_without_table : seconds_of_value);
}

/// First index of the row of a pair's larger child.
std::int64_t row_begin(const SlotLayout& slot, std::int64_t larger) {
    return slot.row_start(larger % slot.places(), larger / slot.places());
}

}  // namespace

/// The loops of one term.
class ExchangeLoops::Nest {
public:
    Nest(const ExchangeSpec& spec, const ExchangeComponent& component, const LabelTerm& term)
        : slots_(uses(spec, component, term)), inner_(*inner_labels(spec, component, slots_)), extents_(spec.label_extents) {
        for (int l : component.labels)
            if (l != inner_[0] && l != inner_[1]) outer_.push_back(l);
        for (int l : outer_) steps_ *= extents_[static_cast<std::size_t>(l)];
        factor_ = factor_bits(term.negative, term.conjugate);
        for (std::size_t s = 0; s < slots_.size(); ++s) add_units(s);
        for (auto& units : units_)
            for (auto& unit : units) make_table(unit);
    }

    std::int64_t steps() const { return steps_; }
    std::int64_t bytes() const {
        std::int64_t sum = 0;
        for (const auto& units : units_)
            for (const auto& unit : units)
                for (const auto& line : unit.table) sum += static_cast<std::int64_t>(line.index.size()) * 13 + 72;
        return sum;
    }

private:
    friend class ExchangeLoops::Walk;

    void add_units(std::size_t s) {
        const auto& slot = slots_[s];
        const std::array<int, 2> at{slot.position(inner_[0]), slot.position(inner_[1])};
        if (at[0] < 0 && at[1] < 0) {
            fixed_slots_.push_back(s);
            return;
        }
        const bool pair = at[0] >= 0 && at[1] >= 0;
        if (pair) (slot.target ? to_pair_ : from_pair_) = static_cast<int>(s);
        for (std::size_t axis = 0; axis < 2; ++axis) {
            if (at[axis] < 0) continue;
            Unit unit;
            unit.slot = s;
            unit.width = static_cast<int>(slot.labels.size());
            if (pair) {
                const int c = slot.child_of(at[axis]);
                unit.child = &slot.layout->node().children()[static_cast<std::size_t>(c)];
                unit.width = unit.child->width();
                unit.first = c == 0 ? 0 : slot.layout->node().children()[0].width();
                (slot.target ? to_child_ : from_child_)[axis] = c;
            }
            unit.inner = at[axis];
            for (int i = unit.first; i < unit.first + unit.width; ++i)
                if (i != unit.inner) unit.fixed.push_back(i);
            units_[axis].push_back(std::move(unit));
        }
    }

    std::int64_t extent_at(const Unit& unit, int position) const {
        return extents_[static_cast<std::size_t>(slots_[unit.slot].labels[static_cast<std::size_t>(position)])];
    }

    /// Fills a line for given values of all labels.
    void fill(const Unit& unit, std::vector<std::int64_t>& value, Line& line) const {
        const auto& slot = slots_[unit.slot];
        const auto n = static_cast<std::size_t>(extent_at(unit, unit.inner));
        line.index.resize(n);
        line.place.resize(n);
        line.factor.resize(n);
        std::array<std::int64_t, max_slot_order> tuple, stored, below;
        for (int i = unit.first; i < unit.first + unit.width; ++i) {
            const auto p = static_cast<std::size_t>(i);
            tuple[p] = value[static_cast<std::size_t>(slot.labels[p])] + slot.offsets[p];
        }
        auto& z = tuple[static_cast<std::size_t>(unit.inner)];
        z = slot.offsets[static_cast<std::size_t>(unit.inner)];
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
                line.place[k] = static_cast<std::int32_t>(at.place);
                there = !at.zero;
                factor = factor_bits(at.negative, at.conjugate);
            }
            there = there && std::equal(first, first + unit.width, stored.begin());
            line.factor[k] = there ? factor : absent;
        }
    }

    void make_table(Unit& unit) const {
        std::int64_t lines = 1;
        for (int i : unit.fixed) lines *= extent_at(unit, i);
        if (lines * extent_at(unit, unit.inner) > max_table) return;
        std::vector<std::int64_t> value(extents_.size(), 0);
        unit.table.resize(static_cast<std::size_t>(lines));
        for (std::int64_t l = 0; l < lines; ++l) {
            auto rest = l;
            for (int i : unit.fixed) {
                const auto n = extent_at(unit, i);
                value[static_cast<std::size_t>(slots_[unit.slot].labels[static_cast<std::size_t>(i)])] = rest % n;
                rest /= n;
            }
            fill(unit, value, unit.table[static_cast<std::size_t>(l)]);
        }
    }

    std::vector<SlotUse> slots_;
    std::array<int, 2> inner_;  // labels: of the inner loop, of the one around it
    std::vector<int> outer_;    // the other labels, the first one fastest
    std::vector<std::int64_t> extents_;
    std::int64_t steps_ = 1;
    std::uint8_t factor_ = 0;
    std::vector<std::size_t> fixed_slots_;          // slots without inner labels
    std::array<std::vector<Unit>, 2> units_;        // by inner label
    int from_pair_ = -1, to_pair_ = -1;             // slots that have both inner labels
    std::array<int, 2> from_child_{}, to_child_{};  // of these, the child with the label
};

/// The runs of one nest between two places.
class ExchangeLoops::Walk {
public:
    Walk(const Nest& nest, std::int64_t from_place, std::int64_t to_place, const std::function<void(const ExchangeRun&)>& f)
        : nest_(nest), f_(f), value_(nest.extents_.size(), 0), place_(nest.slots_.size()), stride_(nest.slots_.size()) {
        std::int64_t from_stride = 1, to_stride = 1;
        for (std::size_t s = 0; s < nest.slots_.size(); ++s) {
            const auto& slot = nest.slots_[s];
            auto& place = slot.target ? to_place : from_place;
            auto& stride = slot.target ? to_stride : from_stride;
            place_[s] = place % slot.layout->places();
            place /= slot.layout->places();
            stride_[s] = stride;
            stride *= slot.layout->local_size(place_[s]);
        }
    }

    void step(std::int64_t number) {
        for (int l : nest_.outer_) {
            const auto n = nest_.extents_[static_cast<std::size_t>(l)];
            value_[static_cast<std::size_t>(l)] = number % n;
            number /= n;
        }
        from_ = to_ = 0;
        factor_ = nest_.factor_;
        for (auto s : nest_.fixed_slots_)
            if (!take_fixed(s)) return;
        if (!gather(1, y_) || !gather(0, x_)) return;
        split_x();
        for (std::size_t y = 0; y < y_.from.size(); ++y) run_row(y);
    }

private:
    /// Values of an inner label that stay, ascending, and what they add.
    struct Axis {
        std::vector<std::int64_t> from, to;              // offsets
        std::vector<std::int64_t> from_child, to_child;  // numbers of the children in pairs
        std::vector<std::uint8_t> factor;
        bool has_factor = false;

        void clear() {
            for (auto* list : {&from, &to, &from_child, &to_child}) list->clear();
            factor.clear();
            has_factor = false;
        }
        void copy(const Axis& other, std::size_t i) {
            from.push_back(other.from[i]);
            to.push_back(other.to[i]);
            from_child.push_back(other.from_child[i]);
            to_child.push_back(other.to_child[i]);
            factor.push_back(other.factor[i]);
            has_factor = has_factor || other.factor[i] != 0;
        }
    };

    bool take_fixed(std::size_t s) {
        const auto& slot = nest_.slots_[s];
        std::array<std::int64_t, max_slot_order> tuple, stored;
        const auto w = static_cast<std::ptrdiff_t>(slot.labels.size());
        for (std::size_t i = 0; i < slot.labels.size(); ++i)
            tuple[i] = stored[i] = value_[static_cast<std::size_t>(slot.labels[i])] + slot.offsets[i];
        const auto at = slot.target ? slot.layout->locate(stored.data()) : slot.layout->find(tuple.data());
        if (at.zero || at.place != place_[s] || !std::equal(tuple.begin(), tuple.begin() + w, stored.begin())) return false;
        (slot.target ? to_ : from_) += at.index * stride_[s];
        factor_ ^= factor_bits(at.negative, at.conjugate);
        return true;
    }

    const Line& line(const Unit& unit, Line& scratch) {
        if (unit.table.empty()) {
            nest_.fill(unit, value_, scratch);
            return scratch;
        }
        std::int64_t number = 0;
        for (auto i = unit.fixed.rbegin(); i != unit.fixed.rend(); ++i)
            number = number * nest_.extent_at(unit, *i) + value_[static_cast<std::size_t>(nest_.slots_[unit.slot].labels[static_cast<std::size_t>(*i)])];
        return unit.table[static_cast<std::size_t>(number)];
    }

    /// Finds the values of an inner label for which every slot agrees; false if there are none.
    bool gather(std::size_t axis, Axis& result) {
        result.clear();
        const auto& units = nest_.units_[axis];
        lines_.clear();
        if (scratch_.size() < units.size()) scratch_.resize(units.size());
        for (std::size_t u = 0; u < units.size(); ++u) lines_.push_back(&line(units[u], scratch_[u]));
        const auto n = static_cast<std::size_t>(nest_.extents_[static_cast<std::size_t>(nest_.inner_[axis])]);
        for (std::size_t z = 0; z < n; ++z) {
            std::int64_t from = 0, to = 0, from_child = 0, to_child = 0;
            std::uint8_t factor = 0;
            bool there = true;
            for (std::size_t u = 0; u < units.size() && there; ++u) {
                const auto& unit = units[u];
                const auto& line = *lines_[u];
                const bool target = nest_.slots_[unit.slot].target;
                there = line.factor[z] != absent && (unit.child != nullptr || line.place[z] == place_[unit.slot]);
                if (unit.child != nullptr)
                    (target ? to_child : from_child) = line.index[z];
                else
                    (target ? to : from) += line.index[z] * stride_[unit.slot];
                factor ^= line.factor[z];
            }
            if (!there) continue;
            result.from.push_back(from);
            result.to.push_back(to);
            result.from_child.push_back(from_child);
            result.to_child.push_back(to_child);
            result.factor.push_back(factor);
            result.has_factor = result.has_factor || factor != 0;
        }
        return !result.from.empty();
    }

    const SlotLayout& pair(int s) const { return *nest_.slots_[static_cast<std::size_t>(s)].layout; }
    std::int64_t pair_stride(int s) const { return stride_[static_cast<std::size_t>(s)]; }
    bool is_own_row(int s, std::int64_t larger) const { return larger % pair(s).places() == place_[static_cast<std::size_t>(s)]; }
    /// What a child adds to the offset as the larger or the smaller one of its pair.
    std::int64_t in_pair(int s, std::int64_t child, bool larger) const { return pair_stride(s) * (larger ? row_begin(pair(s), child) : child); }

    /// The inner loop where x belongs to the smaller child of the source's pair, and to the larger one.
    void split_x() {
        const bool larger_in_target = nest_.to_pair_ >= 0 && nest_.to_child_[0] == 1;
        below_.clear();
        above_.clear();
        for (std::size_t i = 0; i < x_.from.size(); ++i) {
            if (nest_.to_pair_ >= 0) {
                if (larger_in_target && !is_own_row(nest_.to_pair_, x_.to_child[i])) continue;
                x_.to[i] += in_pair(nest_.to_pair_, x_.to_child[i], larger_in_target);
            }
            if (nest_.from_pair_ < 0) {
                below_.copy(x_, i);
                continue;
            }
            const auto child = x_.from_child[i];
            below_.copy(x_, i);
            below_.from.back() += in_pair(nest_.from_pair_, child, false);
            if (!is_own_row(nest_.from_pair_, child)) continue;
            above_.copy(x_, i);
            above_.from.back() += in_pair(nest_.from_pair_, child, true);
        }
    }

    static std::size_t first_from(const std::vector<std::int64_t>& ascending, std::int64_t bound) {
        return static_cast<std::size_t>(std::lower_bound(ascending.begin(), ascending.end(), bound) - ascending.begin());
    }

    void run_row(std::size_t y) {
        std::int64_t to = to_ + y_.to[y];
        // Entries of x in [begin, end): a stored element of the target has its children in order.
        std::int64_t least = std::numeric_limits<std::int64_t>::min(), bound = std::numeric_limits<std::int64_t>::max();
        if (nest_.to_pair_ >= 0) {
            const auto child = y_.to_child[y];
            const bool larger = nest_.to_child_[1] == 1;
            if (larger && !is_own_row(nest_.to_pair_, child)) return;
            to += in_pair(nest_.to_pair_, child, larger);
            const bool strict = pair(nest_.to_pair_).node().strict();
            if (larger)
                bound = child + (strict ? 0 : 1);
            else
                least = child + (strict ? 1 : 0);
        }
        const auto range = [&](const Axis& x) { return std::pair(first_from(x.to_child, least), first_from(x.to_child, bound)); };
        const auto emit = [&](const Axis& x, std::size_t begin, std::size_t end, std::int64_t from, std::uint8_t factor) {
            if (begin >= end) return;
            f_({static_cast<std::int64_t>(end - begin), from, to, x.from.data() + begin, x.to.data() + begin,
                x.has_factor ? x.factor.data() + begin : nullptr, factor});
        };
        const auto factor = static_cast<std::uint8_t>(factor_ ^ y_.factor[y]);
        const auto from = from_ + y_.from[y];
        const auto [begin, end] = range(below_);
        if (nest_.from_pair_ < 0) {
            emit(below_, begin, end, from, factor);
            return;
        }
        const auto& node = pair(nest_.from_pair_).node();
        const auto swap = factor_bits(node.kind() == NodeKind::antisymmetric, node.kind() == NodeKind::hermitian);
        const auto child = y_.from_child[y];
        // Children that are equal are in order as they stand.
        const bool x_first = nest_.from_child_[0] == 0;
        const auto below = child + (x_first && !node.strict() ? 1 : 0), above = child + (x_first || node.strict() ? 1 : 0);
        if (is_own_row(nest_.from_pair_, child))
            emit(below_, begin, std::min(end, first_from(below_.from_child, below)), from + in_pair(nest_.from_pair_, child, true),
                 factor ^ (x_first ? 0 : swap));
        const auto [high_begin, high_end] = range(above_);
        emit(above_, std::max(high_begin, first_from(above_.from_child, above)), high_end, from + in_pair(nest_.from_pair_, child, false),
             factor ^ (x_first ? swap : 0));
    }

    const Nest& nest_;
    const std::function<void(const ExchangeRun&)>& f_;
    std::vector<std::int64_t> value_, place_, stride_;  // by label, slot, slot
    std::int64_t from_ = 0, to_ = 0;
    std::uint8_t factor_ = 0;
    Axis x_, y_, below_, above_;
    std::vector<Line> scratch_;
    std::vector<const Line*> lines_;
};

ExchangeLoops::ExchangeLoops(const ExchangeSpec& spec, const ExchangeComponent& component)
    : spec_(spec), from_slots_(component.from_slots), to_slots_(component.to_slots) {
    for (std::size_t t = 0; t < component.terms.size(); ++t) {
        const auto steps = nests_.emplace_back(std::make_unique<const Nest>(spec_, component, component.terms[t]))->steps();
        const auto length = std::max<std::int64_t>(1, ceil_div(steps, parts_of_term));
        for (std::int64_t begin = 0; begin < steps; begin += length) parts_.push_back({t, begin, std::min(steps, begin + length)});
    }
}

ExchangeLoops::~ExchangeLoops() = default;

std::unique_ptr<const ExchangeLoops> ExchangeLoops::make(const ExchangeSpec& spec, std::vector<ExchangeComponent>& components, bool always) {
    ListCost lists;
    ExchangeComponent all;
    for (const auto& component : components) {
        if (component.pattern) return nullptr;
        lists.add(spec, component);
        all.labels.insert(all.labels.end(), component.labels.begin(), component.labels.end());
        all.from_slots.insert(all.from_slots.end(), component.from_slots.begin(), component.from_slots.end());
        all.to_slots.insert(all.to_slots.end(), component.to_slots.begin(), component.to_slots.end());
    }
    if ((!always && !lists.are_long()) || all.labels.size() < 2) return nullptr;
    for (auto* numbers : {&all.labels, &all.from_slots, &all.to_slots}) std::sort(numbers->begin(), numbers->end());
    all.terms = spec.terms;
    if (!occur_once(all, spec.from, all.from_slots, spec.from_labels) || !occur_once(all, spec.to, all.to_slots, spec.to_labels)) return nullptr;
    double counting = 0;
    for (const auto& term : all.terms) {
        const auto slots = uses(spec, all, term);
        const auto inner = inner_labels(spec, all, slots);
        if (!inner || std::any_of(slots.begin(), slots.end(), has_window)) return nullptr;
        counting += counting_seconds(spec, all, *inner);
    }
    if (!always && counting > most_counting * lists.seconds()) return nullptr;
    components = {all};
    return std::unique_ptr<const ExchangeLoops>(new ExchangeLoops(spec, all));
}

std::int64_t ExchangeLoops::from_places() const { return combined_places(spec_.from, from_slots_); }
std::int64_t ExchangeLoops::to_places() const { return combined_places(spec_.to, to_slots_); }
std::int64_t ExchangeLoops::from_place(std::int64_t rank) const { return combined_place(spec_.from, from_slots_, rank); }
std::int64_t ExchangeLoops::to_place(std::int64_t rank) const { return combined_place(spec_.to, to_slots_, rank); }

void ExchangeLoops::for_each_run(const ExchangePart& part, std::int64_t from_place, std::int64_t to_place,
                                 const std::function<void(const ExchangeRun&)>& f) const {
    Walk walk(*nests_[part.term], from_place, to_place, f);
    for (auto step = part.begin; step < part.end; ++step) walk.step(step);
}

std::int64_t ExchangeLoops::bytes() const {
    std::int64_t sum = 0;
    for (const auto& nest : nests_) sum += nest->bytes();
    return sum;
}

}  // namespace arges
