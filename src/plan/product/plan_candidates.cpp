// Prices mappings of axes to torus dimensions: bounds from below first, then the full estimate, with windows halved along the axis that
// saves most memory until the plan fits.
#include "plan/product/plan_candidates.hpp"

#include "base/math.hpp"
#include "plan/product/step_memory.hpp"

#include <algorithm>
#include <limits>

namespace arges {

namespace {

/// Operands in place whose axes do not follow each other as matrices want it are copied where they are so small, or where multiplying takes
/// so many times as long.
constexpr double cached_elements = 1 << 15, worthwhile = 4;

/// A name for a mapping of an axis.
std::vector<int> key_of(const SlotMapping& mapping) {
    auto key = mapping.torus;
    if (mapping.rows) key.push_back(-1);
    for (const auto& list : mapping.torus_by_position) {
        key.push_back(-2);
        key.insert(key.end(), list.begin(), list.end());
    }
    return key;
}

}  // namespace

PlanCandidates::PlanCandidates(const ProductPlan& unmapped, const RankGrid& grid, const PlanOptions& options)
    : options_(options), plan_(unmapped), model_(unmapped, options.machine), ranks_(grid),
      is_whole_(grid == options.whole_grid(unmapped.spec.output.layout)), known_(unmapped.axes.size()) {
    plan_.grid = grid;
    for (std::size_t o = 0; o <= result(); ++o) {
        const auto& layout = plan_.tensor(o).layout;
        storage_.push_back(storage_of(plan_, o));
        on_grid_.push_back(layout.grid() == grid);
        owned_.push_back(unpacked_elements(layout));
        tables_.emplace_back(plan_.tensor(o), grid, ranks_);
        for (int s = 0; s < layout.slots(); ++s)
            may_bound_words_ = may_bound_words_ && !layout.mapping(s).rows && !layout.mapping(s).is_blocks();
    }
    plan_.spec.output_is_free = plan_.spec.output_is_free && storage_.back().may_scatter;
    for (int t = 0; t < grid.dimensions() && on_grid_.back(); ++t)
        if (plan_.spec.output.layout.slot_of_torus(t) < 0) copied_.push_back(t);
    may_bound_words_ = may_bound_words_ && grid.ranks() > 1;
    for (std::size_t a = 0; a < plan_.axes.size(); ++a) {
        const auto& axis = plan_.axes[a];
        if (axis.needs_weights()) weighted_axes_.push_back(a);
        plan_.weight *= axis.constant_weight();
        auto& match = match_.emplace_back(plan_.operands.size());
        for (std::size_t o = 0; o <= result(); ++o)
            if (axis.in(o)) match[o] = tables_[o].match(axis.labels, axis.tree[o]->kind);
    }
    const bool is_matrix_product = std::all_of(plan_.axes.begin(), plan_.axes.end(), [&](const auto& axis) {
        return !axis.is_contracted() || (axis.in(0) && axis.in(result() - 1));
    });
    if (plan_.chain.size() == 1 && is_matrix_product) fold_.emplace(plan_, storage_);
}

MappedAxis& PlanCandidates::map_axis(std::size_t a, const SlotMapping& mapping) {
    const auto [known, is_new] = known_[a].try_emplace(key_of(mapping));
    auto& mapped = known->second;
    if (!is_new) return mapped;
    mapped.mapping = mapping;
    mapped.torus = mapping.all();
    mapped.grid_length = ranks_.grid_length(mapped.torus);
    mapped.share.resize(plan_.operands.size());
    const auto size = plan_.axes[a].size;
    if (const auto uneven = uneven_axis(plan_, plan_.grid, a, mapping)) {
        mapped.wanted.emplace(ranks_, mapping, size, &uneven->slot(0));
        mapped.length = uneven->slot(0).max_local_size();
    } else {
        mapped.length = ceil_div(size, mapped.grid_length);
    }
    return mapped;
}

const WantedSlot& PlanCandidates::wanted(std::size_t a, MappedAxis& mapped) {
    if (!mapped.wanted) mapped.wanted.emplace(ranks_, mapped.mapping, plan_.axes[a].size, nullptr);
    return *mapped.wanted;
}

double PlanCandidates::least_seconds(const Mapped& axes) {
    length_.clear();
    for (const auto* axis : axes) length_.push_back(axis->length);
    Moved moved;
    RankWork work;
    work.multiplying = model_.multiplying_seconds(model_.products(length_), 0);
    for (std::size_t o = 0; o <= result() && may_bound_words_; ++o) {
        const double size = block_size(plan_.operands[o].axes, length_), words = size - owned_[o];
        if (words <= 0 || (o == result() && plan_.spec.output_is_free)) continue;
        moved.words += words;
        // No rank has more for another one; where groups are taken apart, messages are an estimate.
        if (!options_.links && storage_[o].fits) moved.messages += words / std::max(1.0, owned_[o]);
        work.copied += 2 * size + 2 * words;
    }
    const double runs = static_cast<double>(options_.expected_runs), least = options_.links ? options_.links->least_cost() : 1;
    moved.words *= least;
    work.sending = model_.sending_seconds(moved) / runs;
    work.copied /= runs;
    return model_.least_seconds(work);
}

/// Scales the smallest operand of each axis that needs weights.
void PlanCandidates::weigh(GridCandidate& candidate) const {
    candidate.weight = plan_.weight;
    for (int a : weighted_axes_) {
        auto& weighted = candidate.weighted.emplace_back(-1);
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t o = 0; o < result(); ++o) {
            if (!plan_.axes[a].in(o)) continue;
            const double elements = block_size(plan_.operands[o].axes, candidate.length);
            if (elements >= least) continue;
            least = elements;
            weighted = o;
        }
    }
}

bool PlanCandidates::is_as_stored(std::size_t o, const Mapped& axes) const {
    if (!storage_[o].fits || !on_grid_[o]) return false;
    const auto& layout = plan_.tensor(o).layout;
    for (int s = 0; s < layout.slots(); ++s)
        if (!(layout.mapping(s) == axes[storage_[o].axes[s]]->mapping)) return false;
    return true;
}

/// The candidate as a whole, without windows.
GridCandidate PlanCandidates::placed(Mapped axes, bool may_copy) {
    GridCandidate candidate;
    candidate.axes = std::move(axes);
    candidate.may_copy = may_copy;
    candidate.streams = plan_.spec.on_device;  // the host looks for room when windows are known
    candidate.operands.resize(plan_.operands.size());
    candidate.length.reserve(candidate.axes.size());
    candidate.grid_lengths.reserve(candidate.axes.size());
    for (const auto* axis : candidate.axes) {
        candidate.length.push_back(axis->length);
        candidate.grid_lengths.push_back(axis->grid_length);
    }
    weigh(candidate);
    const auto is_readable = [&](std::size_t o) {  // as it lies
        return !plan_.spec.factors[o].conjugated && plan_.spec.factors[o].element_bytes == 0;
    };
    bool formable = plan_.spec.terms.size() == 1 && !plan_.spec.output.conjugated;  // the result, in the output's own array
    for (std::size_t a = 0; a < plan_.axes.size(); ++a)
        formable = formable && (!plan_.axes[a].is_contracted() || candidate.axes[a]->torus.empty());
    for (std::size_t o = 0; o <= result(); ++o) {
        const auto there = o == result() && plan_.spec.output_is_free ? scattered(candidate.axes, o) : std::nullopt;
        auto& operand = candidate.operands[o];
        operand.as_stored = there ? is_as_wanted(candidate, o, *there) : is_as_stored(o, candidate.axes);
        operand.in_place = operand.as_stored && !plan_.spec.crosses(plan_.tensor(o)) &&
                           (o == result() ? formable : is_readable(o) && !candidate.is_weighted(o));
        if (!operand.in_place) move_from(candidate, o, there ? &*there : nullptr);
    }
    for (std::size_t o = 0; o <= result(); ++o)
        if (candidate.operands[o].in_place && storage_[o].odd) candidate.weight = -candidate.weight;
    copy_what_does_not_fold(candidate);
    return candidate;
}

/// Products of operands that lie as matrices are faster than others. Without memory for copies they read what does not in another order.
void PlanCandidates::copy_what_does_not_fold(GridCandidate& candidate) const {
    candidate.out_of_order = 0;
    candidate.copies = false;
    if (!fold_) return;
    candidate.fold = fold_->choose(candidate);
    for (std::size_t o = 0; o <= result(); ++o) {
        auto& in_place = candidate.operands[o].in_place;
        if (!in_place || fold_->folds(o, candidate.fold)) continue;
        const double elements = block_size(plan_.operands[o].axes, candidate.length);
        const double multiplying = model_.multiplying_seconds(model_.products(candidate.length), 0);
        if (elements > cached_elements && multiplying < worthwhile * model_.copying_seconds(2 * elements)) continue;
        candidate.copies = candidate.may_copy;
        if (!candidate.may_copy) {
            candidate.out_of_order += elements;
            continue;
        }
        in_place = false;
        if (storage_[o].odd) candidate.weight = -candidate.weight;
    }
}

/// Sets what an operand lacks and in which ways it comes. @param there  where the tensor lies; null: where it is now
void PlanCandidates::move_from(GridCandidate& candidate, std::size_t o, const Mapped* there) {
    auto& operand = candidate.operands[o];
    operand.moved = there != nullptr ? moved_from(candidate, o, *there) : moved(candidate, o);
    if (options_.links) operand.ways = ways(candidate, o, there);
}

/// What an operand lacks of its block where it is.
Moved PlanCandidates::moved(const GridCandidate& candidate, std::size_t o) {
    if (plan_.grid.ranks() == 1) return {};
    shares_.clear();
    for (const std::size_t a : plan_.operands[o].axes) {
        auto& share = candidate.axes[a]->share[o];
        if (!share) share = tables_[o].share(match_[a][o], wanted(a, *candidate.axes[a]));
        shares_.push_back(&*share);
    }
    double copies = 1;
    for (std::size_t i = 0; o == result() && i < copied_.size(); ++i) {
        const auto lies_along = [&](const MappedAxis* axis) { return contains(axis->torus, copied_[i]); };
        if (std::any_of(candidate.axes.begin(), candidate.axes.end(), lies_along)) copies *= plan_.grid.lengths[copied_[i]];
    }
    return tables_[o].count(shares_, copies);
}

/// What a tensor that lies as scattered() says lacks of its block: all but its own part.
Moved PlanCandidates::moved_from(const GridCandidate& candidate, std::size_t o, const Mapped& there) {
    if (plan_.grid.ranks() == 1) return {};
    block_.clear();
    own_.clear();
    for (std::size_t s = 0; s < there.size(); ++s) {
        const std::size_t a = storage_[o].axes[s];
        own_.push_back(&wanted(a, *there[s]));
        block_.push_back(&wanted(a, *candidate.axes[a]));
    }
    return tables_[o].count_lacking(block_, own_);
}

/// The ways in which an operand may move. @param there  where the tensor lies; null: where it is now
std::span<const Links::Way> PlanCandidates::ways(const GridCandidate& candidate, std::size_t o, const Mapped* there) const {
    const auto& links = *options_.links;
    const auto& layout = plan_.tensor(o).layout;
    if (!is_whole_ || (there == nullptr && !on_grid_[o])) return links.irregular();
    const bool is_result = o == result();
    ExchangedDimensions exchanged;
    Dimensions further = 0, parts = 0;  // behind what a slot lies along in both; along which the result is a sum
    bool gathers = storage_[o].fits && plan_.spec.terms.size() == 1;
    const auto add = [&](const std::vector<int>& at_rest, const std::vector<int>& working) {
        is_result ? exchanged.add(working, at_rest) : exchanged.add(at_rest, working);
        const auto same = std::mismatch(working.begin(), working.end(), at_rest.begin(), at_rest.end());
        gathers = gathers && same.first == working.end();
        std::for_each(same.second, at_rest.end(), [&](int t) { further |= dimension(t); });
    };
    const auto wanted = [&](int a) -> const std::vector<int>& { return candidate.axes[a]->torus; };
    for (int s = 0; s < layout.slots(); ++s)
        add(there != nullptr ? (*there)[s]->torus : layout.mapping(s).all(),
            storage_[o].fits ? wanted(storage_[o].axes[s]) : std::vector<int>{});
    if (!storage_[o].fits)
        for (const int a : plan_.operands[o].axes) add({}, wanted(a));
    for (std::size_t a = 0; a < plan_.axes.size() && is_result; ++a) {
        if (!plan_.axes[a].is_contracted()) continue;
        exchanged.add_parts(candidate.axes[a]->torus);
        for (const int t : candidate.axes[a]->torus) parts |= dimension(t);
    }
    gathers = gathers && (parts & ~further) == 0;
    return gathers ? links.gathers(exchanged.result()) : links.exchange(exchanged.result());
}

/// An axis along further torus dimensions behind its own.
MappedAxis& PlanCandidates::further_along(std::size_t a, MappedAxis& mapped, Dimensions further) {
    for (const auto& [dimensions, axis] : mapped.further)
        if (dimensions == further) return *axis;
    auto mapping = mapped.mapping;
    for (int t = 0; t < plan_.grid.dimensions(); ++t)
        if ((further & dimension(t)) != 0) mapping.torus.push_back(t);
    return *mapped.further.emplace_back(further, &map_axis(a, mapping)).second;
}

/// The blocks that a candidate wants of a tensor, cut further along the torus dimensions that would hold copies or parts of a sum: from
/// there inputs are gathered, and there results are summed, with the fewest words. By slot; none if the tensor cannot lie so.
std::optional<PlanCandidates::Mapped> PlanCandidates::scattered(const Mapped& axes, std::size_t o) {
    if (!storage_[o].may_scatter) return std::nullopt;
    Mapped there;
    Dimensions used = 0;
    remaining_.clear();
    there.reserve(storage_[o].axes.size());
    for (const std::size_t a : storage_[o].axes) {
        if (axes[a]->mapping.rows || axes[a]->mapping.is_blocks()) return std::nullopt;
        there.push_back(axes[a]);
        remaining_.push_back(static_cast<double>(plan_.axes[a].size) / axes[a]->grid_length);
        for (const int t : axes[a]->torus) used |= dimension(t);
    }
    further_.assign(there.size(), 0);
    for (int t = 0; t < plan_.grid.dimensions(); ++t) {
        const auto longest = std::max_element(remaining_.begin(), remaining_.end());
        const double length = plan_.grid.lengths[t];
        if ((used & dimension(t)) != 0 || longest == remaining_.end() || *longest < length) continue;
        further_[longest - remaining_.begin()] |= dimension(t);
        *longest /= length;
    }
    for (std::size_t s = 0; s < there.size(); ++s)
        if (further_[s] != 0) there[s] = &further_along(storage_[o].axes[s], *there[s], further_[s]);
    return there;
}

/// Are the slots of a tensor that lies there the blocks that the candidate wants?
bool PlanCandidates::is_as_wanted(const GridCandidate& candidate, std::size_t o, const Mapped& there) const {
    for (std::size_t s = 0; s < there.size(); ++s)
        if (there[s] != candidate.axes[storage_[o].axes[s]]) return false;
    return true;
}

GridCandidate PlanCandidates::candidate(Mapped axes) {
    auto candidate = placed(std::move(axes), true);
    if (candidate.copies && !fits(candidate)) candidate = placed(candidate.axes, false);
    while (!fits(candidate) && cut_once(candidate)) {
    }
    return candidate;
}

/// Cuts an axis into twice as many ranges: the one that saves most bytes for the time that it costs, a summed one where several are as
/// good. False if nothing saves memory.
bool PlanCandidates::cut_once(GridCandidate& candidate) const {
    Candidate trial = candidate;
    auto best = candidate.windows;
    const double memory = model_.memory(candidate, 1), seconds = model_.seconds(candidate);  // the first cut may not save second rooms
    double most_saved = 0;
    for (const bool contracted : {true, false})
        for (std::size_t a = 0; a < plan_.axes.size(); ++a) {
            const auto& mapping = candidate.axes[a]->mapping;
            if (plan_.axes[a].is_contracted() != contracted || mapping.rows) continue;
            const auto most = mapping.is_blocks() ? static_cast<std::int64_t>(candidate.length[a])  // local indices
                                                  : ceil_div(plan_.axes[a].size, candidate.grid_lengths[a]);
            const auto now = windows_of(candidate.windows, a);
            if (now >= most) continue;
            trial.windows = candidate.windows;
            const Window window{static_cast<int>(a), std::min(most, 2 * now)};
            const auto known =
                std::find_if(trial.windows.begin(), trial.windows.end(), [&](const auto& w) { return w.axis == window.axis; });
            if (known != trial.windows.end())
                *known = window;
            else
                trial.windows.push_back(window);
            // Summed axes run fastest, so that a part of the result is complete before the next one begins.
            std::stable_partition(trial.windows.begin(), trial.windows.end(),
                                  [&](const auto& w) { return plan_.axes[w.axis].is_contracted(); });
            const double less = memory - model_.memory(trial, 1);
            const double saved = less / std::max(model_.seconds(trial) - seconds, options_.machine.message_seconds);
            if (less <= 0 || saved <= most_saved) continue;
            most_saved = saved;
            best = trial.windows;
        }
    std::swap(candidate.windows, best);
    return best != candidate.windows;
}

double PlanCandidates::average_seconds(const GridCandidate& candidate) {
    const double first = model_.seconds(candidate), runs = options_.expected_runs;
    if (options_.expected_runs == 1) return first;
    auto later = candidate;
    for (std::size_t o = 0; o < result(); ++o) {
        const auto stay = plan_.spec.factors[o].is_lasting ? where_it_stays(candidate, o) : std::nullopt;
        if (!stay) continue;
        move_from(later, o, &*stay);
        auto& operand = later.operands[o];
        operand.in_place = operand.as_stored = is_as_wanted(candidate, o, *stay);
        if (operand.in_place) operand.moved = {};
    }
    copy_what_does_not_fold(later);
    return (first + (runs - 1) * model_.seconds(later)) / runs;
}

/// Where an input should lie after the product, so that the next run gathers less; none if that is where it is.
std::optional<PlanCandidates::Mapped> PlanCandidates::where_it_stays(const GridCandidate& candidate, std::size_t o) {
    const auto& operand = candidate.operands[o];
    if (operand.in_place || plan_.spec.factors[o].conjugated || plan_.spec.crosses(plan_.spec.factors[o]) || candidate.is_weighted(o) ||
        window_parts(candidate.windows, plan_.axes, o).fastest)
        return std::nullopt;
    auto there = scattered(candidate.axes, o);
    if (there && static_cast<std::int64_t>(moved_from(candidate, o, *there).words) >= static_cast<std::int64_t>(operand.moved.words))
        there.reset();
    return there;
}

Layout PlanCandidates::layout_of(std::size_t o, const Mapped& there) const {
    std::vector<SlotMapping> mapping;
    for (const auto* axis : there) mapping.push_back(axis->mapping);
    const auto& layout = plan_.tensor(o).layout;
    return {plan_.grid, layout.extents(), layout.symmetry(), std::move(mapping)};
}

ProductPlan PlanCandidates::plan(const GridCandidate& candidate) {
    auto plan = plan_;
    std::vector<int> partial;
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
        const auto& axis = *candidate.axes[a];
        plan.mapping[a] = axis.mapping;
        plan.grid_lengths[a] = axis.grid_length;
        if (plan.axes[a].is_contracted()) partial.insert(partial.end(), axis.torus.begin(), axis.torus.end());
    }
    for (std::size_t i = 0; i < weighted_axes_.size(); ++i) plan.weighted[weighted_axes_[i]] = candidate.weighted[i];
    plan.weight = candidate.weight;
    plan.windows = candidate.windows;
    plan.streams = candidate.is_streamed();
    plan.cost = model_.cost(candidate);
    if (plan.spec.output_is_free)
        if (const auto there = scattered(candidate.axes, result())) plan.spec.output.layout = layout_of(result(), *there);
    for (std::size_t o = 0; o <= result(); ++o) {
        auto& w = plan.operands[o];
        if (candidate.operands[o].in_place)
            w = {storage_[o].axes, plan.tensor(o).labels, plan.tensor(o).layout, true};
        else
            w = working_copy(plan, o, fold_ ? fold_->copy_axes(o, candidate.fold) : w.axes, o == result() ? partial : std::vector<int>{});
    }
    plan.chain.back().axes = plan.operands.back().axes;
    for (std::size_t o = 0; o < result(); ++o) {
        auto& stay = plan.stay.emplace_back();
        if (const auto there = where_it_stays(candidate, o)) stay = layout_of(o, *there);
    }
    set_stages(plan, candidate);
    return plan;
}

/// Relays movements where that is faster.
void PlanCandidates::set_stages(ProductPlan& plan, const GridCandidate& candidate) const {
    plan.stages.assign(plan.operands.size(), {});
    if (!options_.links) return;
    for (std::size_t o = 0; o < plan.operands.size(); ++o) {
        if (plan.operands[o].in_place) continue;
        const auto movement = plan.movement(o);
        const auto bytes = candidate.operands[o].moved.words * static_cast<double>(movement.message_bytes(plan.spec.element_bytes));
        plan.stages[o] = fastest_stages(movement, bytes / plan.parts(o), options_);
    }
}

ProductPlan PlanCandidates::fitting_plan(GridCandidate& candidate) {
    auto result = plan(candidate);
    const auto take_windows = [&] {
        result.windows = candidate.windows;
        result.streams = candidate.is_streamed();
        result.cost = model_.cost(candidate);
    };
    const auto& spec = plan_.spec;
    bool looks_further = spec.on_device && (spec.crosses(spec.output) || std::any_of(spec.factors.begin(), spec.factors.end(),
                                                                                     [&](const auto& f) { return spec.crosses(f); }));
    if (workspace_bound(result, options_) > options_.memory_limit) {
        if (candidate.copies) {
            candidate = placed(candidate.axes, false);
            result = plan(candidate);
        }
        const WorkspaceOfCuts workspace(result, options_.local);
        while (workspace(result) > options_.memory_limit && cut_once(candidate)) take_windows();
        looks_further = looks_further || !candidate.windows.empty();
    }
    // Ranges that are all equally long may take less time than fewer that are not; on a device more of them come and go during products.
    for (auto further = candidate; looks_further && cut_once(further);)
        if (model_.seconds(further) < model_.seconds(candidate)) {
            candidate = further;
            take_windows();
        }
    if (candidate.windows.empty()) return result;
    result.move_whole_inputs_only();
    // Inputs are under way during products where their messages have room beside each other.
    if (plan_.grid.ranks() > 1 && !candidate.streams) {
        auto streamed = result;
        streamed.streams = candidate.streams = true;
        streamed.cost = model_.cost(candidate);
        candidate.streams = workspace_bound(streamed, options_) <= options_.memory_limit;
        if (candidate.streams) result = std::move(streamed);
    }
    set_stages(result, candidate);  // parts are shorter
    return result;
}

}  // namespace arges
