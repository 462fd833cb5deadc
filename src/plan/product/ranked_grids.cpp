// Beam search over the torus dimensions, each given to an axis or to none; partial assignments are kept by estimated seconds. It stands in
// place of the greedy mapping of cyclops-2012, section 4.2.
#include "plan/product/ranked_grids.hpp"

#include "base/math.hpp"
#include "plan/product/estimate_cost.hpp"
#include "plan/product/tensor_storage.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <tuple>

namespace arges {

namespace {

constexpr int no_target = -1, undecided = -2;

/// States that a search keeps: with all ranks, with idle ones, which pay seldom, and with the same ranks along every target.
struct Width {
    std::size_t of_all_ranks, with_idle_ranks, variants;
};
constexpr Width wide{192, 32, 6}, narrow{24, 8, 2};

class GridSearch {
public:
    GridSearch(const ProductPlan& unmapped, const std::vector<GridTarget>& targets, const RankGrid& grid, const PlanOptions& options,
               const Width& width)
        : plan_(unmapped), targets_(targets), options_(options), grid_(grid), model_(unmapped, options.machine),
          is_whole_(grid == options.whole_grid(unmapped.spec.output.layout)), knows_links_(options.links != nullptr),
          copying_word_(model_.copying_seconds(2)), width_(width), in_blocks_(unmapped.axes.size(), false), kinds_(targets.size()) {
        for (const auto& target : targets)
            if (target.position > 0) in_blocks_[target.axis] = true;
        for (std::size_t o = 0; o < plan_.operands.size(); ++o) operands_.push_back(describe(o));
        places_.resize(operands_.size());
    }

    std::vector<RankedGrid> ranked(std::size_t most) {
        std::vector<State> beam{{-1, no_target, 0, 0, 0}};
        kinds_.add(std::vector<std::int64_t>(targets_.size(), 1));
        const auto width = grid_.lengths.size();
        std::vector<int> rows(width, undecided), next;  // targets by state and torus dimension
        for (int t : longest_first(grid_)) {
            beam = extended(beam, t, rows);
            next.resize(beam.size() * width);
            for (std::size_t s = 0; s < beam.size(); ++s) {
                std::copy_n(rows.begin() + (static_cast<std::size_t>(beam[s].before) * width), width, next.begin() + (s * width));
                next[s * width + static_cast<std::size_t>(t)] = beam[s].target;
            }
            std::swap(rows, next);
        }
        std::vector<RankedGrid> result;
        result.reserve(std::min(most, beam.size()) + operands_.size());
        for (std::size_t s = 0; s < std::min(most, beam.size()); ++s) {
            auto& grid = result.emplace_back();
            grid.seconds = beam[s].seconds;
            grid.target.fill(no_target);
            std::copy_n(rows.begin() + (s * width), width, grid.target.begin());
        }
        if (most > 1 && grid_.ranks() > 1) add_stationary(result);
        return result;
    }

    /// Targets that follow each other along the torus, each with dimensions that do, so that its ranks are neighbours. Few targets come
    /// first, and so many are looked at.
    std::vector<RankedGrid> plain() {
        constexpr std::size_t most_plain = 1024;
        for (int t = 0; t < grid_.dimensions(); ++t) decide(t);
        std::vector<RankedGrid> result;
        std::vector<int> target_of(grid_.lengths.size(), no_target);
        for (std::size_t parts = 1; parts <= targets_.size() && result.size() < most_plain; ++parts)
            add_plain(result, target_of, 0, parts, most_plain);
        std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
        return result;
    }

private:
    /// Gives the dimensions from one on to so many targets.
    void add_plain(std::vector<RankedGrid>& result, std::vector<int>& target_of, std::size_t first, std::size_t parts, std::size_t most) {
        if (parts == 0) {
            if (auto grid = priced(target_of)) result.push_back(*grid);
            return;
        }
        const auto known = target_of.begin() + static_cast<std::ptrdiff_t>(first);
        for (std::size_t target = 0; target < targets_.size(); ++target) {
            if (std::find(target_of.begin(), known, target) != known) continue;
            for (auto end = parts > 1 ? first + 1 : target_of.size(); end + parts <= target_of.size() + 1; ++end) {
                if (result.size() >= most) return;
                std::fill(known, target_of.begin() + static_cast<std::ptrdiff_t>(end), static_cast<int>(target));
                add_plain(result, target_of, end, parts - 1, most);
            }
        }
    }

    /// What leaves one operand where it is.
    void add_stationary(std::vector<RankedGrid>& result) {
        for (const auto& operand : operands_) {
            if (operand.spread.empty()) continue;
            std::vector<int> target_of(grid_.lengths.size(), no_target);
            for (const auto& [target, torus] : operand.spread)
                for (int t : torus) target_of[t] = target;
            const auto grid = priced(target_of);
            const auto is_same = [&](const RankedGrid& known) { return known.target == grid->target; };
            if (!grid || std::any_of(result.begin(), result.end(), is_same)) continue;
            const auto is_before = [](const RankedGrid& a, const RankedGrid& b) { return a.seconds < b.seconds; };
            result.insert(std::upper_bound(result.begin(), result.end(), *grid, is_before), *grid);
        }
    }

    /// An assignment of all torus dimensions; none where a target is too short for it.
    std::optional<RankedGrid> priced(const std::vector<int>& target_of) {
        std::vector<std::int64_t> grid_lengths(targets_.size(), 1);
        for (std::size_t t = 0; t < target_of.size(); ++t)
            if (target_of[t] >= 0) grid_lengths[target_of[t]] *= grid_.lengths[t];
        for (std::size_t i = 0; i < targets_.size(); ++i)
            if (grid_lengths[i] > targets_[i].extent) return std::nullopt;
        RankedGrid grid;
        grid.target.fill(no_target);
        std::copy(target_of.begin(), target_of.end(), grid.target.begin());
        find_places(target_of.data(), 0);
        Kinds kinds(targets_.size());
        kinds.add(grid_lengths);
        describe(kinds, 0, target_of);
        grid.seconds = seconds(kinds, 0, 0, target_of[0]);
        return grid;
    }

    /// An operand as the estimate sees it.
    struct Operand {
        std::vector<int> axes;
        std::vector<bool> is_along;  // by target: is it one of the axes, or of their labels?
        double owned = 0;            // elements on a rank
        bool is_lasting = false, is_free = false;
        std::vector<std::pair<int, std::vector<int>>> spread;  // targets and the torus dimensions of their layout, in order
        /// Ranks along a slot, or along a label of a group in blocks.
        struct Sources {
            int target;             // no_target: the slot is taken apart
            std::vector<int> axes;  // then those that it has labels of
            std::vector<int> torus;
            std::int64_t ranks;  // along the dimensions that are decided; all on another grid
        };
        std::vector<Sources> sources;
        bool is_on_grid = false;
    };
    /// What an operand needs with given numbers of ranks along the targets.
    struct Need {
        double block = 1;     // elements
        double useful = 1;    // of what a rank owns, if the torus dimensions along its axes are others than before
        double messages = 1;  // that bring what a rank lacks of its block
        Moved scattered{};    // where each of those that have a block, or parts of it, keeps its share
    };
    /// Numbers of ranks along every target. States of a kind differ only in what already lies right.
    struct Kinds {
        explicit Kinds(std::size_t count) : targets(count), known(Less{this}) {}
        Kinds(const Kinds&) = delete;
        Kinds& operator=(const Kinds&) = delete;

        std::span<const std::int64_t> grid_lengths(std::size_t kind) const { return {lengths.data() + (kind * targets), targets}; }
        /// The kind, and whether it is new.
        std::pair<int, bool> add(std::span<const std::int64_t> grid_lengths) {
            lengths.insert(lengths.end(), grid_lengths.begin(), grid_lengths.end());
            const auto [kind, is_new] = known.insert(static_cast<int>(multiplying.size()));
            if (is_new)
                multiplying.push_back(0);
            else
                lengths.resize(multiplying.size() * targets);
            return {*kind, is_new};
        }
        void clear() {
            known.clear();
            lengths.clear();
            multiplying.clear();
            needs.clear();
        }

        struct Less {
            const Kinds* kinds;
            bool operator()(int a, int b) const {
                const auto x = kinds->grid_lengths(a), y = kinds->grid_lengths(b);
                return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
            }
        };
        std::size_t targets;
        std::vector<std::int64_t> lengths;  // by kind and target
        std::vector<double> multiplying;    // seconds, by kind
        std::vector<Need> needs;            // by kind and operand
        std::set<int, Less> known;
    };
    /// The assignment of a torus dimension behind a state of the level before.
    struct State {
        int before, target, kind, number;
        double seconds;
        bool operator<(const State& other) const { return std::tie(seconds, number) < std::tie(other.seconds, other.number); }
    };

    Operand describe(std::size_t o) const {
        const auto& tensor = plan_.tensor(o);
        Operand result;
        result.axes = plan_.operands[o].axes;
        for (const auto& target : targets_) result.is_along.push_back(contains(result.axes, target.axis));
        result.owned = unpacked_elements(tensor.layout);
        result.is_lasting = tensor.is_lasting;
        result.is_free = o == plan_.result() && plan_.spec.output_is_free;
        result.is_on_grid = tensor.layout.grid() == grid_;
        const auto add = [&](int target, const std::vector<int>& torus, std::span<const int> dimensions) {
            auto& own = result.sources.emplace_back();
            own = {target, {}, torus, result.is_on_grid ? 1 : RanksAlong{tensor.layout.grid(), torus}.count()};
            if (target >= 0 && result.is_on_grid) result.spread.emplace_back(target, torus);
            for (const int a : result.axes)
                if (target < 0 && std::any_of(dimensions.begin(), dimensions.end(),
                                              [&](int d) { return contains(plan_.axes[a].labels, tensor.labels[d]); }))
                    own.axes.push_back(a);
        };
        for (int s = 0; s < tensor.layout.slots(); ++s) {
            const auto& mapping = tensor.layout.mapping(s);
            const std::span<const int> dimensions = tensor.layout.slot_dimensions(s);
            if (!mapping.is_blocks()) add(target_of(axis_of_slot(plan_, o, s)), mapping.torus, dimensions);
            for (std::size_t i = 0; i < mapping.torus_by_position.size(); ++i)
                add(target_of_label(tensor.labels[dimensions[i]]), mapping.torus_by_position[i], dimensions.subspan(i, 1));
        }
        return result;
    }

    /// A torus dimension is given to targets from now on.
    void decide(int t) {
        for (auto& operand : operands_)
            for (auto& own : operand.sources)
                if (operand.is_on_grid && contains(own.torus, t)) own.ranks *= grid_.lengths[t];
    }

    /// The target that is this label.
    int target_of_label(int label) const {
        for (std::size_t t = 0; t < targets_.size(); ++t) {
            const auto& labels = plan_.axes[targets_[t].axis].labels;
            const bool is_one = labels.size() == 1 || in_blocks_[targets_[t].axis];
            if (is_one && labels[targets_[t].position] == label) return t;
        }
        return no_target;
    }

    /// The target that is a whole axis.
    int target_of(int axis) const {
        int found = no_target;
        for (std::size_t t = 0; t < targets_.size(); ++t)
            if (targets_[t].axis == axis) {
                if (found >= 0) return no_target;
                found = t;
            }
        return found;
    }

    /// Virtual blocks pad what a rank has.
    double length_in_blocks(std::size_t a, std::span<const int> target_of) const {
        std::vector<std::vector<int>> torus(plan_.axes[a].labels.size());
        for (std::size_t u = 0; u < target_of.size(); ++u)
            if (const int i = target_of[u]; i >= 0 && targets_[i].axis == static_cast<int>(a)) torus[targets_[i].position].push_back(u);
        const auto mapping = block_mapping(grid_, with_positions(plan_.axes[a].node(), plan_.axes[a].labels), std::move(torus));
        return uneven_axis(plan_, grid_, a, mapping)->slot(0).max_local_size();
    }

    /// Works out what a kind needs. @param target_of by torus dimension, in one of the states of this kind
    void describe(Kinds& kinds, std::size_t kind, std::span<const int> target_of) {
        const auto grid_lengths = kinds.grid_lengths(kind);
        along_.assign(plan_.axes.size(), 1);
        for (std::size_t t = 0; t < targets_.size(); ++t) along_[targets_[t].axis] *= grid_lengths[t];
        length_.clear();
        for (std::size_t a = 0; a < along_.size(); ++a)
            length_.push_back(in_blocks_[a] ? length_in_blocks(a, target_of)
                                            : static_cast<double>(ceil_div(plan_.axes[a].size, along_[a])));
        kinds.multiplying[kind] = model_.multiplying_seconds(model_.products(length_), 0);
        double all = 1;
        for (const auto p : grid_lengths) all *= static_cast<double>(p);
        for (const auto& operand : operands_) {
            double along = 1;  // ranks along the operand's axes
            for (std::size_t t = 0; t < targets_.size(); ++t)
                if (operand.is_along[t]) along *= grid_lengths[t];
            const double elements = block_size(operand.axes, length_);
            double sources = 1;
            for (const auto& own : operand.sources)
                sources *= own.target >= 0 ? static_cast<double>(own.ranks / std::gcd(own.ranks, grid_lengths[own.target]))
                                           : occupied_ranks(own.ranks, block_size(own.axes, length_));
            kinds.needs.push_back(
                {elements, operand.owned / along, std::max(1.0, sources - 1), {elements * (1 - along / all), all / along - 1}});
        }
    }

    /// What a state says of an operand, if the next torus dimension is given to the target along which the operand lies there (1), or to
    /// another (0).
    struct Place {
        int own = undecided;                ///< that target; undecided if it does not lie along that dimension
        Dimensions among = 0;               ///< along which ranks have the same block
        std::array<double, 2> kept{1, 1};   ///< ranks in the block along dimensions that are where they were
        std::array<Dimensions, 2> moved{};  ///< along which the operand lies otherwise now
    };

    Place place_of(const Operand& operand, const int* target_of, int t) const {
        Place place;
        for (int u = 0; u < grid_.dimensions() && knows_links_ && is_whole_; ++u)
            if (u != t && target_of[u] >= 0 && !operand.is_along[target_of[u]]) place.among |= dimension(u);
        for (const auto& [own, torus] : operand.spread) {
            // (t0, t1, ...) keeps its elements if its ranks in the block are t0, or t0 and t1, and so on.
            std::array<bool, 2> stays{true, true};
            for (const int u : torus) {
                if (u != t && target_of[u] == undecided) continue;
                if (u == t) place.own = own;
                for (std::size_t follows = 0; follows < 2; ++follows) {
                    stays[follows] = stays[follows] && (u == t ? follows == 1 : target_of[u] == own);
                    if (stays[follows])
                        place.kept[follows] *= grid_.lengths[u];
                    else
                        place.moved[follows] |= dimension(u);
                }
                if (!stays[1] && !knows_links_ && place.own != undecided) break;
            }
        }
        return place;
    }

    void find_places(const int* target_of, int t) {
        for (std::size_t o = 0; o < operands_.size(); ++o) places_[o] = place_of(operands_[o], target_of, t);
    }

    /// The ways on the links in the first run and in later ones, if the ranks that have the same block gather it.
    std::array<std::span<const Links::Way>, 2> ways(std::size_t o, int t, int target, std::size_t follows) const {
        const auto& links = *options_.links;
        if (!is_whole_) return {links.irregular(), links.irregular()};
        const bool is_further = target >= 0 && !operands_[o].is_along[target];
        const auto among = places_[o].among | (is_further ? dimension(t) : 0), moved = places_[o].moved[follows];
        const auto& later = links.gathers(among);
        if (operands_[o].spread.empty()) return {later, later};
        return {(moved & ~among) == 0 ? links.gathers(moved) : links.exchange(moved), later};
    }

    /// Seconds of a state in places_ that gives dimension t to a target.
    double seconds(const Kinds& kinds, std::size_t kind, int t, int target) const {
        if (grid_.ranks() == 1) return kinds.multiplying[kind];
        const double runs = options_.expected_runs;
        double seconds = kinds.multiplying[kind];
        for (std::size_t o = 0; o < operands_.size(); ++o) {
            const auto& need = kinds.needs[kind * operands_.size() + o];
            const auto& place = places_[o];
            const std::size_t follows = target == place.own ? 1 : 0;
            std::array<std::span<const Links::Way>, 2> ways;
            if (knows_links_) ways = this->ways(o, t, target, follows);
            if (operands_[o].is_free) {
                seconds += moving_seconds(need.scattered, ways[1]);
                continue;
            }
            const Moved now{std::max(0.0, need.block - need.useful * place.kept[follows]), need.messages};
            const double first = moving_seconds(now, ways[0]);
            if (runs == 1) {
                seconds += first;
                continue;
            }
            const auto& later = operands_[o].is_lasting && need.scattered.words < now.words ? need.scattered : now;
            seconds += (first + (runs - 1) * moving_seconds(later, ways[1])) / runs;
        }
        return seconds;
    }

    /// Seconds to move words, with copies to and from messages. @param ways  none where every rank is equally far from every other
    double moving_seconds(const Moved& moved, std::span<const Links::Way> ways) const {
        if (moved.words == 0) return 0;
        return moved.words * copying_word_ + (ways.empty() ? model_.sending_seconds(moved) : model_.sending_seconds(moved, ways));
    }

    /// The states behind those of a beam, with one torus dimension more.
    std::vector<State> extended(const std::vector<State>& beam, int t, const std::vector<int>& rows) {
        decide(t);
        const auto width = grid_.lengths.size(), choices = targets_.size() + 1;
        const auto length = grid_.lengths[t];
        const auto before = std::move(kinds_.lengths);
        std::vector<int> next(kinds_.multiplying.size() * choices, -1);  // kind after a kind and a choice
        kinds_.clear();
        std::vector<State> states;
        states.reserve(beam.size() * choices);
        std::vector<std::int64_t> grid_lengths;
        std::vector<int> target_of;
        for (std::size_t b = 0; b < beam.size(); ++b) {
            const std::size_t kind = beam[b].kind;
            const auto* const row = rows.data() + (b * width);
            const auto* const lengths = before.data() + (kind * targets_.size());
            find_places(row, t);
            for (std::size_t i = 0; i < choices; ++i) {
                const int target = i < targets_.size() ? static_cast<int>(i) : no_target;
                if (target >= 0 && lengths[i] * length > targets_[i].extent) continue;
                auto& after = next[kind * choices + i];
                if (after < 0) {
                    grid_lengths.assign(lengths, lengths + targets_.size());
                    if (target >= 0) grid_lengths[i] *= length;
                    bool is_new = false;
                    std::tie(after, is_new) = kinds_.add(grid_lengths);
                    if (is_new) {
                        target_of.assign(row, row + width);
                        target_of[t] = target;
                        describe(kinds_, after, target_of);
                    }
                }
                states.push_back({static_cast<int>(b), target, after, 0, seconds(kinds_, after, t, target)});
            }
        }
        return best_of(states);
    }

    /// The fastest states, few of each kind.
    std::vector<State> best_of(const std::vector<State>& states) const {
        std::vector<std::size_t> end(kinds_.multiplying.size() + 1, 0);
        for (const auto& state : states) ++end[state.kind + 1];
        for (std::size_t k = 1; k < end.size(); ++k) end[k] += end[k - 1];
        std::vector<State> by_kind(states.size()), kept;
        auto begin = end;
        for (const auto& state : states) by_kind[begin[state.kind]++] = state;
        const auto is_faster = [](const State& a, const State& b) { return a.seconds < b.seconds; };
        for (const int kind : kinds_.known) {
            const auto first = by_kind.begin() + static_cast<std::ptrdiff_t>(end[kind]);
            const auto last = by_kind.begin() + static_cast<std::ptrdiff_t>(end[kind + 1]);
            const auto some = first + std::min<std::ptrdiff_t>(last - first, width_.variants);
            std::partial_sort(first, some, last, is_faster);
            kept.insert(kept.end(), first, some);
        }
        for (std::size_t s = 0; s < kept.size(); ++s) kept[s].number = s;
        if (const auto most = is_whole_ ? width_.of_all_ranks : width_.with_idle_ranks; kept.size() > most) {
            std::nth_element(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(most), kept.end());
            kept.resize(most);
        }
        std::sort(kept.begin(), kept.end());
        return kept;
    }

    const ProductPlan& plan_;
    const std::vector<GridTarget>& targets_;
    const PlanOptions& options_;
    const RankGrid& grid_;
    CostModel model_;
    bool is_whole_;  // all ranks take part
    bool knows_links_;
    double copying_word_;  // seconds to copy an element to a message and from it
    Width width_;
    AxesInBlocks in_blocks_;
    std::vector<Operand> operands_;
    Kinds kinds_;                      // of the last level
    std::vector<Place> places_;        // of a state, by operand
    std::vector<std::int64_t> along_;  // of a kind, by axis: ranks
    std::vector<double> length_;       // of a kind, by axis
};

}  // namespace

std::vector<AxesInBlocks> choices_of_blocks(const ProductPlan& unmapped, GroupMapping mapping) {
    constexpr std::size_t most_groups = 3;  // all choices of so many are compared
    const AxesInBlocks none(unmapped.axes.size(), false);
    auto all = none;
    std::vector<std::size_t> groups;
    for (std::size_t a = 0; a < none.size(); ++a) {
        all[a] = unmapped.axes[a].labels.size() > 1;
        if (all[a]) groups.push_back(a);
    }
    if (mapping == GroupMapping::packed || groups.empty() || (mapping == GroupMapping::best && !unmapped.spec.may_pad)) return {none};
    if (mapping == GroupMapping::blocks) return {all};
    std::vector<AxesInBlocks> result{none};
    for (const auto a : groups) {
        const auto before = groups.size() <= most_groups ? result : std::vector<AxesInBlocks>{none};
        for (auto choice : before) {
            choice[a] = true;
            result.push_back(std::move(choice));
        }
    }
    if (groups.size() > most_groups) result.push_back(std::move(all));
    return result;
}

std::vector<GridTarget> grid_targets(const ProductPlan& unmapped, const AxesInBlocks& in_blocks) {
    std::vector<GridTarget> result;
    for (std::size_t a = 0; a < unmapped.axes.size(); ++a) {
        const auto& axis = unmapped.axes[a];
        if (!in_blocks[a]) {
            result.push_back({static_cast<int>(a), 0, axis.size});
            continue;
        }
        for (std::size_t i = 0; i < axis.labels.size(); ++i)
            result.push_back({static_cast<int>(a), static_cast<int>(i), unmapped.spec.label_extents[axis.labels[i]]});
    }
    return result;
}

std::vector<RankedGrid> ranked_grids(const ProductPlan& unmapped, const std::vector<GridTarget>& targets, const RankGrid& grid,
                                     const PlanOptions& options, std::size_t most) {
    const auto search = [&](const Width& width) { return GridSearch(unmapped, targets, grid, options, width).ranked(most); };
    if (options.machine.planning_seconds > 0 && options.memory_limit == PlanOptions::unlimited) {
        auto found = search(narrow);
        if (!options.machine.is_worth_planning(static_cast<double>(options.expected_runs) * found.front().seconds)) return found;
    }
    return search(wide);
}

std::vector<RankedGrid> plain_grids(const ProductPlan& unmapped, const std::vector<GridTarget>& targets, const RankGrid& grid,
                                    const PlanOptions& options) {
    if (grid.ranks() == 1) return {};
    return GridSearch(unmapped, targets, grid, options, narrow).plain();
}

}  // namespace arges
