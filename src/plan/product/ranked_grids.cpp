// Beam search over the torus dimensions, each given to an axis or to none; partial assignments are kept by estimated seconds. It stands in
// place of the greedy mapping of cyclops-2012, section 4.2.
#include "plan/product/ranked_grids.hpp"

#include "base/math.hpp"
#include "plan/product/tensor_storage.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace arges {

namespace {

constexpr int no_target = -1, undecided = -2;

/// States that a search keeps: with all ranks, with idle ones, which pay seldom, and with the same ranks along every target.
struct Width {
    std::size_t of_all_ranks, with_idle_ranks, variants;
};
constexpr Width wide{192, 32, 6}, narrow{12, 8, 2};

class GridSearch {
public:
    GridSearch(const ProductPlan& unmapped, const std::vector<GridTarget>& targets, const RankGrid& grid, const PlanOptions& options,
               const Width& width)
        : plan_(unmapped), targets_(targets), options_(options), grid_(grid),
          is_whole_(grid == options.whole_grid(unmapped.spec.output.layout)), width_(width), in_blocks_(unmapped.axes.size(), false) {
        for (const auto& target : targets)
            if (target.position > 0) in_blocks_[target.axis] = true;
        for (std::size_t o = 0; o < plan_.operands.size(); ++o) operands_.push_back(describe(o));
        for (const auto& step : plan_.chain) spaces_.push_back(plan_.iteration_axes(step));
    }

    std::vector<RankedGrid> ranked(std::size_t most) {
        levels_.push_back({{-1, no_target, 0, 0}});
        kinds_.push_back({std::vector<std::int64_t>(targets_.size(), 1), 0, {}});
        const auto width = grid_.lengths.size();
        std::vector<int> rows(width, undecided);  // targets by state and torus dimension
        for (int t : longest_first(grid_)) {
            extend(t, rows);
            const auto& states = levels_.back();
            std::vector<int> next(states.size() * width);
            for (std::size_t s = 0; s < states.size(); ++s) {
                std::copy_n(rows.begin() + (static_cast<std::size_t>(states[s].before) * width), width, next.begin() + (s * width));
                next[s * width + static_cast<std::size_t>(t)] = states[s].target;
            }
            rows = std::move(next);
        }
        std::vector<RankedGrid> result;
        for (std::size_t s = 0; s < std::min(most, levels_.back().size()); ++s) {
            const auto row = rows.begin() + (s * width);
            result.push_back({{row, row + static_cast<std::ptrdiff_t>(width)}, levels_.back()[s].seconds});
        }
        if (most > 1 && grid_.ranks() > 1) add_stationary(result);
        return result;
    }

private:
    /// What leaves one operand where it is.
    void add_stationary(std::vector<RankedGrid>& result) const {
        for (const auto& operand : operands_) {
            if (operand.spread.empty()) continue;
            RankedGrid grid{std::vector<int>(grid_.lengths.size(), no_target), 0};
            std::vector<std::int64_t> grid_lengths(targets_.size(), 1);
            for (const auto& [target, torus] : operand.spread)
                for (int t : torus) {
                    grid.target[t] = target;
                    grid_lengths[target] *= grid_.lengths[t];
                }
            const auto is_same = [&](const RankedGrid& known) { return known.target == grid.target; };
            const auto extends_too_far = [&](const GridTarget& target) { return grid_lengths[&target - targets_.data()] > target.extent; };
            if (std::any_of(result.begin(), result.end(), is_same) || std::any_of(targets_.begin(), targets_.end(), extends_too_far))
                continue;
            const auto places = places_of(grid.target.data(), 0);
            grid.seconds = seconds(kind_of(std::move(grid_lengths), grid.target), places, 0, grid.target[0]);
            const auto is_before = [](const RankedGrid& a, const RankedGrid& b) { return a.seconds < b.seconds; };
            result.insert(std::upper_bound(result.begin(), result.end(), grid, is_before), grid);
        }
    }

    /// An operand as the estimate sees it.
    struct Operand {
        std::vector<int> axes;
        double owned = 0;  // elements on a rank
        bool is_lasting = false;
        std::vector<std::pair<int, std::vector<int>>> spread;  // targets and the torus dimensions of their layout, in order
    };
    /// What an operand needs with given numbers of ranks along the targets.
    struct Need {
        double block = 1;   // elements
        double useful = 1;  // of what a rank owns, if the torus dimensions along its axes are others than before
        double scattered =
            0;  // elements that a rank sends or receives where each of the ranks that have a block, or parts of it, keeps its share
    };
    /// States with the same ranks along every target differ only in what already lies right.
    struct Kind {
        std::vector<std::int64_t> grid_lengths;  // by target
        double multiply_seconds = 0;
        std::vector<Need> needs;  // by operand
    };
    /// The assignment of a torus dimension behind a state of the level before.
    struct State {
        int before, target, kind;
        double seconds;
    };

    Operand describe(std::size_t o) const {
        const auto& tensor = plan_.tensor(o);
        Operand result;
        result.axes = plan_.operands[o].axes;
        result.owned = unpacked_elements(tensor.layout);
        result.is_lasting = tensor.is_lasting;
        if (!(tensor.layout.grid() == grid_)) return result;
        for (int s = 0; s < tensor.layout.slots(); ++s) {
            const auto& mapping = tensor.layout.mapping(s);
            const auto& dimensions = tensor.layout.slot_dimensions(s);
            if (const int t = target_of(axis_of_slot(plan_, o, s)); t >= 0) result.spread.emplace_back(t, mapping.torus);
            for (std::size_t i = 0; i < mapping.torus_by_position.size(); ++i)
                if (const int t = target_of_label(tensor.labels[dimensions[i]]); t >= 0)
                    result.spread.emplace_back(t, mapping.torus_by_position[i]);
        }
        return result;
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

    /// Indices of each axis on a rank. @param target_of by torus dimension
    std::vector<double> lengths(const std::vector<std::int64_t>& grid_lengths, const std::vector<int>& target_of) const {
        std::vector<std::int64_t> along(plan_.axes.size(), 1);
        for (std::size_t t = 0; t < targets_.size(); ++t) along[targets_[t].axis] *= grid_lengths[t];
        std::vector<double> result;
        for (std::size_t a = 0; a < along.size(); ++a) {
            result.push_back(in_blocks_[a] ? length_in_blocks(a, target_of) : static_cast<double>(ceil_div(plan_.axes[a].size, along[a])));
        }
        return result;
    }

    /// Virtual blocks pad what a rank has.
    double length_in_blocks(std::size_t a, const std::vector<int>& target_of) const {
        std::vector<std::vector<int>> torus(plan_.axes[a].labels.size());
        for (std::size_t u = 0; u < target_of.size(); ++u)
            if (const int i = target_of[u]; i >= 0 && targets_[i].axis == static_cast<int>(a)) torus[targets_[i].position].push_back(u);
        const auto mapping = block_mapping(grid_, with_positions(plan_.axes[a].node(), plan_.axes[a].labels), std::move(torus));
        return uneven_axis(plan_, grid_, a, mapping)->slot(0).max_local_size();
    }

    /// @param target_of by torus dimension, in one of the states of this kind
    Kind kind_of(std::vector<std::int64_t> grid_lengths, const std::vector<int>& target_of) const {
        Kind kind{std::move(grid_lengths), 0, {}};
        const auto length = lengths(kind.grid_lengths, target_of);
        const auto block = [&](const std::vector<int>& axes) {
            double product = 1;
            for (int a : axes) product *= length[a];
            return product;
        };
        double products = 0, all = 1;
        for (const auto& axes : spaces_) products += block(axes);
        kind.multiply_seconds = products * plan_.spec.flops_per_product() / options_.machine.flops_per_second;
        for (const auto p : kind.grid_lengths) all *= static_cast<double>(p);
        for (const auto& operand : operands_) {
            double along = 1;  // ranks along the operand's axes
            for (std::size_t t = 0; t < targets_.size(); ++t)
                if (std::find(operand.axes.begin(), operand.axes.end(), targets_[t].axis) != operand.axes.end())
                    along *= kind.grid_lengths[t];
            const double elements = block(operand.axes);
            kind.needs.push_back({elements, operand.owned / along, elements * (1 - along / all)});
        }
        return kind;
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
        for (int u = 0; u < grid_.dimensions() && options_.links && is_whole_; ++u)
            if (u != t && target_of[u] >= 0 && !is_along(operand, target_of[u])) place.among |= dimension(u);
        for (const auto& [own, torus] : operand.spread) {
            const bool has_t = std::find(torus.begin(), torus.end(), t) != torus.end();
            if (has_t) place.own = own;
            for (std::size_t follows = 0; follows < 2; ++follows) {
                // (t0, t1, ...) keeps its elements if its ranks in the block are t0, or t0 and t1, and so on.
                bool stays = true;
                for (int u : torus) {
                    if (u != t && target_of[u] == undecided) continue;
                    stays = stays && (u == t ? follows == 1 : target_of[u] == own);
                    if (stays)
                        place.kept[follows] *= grid_.lengths[u];
                    else
                        place.moved[follows] |= dimension(u);
                }
            }
        }
        return place;
    }

    std::vector<Place> places_of(const int* target_of, int t) const {
        std::vector<Place> result;
        for (const auto& operand : operands_) result.push_back(place_of(operand, target_of, t));
        return result;
    }

    bool is_along(const Operand& operand, int target) const {
        return std::find(operand.axes.begin(), operand.axes.end(), targets_[target].axis) != operand.axes.end();
    }

    double seconds(const Kind& kind, const std::vector<Place>& places, int t, int target) const {
        const auto& machine = options_.machine;
        const double runs = options_.expected_runs;
        double words = 0;
        for (std::size_t o = 0; o < operands_.size(); ++o) {
            const auto& need = kind.needs[o];
            const auto& place = places[o];
            const std::size_t follows = target == place.own ? 1 : 0;
            // What a byte costs on the links, if the ranks that have the same block gather it.
            double link_cost = 1, first_link_cost = 1;
            if (options_.links && !is_whole_) {
                link_cost = first_link_cost = options_.links->irregular().front().cost;
            } else if (options_.links) {
                const bool is_further = target >= 0 && !is_along(operands_[o], target);
                link_cost = options_.links->gather_cost(place.among | (is_further ? dimension(t) : 0));
                first_link_cost = operands_[o].spread.empty() ? link_cost : options_.links->cost(place.moved[follows]);
            }
            if (plan_.spec.output_is_free && o + 1 == operands_.size()) {
                words += need.scattered * link_cost;
                continue;
            }
            const double now = std::max(0.0, need.block - need.useful * place.kept[follows]);
            const double later = operands_[o].is_lasting ? std::min(now, need.scattered) : now;
            const double first = now * first_link_cost;
            words += runs > 1 ? (first + (runs - 1) * later * link_cost) / runs : first;
        }
        if (grid_.ranks() == 1) words = 0;
        return kind.multiply_seconds +
               words * static_cast<double>(plan_.spec.element_bytes) * (1 / machine.bytes_per_second + 2 / machine.copied_bytes_per_second);
    }

    void extend(int t, const std::vector<int>& rows) {
        const auto& beam = levels_.back();
        const auto length = grid_.lengths[t];
        const auto before = std::move(kinds_);
        kinds_.clear();
        std::map<std::vector<std::int64_t>, int> known;
        std::vector<int> next(before.size() * (targets_.size() + 1), -1);  // kind after a kind and a choice
        std::vector<std::vector<State>> states;                            // by kind
        for (std::size_t b = 0; b < beam.size(); ++b) {
            const std::size_t kind = beam[b].kind;
            const auto places = places_of(rows.data() + b * grid_.lengths.size(), t);
            for (std::size_t i = 0; i <= targets_.size(); ++i) {
                const int target = i < targets_.size() ? static_cast<int>(i) : no_target;
                if (target >= 0 && before[kind].grid_lengths[i] * length > targets_[i].extent) continue;
                auto& after = next[kind * (targets_.size() + 1) + i];
                if (after < 0) {
                    auto grid_lengths = before[kind].grid_lengths;
                    if (target >= 0) grid_lengths[i] *= length;
                    const auto [found, is_new] = known.try_emplace(grid_lengths, kinds_.size());
                    if (is_new) {
                        std::vector<int> target_of(rows.begin() + (b * grid_.lengths.size()),
                                                   rows.begin() + ((b + 1) * grid_.lengths.size()));
                        target_of[t] = target;
                        kinds_.push_back(kind_of(std::move(grid_lengths), target_of));
                        states.emplace_back();
                    }
                    after = found->second;
                }
                states[after].push_back({static_cast<int>(b), target, after, seconds(kinds_[after], places, t, target)});
            }
        }
        const auto beam_width = is_whole_ ? width_.of_all_ranks : width_.with_idle_ranks;
        std::vector<State> kept;
        for (const auto& [grid_lengths, kind] : known) {
            auto& of_kind = states[kind];
            const std::ptrdiff_t count = std::min(of_kind.size(), width_.variants);
            std::partial_sort(of_kind.begin(), of_kind.begin() + count, of_kind.end(), is_faster);
            kept.insert(kept.end(), of_kind.begin(), of_kind.begin() + count);
        }
        std::stable_sort(kept.begin(), kept.end(), is_faster);
        if (kept.size() > beam_width) kept.resize(beam_width);
        levels_.push_back(std::move(kept));
    }

    static bool is_faster(const State& a, const State& b) { return a.seconds < b.seconds; }

    const ProductPlan& plan_;
    const std::vector<GridTarget>& targets_;
    const PlanOptions& options_;
    const RankGrid& grid_;
    bool is_whole_;  // all ranks take part
    Width width_;
    AxesInBlocks in_blocks_;
    std::vector<Operand> operands_;
    std::vector<std::vector<int>> spaces_;  // axes of each local product
    std::vector<std::vector<State>> levels_;
    std::vector<Kind> kinds_;  // of the last level
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

}  // namespace arges
