#include "interface/statement/sparse_statement.hpp"

#include "interface/statement/check_labels.hpp"
#include "interface/statement/dense_plan.hpp"
#include "interface/statement/on_host.hpp"
#include "interface/statement/sparse_device.hpp"
#include "interface/statement/sparse_steps.hpp"
#include "interface/statement/sparse_sums.hpp"

#include <algorithm>

namespace arges {

namespace {

void run_sparse_left(SparseContext& context, const StatementArguments& statement, const std::vector<SparseTerm>& terms) {
    auto& left = *statement.left.sparse;
    std::shared_ptr<SparseState> sum;
    bool is_given = false;  // it is a factor, which stays as it is
    for (const auto& term : terms) {
        if (term.is_nothing || std::count(term.product.label_extents.begin(), term.product.label_extents.end(), 0) > 0)
            continue;  // no multiplication reaches any
        auto result = with_left_labels(context, computed_term(context, term, {}).sparse, term);
        if (!left.symmetry.trivial()) result = projected(context, *result, left.symmetry, term.counted);
        is_given =
            !sum && std::any_of(term.factors.begin(), term.factors.end(), [&](const auto& factor) { return factor.sparse == result; });
        sum = sum ? united(context, *sum, *result) : result;
    }
    const auto labels = terms.empty() ? labelled_output(statement.left).output.labels : terms[0].left();
    if (const auto old = old_elements(context, left, labels, statement.beta, !terms.empty())) {
        sum = sum ? united(context, *old, *sum) : old;
        is_given = false;
    }
    SparseValues values(context.kernels, 0);
    if (!sum) return left.adopt(SparseState::pattern_of(left.world, no_indices(left.lengths()), SparseLayout()), std::move(values));
    const auto pattern = sum->pattern();
    if (is_given)
        values = context.copied(*sum);
    else
        std::swap(values, sum->values());
    sum = nullptr;
    left.adopt(pattern, std::move(values));
}

/// The negative of a dense tensor.
std::shared_ptr<TensorState> negated(const SparseContext& context, const TensorState& tensor) {
    const auto& kernels = context.dense_kernels();
    auto result = TensorState::make(
        kernels, context.handle, [&] { return tensor.layout; }, "");
    kernels.transfer_listed({.count = tensor.count(), .factor = 1}, tensor.bytes.data(), result->bytes.data(), nullptr, {});
    return result;
}

/// target = term + beta * target, by the permutations of a result that has been computed without symmetry.
void add_permuted(const SparseContext& context, const StatementArguments& to_target, const SparseTerm& term,
                  const std::shared_ptr<TensorState>& result) {
    const auto& own = to_target.left.labels.names();
    const auto place = [&](int label) { return std::find(term.left().begin(), term.left().end(), label) - term.left().begin(); };
    std::vector<Term> projected;
    std::shared_ptr<TensorState> negative;
    for (const auto& permutation : term.counted) {
        if (permutation.negative && !negative) negative = negated(context, *result);
        std::vector<std::string> there;  // result(u) counts for v with v[image[d]] = u[d]
        for (int label : SparseStep::distinct(term.left())) there.push_back(own[permutation.image[place(label)]]);
        projected.push_back(Term{.factors = {Factor{permutation.negative ? negative : result, Labels(there), permutation.conjugate}},
                                 .projection = Projection::canonical});
    }
    run_dense_terms({to_target.left, projected, to_target.beta, context.dense_kernels()});
}

/// target = term + beta * target.
void add_dense_term(SparseContext& context, const StatementArguments& to_target, const Term& term, const SparseTerm& labels) {
    const auto& target = to_target.left.tensor;
    const bool is_symmetric = !target->layout.symmetry().trivial();
    if (labels.is_dense) {
        std::vector<Term> alone{term};
        // That the terms have the symmetry together has been checked.
        if (term.projection == Projection::none && is_symmetric) alone[0].projection = Projection::canonical;
        run_dense_terms({to_target.left, alone, to_target.beta, context.dense_kernels()});
        return;
    }
    const StepTarget own{is_symmetric ? nullptr : target, to_target.beta};
    auto result = computed_term(context, labels, labels.excluded.empty() ? own : StepTarget());
    if (result.sparse) {
        std::vector<SparseFactor> alone{std::move(result)};
        result = computed_step(context, labels, alone, {{0}, SparseStep::distinct(labels.left()), false, true}, nullptr, own);
    }
    if (is_symmetric) add_permuted(context, to_target, labels, result.dense);
}

/// The dense result is made in a copy where it is on both sides, or where terms might fail one after the other.
void run_dense_left(SparseContext& context, const StatementArguments& statement, const std::vector<SparseTerm>& terms) {
    auto& output = *statement.left.tensor;
    bool is_apart = terms.size() > 1;
    for (const auto& term : statement.right)
        for (const auto& factor : term.factors) is_apart = is_apart || factor.tensor.get() == &output;
    Factor target{statement.left.tensor, statement.left.labels, false};
    if (is_apart) {
        target.tensor = TensorState::make(
            *output.kernels, output.world_handle, [&] { return output.layout; }, output.name);
        copy_elements(target.tensor->bytes, output.bytes);
    }
    for (std::size_t t = 0; t < terms.size(); ++t)
        add_dense_term(context, {target, statement.right, t == 0 ? statement.beta : nullptr, statement.kernels}, statement.right[t],
                       terms[t]);
    if (is_apart) output.relocate(target.tensor->layout, std::move(target.tensor->bytes));
    output.keep_real();
}

void run_with(SparseContext& context, const StatementArguments& statement, const std::vector<SparseTerm>& terms) {
    if (statement.left.sparse)
        run_sparse_left(context, statement, terms);
    else
        run_dense_left(context, statement, terms);
    context.note_sent();
}

/// The steps of a term. @param is_elsewhere  for another number of ranks than there are
std::string explained_term(SparseContext& context, const StatementArguments& statement, const SparseTerm& term, std::int64_t ranks,
                           bool is_elsewhere) {
    std::string text;
    auto factors = term.factors;
    for (auto& factor : factors) factor.read(context.kernels);
    for (int number = 1;; ++number) {
        const auto choice = chosen_step(context, term, factors);
        auto step = step_of(term.product, {factors.begin(), factors.end()}, choice, counts_for(context, term, factors, choice));
        SparseFactor result{step.output};
        result.name = "result " + std::to_string(number);
        if (!choice.is_sparse) {
            const bool is_target = choice.is_last && !statement.left.sparse && statement.left.tensor->layout.symmetry().trivial();
            const auto lengths = step.extents(choice.output);
            result.layout = is_target ? statement.left.tensor->layout : new_layout(context.world, lengths, Symmetry::none(lengths.size()));
            step.output.layout = result.layout;
            if (is_target) step.output.labels = term.left();
        }
        for (auto& operand : step.factors)
            if (is_elsewhere && operand.is_sparse()) operand.stored->place = {};
        const auto plan = plan_of(context, step, factors[choice.operands[0]], ranks, context.world.free_bytes(), 1);
        text += "step " + std::to_string(number) + ": " + to_string(plan, step);
        if (!is_elsewhere) text += found_by_inspection(context, step);
        if (choice.is_last) return text;
        if (result.is_sparse()) result.stored->count = plan.result_nonzeros;
        factors = after_step(factors, choice, std::move(result));
    }
}

}  // namespace

bool is_sparse_statement(const Factor& left, const std::vector<Term>& right) {
    return left.sparse || std::any_of(right.begin(), right.end(), [](const Term& term) {
               return std::any_of(term.factors.begin(), term.factors.end(),
                                  [](const Factor& factor) { return factor.sparse || factor.is_mask || factor.is_actor; });
           });
}

void run_sparse_statement(const StatementArguments& statement) {
    auto terms = agreed_terms(statement);
    const auto text = [&] { return sparse_statement_text(statement); };
    if (const auto* const device = fastest_device(statement, terms)) {
        SparseContext context(statement.kernels, world_of(statement.left), text, device);
        try {
            return run_with(context, statement, terms);
        } catch (const NotOnDevice&) {
            context.note_sent();
        }
    }
    OnHost here(statement.left, statement.right);
    for (auto& term : terms)
        for (auto& factor : term.factors) factor.dense = here.here(factor.dense);
    SparseContext context(statement.kernels, world_of(statement.left), text);
    run_with(context, {here.left(), here.right(), statement.beta, statement.kernels}, terms);
    here.finish();
}

std::string explain_sparse_statement(const StatementArguments& statement, std::optional<std::int64_t> ranks) {
    const auto terms = checked_terms(statement);
    SparseContext context(statement.kernels, world_of(statement.left), [&] { return sparse_statement_text(statement); });
    context.measures = false;
    std::string text;
    if (context.world.kernels(statement.kernels).space != nullptr)
        text = fastest_device(statement, terms) != nullptr ? "on the device, where there is room\n" : "on the host\n";
    for (std::size_t t = 0; t < terms.size(); ++t) {
        if (!terms[t].is_dense) {
            text += explained_term(context, statement, terms[t], ranks.value_or(context.world.size()), ranks.has_value());
            continue;
        }
        if (ranks)
            throw InvalidArgument(text_of(statement.left) +
                                  ": a term without sparse factors is planned for other ranks in a dry run (World::dry_run)");
        const std::vector<Term> alone{statement.right[t]};
        text += DensePlan({statement.left, alone, t == 0 ? statement.beta : nullptr, context.world.kernels(statement.kernels)}).explain();
    }
    return text;
}

}  // namespace arges
