// Enumerates the elements of a component on one rank, from the target's side and from the source's, by peer; shared
// packed indices as arithmetic progressions.
#include "plan/movement/lists.hpp"

#include "base/first_error.hpp"
#include "base/related_value.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace arges {

namespace {

struct Entry {
    std::int64_t peer, order, from, to;
    std::int32_t term;
    std::uint8_t factor;
};

/// One slot of a side, with the labels of its positions.
struct SlotView {
    const SlotLayout* layout;
    std::vector<int> labels;
    std::vector<std::int64_t> offsets;  // by position
    std::int64_t coordinate, stride, order_stride, coordinate_stride;
    int width() const { return labels.size(); }
};

using Tuple = std::array<std::int64_t, max_slot_order>;

std::vector<SlotView> views(const Layout& layout, const std::vector<int>& slots, const std::vector<int>& labels,
                            const std::vector<std::int64_t>& offset, std::int64_t rank) {
    std::vector<SlotView> result;
    const auto strides = layout.strides(rank);
    const bool idle = layout.grid().is_idle(rank);
    std::int64_t order_stride = 1, coordinate_stride = 1;
    for (int s : slots) {
        SlotView view{&layout.slot(s), {}, {}, idle ? 0 : layout.coordinate(rank, s), strides[s], order_stride, coordinate_stride};
        for (int d : layout.slot_dimensions(s)) {
            view.labels.push_back(labels[d]);
            view.offsets.push_back(offset.empty() ? 0 : offset[d]);
        }
        order_stride *= std::max<std::int64_t>(1, layout.slot(s).max_local_size());
        coordinate_stride *= layout.slot(s).grid_length();
        result.push_back(std::move(view));
    }
    return result;
}

/// Walks the elements of one component from either side.
class Walk {
public:
    Walk(const Movement& spec, const MovementComponent& component, std::int64_t rank)
        : spec_(spec), c_(component), from_(views(spec.from, component.from_slots, spec.from_labels, spec.from_offset, rank)),
          to_(views(spec.to, component.to_slots, spec.to_labels, spec.to_offset, rank)), value_(spec.label_extents.size(), 0),
          known_(spec.label_extents.size(), false), from_tuple_(from_.size()), to_tuple_(to_.size()) {}

    /// Entries by what this rank's target elements read.
    std::vector<Entry> receiving() {
        entries_.clear();
        std::size_t most = c_.terms.size();
        for (const auto& slot : to_) most *= static_cast<std::size_t>(slot.layout->local_size(slot.coordinate));
        entries_.reserve(most);
        for_each_stored(to_, to_tuple_, static_cast<int>(to_.size()) - 1, 0, 0,
                        [&](std::int64_t order, std::int64_t offset) { read_for(order, offset); });
        return std::move(entries_);
    }
    /// Entries by where this rank's source elements are needed.
    std::vector<Entry> sending() {
        entries_.clear();
        for_each_stored(from_, from_tuple_, static_cast<int>(from_.size()) - 1, 0, 0,
                        [&](std::int64_t, std::int64_t offset) { send_from(offset); });
        return std::move(entries_);
    }

private:
    template <class F>
    void for_each_stored(const std::vector<SlotView>& slots, std::vector<Tuple>& tuples, int s, std::int64_t order, std::int64_t offset,
                         F&& f) {
        if (s < 0) {
            f(order, offset);
            return;
        }
        const auto& slot = slots[s];
        auto& tuple = tuples[s];
        slot.layout->for_each(slot.coordinate, [&](std::int64_t index, const std::int64_t* x) {
            std::copy(x, x + slot.width(), tuple.begin());
            for_each_stored(slots, tuples, s - 1, order + index * slot.order_stride, offset + index * slot.stride, f);
        });
    }

    /// Sets label values from target tuples; false if repeated labels differ or a value is outside the slice.
    bool labels_from_target(const std::vector<Tuple>& tuples) {
        for (int l : c_.labels) known_[l] = false;
        for (std::size_t s = 0; s < to_.size(); ++s)
            for (int i = 0; i < to_[s].width(); ++i) {
                const std::size_t l = to_[s].labels[i];
                const auto v = tuples[s][i] - to_[s].offsets[i];
                if (v < 0 || v >= spec_.label_extents[l] || (known_[l] && value_[l] != v)) return false;
                value_[l] = v;
                known_[l] = true;
            }
        return true;
    }

    /// Finds the first image of the stored target tuples that fits the labels; returns its factor bits or -1.
    int choose_image(const std::vector<Tuple>& stored, std::vector<Tuple>& image, std::size_t s, int factor) {
        if (s == to_.size()) return labels_from_target(image) ? factor : -1;
        for (const auto& p : c_.to_groups[s]) {
            for (std::size_t i = 0; i < p.image.size(); ++i) image[s][i] = stored[s][p.image[i]];
            const int found = choose_image(stored, image, s + 1, factor ^ factor_bits(p.negative, p.conjugate));
            if (found >= 0) return found;
        }
        return -1;
    }

    void read_for(std::int64_t order, std::int64_t offset) {
        int target_factor = 0;
        if (c_.pattern) {
            auto image = to_tuple_;
            target_factor = choose_image(to_tuple_, image, 0, 0);
            if (target_factor < 0) return;
        } else if (!labels_from_target(to_tuple_)) {
            return;
        }
        for (std::size_t t = 0; t < c_.terms.size(); ++t) {
            const auto& term = c_.terms[t];
            Entry e{0, order, 0, offset, static_cast<std::int32_t>(t), 0};
            int factor = target_factor ^ factor_bits(term.negative, term.conjugate);
            bool zero = false;
            for (const auto& slot : from_) {
                Tuple x;
                for (std::size_t i = 0; i < slot.labels.size(); ++i) x[i] = value_[term.image[slot.labels[i]]] + slot.offsets[i];
                const auto at = slot.layout->locate(x.data());
                zero = zero || at.zero || at.outside;
                factor ^= factor_bits(at.negative, at.conjugate);
                e.peer += at.coordinate * slot.coordinate_stride;
                e.from += at.index * slot.stride;
            }
            e.factor = static_cast<std::uint8_t>(factor);
            if (!zero) entries_.push_back(e);
        }
    }

    void send_from(std::int64_t offset) {
        if (c_.one_to_one) {
            set_labels(from_tuple_, c_.terms[0]);
            emit(offset, 0, factor_bits(c_.terms[0].negative, c_.terms[0].conjugate), true);
            return;
        }
        auto image = from_tuple_;
        for_each_image(image, 0, 0, [&](int factor) {
            for (std::size_t t = 0; t < c_.terms.size(); ++t) {
                if (!set_labels(image, c_.terms[t])) continue;
                const int bits = factor ^ factor_bits(c_.terms[t].negative, c_.terms[t].conjugate);
                for_each_unknown(0, [&] { emit(offset, static_cast<std::int32_t>(t), bits, false); });
            }
        });
    }

    /// Calls f(factor bits) for each distinct image of the stored source tuples under the source's groups.
    template <class F>
    void for_each_image(std::vector<Tuple>& image, std::size_t s, int factor, F&& f) {
        if (s == from_.size()) {
            f(factor);
            return;
        }
        const auto stored = from_tuple_[s];
        const std::size_t w = from_[s].width();
        bool repeated = false;
        for (std::size_t i = 0; i < w; ++i)
            for (std::size_t j = i + 1; j < w; ++j) repeated = repeated || stored[i] == stored[j];
        std::vector<Tuple> seen;
        for (const auto& p : c_.from_groups[s]) {
            for (std::size_t i = 0; i < w; ++i) image[s][i] = stored[p.image[i]];
            if (repeated) {
                const bool known = std::any_of(seen.begin(), seen.end(), [&](const Tuple& other) {
                    return std::equal(other.begin(), other.begin() + w, image[s].begin());
                });
                if (known) continue;
                seen.push_back(image[s]);
            }
            for_each_image(image, s + 1, factor ^ factor_bits(p.negative, p.conjugate), f);
        }
    }

    /// Sets label values so that the term reads the source at `tuples`; false if that is not possible.
    bool set_labels(const std::vector<Tuple>& tuples, const LabelTerm& term) {
        for (int l : c_.labels) known_[l] = false;
        for (std::size_t s = 0; s < from_.size(); ++s)
            for (int i = 0; i < from_[s].width(); ++i) {
                const std::size_t label = from_[s].labels[i];
                const std::size_t l = term.image[label];
                const auto v = tuples[s][i] - from_[s].offsets[i];
                if (v < 0 || v >= spec_.label_extents[l] || (known_[l] && value_[l] != v)) return false;
                value_[l] = v;
                known_[l] = true;
            }
        return true;
    }

    /// Runs over all values of the component's labels that the source does not fix (broadcast).
    template <class F>
    void for_each_unknown(std::size_t i, F&& f) {
        if (i == c_.labels.size()) {
            f();
            return;
        }
        const std::size_t l = c_.labels[i];
        if (known_[l]) {
            for_each_unknown(i + 1, f);
            return;
        }
        for (value_[l] = 0; value_[l] < spec_.label_extents[l]; ++value_[l]) for_each_unknown(i + 1, f);
    }

    void emit(std::int64_t offset, std::int32_t term, int factor, bool any_representative) {
        Entry e{0, 0, offset, 0, term, 0};
        const auto wanted = c_.pattern ? value_ : std::vector<std::int64_t>();
        for (std::size_t s = 0; s < to_.size(); ++s) {
            const auto& slot = to_[s];
            Tuple x, stored;
            for (std::size_t i = 0; i < slot.labels.size(); ++i) x[i] = value_[slot.labels[i]] + slot.offsets[i];
            stored = x;
            const auto at = slot.layout->locate(stored.data());
            if (at.zero || at.outside) return;
            const std::ptrdiff_t w = slot.width();
            if (!any_representative && !c_.pattern && !std::equal(x.begin(), x.begin() + w, stored.begin())) return;
            factor ^= factor_bits(at.negative, at.conjugate);
            e.peer += at.coordinate * slot.coordinate_stride;
            e.order += at.index * slot.order_stride;
            to_tuple_[s] = stored;
        }
        if (c_.pattern) {
            auto image = to_tuple_;
            const auto known = known_;
            const bool chosen = choose_image(to_tuple_, image, 0, 0) >= 0 && same_labels(wanted);
            value_ = wanted;
            known_ = known;
            if (!chosen) return;
        }
        e.factor = static_cast<std::uint8_t>(factor);
        entries_.push_back(e);
    }

    bool same_labels(const std::vector<std::int64_t>& wanted) const {
        return std::all_of(c_.labels.begin(), c_.labels.end(), [&](int l) { return value_[l] == wanted[l]; });
    }

    const Movement& spec_;
    const MovementComponent& c_;
    std::vector<SlotView> from_, to_;
    std::vector<std::int64_t> value_;
    std::vector<bool> known_;
    std::vector<Tuple> from_tuple_, to_tuple_;
    std::vector<Entry> entries_;
};

std::vector<EntryGroup> grouped(std::vector<Entry> entries, bool target) {
    auto before = [](const Entry& a, const Entry& b) { return std::tie(a.peer, a.order, a.term) < std::tie(b.peer, b.order, b.term); };
    if (!std::is_sorted(entries.begin(), entries.end(), before)) std::sort(entries.begin(), entries.end(), before);
    std::vector<EntryGroup> result;
    for (std::size_t i = 0; i < entries.size();) {
        std::size_t end = i;
        bool factors = false;
        for (; end < entries.size() && entries[end].peer == entries[i].peer; ++end) factors = factors || entries[end].factor != 0;
        EntryGroup group;
        group.peer = entries[i].peer;
        group.from.reserve(end - i);
        for (; i < end; ++i) {
            group.from.push_back(entries[i].from);
            if (target) group.to.push_back(entries[i].to);
            if (factors) group.factor.push_back(entries[i].factor);
        }
        result.push_back(std::move(group));
    }
    return result;
}

/// What a coordinate of one side shares with each coordinate of the other, where both distribute packed indices: index I is at coordinate I
/// mod p, as number (I - window) / p.
std::vector<EntryGroup> progressions(const SlotLayout& from, const SlotLayout& to, const LabelTerm& term, std::int64_t coordinate,
                                     bool sending) {
    const auto &own = sending ? from : to, &other = sending ? to : from;
    const auto begin = std::max(from.begin(), to.begin()), end = std::min(from.begin() + from.size(), to.begin() + to.size());
    const auto step = std::lcm(own.grid_length(), other.grid_length());
    std::vector<EntryGroup> result;
    // The coordinates of the other side by the first index that they share with the own one.
    const auto first = begin + ((coordinate - begin) % own.grid_length() + own.grid_length()) % own.grid_length();
    for (auto index = first; index < std::min(end, first + step); index += own.grid_length()) {
        EntryGroup group;
        group.peer = index % other.grid_length();
        group.progression = {ceil_div(end - index, step), (index - from.begin()) / from.grid_length(),
                             step / from.grid_length(),   (index - to.begin()) / to.grid_length(),
                             step / to.grid_length(),     static_cast<std::uint8_t>(factor_bits(term.negative, term.conjugate))};
        result.push_back(std::move(group));
    }
    std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.peer < b.peer; });
    return result;
}

ComponentLists progression_lists(const Movement& spec, const MovementComponent& component, std::int64_t rank) {
    const int from = component.from_slots[0], to = component.to_slots[0];
    const auto groups = [&](bool sending) {
        const auto coordinate = sending ? spec.from.coordinate(rank, from) : spec.to.coordinate(rank, to);
        auto result = progressions(spec.from.slot(from), spec.to.slot(to), component.terms[0], coordinate, sending);
        // Other slots of the side are in components of their own, and faster ones scale the offsets.
        const auto from_stride = spec.from.grid().is_idle(rank) ? 0 : spec.from.strides(rank)[from];
        const auto to_stride = spec.to.grid().is_idle(rank) ? 0 : spec.to.strides(rank)[to];
        for (auto& group : result) {
            auto& p = *group.progression;
            p.from *= from_stride;
            p.from_stride *= from_stride;
            p.to *= to_stride;
            p.to_stride *= to_stride;
        }
        return result;
    };
    ComponentLists lists;
    if (!spec.to.grid().is_idle(rank)) lists.receive = groups(false);
    if (spec.ranks() > 1 && !spec.from.grid().is_idle(rank)) lists.send = groups(true);
    return lists;
}

}  // namespace

ComponentLists component_lists(const Movement& spec, const MovementComponent& component, std::int64_t rank) {
    if (component.progressions) return progression_lists(spec, component, rank);
    constexpr double worth_a_thread = 10000;  // elements
    double elements = 1;
    for (int s : component.to_slots) elements *= spec.to.slot(s).max_local_size();
    ComponentLists lists;
    FirstError error;
#pragma omp parallel for if (elements > worth_a_thread && spec.ranks() > 1)
    for (int side = 0; side < 2; ++side)
        error.run([&] {
            if (side == 0 && !spec.to.grid().is_idle(rank)) lists.receive = grouped(Walk(spec, component, rank).receiving(), true);
            if (side == 1 && spec.ranks() > 1 && !spec.from.grid().is_idle(rank))
                lists.send = grouped(Walk(spec, component, rank).sending(), false);
        });
    error.rethrow();
    return lists;
}

}  // namespace arges
