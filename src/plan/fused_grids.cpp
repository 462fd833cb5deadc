#include "plan/fused_grids.hpp"

#include "base/math.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace arges {

namespace {

constexpr int no_label = -1, undecided = -2;

class FusedGridSearch {
public:
    FusedGridSearch(const Product& spec, const PairOrder& order, const RankGrid& grid, const PlanOptions& options)
        : spec_(spec), options_(options), grid_(grid) {
        std::set<int> present;
        for (const auto& input : spec.factors) {
            operands_.push_back(describe(input));
            present.insert(operands_.back().labels.begin(), operands_.back().labels.end());
        }
        labels_.assign(present.begin(), present.end());
        operands_.push_back(describe(spec.output));
        std::erase_if(operands_.back().labels, [&](int l) { return present.count(l) == 0; });
        find_step_labels(order);
    }

    std::vector<FusedGrid> ranked(std::size_t most) {
        levels_.push_back({{-1, no_label, 0, 0}});
        kinds_.push_back({std::vector<std::int64_t>(spec_.label_extents.size(), 1), 0, {}});
        std::vector<int> rows(grid_.lengths.size(), undecided);  // targets by state and torus dimension
        for (int t : longest_first()) {
            extend(t, rows);
            const auto& states = levels_.back();
            const auto width = grid_.lengths.size();
            std::vector<int> next(states.size() * width);
            for (std::size_t s = 0; s < states.size(); ++s) {
                std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(states[s].before) * width), width,
                            next.begin() + static_cast<std::ptrdiff_t>(s * width));
                next[s * width + static_cast<std::size_t>(t)] = states[s].target;
            }
            rows = std::move(next);
        }
        std::vector<FusedGrid> result;
        const auto width = static_cast<std::ptrdiff_t>(grid_.lengths.size());
        for (std::size_t s = 0; s < std::min(most, levels_.back().size()); ++s) {
            const auto row = rows.begin() + static_cast<std::ptrdiff_t>(s) * width;
            result.push_back({{row, row + width}, levels_.back()[s].seconds});
        }
        return result;
    }

private:
    static constexpr std::size_t beam_width = 192, variants = 6;

    /// An operand as the estimate sees it.
    struct Operand {
        std::vector<int> labels;           // ascending
        double owned = 0;                  // elements on a rank
        bool is_lasting = false;
        std::vector<std::pair<int, std::vector<int>>> spread;  // labels and the torus dimensions of their layout, in order
    };
    /// What an operand needs with given numbers of ranks along the labels.
    struct Need {
        double block = 1;      // elements
        double useful = 1;     // of what a rank owns, if the torus dimensions along its labels are others than before
        double scattered = 0;  // elements that a rank sends or receives where each of the ranks that have a block, or parts of it, keeps its share
    };
    /// States with the same ranks along every label differ only in what already lies right.
    struct Kind {
        std::vector<std::int64_t> places;  // by label
        double multiply_seconds = 0;
        std::vector<Need> needs;           // by operand
    };
    /// The assignment of a torus dimension behind a state of the level before.
    struct State {
        int before, target, kind;
        double seconds;
    };

    Operand describe(const OperandSpec& operand) const {
        Operand result;
        const std::set<int> labels(operand.labels.begin(), operand.labels.end());
        result.labels.assign(labels.begin(), labels.end());
        result.owned = static_cast<double>(operand.layout.max_local_size());
        result.is_lasting = operand.is_lasting;
        if (!(operand.layout.grid() == grid_)) return result;
        for (int s = 0; s < operand.layout.slots(); ++s)
            if (const auto& dims = operand.layout.slot_dimensions(s); dims.size() == 1)
                result.spread.emplace_back(operand.labels[static_cast<std::size_t>(dims[0])], operand.layout.mapping(s).torus);
        return result;
    }

    void find_step_labels(const PairOrder& order) {
        std::vector<std::set<int>> nodes;
        for (std::size_t i = 0; i < spec_.factors.size(); ++i) nodes.emplace_back(operands_[i].labels.begin(), operands_[i].labels.end());
        for (const auto& step : order) {
            auto &a = nodes[static_cast<std::size_t>(step[0])], &b = nodes[static_cast<std::size_t>(step[1])];
            auto all = a;
            all.insert(b.begin(), b.end());
            step_labels_.emplace_back(all.begin(), all.end());
            a.clear();
            b.clear();
            auto kept = std::set<int>(spec_.output.labels.begin(), spec_.output.labels.end());
            for (const auto& labels : nodes) kept.insert(labels.begin(), labels.end());
            std::set<int> result;
            std::set_intersection(all.begin(), all.end(), kept.begin(), kept.end(), std::inserter(result, result.begin()));
            nodes.push_back(std::move(result));
        }
    }

    /// Longest torus dimensions first: the choices that matter most come first.
    std::vector<int> longest_first() const {
        std::vector<int> result;
        for (int t = 0; t < grid_.dimensions(); ++t) result.push_back(t);
        std::stable_sort(result.begin(), result.end(), [&](int x, int y) {
            return grid_.lengths[static_cast<std::size_t>(x)] > grid_.lengths[static_cast<std::size_t>(y)];
        });
        return result;
    }

    std::int64_t extent(int label) const { return spec_.label_extents[static_cast<std::size_t>(label)]; }

    double block(const std::vector<int>& labels, const std::vector<std::int64_t>& places) const {
        double product = 1;
        for (int l : labels) product *= static_cast<double>(ceil_div(extent(l), places[static_cast<std::size_t>(l)]));
        return product;
    }

    Kind kind_of(std::vector<std::int64_t> places) const {
        Kind kind{std::move(places), 0, {}};
        double products = 0;
        for (const auto& labels : step_labels_) products += block(labels, kind.places);
        kind.multiply_seconds = products * spec_.flops_per_product() / options_.machine.flops_per_second;
        double all = 1;
        for (int l : labels_) all *= static_cast<double>(kind.places[static_cast<std::size_t>(l)]);
        for (const auto& operand : operands_) {
            double along = 1;  // ranks along the operand's labels
            for (int l : operand.labels) along *= static_cast<double>(kind.places[static_cast<std::size_t>(l)]);
            const double elements = block(operand.labels, kind.places);
            kind.needs.push_back({elements, operand.owned / along, elements * (1 - along / all)});
        }
        return kind;
    }

    /// A label that is spread over (t0, t1, ...) keeps its elements if its ranks in the block are t0, or t0 and t1, and so on.
    double useful(const Operand& operand, double result, const int* target_of, int t, int target) const {
        for (const auto& [label, torus] : operand.spread)
            for (int u : torus) {
                const int there = u == t ? target : target_of[u];
                if (there == undecided) continue;
                if (there != label) break;
                result *= static_cast<double>(grid_.lengths[static_cast<std::size_t>(u)]);
            }
        return result;
    }

    double seconds(const Kind& kind, const int* target_of, int t, int target) const {
        const auto& machine = options_.machine;
        const auto runs = static_cast<double>(options_.expected_runs);
        double words = 0;
        for (std::size_t o = 0; o < operands_.size(); ++o) {
            const auto& need = kind.needs[o];
            if (spec_.output_is_free && o + 1 == operands_.size()) {
                words += need.scattered;
                continue;
            }
            const double now = std::max(0.0, need.block - useful(operands_[o], need.useful, target_of, t, target));
            const double later = operands_[o].is_lasting ? std::min(now, need.scattered) : now;
            words += (now + (runs - 1) * later) / runs;
        }
        if (grid_.ranks() == 1) words = 0;
        return kind.multiply_seconds + words * static_cast<double>(spec_.element_bytes) * (1 / machine.bytes_per_second + 2 / machine.copied_bytes_per_second);
    }

    void extend(int t, const std::vector<int>& rows) {
        const auto& beam = levels_.back();
        const auto length = grid_.lengths[static_cast<std::size_t>(t)];
        const auto before = std::move(kinds_);
        kinds_.clear();
        std::map<std::vector<std::int64_t>, int> known;
        std::vector<int> next(before.size() * (labels_.size() + 1), -1);  // kind after a kind and a choice
        std::vector<std::vector<State>> states;                          // by kind
        for (std::size_t b = 0; b < beam.size(); ++b) {
            const auto kind = static_cast<std::size_t>(beam[b].kind);
            for (std::size_t i = 0; i <= labels_.size(); ++i) {
                const int label = i < labels_.size() ? labels_[i] : no_label;
                if (label >= 0 && before[kind].places[static_cast<std::size_t>(label)] * length > extent(label)) continue;
                auto& after = next[kind * (labels_.size() + 1) + i];
                if (after < 0) {
                    auto places = before[kind].places;
                    if (label >= 0) places[static_cast<std::size_t>(label)] *= length;
                    const auto [found, is_new] = known.try_emplace(places, static_cast<int>(kinds_.size()));
                    if (is_new) {
                        kinds_.push_back(kind_of(std::move(places)));
                        states.emplace_back();
                    }
                    after = found->second;
                }
                const int* const row = rows.data() + b * grid_.lengths.size();
                states[static_cast<std::size_t>(after)].push_back(
                    {static_cast<int>(b), label, after, seconds(kinds_[static_cast<std::size_t>(after)], row, t, label)});
            }
        }
        std::vector<State> kept;
        for (const auto& [places, kind] : known) {
            auto& of_kind = states[static_cast<std::size_t>(kind)];
            const auto count = static_cast<std::ptrdiff_t>(std::min(of_kind.size(), variants));
            std::partial_sort(of_kind.begin(), of_kind.begin() + count, of_kind.end(), is_faster);
            kept.insert(kept.end(), of_kind.begin(), of_kind.begin() + count);
        }
        std::stable_sort(kept.begin(), kept.end(), is_faster);
        if (kept.size() > beam_width) kept.resize(beam_width);
        levels_.push_back(std::move(kept));
    }

    static bool is_faster(const State& a, const State& b) { return a.seconds < b.seconds; }

    const Product& spec_;
    const PlanOptions& options_;
    const RankGrid& grid_;
    std::vector<Operand> operands_;              // the inputs, then the output
    std::vector<std::vector<int>> step_labels_;  // of both factors
    std::vector<int> labels_;                    // of the inputs
    std::vector<std::vector<State>> levels_;
    std::vector<Kind> kinds_;                    // of the last level
};

}  // namespace

std::vector<FusedGrid> ranked_fused_grids(const Product& spec, const PairOrder& order, const RankGrid& grid, const PlanOptions& options,
                                          std::size_t most) {
    return FusedGridSearch(spec, order, grid, options).ranked(most);
}

}  // namespace arges
