#include "interface/statement/sparse_steps.hpp"

#include "base/options.hpp"
#include "base/text.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/statement/sparse_device.hpp"
#include "interface/statement/sparse_sums.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Ones where a mask stores elements; it has the same pattern. Local.
std::shared_ptr<SparseState> ones_of(const SparseContext& context, const SparseState& mask) {
    const auto& kernels = context.kernels;
    auto ones = std::make_shared<SparseState>(kernels, mask.world_handle, mask.lengths(), Symmetry(), mask.name);
    const auto count = mask.pattern()->count();
    context.take_here(count * kernels.size);
    Buffer<std::byte> values(count * kernels.size);
    kernels.fill(values.data(), count, kernels.one != nullptr ? kernels.one : kernels.zero);  // beside an action they are not read
    ones->adopt(mask.pattern(), {std::move(values), kernels.size});
    return ones;
}

/// Factors with all their elements, and masks as ones. Collective.
std::vector<SparseFactor> whole(const SparseContext& context, std::vector<SparseFactor> factors) {
    for (auto& factor : factors) {
        if (factor.is_sparse()) {
            if (factor.sparse->symmetry.trivial()) factor.own = factor.sparse;
            factor.sparse = whole_of(factor.sparse);
            if (factor.role == Role::mask) context.world.agree([&] { factor.sparse = ones_of(context, *factor.sparse); });
        }
        factor.read(context.kernels);
    }
    return factors;
}

/// What a run takes on a device, in the account of the world; nothing where it is on the host.
struct RoomThere {
    std::optional<HeldMemory> working;
    std::int64_t on_host = 0;  ///< while lists are copied

    /// Collective. @throws NotOnDevice on all ranks
    RoomThere(const SparseContext& context, PreparedSparseStep& step, const StepElements& elements) {
        if (context.device == nullptr) return;
        const auto need = step.run<SparseStepRun>().device_need(elements);
        if (!need) throw NotOnDevice();
        std::int64_t most[] = {-need->lists, -need->working};
        context.world.agree([] {}, most);
        const auto lists = -most[0], work = -most[1];
        const auto fits = [&] { return context.world.device().has_room(lists + work - step.held_on_device()); };
        if (!fits() && !(context.forgets_steps() && fits())) throw NotOnDevice();
        step.hold_on_device(lists);
        working.emplace(context.world, work, true);
        on_host = need->on_host;
    }
};

/// One step: its factors and where its result goes.
class StepOfTerm {
public:
    StepOfTerm(SparseContext& context, const SparseTerm& term, std::vector<SparseFactor>& factors, const StepChoice& choice)
        : context_(context), world_(context.world), term_(term), choice_(choice) {
        for (auto f : choice.operands) factors_.push_back(&factors[f]);
        step_ = step_of(term.product, {factors.begin(), factors.end()}, choice, counts_for(context, term, factors, choice));
        all_ = &factors;
    }

    SparseFactor result(const void* alpha, const StepTarget& target) {
        SparseFactor result{step_.output};
        if (result.sparse = as_it_is(alpha); result.sparse) return result;
        auto beta = target.beta;
        if (!choice_.is_sparse) {
            result.dense = choice_.is_last ? target.tensor : nullptr;
            if (result.dense) {
                step_.output.labels = term_.left();
            } else {
                const auto lengths = step_.extents(choice_.output);
                result.dense = TensorState::make(
                    context_.dense_kernels(), context_.handle, [&] { return new_layout(world_, lengths, Symmetry::none(lengths.size())); },
                    "");
                beta = context_.kernels.zero;
            }
            step_.output.layout = result.dense->layout;
            if (context_.device != nullptr && result.dense->kernels->space == nullptr) throw NotOnDevice();
        }
        const auto sparse = made({context_.kernels, {}, alpha, beta, result.dense ? result.dense->bytes.data() : nullptr, !result.dense});
        if (!result.dense) result.sparse = sparse;
        result.read(context_.kernels);
        return result;
    }

private:
    /// A sparse factor that is a term by itself, with the labels of the result: the tensor, or its nonzeros with values of their own. Null:
    /// it takes a step, if only because statements want its nonzeros elsewhere.
    std::shared_ptr<SparseState> as_it_is(const void* alpha) const {
        const auto& factor = *factors_[0];
        if (factors_.size() > 1 || !choice_.is_last || !factor.sparse || factor.labels != choice_.output || !choice_.is_sparse ||
            factor.element_bytes != 0 || factor.conjugated || (world_.size() > 1 && !factor.sparse->pattern()->layout))
            return nullptr;
        if (alpha == nullptr || context_.kernels.is_one(alpha)) return factor.sparse;
        return context_.state(factor.sparse->lengths(), factor.sparse->pattern(), context_.copied(*factor.sparse, alpha));
    }

    StepElements elements() const {
        StepElements result{{}, conjugated(), context_.device};
        for (const auto* factor : factors_) {
            const void* const own = factor->sparse ? factor->sparse->values().data() : factor->dense->bytes.data();
            const bool lies_elsewhere = factor->dense && factor->kernels().space != context_.dense_kernels().space;
            result.operands.emplace_back(own, factor->element_bytes != 0 || lies_elsewhere ? &factor->kernels() : nullptr);
        }
        return result;
    }
    std::vector<bool> conjugated() const {
        std::vector<bool> result;
        for (const auto* factor : factors_) result.push_back(factor->conjugated && context_.kernels.is_complex);
        return result;
    }
    std::vector<IndexSpans> indices() const {
        std::vector<IndexSpans> result;
        for (std::size_t o = 0; o < step_.sparse().size(); ++o) result.push_back(spans_of(factors_[o]->sparse->pattern()->indices));
        return result;
    }

    /// Makes a dense result, or gives a sparse one: at once if that fits, or in phases. Collective.
    std::shared_ptr<SparseState> made(StepCall call) {
        auto kept = context_.kept(key_of(step_), step_.output.is_sparse());
        bool has_forgotten = false;
        for (std::int64_t least_phases = 1;;) {
            if (!kept.step) {
                const auto plan = planned(least_phases);
                if (plan.phases.parts > 1) {
                    if (context_.device != nullptr) throw NotOnDevice();
                    call.elements = elements();
                    auto all = context_.executor.run_phases(step_, plan, indices(), call);
                    return step_.output.is_sparse() ? state_of(pattern_of(std::move(all.indices), all.layout), std::move(all.values))
                                                    : nullptr;
                }
                kept = prepared(plan);
            }
            if (kept.step) {
                call.elements = elements();
                const auto& run = kept.step->run<SparseStepRun>();
                const RoomThere room(context_, *kept.step, call.elements);
                if (context_.executor.has_room(run, call, room.on_host)) {
                    auto values = context_.executor.run(run, call);
                    if (context_.device != nullptr) context_.bound_device_lists();
                    return step_.output.is_sparse() ? state_of(kept.pattern, std::move(values)) : nullptr;
                }
            }
            kept = {};
            if (context_.forgets_steps() && !has_forgotten) {
                has_forgotten = true;
                continue;
            }
            least_phases = 2;
            if (!step_.counts) step_.counts = counts_for(context_, term_, *all_, choice_);
        }
    }

    std::shared_ptr<const SparsePattern> pattern_of(IndexColumns indices, const SparseLayout& layout) const {
        return SparseState::pattern_of(context_.handle.state(), {step_.extents(step_.kept), std::move(indices)}, layout);
    }
    std::shared_ptr<SparseState> state_of(const std::shared_ptr<const SparsePattern>& pattern, Buffer<std::byte> values) const {
        return context_.state(step_.extents(step_.kept), pattern, {std::move(values), context_.kernels.size});
    }

    /// Plans the step, and puts nonzeros where it needs them.
    SparseStepPlan planned(std::int64_t least_phases) {
        SparseStepPlan plan;
        const auto make = [&] { plan = plan_of(context_, step_, *factors_[0], world_.size(), world_.least_free_bytes(), least_phases); };
        try {
            make();
            if (plan.phases.parts > least_phases && context_.forgets_steps()) make();
        } catch (const OutOfMemory&) {
            if (!context_.forgets_steps()) throw;
            make();
        }
        if constexpr (is_checked_build) compare_plans(world_, Digest().add(plan), context_.text());
        if (plan.phases.parts > 1) return plan;
        for (std::size_t o = 0; o < step_.sparse().size(); ++o) {
            auto& factor = *factors_[o];
            const auto uses = std::count_if(factors_.begin(), factors_.end(), [&](const auto* other) { return other->own == factor.own; });
            if (settle(context_, factor.own, factor.labels, plan.grid, step_.kept, uses > 1) && factor.role == Role::mask)
                world_.agree([&] { factor.sparse = ones_of(context_, *factor.own); });
            factor.read(context_.kernels);
            step_.factors[o].stored->place = factor.stored->place;
        }
        for (std::size_t o = 0; o < step_.sparse().size(); ++o) {  // patterns may be other ones now, of the same nonzeros
            factors_[o]->read(context_.kernels);
            step_.factors[o].stored->pattern = factors_[o]->stored->pattern;
        }
        if (step_.counts) world_.sparse_counts().use(counts_key(*factors_[0], *factors_[1], choice_.output)) = *step_.counts;
        return plan;
    }

    /// The step inspected, and kept for statements that repeat it; none: memory does not suffice.
    KeptSparseStep prepared(const SparseStepPlan& plan) {
        auto run = context_.executor.inspected(step_, plan, indices(), conjugated(), 0);
        if (!run) return {};
        KeptSparseStep made;
        if (step_.output.is_sparse())
            made.pattern = run->has_pattern_of_operand() ? factors_[step_.sparse().size() - 1]->sparse->pattern()
                                                         : pattern_of(run->take_indices(), run->result_layout());
        made.step = std::make_shared<PreparedSparseStep>(world_, std::move(run), made.pattern);
        // Only where the left-hand side is just this result does it keep the pattern itself.
        if (!choice_.is_last || !term_.is_all) made.step->intermediate = made.pattern;
        context_.keep(key_of(step_), made.step);
        return made;
    }

    SparseContext& context_;
    WorldState& world_;
    const SparseTerm& term_;
    const StepChoice& choice_;
    std::vector<SparseFactor>* all_ = nullptr;  // of the term
    std::vector<SparseFactor*> factors_;        // of the step, sparse ones first
    SparseStep step_;
};

}  // namespace

SparseFactor computed_step(SparseContext& context, const SparseTerm& term, std::vector<SparseFactor>& factors, const StepChoice& choice,
                           const void* alpha, const StepTarget& target) {
    for (auto& factor : factors) factor.read(context.kernels);
    return StepOfTerm(context, term, factors, choice).result(alpha, target);
}

SparseFactor computed_term(SparseContext& context, const SparseTerm& term, const StepTarget& target) {
    auto factors = whole(context, term.factors);
    for (;;) {
        const auto choice = chosen_step(context, term, factors);
        auto result = computed_step(context, term, factors, choice, choice.is_last ? term.coefficient : nullptr, target);
        if (!choice.is_last) {
            factors = after_step(factors, choice, std::move(result));
            for (auto& factor : factors) factor.read(context.kernels);
            continue;
        }
        for (auto& mask : whole(context, term.excluded)) {
            std::vector<SparseFactor> both{result, std::move(mask)};
            const auto hit = computed_step(context, term, both, {{0, 1}, result.labels, true, true}, nullptr, {});
            result.sparse = without(context, *result.sparse, *hit.sparse);
        }
        return result;
    }
}

std::string found_by_inspection(const SparseContext& context, const SparseStep& step) {
    for (const auto& operand : step.sparse())
        if (operand.stored->pattern == 0) return "";
    const auto* const kept = context.world.sparse_steps().find(key_of(step));
    if (kept == nullptr) return "";
    const auto& run = (*kept)->run<SparseStepRun>();
    std::string text = "  inspected: a run sends " + with_commas(run.sent_bytes()) + " bytes from this rank, the inspection has sent " +
                       with_commas(run.inspected_bytes()) + "; multiplications on this rank " + with_commas(run.products());
    if (const auto pattern = (*kept)->result.lock()) text += "; nonzeros of the result " + with_commas(pattern->total);
    return text + "\n";
}

}  // namespace arges
