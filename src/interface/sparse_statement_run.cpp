// Running statements with sparse tensors: step by step, then what the left-hand side keeps.
#include "base/stopwatch.hpp"
#include "comm/collective_call.hpp"
#include "interface/sparse_statement.hpp"
#include "interface/statement.hpp"
#include "local/transfer.hpp"

#include <algorithm>
#include <numeric>

namespace arges {

namespace {

/// Memory that is accounted for while something lasts. Local.
class Held {
public:
    Held(WorldState& world, std::int64_t bytes) : world_(world), bytes_(bytes) { world_.hold(bytes_); }
    ~Held() { world_.hold(-bytes_); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

private:
    WorldState& world_;
    std::int64_t bytes_;
};

}  // namespace

/// Refuses what does not fit. Local, under agree().
void SparseStatement::require_here(std::int64_t bytes) const {
    if (bytes > world_.free_bytes()) world_.require_free(bytes, text());
    world_.make_room(bytes);
    world_.note_working(bytes);
}

/// The same, on all ranks alike. Collective.
void SparseStatement::take_here(std::int64_t bytes) const {
    world_.agree([&] { require_here(bytes); });
}

/// Has an operand elements of another type, which a step converts first?
bool SparseStatement::is_converted(const Operand& operand) const {
    const auto* const own = operand.sparse ? operand.sparse->kernels : operand.dense->kernels;
    return !operand.is_actor && *own->type != *kernels_.type;
}

/// Bytes of the converted operands of a step, on the busiest rank.
std::int64_t SparseStatement::converted_bytes(const std::vector<Operand>& operands, const Choice& choice) const {
    std::int64_t sum = 0;
    for (auto o : choice.operands)
        if (const auto& operand = operands[o]; is_converted(operand))
            sum += (operand.sparse ? operand.sparse->pattern()->most_here : operand.dense->shape().max_local_size()) * kernels_.size;
    return sum;
}

/// Elements in the type of the statement.
const std::byte* SparseStatement::elements_of(const Operand& operand, std::vector<Buffer<std::byte>>& converted) const {
    const auto* const elements = operand.sparse ? operand.sparse->values().data() : operand.dense->bytes.data();
    if (!is_converted(operand)) return elements;
    const auto* const own = operand.sparse ? operand.sparse->kernels : operand.dense->kernels;
    const auto count = operand.sparse ? operand.sparse->count() : operand.dense->count();
    world_.agree([&] {
        converted.emplace_back(count * kernels_.size);
        local::convert_elements(*own->type, kernels_, elements, converted.back().data(), count);
    });
    return converted.back().data();
}

StepElements SparseStatement::elements_for(const std::vector<Operand>& operands, const Choice& choice,
                                           std::vector<Buffer<std::byte>>& converted) const {
    StepElements elements;
    for (auto o : choice.operands) {
        const auto& operand = operands[o];
        const auto* const own = elements_of(operand, converted);
        if (operand.is_sparse)
            elements.sparse.push_back(own);
        else
            elements.dense.push_back(own);
        if (operand.is_actor) elements.actor = operand.sparse ? operand.sparse->kernels : operand.dense->kernels;
    }
    elements.conjugated = conjugated(operands, choice);
    return elements;
}

std::vector<bool> SparseStatement::conjugated(const std::vector<Operand>& operands, const Choice& choice) const {
    std::vector<bool> result;
    for (auto o : choice.operands) result.push_back(operands[o].conjugated && kernels_.is_complex);
    return result;
}

/// A sparse operand that is a term by itself, with the labels of the result: the tensor, or its nonzeros with values of their own. Null: it
/// takes a step, if only because statements want its nonzeros elsewhere.
std::shared_ptr<SparseState> SparseStatement::as_it_is(const Operand& operand, const Choice& choice, const void* alpha) const {
    if (choice.operands.size() > 1 || !choice.is_last || !operand.sparse || operand.labels != choice.output) return nullptr;
    if (!choice.is_sparse || is_converted(operand) || operand.conjugated || (world_.size() > 1 && !operand.sparse->pattern()->layout))
        return nullptr;
    if (alpha == nullptr || kernels_.is_one(alpha)) return operand.sparse;
    return state_with(operand.sparse->lengths(), operand.sparse->pattern(), copied(*operand.sparse, alpha));
}

SparseStatement::Operand SparseStatement::computed(const LabelledTerm& term, std::vector<Operand>& operands, const Choice& choice,
                                                   const void* alpha, const void* beta) {
    Operand result{{choice.output, 0, choice.is_sparse}};
    if (const auto& first = operands[choice.operands[0]]; (result.sparse = as_it_is(first, choice, alpha))) {
        result.is_given = result.sparse == first.sparse;
        return result;
    }
    auto step = step_for(term, operands, choice);
    auto lengths = step.extents(choice.output);
    if (!choice.is_sparse) {
        auto target = choice.is_last ? target_ : nullptr;
        const auto& labels = target ? term.left : choice.output;
        if (!target) {
            target = TensorState::make(
                kernels_, handle(), [&] { return new_layout(world_, lengths, Symmetry::none(lengths.size())); }, "");
            beta = kernels_.zero;
        }
        step.result = DenseOperand{labels, target->layout, ""};
        result.dense = target;
    }
    const auto copies = converted_bytes(operands, choice);
    if (std::any_of(choice.operands.begin(), choice.operands.end(), [&](auto o) { return is_converted(operands[o]); })) take_here(copies);
    const Held held(world_, copies);
    std::shared_ptr<const SparsePattern> pattern;
    Buffer<std::byte> values;
    auto run = kept_step(step, operands, choice, pattern);
    bool has_forgotten = false;
    for (std::int64_t least_phases = 1;;) {
        if (!run) {
            const auto plan = planned(step, operands, choice, least_phases);
            if (plan.phases.parts > 1) {
                in_phases(step, plan, operands, choice, alpha, beta, result);
                return result;
            }
            run = prepared(step, plan, operands, choice, pattern);
        }
        if (run && has_run(*run, operands, choice, alpha, beta, result, values)) break;
        run = nullptr;
        if (forgets_steps() && !has_forgotten) {
            has_forgotten = true;
            continue;
        }
        least_phases = 2;
        if (!step.counts) step.counts = counts_for(term, operands, choice);
    }
    if (result.dense) return result;
    result.sparse = state_with(std::move(lengths), std::move(pattern), {std::move(values), kernels_.size});
    result.nonzeros = result.sparse->pattern()->total;
    return result;
}

/// Runs a step that has been inspected; false: memory does not suffice now.
bool SparseStatement::has_run(const PreparedSparseStep& step, const std::vector<Operand>& operands, const Choice& choice, const void* alpha,
                              const void* beta, const Operand& result, Buffer<std::byte>& values) {
    std::vector<Buffer<std::byte>> converted;
    const auto elements = elements_for(operands, choice, converted);
    try {
        make_room(step.product(), elements.conjugated, 0);
    } catch (const OutOfMemory&) {
        shortage_ = std::current_exception();
        return false;
    }
    values = run_step(step.product(), elements, alpha, beta, result);
    return true;
}

/// Takes what a run needs. Collective. @param beside  what waits for it @throws OutOfMemory if that is not there
void SparseStatement::make_room(const SparseStepRun& run, const std::vector<bool>& conjugated, std::int64_t beside) {
    const auto from_workspace = run.workspace_bytes(conjugated), working = run.working_bytes(conjugated) + beside;
    world_.agree([&] {
        if (working > world_.free_bytes()) world_.require_free(working, text());
        world_.make_room(working - from_workspace);  // that part may stay
        world_.note_working(working, from_workspace);
        world_.workspace().reserve(from_workspace);
    });
}

/// The values of a sparse result; a dense one is changed.
Buffer<std::byte> SparseStatement::run_step(const SparseStepRun& run, const StepElements& elements, const void* alpha, const void* beta,
                                            const Operand& result) {
    planned_ += run.sent_bytes();
    if (!result.dense) return run.run(kernels_, elements, alpha, world_.workspace());
    run.run(kernels_, elements, alpha, beta, result.dense->bytes.data(), world_.workspace());
    return {};
}

/// A step part by part. A part for which memory does not suffice is divided again.
void SparseStatement::in_phases(SparseStep step, const SparseStepPlan& plan, const std::vector<Operand>& operands, const Choice& choice,
                                const void* alpha, const void* beta, Operand& result) {
    const auto most = std::min(most_phases, step.extent(plan.phases.label));
    std::vector<SparsePhases> left;  // the next one last
    for (auto number = plan.phases.parts; number-- > 0;) left.push_back({plan.phases.label, plan.phases.parts, number});
    std::int64_t finished_bytes = 0;  // of the rank that has most
    const auto inspected = [&](const SparsePhases& phase) {
        step.phase = phase;
        auto run = inspect(step, plan, operands, choice, finished_bytes);
        if (run) return run;
        if (2 * phase.parts > most) std::rethrow_exception(shortage_);
        left.push_back({phase.label, 2 * phase.parts, phase.number + phase.parts});
        left.push_back({phase.label, 2 * phase.parts, phase.number});
        return run;
    };
    const auto next = [&] {
        const auto phase = left.back();
        left.pop_back();
        return phase;
    };
    std::vector<Buffer<std::byte>> converted;
    const auto elements = elements_for(operands, choice, converted);
    if (result.dense) {
        // It is changed when all parts are known to fit.
        std::vector<SparsePhases> fitting;
        while (!left.empty()) {
            const auto phase = next();
            if (inspected(phase)) fitting.push_back(phase);
        }
        for (const auto& phase : fitting) {
            const auto run = inspected(phase);
            if (!run) std::rethrow_exception(shortage_);
            make_room(*run, elements.conjugated, run->list_bytes());
            run_step(*run, elements, alpha, beta, result);
            beta = nullptr;
        }
        return;
    }
    // Room for all parts, by what the first ones have, if there is so much.
    IndexColumns indices(step.output.size());
    Buffer<std::byte> values;
    SparseLayout layout;
    std::int64_t count = 0, room = 0;
    const auto bytes_of = [&](std::int64_t nonzeros) {
        return SparsePattern::bytes(step.output.size(), nonzeros) + nonzeros * kernels_.size;
    };
    double done = 0;  // part of the whole
    while (!left.empty()) {
        const auto run = inspected(next());
        if (!run) continue;
        make_room(*run, elements.conjugated, run->list_bytes() + finished_bytes);
        const auto part = run_step(*run, elements, alpha, beta, result);
        const auto columns = run->take_indices();
        const auto more = part.size() / kernels_.size;
        done += 1 / static_cast<double>(step.phase.parts);
        world_.agree([&] {
            if (count + more > room) {
                const auto expected = static_cast<std::int64_t>(1.1 * static_cast<double>(count + more) / done) + 1;
                room = bytes_of(expected + count + more) < world_.free_bytes() ? expected : count + more;
                for (auto& column : indices) column.reserve(room);
                Buffer<std::byte> larger(room * kernels_.size);
                copy_array(larger.data(), values.data(), count * kernels_.size, nullptr);
                values = std::move(larger);
            }
            for (std::size_t m = 0; m < indices.size(); ++m) indices[m].insert(indices[m].end(), columns[m].begin(), columns[m].end());
            copy_array(values.data() + count * kernels_.size, part.data(), part.size(), nullptr);
            count += more;
        });
        layout = run->result_layout();
        finished_bytes = world_.most(bytes_of(room));
    }
    values.shorten(count * kernels_.size);
    auto lengths = step.extents(step.output);
    const auto pattern = SparseState::pattern_of(operands[choice.operands[0]].sparse->world, {lengths, std::move(indices)}, layout);
    result.sparse = state_with(std::move(lengths), pattern, {std::move(values), kernels_.size});
    result.nonzeros = pattern->total;
}

std::shared_ptr<SparseState> SparseStatement::state_with(std::vector<std::int64_t> lengths, std::shared_ptr<const SparsePattern> pattern,
                                                         SparseValues values) const {
    std::shared_ptr<SparseState> state;
    world_.agree([&] { state = std::make_shared<SparseState>(kernels_, handle(), std::move(lengths), Symmetry(), ""); });
    state->adopt(std::move(pattern), std::move(values));
    return state;
}

void SparseStatement::run() {
    const CollectiveCall call(world_.movement_communicator(), "a statement");
    const Stopwatch watch;
    agree_on_terms();
    may_sample_ = true;
    const auto before = world_.communicator().traffic();
    const auto planned_before = world_.planned_bytes();
    if (left_.sparse)
        run_sparse_left();
    else
        run_dense_left();
    world_.note_planned_bytes(planned_);
    const auto after = world_.communicator().traffic();
    auto& report = world_.report();
    report = {};
    report.bytes_planned = world_.planned_bytes() - planned_before;
    report.bytes_sent = after.bytes_sent - before.bytes_sent;
    report.messages_sent = after.messages_sent - before.messages_sent;
    report.exposed_seconds = after.seconds - before.seconds;
    report.seconds = watch.seconds();
}

/// The dense result is made in a copy where it is on both sides, or where terms might fail one after the other.
void SparseStatement::run_dense_left() {
    auto& output = *left_.tensor;
    bool is_aliased = false;
    for (const auto& term : right_)
        for (const auto& factor : term.factors) is_aliased = is_aliased || factor.tensor.get() == &output;
    const bool apart = is_aliased || right_.size() > 1;
    target_ = left_.tensor;
    if (apart) {
        target_ = TensorState::make(
            *output.kernels, output.world_handle, [&] { return output.layout; }, output.name);
        copy_array(target_->bytes.data(), output.bytes.data(), output.bytes.size(), nullptr);
    }
    for (std::size_t t = 0; t < right_.size(); ++t) add_dense_term(right_[t], terms_[t], t == 0 ? beta_ : nullptr);
    if (apart) output.relocate(target_->layout, std::move(target_->bytes));
    output.keep_real();
}

/// target = term + beta * target.
void SparseStatement::add_dense_term(const Term& term, const LabelledTerm& labels, const void* beta) {
    const Factor target{target_, left_.labels, false};
    if (labels.is_dense) {
        std::vector<Term> alone{term};
        // That the terms have the symmetry together has been checked.
        if (term.projection == Projection::none && !target_->layout.symmetry().trivial()) alone[0].projection = Projection::canonical;
        Statement(target, alone, beta, kernels_).run();
        return;
    }
    if (labels.excluded.empty() && target_->layout.symmetry().trivial()) {
        all_steps(term, labels, beta);
        return;
    }
    // A tensor without the symmetry, or a sparse one, which the left-hand side is made of.
    const auto whole = target_;
    target_ = nullptr;
    const auto result = all_steps(term, labels, kernels_.zero);
    target_ = whole;
    std::vector<std::string> names;
    for (int label : labels.output) names.push_back(labels.names[label]);
    const auto& own = left_.labels.names();
    const auto place = [&](const std::string& name) { return std::find(own.begin(), own.end(), name) - own.begin(); };
    auto permutations = labels.counted;
    if (permutations.empty()) {
        permutations.emplace_back().image.resize(own.size());
        std::iota(permutations[0].image.begin(), permutations[0].image.end(), 0);
    }
    const auto projection = target_->layout.symmetry().trivial() ? Projection::none : Projection::canonical;
    std::vector<Term> projected;
    Operand negative;
    for (const auto& permutation : permutations) {
        if (permutation.negative && !negative.dense && !negative.sparse) negative = negated(result);
        const auto& from = permutation.negative ? negative : result;
        std::vector<std::string> there;  // result(u) counts for v with v[image[d]] = u[d]
        for (const auto& name : names) there.push_back(own[permutation.image[place(name)]]);
        projected.push_back(
            Term{.factors = {Factor{from.dense, Labels(there), permutation.conjugate, from.sparse}}, .projection = projection});
    }
    statements::assign(target, projected, beta, kernels_);
}

SparseStatement::Operand SparseStatement::negated(const Operand& operand) const {
    Operand result = operand;
    const auto negate = [&](const std::byte* from, std::byte* to, std::int64_t count) {
        kernels_.transfer_listed({.count = count, .factor = 1}, from, to, nullptr, {});
    };
    if (operand.dense) {
        result.dense = TensorState::make(
            kernels_, handle(), [&] { return operand.dense->layout; }, "");
        negate(operand.dense->bytes.data(), result.dense->bytes.data(), operand.dense->count());
        return result;
    }
    SparseValues values;
    world_.agree([&] {
        values = operand.sparse->values().copy();
        negate(operand.sparse->values().data(), values.data(), values.count());
    });
    result.sparse = state_with(operand.sparse->lengths(), operand.sparse->pattern(), std::move(values));
    return result;
}

/// The result of the last step of a term.
SparseStatement::Operand SparseStatement::all_steps(const Term& term, const LabelledTerm& labels, const void* beta) {
    auto operands = counted(whole(labels.operands));
    for (;;) {
        const auto choice = chosen_step(labels, operands);
        auto result = computed(labels, operands, choice, choice.is_last ? term.coefficient.data() : nullptr, beta);
        if (choice.is_last) return labels.excluded.empty() ? result : without_excluded(labels, std::move(result));
        operands = replaced(operands, choice, std::move(result));
    }
}

/// A sparse result without its elements that masks store.
SparseStatement::Operand SparseStatement::without_excluded(const LabelledTerm& labels, Operand result) {
    for (auto mask : counted(whole(labels.excluded))) {
        std::vector<Operand> both{result, std::move(mask)};
        const auto hit = computed(labels, both, {{0, 1}, result.labels, true, true}, nullptr, nullptr);
        const auto& pattern = *result.sparse->pattern();
        const auto layout = pattern.layout.value_or(SparseLayout::along_longest(pattern.lengths, world_.size()));
        const SparseMatch match(world_.movement_communicator(),
                                std::vector<IndexSpans>{spans_of(pattern.indices), spans_of(hit.sparse->pattern()->indices)}, layout,
                                pattern.lengths, require(text()));
        planned_ += match.inspected_bytes() + match.sent_bytes(0, kernels_.size);
        take_here((match.packed() + match.begin(1) + match.runs().count()) * kernels_.size + match.list_bytes() +
                  match.runs().count() * static_cast<std::int64_t>((pattern.indices.size() + 2) * sizeof(std::int64_t)));
        Buffer<std::byte> room, values;
        const auto* const all = match.values(0, result.sparse->values().data(), kernels_.size, room);
        IndexColumns indices;
        world_.agree([&] {
            const auto& runs = match.runs();
            std::vector<std::int64_t> kept, from;
            for (std::int64_t run = 0; run < runs.count(); ++run) {
                const auto begin = runs.start[run];
                if (runs.start[run + 1] - begin > 1) continue;
                kept.push_back(run);
                from.push_back(runs.order[begin]);
            }
            indices = match.indices_of(&kept);
            values = Buffer<std::byte>(std::ssize(from) * kernels_.size);
            kernels_.transfer_listed({.count = std::ssize(from), .from = from.data()}, all, values.data(), nullptr, {});
        });
        const auto kept = SparseState::pattern_of(result.sparse->world, {pattern.lengths, std::move(indices)}, layout);
        result.sparse = state_with(pattern.lengths, kept, {std::move(values), kernels_.size});
    }
    return result;
}

}  // namespace arges
