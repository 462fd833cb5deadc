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
    : options_(options), plan_(unmapped), model_(unmapped), ranks_(grid),
      is_whole_(grid == options.whole_grid(unmapped.spec.output.layout)), known_(unmapped.axes.size()) {
    plan_.grid = grid;
    for (std::size_t o = 0; o <= result(); ++o) {
        const auto& layout = plan_.tensor(o).layout;
        storage_.push_back(storage_of(plan_, o));
        on_grid_.push_back(layout.grid() == grid);
        owned_.push_back(unpacked_elements(layout));
        moved_.emplace_back(plan_.tensor(o), grid, ranks_);
        for (int s = 0; s < layout.slots(); ++s)
            may_bound_words_ = may_bound_words_ && !layout.mapping(s).rows && !layout.mapping(s).is_blocks();
    }
    plan_.spec.output_is_free = plan_.spec.output_is_free && storage_.back().may_scatter;
    may_bound_words_ = may_bound_words_ && grid.ranks() > 1;
    for (std::size_t a = 0; a < plan_.axes.size(); ++a) {
        const auto& axis = plan_.axes[a];
        if (axis.needs_weights()) weighted_axes_.push_back(a);
        auto& match = match_.emplace_back(plan_.operands.size());
        for (std::size_t o = 0; o <= result(); ++o)
            if (axis.in(o)) match[o] = moved_[o].match(axis.labels, axis.tree[o]->kind);
    }
    const bool is_matrix_product = std::all_of(plan_.axes.begin(), plan_.axes.end(), [&](const auto& axis) {
        return !axis.is_contracted() || (axis.in(0) && axis.in(result() - 1));
    });
    for (const auto& step : plan_.chain) spaces_.push_back(plan_.iteration_axes(step));
    if (plan_.chain.size() == 1 && is_matrix_product) fold_.emplace(plan_, storage_);
    if (options_.links) sizes_.ways.resize(plan_.operands.size());
}

const PlanCandidates::MappedAxis& PlanCandidates::map_axis(std::size_t a, const SlotMapping& mapping) {
    const auto [known, is_new] = known_[a].try_emplace(key_of(mapping));
    auto& mapped = known->second;
    if (!is_new) return mapped;
    const auto& axis = plan_.axes[a];
    mapped.mapping = mapping;
    mapped.grid_length = ranks_.grid_length(mapping.all());
    const auto uneven = uneven_axis(plan_, plan_.grid, a, mapping);
    const auto* const slot = uneven ? &uneven->slot(0) : nullptr;
    mapped.length = slot != nullptr ? slot->max_local_size() : ceil_div(axis.size, mapped.grid_length);
    mapped.share.resize(plan_.operands.size());
    mapped.as_stored.resize(plan_.operands.size(), false);
    for (std::size_t o = 0; o <= result(); ++o) {
        if (!axis.in(o)) continue;
        mapped.share[o] = moved_[o].share(match_[a][o], {mapped.mapping, axis.size, slot});
        const auto& axes = storage_[o].axes;
        const auto s = std::find(axes.begin(), axes.end(), static_cast<int>(a)) - axes.begin();
        if (on_grid_[o] && s < static_cast<std::ptrdiff_t>(axes.size())) mapped.as_stored[o] = plan_.tensor(o).layout.mapping(s) == mapping;
    }
    return mapped;
}

double PlanCandidates::least_seconds(const Mapped& axes) const {
    const auto block = [&](const std::vector<int>& list) {
        double product = 1;
        for (int a : list) product *= axes[a]->length;
        return product;
    };
    double moved = 0, copied = 0, products = 0;
    for (const auto& space : spaces_) products += block(space);
    for (std::size_t o = 0; o <= result() && may_bound_words_; ++o) {
        const double size = block(plan_.operands[o].axes), words = size - owned_[o];
        if (words <= 0 || (o == result() && plan_.spec.output_is_free)) continue;
        moved += words;
        copied += 2 * size + 2 * words;
    }
    const auto& machine = options_.machine;
    const double bytes = plan_.spec.element_bytes;
    const double runs = static_cast<double>(options_.expected_runs), least = options_.links ? options_.links->least_cost() : 1;
    return products * plan_.spec.flops_per_product() * (result() == 1 ? 0.5 : 1) / machine.flops_per_second +
           (moved * bytes * least / machine.bytes_per_second + copied * bytes / machine.copied_bytes_per_second) / runs;
}

/// Sets what follows from the mapping: weights, which operands are used in place, and the words that the others lack.
void PlanCandidates::find_places() {
    plan_.weight = 1;
    for (std::size_t a = 0; a < plan_.axes.size(); ++a) plan_.weight *= plan_.axes[a].constant_weight();
    std::fill(plan_.weighted.begin(), plan_.weighted.end(), -1);
    for (int a : weighted_axes_) {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t o = 0; o < result(); ++o) {
            if (!plan_.axes[a].in(o)) continue;
            double elements = 1;
            for (int b : plan_.operands[o].axes) elements *= sizes_.length[b];
            if (elements >= least) continue;
            least = elements;
            plan_.weighted[a] = o;
        }
    }
    const bool formable = may_form_in_place(plan_);
    std::vector<bool> as_stored(plan_.operands.size());
    for (std::size_t o = 0; o <= result(); ++o) {
        auto& in_place = plan_.operands[o].in_place;
        sizes_.words[o] = 0;
        if (o == result() && plan_.spec.output_is_free) {
            const auto scattered = *scattered_mapping(plan_, storage_[o]);
            as_stored[o] = is_as_wanted(o, scattered);
            in_place = formable && as_stored[o];
            if (!in_place) {
                sizes_.words[o] = words_from(o, scattered);
                find_ways(o, &scattered);
            }
            continue;
        }
        as_stored[o] = storage_[o].fits && on_grid_[o];
        for (std::size_t s = 0; s < storage_[o].axes.size() && as_stored[o]; ++s) as_stored[o] = mapped_[storage_[o].axes[s]]->as_stored[o];
        in_place = as_stored[o] && (o == result() ? formable : !plan_.spec.factors[o].conjugated && !plan_.is_weighted(o));
        if (!in_place) {
            sizes_.words[o] = words(o);
            find_ways(o, nullptr);
        }
    }
    for (std::size_t o = 0; o <= result(); ++o)
        if (plan_.operands[o].in_place && storage_[o].odd) plan_.weight = -plan_.weight;
    as_stored_ = std::move(as_stored);
    copy_what_does_not_fold(as_stored_);
}

/// Products of operands that lie as matrices are faster than others. Without memory for copies they read what does not in another order.
/// @param as_stored by operand: its own array is mapped as the axes are
void PlanCandidates::copy_what_does_not_fold(const std::vector<bool>& as_stored) {
    sizes_.out_of_order = 0;
    copies_ = false;
    if (!fold_) return;
    fold_->choose(plan_, as_stored);
    double products = 1;
    for (const double length : sizes_.length) products *= length;
    const double multiplying = products * plan_.spec.flops_per_product() / options_.machine.flops_per_second;
    for (std::size_t o = 0; o <= result(); ++o) {
        auto& in_place = plan_.operands[o].in_place;
        if (!in_place || fold_->folds(o)) continue;
        double elements = 1;
        for (int a : plan_.operands[o].axes) elements *= sizes_.length[a];
        const double copying = 2 * elements * static_cast<double>(plan_.spec.element_bytes) / options_.machine.copied_bytes_per_second;
        if (elements > cached_elements && multiplying < worthwhile * copying) continue;
        copies_ = may_copy_;
        if (!may_copy_) {
            sizes_.out_of_order += elements;
            continue;
        }
        in_place = false;
        if (storage_[o].odd) plan_.weight = -plan_.weight;
    }
}

/// What an operand lacks of its block where it is.
double PlanCandidates::words(std::size_t o) const {
    std::vector<const SlotShare*> shares;
    for (int a : plan_.operands[o].axes) shares.push_back(&mapped_[a]->share[o]);
    return moved_[o].count(shares);
}

/// What a tensor that lies as scattered_mapping() says lacks of its block: all but its own part.
double PlanCandidates::words_from(std::size_t o, const std::vector<SlotMapping>& scattered) {
    if (plan_.grid.ranks() == 1) return 0;
    std::vector<const SlotShare*> wanted, owned;
    for (std::size_t s = 0; s < scattered.size(); ++s) {
        const std::size_t a = storage_[o].axes[s];
        owned.push_back(&map_axis(a, scattered[s]).share[o]);
        wanted.push_back(&mapped_[a]->share[o]);
    }
    return moved_[o].count_lacking(wanted, owned, 1);
}

/// Finds out in which ways an operand may move. @param scattered  where the tensor lies; null: where it is now
void PlanCandidates::find_ways(std::size_t o, const std::vector<SlotMapping>* scattered) {
    if (!options_.links) return;
    const auto& links = *options_.links;
    const auto& layout = plan_.tensor(o).layout;
    if (!is_whole_ || (scattered == nullptr && !on_grid_[o])) {
        sizes_.ways[o] = links.irregular();
        return;
    }
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
    const auto wanted = [&](int a) { return plan_.mapping[a].all(); };
    for (int s = 0; s < layout.slots(); ++s) {
        const auto there = (scattered != nullptr ? (*scattered)[s] : layout.mapping(s)).all();
        add(there, storage_[o].fits ? wanted(storage_[o].axes[s]) : std::vector<int>{});
    }
    if (!storage_[o].fits)
        for (const int a : plan_.operands[o].axes) add({}, wanted(a));
    for (std::size_t a = 0; a < plan_.axes.size() && is_result; ++a) {
        if (!plan_.axes[a].is_contracted()) continue;
        const auto torus = plan_.mapping[a].all();
        exchanged.add_parts(torus);
        for (const int t : torus) parts |= dimension(t);
    }
    gathers = gathers && (parts & ~further) == 0;
    sizes_.ways[o] = gathers ? links.gathers(exchanged.result()) : links.exchange(exchanged.result());
}

/// Relays movements where that is faster.
void PlanCandidates::set_stages(ProductPlan& plan) const {
    plan.stages.assign(plan.operands.size(), {});
    for (std::size_t o = 0; o < plan.operands.size(); ++o)
        if (!plan.operands[o].in_place)
            plan.stages[o] =
                fastest_stages(plan.movement(o), sizes_.words[o] * static_cast<double>(plan.spec.element_bytes) / plan.parts(o), options_);
}

/// Are the slots of a tensor with these mappings the blocks that the plan wants?
bool PlanCandidates::is_as_wanted(std::size_t o, const std::vector<SlotMapping>& scattered) const {
    for (std::size_t s = 0; s < scattered.size(); ++s)
        if (!(scattered[s] == plan_.mapping[storage_[o].axes[s]])) return false;
    return true;
}

void PlanCandidates::look_at(Mapped axes) {
    mapped_ = std::move(axes);
    sizes_.length.resize(mapped_.size());
    sizes_.words.resize(plan_.operands.size());
    for (std::size_t a = 0; a < mapped_.size(); ++a) {
        plan_.mapping[a] = mapped_[a]->mapping;
        plan_.grid_lengths[a] = mapped_[a]->grid_length;
        sizes_.length[a] = mapped_[a]->length;
    }
    estimate(true);
    if (copies_ && plan_.cost.working_bytes > options_.memory_limit) estimate(false);
    if (options_.machine.interconnect.overlap > 0)
        while (stream_faster()) {
        }
    while (plan_.cost.working_bytes > options_.memory_limit && cut_once()) {
    }
}

/// Estimates the whole plan.
void PlanCandidates::estimate(bool may_copy) {
    may_copy_ = may_copy;
    plan_.windows.clear();
    plan_.streams = false;
    find_places();
    working_ = model_.estimate(plan_, options_, sizes_);
}

/// Cuts a summed axis into twice as many panels, so that more of their messages are hidden behind products. False if that is not faster.
bool PlanCandidates::stream_faster() {
    constexpr std::int64_t most_panels = 64, least_depth = 64;
    const auto windows = plan_.windows;
    const auto cost = plan_.cost;
    const bool streamed = plan_.streams;
    const double working = working_;
    auto best = windows;
    double seconds = cost.seconds * (1 - 1e-9);
    plan_.streams = true;
    for (std::size_t a = 0; a < plan_.axes.size(); ++a) {
        const auto now = plan_.windows_of(a);
        const auto& mapping = plan_.mapping[a];
        if (!plan_.axes[a].is_contracted() || mapping.rows || mapping.is_blocks() || plan_.window_count() * 2 > most_panels ||
            sizes_.length[a] < static_cast<double>(2 * now * least_depth))
            continue;
        plan_.windows = windows;
        std::erase_if(plan_.windows, [&](const auto& w) { return w.axis == static_cast<int>(a); });
        plan_.windows.insert(plan_.windows.begin(), {static_cast<int>(a), 2 * now});
        model_.estimate(plan_, options_, sizes_);
        if (plan_.cost.seconds >= seconds || plan_.cost.working_bytes > options_.memory_limit) continue;
        seconds = plan_.cost.seconds;
        best = plan_.windows;
    }
    const bool found = best != windows;
    plan_.windows = best;
    plan_.streams = found || streamed;
    working_ = found ? model_.estimate(plan_, options_, sizes_) : working;
    if (!found) plan_.cost = cost;
    return found;
}

/// Cuts an axis into twice as many ranges: the one that saves most bytes for the time that it costs, a summed one where several are as
/// good. False if nothing saves memory.
bool PlanCandidates::cut_once() {
    auto best = plan_.windows;
    auto cost = plan_.cost;
    double least_working = working_, most_saved = 0;
    const auto before = plan_.windows;
    const double seconds_before = cost.seconds;
    for (const bool contracted : {true, false})
        for (std::size_t a = 0; a < plan_.axes.size(); ++a) {
            const auto& mapping = plan_.mapping[a];
            if (plan_.axes[a].is_contracted() != contracted || mapping.rows) continue;
            const auto most = mapping.is_blocks() ? static_cast<std::int64_t>(sizes_.length[a])  // local indices
                                                  : ceil_div(plan_.axes[a].size, plan_.grid_lengths[a]);
            const auto now = plan_.windows_of(a);
            if (now >= most) continue;
            const Window window{static_cast<int>(a), std::min(most, 2 * now)};
            const auto known =
                std::find_if(plan_.windows.begin(), plan_.windows.end(), [&](const auto& w) { return w.axis == window.axis; });
            if (known != plan_.windows.end())
                *known = window;
            else
                plan_.windows.push_back(window);
            // Summed axes run fastest, so that a part of the result is complete before the next one begins.
            std::stable_partition(plan_.windows.begin(), plan_.windows.end(),
                                  [&](const auto& w) { return plan_.axes[w.axis].is_contracted(); });
            const double working = model_.estimate(plan_, options_, sizes_);
            const double saved = (working_ - working) / std::max(plan_.cost.seconds - seconds_before, options_.machine.message_seconds);
            if (working < working_ && saved > most_saved) {
                most_saved = saved;
                least_working = working;
                cost = plan_.cost;
                best = plan_.windows;
            }
            plan_.windows = before;
        }
    working_ = least_working;
    plan_.windows = best;
    plan_.cost = cost;
    return best != before;
}

double PlanCandidates::average_seconds() {
    const double first = plan_.cost.seconds;
    if (options_.expected_runs == 1) return first;
    const auto now = plan_.cost;
    const auto words = sizes_.words;
    const auto ways = sizes_.ways;
    const double weight = plan_.weight, out_of_order = sizes_.out_of_order;
    const bool copies = copies_;
    auto as_stored = as_stored_;
    std::vector<bool> were_in_place;
    for (const auto& operand : plan_.operands) were_in_place.push_back(operand.in_place);
    for (std::size_t o = 0; o < result(); ++o) {
        if (!plan_.spec.factors[o].is_lasting) continue;
        const auto stay = where_it_stays(o);
        if (!stay) continue;
        auto& in_place = plan_.operands[o].in_place;
        in_place = as_stored[o] = is_as_wanted(o, *stay);
        sizes_.words[o] = in_place ? 0 : words_from(o, *stay);
        find_ways(o, &*stay);
    }
    copy_what_does_not_fold(as_stored);
    model_.estimate(plan_, options_, sizes_);
    const double later = plan_.cost.seconds;
    plan_.cost = now;
    plan_.weight = weight;
    copies_ = copies;
    sizes_.out_of_order = out_of_order;
    sizes_.words = words;
    sizes_.ways = ways;
    for (std::size_t o = 0; o <= result(); ++o) plan_.operands[o].in_place = were_in_place[o];
    if (fold_) fold_->choose(plan_, as_stored_);
    const double runs = options_.expected_runs;
    return (first + (runs - 1) * later) / runs;
}

/// Where an input should lie after the product, so that the next run gathers less; none if that is where it is.
std::optional<std::vector<SlotMapping>> PlanCandidates::where_it_stays(std::size_t o) {
    if (plan_.operands[o].in_place || plan_.spec.factors[o].conjugated || plan_.is_weighted(o) || plan_.window_that_cuts(o))
        return std::nullopt;
    auto scattered = scattered_mapping(plan_, storage_[o]);
    if (scattered && static_cast<std::int64_t>(words_from(o, *scattered)) >= static_cast<std::int64_t>(sizes_.words[o])) scattered.reset();
    return scattered;
}

ProductPlan PlanCandidates::plan() {
    auto plan = plan_;
    const auto layout_of = [&](std::size_t o, std::vector<SlotMapping> mapping) {
        const auto& layout = plan.tensor(o).layout;
        return Layout(plan.grid, layout.extents(), layout.symmetry(), std::move(mapping));
    };
    if (plan.spec.output_is_free) plan.spec.output.layout = layout_of(result(), *scattered_mapping(plan, storage_.back()));
    std::vector<int> partial;
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
        if (!plan.axes[a].is_contracted()) continue;
        const auto torus = plan.mapping[a].all();
        partial.insert(partial.end(), torus.begin(), torus.end());
    }
    for (std::size_t o = 0; o <= result(); ++o) {
        auto& w = plan.operands[o];
        if (w.in_place)
            w = {storage_[o].axes, plan.tensor(o).labels, plan.tensor(o).layout, true};
        else
            w = working_copy(plan, o, fold_ ? fold_->copy_axes(o) : w.axes, o == result() ? partial : std::vector<int>{});
    }
    plan.chain.back().axes = plan.operands.back().axes;
    plan.stay.assign(result(), std::nullopt);
    for (std::size_t o = 0; o < result(); ++o)
        if (auto stay = where_it_stays(o)) plan.stay[o] = layout_of(o, *std::move(stay));
    set_stages(plan);
    return plan;
}

/// Takes over the windows of the plan that is looked at.
void PlanCandidates::cut_like_this(ProductPlan& plan) const {
    plan.windows = plan_.windows;
    plan.cost = plan_.cost;
    plan.move_whole_inputs_only();
}

ProductPlan PlanCandidates::fitting_plan() {
    auto result = plan();
    if (workspace_bound(result, options_) > options_.memory_limit) {
        if (copies_ || plan_.streams) {
            estimate(false);
            result = plan();
        }
        const WorkspaceOfCuts workspace(result, options_.local);
        while (workspace(result) > options_.memory_limit && cut_once()) cut_like_this(result);
    }
    if (plan_.windows.empty()) return result;
    // Inputs are under way during products where their messages have room beside each other.
    if (!plan_.streams && plan_.grid.ranks() > 1) {
        const auto cost = plan_.cost;
        const double working = working_;
        plan_.streams = true;
        working_ = model_.estimate(plan_, options_, sizes_);
        auto streamed = result;
        streamed.streams = true;
        streamed.cost = plan_.cost;
        if (workspace_bound(streamed, options_) <= options_.memory_limit) {
            result = std::move(streamed);
        } else {
            plan_.streams = false;
            plan_.cost = cost;
            working_ = working;
        }
    }
    set_stages(result);  // parts are shorter
    return result;
}

}  // namespace arges
