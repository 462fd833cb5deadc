// Movements as nests of loops: all labels but two are fixed in turn, and both sides run through the same loops for their coordinates; where
// that takes longer than lists, lists are kept.
#include "plan/movement/loops.hpp"

#include "arges/machine.hpp"
#include "plan/movement/nest.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace arges {

using namespace movement_nest;

namespace {

/// Elements of a component on a rank, and the part of the movement's elements, from which on lists are too long: shorter ones are kept, and
/// read faster than loops begin.
constexpr double min_elements = 1 << 16, min_part = 1.0 / 16;
/// A rank counts its messages by going through the loops for each coordinate of its peers. On very many ranks that takes longer than making
/// lists: how many times as long, at most. Lists need memory, too.
constexpr double most_counting = 8;
/// Parts of a term, about.
constexpr std::int64_t parts_of_term = 32;

bool occur_once(const MovementComponent& component, const Layout& layout, const std::vector<int>& slots, const std::vector<int>& labels) {
    std::vector<int> found;
    for (int s : slots)
        for (int d : layout.slot_dimensions(s)) found.push_back(labels[d]);
    std::sort(found.begin(), found.end());
    return found == component.labels;  // which ascend
}

bool has_window(const SlotUse& use) { return use.layout->is_cut(); }

std::int64_t combined_grid_length(const Layout& layout, const std::vector<int>& slots) {
    std::int64_t length = 1;
    for (int s : slots) length *= layout.slot(s).grid_length();
    return length;
}

std::int64_t combined_coordinate(const Layout& layout, const std::vector<int>& slots, std::int64_t rank) {
    std::int64_t coordinate = 0, stride = 1;
    for (int s : slots) {
        coordinate += layout.coordinate(rank, s) * stride;
        stride *= layout.slot(s).grid_length();
    }
    return coordinate;
}

/// What the lists of a movement would be.
class ListCost {
public:
    void add(const Movement& spec, const MovementComponent& component) {
        const bool one_rank = spec.ranks() == 1;
        double reads = static_cast<double>(component.terms.size()), written = 1, stored = one_rank ? 0 : 1;
        for (int s : component.to_slots) written *= spec.to.slot(s).max_local_size();
        for (int s : component.from_slots) stored *= spec.from.slot(s).max_local_size();
        if (component.progressions) {
            written_ *= written;
            stored_ *= stored;
            return;
        }
        reads *= written;
        // A list for a small slice of a large source is short, but made by a walk over the source.
        longest_ = std::max({longest_, reads, stored});
        written_ *= written;
        stored_ *= stored;
        seconds_ += (reads + stored * static_cast<double>(component.terms.size())) * MachineModel::listed_entry_seconds;
    }
    bool are_long() const { return longest_ >= min_elements && longest_ >= min_part * std::max(written_, stored_); }
    double seconds() const { return seconds_; }

private:
    double longest_ = 0, written_ = 1, stored_ = 1, seconds_ = 0;
};

/// Time to count what a rank sends and receives by the loops of a term.
double counting_seconds(const Movement& spec, const MovementComponent& component, const std::vector<SlotUse>& slots,
                        const std::array<int, 2>& inner) {
    double steps = 1, values = 0, longest_pair = 0, runs = 0;
    for (int l : component.labels) {
        const double extent = spec.label_extents[l];
        longest_pair = std::max(longest_pair, extent * extent);
        if (l == inner[0] || l == inner[1])
            values += extent;
        else
            steps *= extent;
    }
    for (const auto& slot : slots)
        if (slot.position(inner[0]) >= 0 && slot.position(inner[1]) >= 0 && !slot.layout->is_rows() && slot.layout->grid_length() > 1)
            runs += static_cast<double>(spec.label_extents[inner[1]]) *
                    (slot.target ? 1 : static_cast<double>(slot.layout->node().children().size()));
    const auto coordinates =
        static_cast<double>(combined_grid_length(spec.from, component.from_slots) + combined_grid_length(spec.to, component.to_slots));
    return coordinates * steps *
           (values * (longest_pair > static_cast<double>(max_table) ? MachineModel::computed_value_seconds
                                                                    : MachineModel::looped_value_seconds) +
            runs * MachineModel::looped_run_seconds);
}

}  // namespace

/// The runs of one nest between two coordinates.
class MovementLoops::Walk {
public:
    Walk(const Nest& nest, std::int64_t from_coordinate, std::int64_t to_coordinate, const std::function<void(LoopRun&)>& f)
        : nest_(nest), f_(f), value_(nest.extents_.size(), 0), coordinate_(nest.slots_.size()), stride_(nest.slots_.size()) {
        std::int64_t from_stride = 1, to_stride = 1;
        for (std::size_t s = 0; s < nest.slots_.size(); ++s) {
            const auto& slot = nest.slots_[s];
            auto& coordinate = slot.target ? to_coordinate : from_coordinate;
            auto& stride = slot.target ? to_stride : from_stride;
            coordinate_[s] = coordinate % slot.layout->grid_length();
            coordinate /= slot.layout->grid_length();
            stride_[s] = stride;
            stride *= slot.layout->local_size(coordinate_[s]);
        }
    }

    void step(std::int64_t number) {
        for (int l : nest_.outer_) {
            const auto n = nest_.extents_[l];
            value_[l] = number % n;
            number /= n;
        }
        from_ = to_ = 0;
        factor_ = nest_.factor_;
        for (auto s : nest_.fixed_slots_)
            if (!take_fixed(s)) return;
        if (!take_fixed_children(nest_.from_node_, from_number_) || !take_fixed_children(nest_.to_node_, to_number_)) return;
        if (!gather(1, y_) || !gather(0, x_)) return;
        split_x();
        for (std::size_t y = 0; y < y_.from.size(); ++y) run_row(y);
    }

private:
    /// Values of an inner label that stay, ascending, and what they add.
    struct Axis {
        std::vector<std::int64_t> from, to;              // offsets
        std::vector<std::int64_t> from_child, to_child;  // numbers of the children in nodes
        std::vector<std::uint8_t> factor;
        bool has_factor = false;

        void resize(std::size_t n) {
            for (auto* list : {&from, &to, &from_child, &to_child}) list->resize(n);
            factor.resize(n);
            has_factor = false;
        }
        void set(std::size_t i, std::int64_t from_offset, std::int64_t to_offset, const Axis& other, std::size_t j) {
            from[i] = from_offset;
            to[i] = to_offset;
            from_child[i] = other.from_child[j];
            to_child[i] = other.to_child[j];
            factor[i] = other.factor[j];
            has_factor = has_factor || other.factor[j] != 0;
        }
    };
    /// The inner loop where the child with x is at one position among the sorted children of the source: its values by what they add to the
    /// coordinates of source and target.
    struct SortedAxis : Axis {
        std::vector<std::size_t> begin;
    };

    bool take_fixed(std::size_t s) {
        const auto& slot = nest_.slots_[s];
        std::array<std::int64_t, max_slot_order> tuple, stored;
        const std::ptrdiff_t w = slot.labels.size();
        for (std::size_t i = 0; i < slot.labels.size(); ++i) tuple[i] = stored[i] = value_[slot.labels[i]] + slot.offsets[i];
        const auto at = slot.target ? slot.layout->locate(stored.data()) : slot.layout->find(tuple.data());
        if (at.zero || at.coordinate != coordinate_[s] || !std::equal(tuple.begin(), tuple.begin() + w, stored.begin())) return false;
        (slot.target ? to_ : from_) += at.index * stride_[s];
        factor_ ^= factor_bits(at.negative, at.conjugate);
        return true;
    }

    /// Numbers of a node's children that have no inner label; false if such a child is zero or, in the target, not as it is stored.
    bool take_fixed_children(const NodeUse& use, std::vector<std::int64_t>& number) {
        if (!use) return true;
        const auto& slot = nest_.slots_[use.slot()];
        number.resize(use.children());
        std::array<std::int64_t, max_slot_order> tuple, stored, below;
        for (int c : use.fixed_children()) {
            const auto& child = use.node().children()[c];
            const auto w = static_cast<std::size_t>(child.width()), first = static_cast<std::size_t>(c) * w;
            for (std::size_t i = 0; i < w; ++i) tuple[i] = stored[i] = value_[slot.labels[first + i]] + slot.offsets[first + i];
            const auto at = slot.target ? child.canonicalize(stored.data(), nullptr) : child.find(tuple.data(), below.data());
            if (at.zero || !std::equal(tuple.begin(), tuple.begin() + w, stored.begin())) return false;
            number[c] = at.index;
            factor_ ^= factor_bits(at.negative, at.conjugate);
        }
        return true;
    }

    const Line& line(const Unit& unit, Line& scratch) {
        if (unit.table.empty()) {
            nest_.fill(unit, value_, scratch);
            return scratch;
        }
        std::int64_t number = 0;
        for (auto i = unit.fixed.rbegin(); i != unit.fixed.rend(); ++i)
            number = number * nest_.extent_at(unit, *i) + value_[nest_.slots_[unit.slot].labels[*i]];
        return unit.table[number];
    }

    /// Finds the values of an inner label for which every slot agrees; false if there are none.
    bool gather(std::size_t axis, Axis& result) {
        const auto& units = nest_.units_[axis];
        lines_.clear();
        if (scratch_.size() < units.size()) scratch_.resize(units.size());
        for (std::size_t u = 0; u < units.size(); ++u) lines_.push_back(&line(units[u], scratch_[u]));
        // Those of the unit that has the fewest at its coordinate are looked at.
        std::span<const std::int32_t> values;
        for (std::size_t u = 0; u < units.size(); ++u)
            if (const auto own = lines_[u]->values_at(units[u].child == nullptr ? coordinate_[units[u].slot] : 0);
                u == 0 || own.size() < values.size())
                values = own;
        result.resize(values.size());
        std::size_t count = 0;
        for (const auto value : values) {
            const std::size_t z = value;
            std::int64_t from = 0, to = 0, from_child = 0, to_child = 0;
            std::uint8_t factor = 0;
            bool there = true;
            for (std::size_t u = 0; u < units.size() && there; ++u) {
                const auto& unit = units[u];
                const auto& line = *lines_[u];
                const bool target = nest_.slots_[unit.slot].target;
                there = line.factor[z] != absent && (unit.child != nullptr || line.coordinate[z] == coordinate_[unit.slot]);
                if (unit.child != nullptr)
                    (target ? to_child : from_child) = line.index[z];
                else
                    (target ? to : from) += line.index[z] * stride_[unit.slot];
                factor ^= line.factor[z];
            }
            if (!there) continue;
            result.from[count] = from;
            result.to[count] = to;
            result.from_child[count] = from_child;
            result.to_child[count] = to_child;
            result.factor[count++] = factor;
        }
        result.resize(count);
        return count > 0;
    }

    std::int64_t own_coordinate(const NodeUse& use) const { return coordinate_[use.slot()]; }
    std::int64_t stride(const NodeUse& use) const { return stride_[use.slot()]; }
    /// Where a value of x is in an axis: by what it adds to the coordinates of source and target.
    std::size_t bucket(std::int64_t from_coordinate, std::int64_t to_coordinate) const {
        return from_coordinate * (nest_.to_node_ ? nest_.to_node_.grid_length() : 1) + to_coordinate;
    }

    /// The inner loop for each position of x among the children of the source.
    void split_x() {
        const NodeUse &source = nest_.from_node_, &target = nest_.to_node_;
        const auto n = x_.from.size();
        to_coordinate_.assign(n, 0);
        for (std::size_t i = 0; target && i < n; ++i) {
            const auto& share = target.share(x_.to_child[i], target.child(0));
            x_.to[i] += stride(target) * share.index;
            to_coordinate_[i] = share.coordinate;
        }
        sorted_.resize(source ? static_cast<std::size_t>(source.children()) : 1);
        shares_.resize(n);
        for (std::size_t position = 0; position < sorted_.size(); ++position) {
            auto& axis = sorted_[position];
            axis.resize(n);
            axis.begin.assign(bucket(source ? source.grid_length() : 1, 0) + 2, 0);
            for (std::size_t i = 0; i < n; ++i) {
                shares_[i] = source ? source.share(x_.from_child[i], position) : Share();
                ++axis.begin[bucket(shares_[i].coordinate, to_coordinate_[i]) + 2];
            }
            std::partial_sum(axis.begin.begin(), axis.begin.end(), axis.begin.begin());
            for (std::size_t i = 0; i < n; ++i)
                axis.set(axis.begin[bucket(shares_[i].coordinate, to_coordinate_[i]) + 1]++,
                         x_.from[i] + (source ? stride(source) * shares_[i].index : 0), x_.to[i], x_, i);
        }
    }

    static std::size_t first_from(const std::vector<std::int64_t>& ascending, std::size_t begin, std::size_t end, std::int64_t bound) {
        const auto first = ascending.begin();
        return std::lower_bound(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end), bound) - first;
    }

    /// Numbers of a child, from the least one to below the bound.
    struct Limits {
        std::int64_t least = std::numeric_limits<std::int64_t>::min(), bound = std::numeric_limits<std::int64_t>::max();
    };

    /// Calls f for the values of x that add these coordinates and whose children in source and target are within limits.
    void emit(const SortedAxis& x, std::size_t bucket, const Limits& in_source, const Limits& in_target, std::int64_t from, std::int64_t to,
              std::uint8_t factor) {
        auto begin = x.begin[bucket], end = x.begin[bucket + 1];
        if (begin == end) return;
        if (nest_.from_node_) {
            begin = first_from(x.from_child, begin, end, in_source.least);
            end = first_from(x.from_child, begin, end, in_source.bound);
        }
        if (nest_.to_node_) {
            begin = first_from(x.to_child, begin, end, in_target.least);
            end = first_from(x.to_child, begin, end, in_target.bound);
        }
        if (begin == end) return;
        LoopRun run{{static_cast<std::int64_t>(end - begin), x.from.data() + begin, x.to.data() + begin,
                     x.has_factor ? x.factor.data() + begin : nullptr, factor},
                    from,
                    to};
        f_(run);
    }

    /// What all children of the target but that with x add, and the limits of that one: a stored element has its children in order. False
    /// if the others are not.
    bool find_in_target(Share& others, Limits& limits) const {
        const NodeUse& target = nest_.to_node_;
        const std::int64_t step = target.node().strict() ? 1 : 0;
        auto least = limits.least;
        for (int c = 0; c < target.children(); ++c) {
            if (c == target.child(0)) {
                limits.least = least;
                continue;
            }
            const auto number = to_number_[c];
            if (number < least) return false;
            if (c == target.child(0) + 1) limits.bound = number + 1 - step;
            least = number + step;
            others += target.share(number, c);
        }
        return true;
    }

    /// Sorts the numbers of all children of the source but that with x; false if the element is zero. @param odd  changed with each
    /// exchange
    bool sort_others(bool& odd) {
        const NodeUse& source = nest_.from_node_;
        others_.clear();
        for (int c = 0; c < source.children(); ++c) {
            if (c == source.child(0)) continue;
            const auto number = from_number_[c];
            auto i = others_.size();
            others_.push_back(number);
            for (; i > 0 && others_[i - 1] > number; --i) {
                others_[i] = others_[i - 1];
                odd = !odd;
            }
            others_[i] = number;
            if (source.node().strict() && i > 0 && others_[i - 1] == number) return false;
        }
        return true;
    }

    void run_row(std::size_t y) {
        const NodeUse &source = nest_.from_node_, &target = nest_.to_node_;
        const auto from = from_ + y_.from[y];
        auto to = to_ + y_.to[y];
        const auto factor = static_cast<std::uint8_t>(factor_ ^ y_.factor[y]);
        std::int64_t to_coordinate = 0;
        Limits in_target;
        if (target) {
            to_number_[target.child(1)] = y_.to_child[y];
            Share others;
            if (!find_in_target(others, in_target)) return;
            to_coordinate = target.complete(others, own_coordinate(target));
            to += stride(target) * others.index;
        }
        if (!source) {
            emit(sorted_[0], bucket(0, to_coordinate), {}, in_target, from, to, factor);
            return;
        }
        from_number_[source.child(1)] = y_.from_child[y];
        bool odd = source.child(0) % 2 != 0;
        if (!sort_others(odd)) return;
        const auto& node = source.node();
        const auto swap = factor_bits(node.kind() == NodeKind::antisymmetric, node.kind() == NodeKind::hermitian);
        for (std::size_t position = 0; position <= others_.size(); ++position, odd = !odd) {
            // Of equal children that with x is first.
            Limits in_source;
            if (position > 0) in_source.least = others_[position - 1] + 1;
            if (position < others_.size()) in_source.bound = others_[position] + (node.strict() ? 0 : 1);
            if (in_source.least >= in_source.bound) continue;
            Share others;
            for (std::size_t i = 0; i < others_.size(); ++i) others += source.share(others_[i], i < position ? i : i + 1);
            const auto from_coordinate = source.complete(others, own_coordinate(source));
            emit(sorted_[position], bucket(from_coordinate, to_coordinate), in_source, in_target, from + stride(source) * others.index, to,
                 static_cast<std::uint8_t>(factor ^ (odd ? swap : 0)));
        }
    }

    const Nest& nest_;
    const std::function<void(LoopRun&)>& f_;
    std::vector<std::int64_t> value_, coordinate_, stride_;  // by label, slot, slot
    std::int64_t from_ = 0, to_ = 0;
    std::uint8_t factor_ = 0;
    Axis x_, y_;
    std::vector<SortedAxis> sorted_;                     // x, by position among the source's children
    std::vector<std::int64_t> from_number_, to_number_;  // of the nodes' children
    std::vector<std::int64_t> others_, to_coordinate_;
    std::vector<Share> shares_;
    std::vector<Line> scratch_;
    std::vector<const Line*> lines_;
};

MovementLoops::MovementLoops(const Movement& spec, const MovementComponent& component)
    : spec_(spec), from_slots_(component.from_slots), to_slots_(component.to_slots) {
    for (std::size_t t = 0; t < component.terms.size(); ++t) {
        const auto steps = nests_.emplace_back(std::make_unique<const Nest>(spec_, component, component.terms[t]))->steps();
        const auto length = std::max<std::int64_t>(1, ceil_div(steps, parts_of_term));
        for (std::int64_t begin = 0; begin < steps; begin += length) parts_.push_back({t, begin, std::min(steps, begin + length)});
    }
}

MovementLoops::~MovementLoops() = default;

std::unique_ptr<const MovementLoops> MovementLoops::make(const Movement& spec, std::vector<MovementComponent>& components, bool always) {
    ListCost lists;
    MovementComponent all;
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
    if (!occur_once(all, spec.from, all.from_slots, spec.from_labels) || !occur_once(all, spec.to, all.to_slots, spec.to_labels))
        return nullptr;
    double counting = 0;
    for (const auto& term : all.terms) {
        const auto slots = uses(spec, all, term);
        const auto inner = inner_labels(spec, all, slots);
        if (!inner || std::any_of(slots.begin(), slots.end(), has_window)) return nullptr;
        counting += counting_seconds(spec, all, slots, *inner);
    }
    if (!always && counting > most_counting * lists.seconds()) return nullptr;
    components = {all};
    return std::unique_ptr<const MovementLoops>(new MovementLoops(spec, all));
}

std::int64_t MovementLoops::from_grid_length() const { return combined_grid_length(spec_.from, from_slots_); }
std::int64_t MovementLoops::to_grid_length() const { return combined_grid_length(spec_.to, to_slots_); }
std::int64_t MovementLoops::from_coordinate(std::int64_t rank) const { return combined_coordinate(spec_.from, from_slots_, rank); }
std::int64_t MovementLoops::to_coordinate(std::int64_t rank) const { return combined_coordinate(spec_.to, to_slots_, rank); }

void MovementLoops::for_each_run(const LoopPart& part, std::int64_t from_coordinate, std::int64_t to_coordinate,
                                 const std::function<void(LoopRun&)>& f) const {
    Walk walk(*nests_[part.term], from_coordinate, to_coordinate, f);
    for (auto step = part.begin; step < part.end; ++step) walk.step(step);
}

std::int64_t MovementLoops::bytes() const {
    std::int64_t sum = 0;
    for (const auto& nest : nests_) sum += nest->bytes();
    return sum;
}

}  // namespace arges
