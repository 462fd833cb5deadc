// What becomes of the left-hand side of statements with sparse tensors: sums, representatives, and what it keeps.
#include "interface/sparse_statement.hpp"

#include <algorithm>

namespace arges {

/// The representatives of a sum that has all elements.
std::shared_ptr<SparseState> SparseStatement::projected(const SparseState& sum, const LabelledTerm& labels) {
    Digest terms;
    for (const auto& term : labels.counted) terms.add(term.image).add(term.negative).add(term.conjugate);
    const auto key = "project " + std::to_string(sum.pattern()->identity) + " " + std::to_string(terms.value()) + " " +
                     left_.sparse->symmetry.to_string();
    std::shared_ptr<const SparsePattern> pattern;
    std::shared_ptr<PreparedSparseStep> run;
    if (const auto* const kept = world_.sparse_steps().find(key); kept != nullptr && is_usable(**kept, true, pattern)) run = *kept;
    if (!run) {
        const auto layout = sum.pattern()->layout.value_or(SparseLayout::along_longest(sum.lengths(), world_.size()));
        auto projection = std::make_unique<SparseProjection>(world_.movement_communicator(), *sum.pattern(), layout, left_.sparse->symmetry,
                                                             labels.counted, require(text()));
        planned_ += projection->inspected_bytes();
        pattern = SparseState::pattern_of(sum.world, {sum.lengths(), projection->take_indices()}, layout);
        const auto bytes = world_.most(projection->list_bytes());
        run = std::make_shared<PreparedSparseStep>(world_, std::move(projection), bytes);
        run->result = pattern;
        keep(key, run);
    }
    planned_ += run->projection().sent_bytes(kernels_.size);
    take_here(run->projection().working_bytes(kernels_.size));
    auto values = run->projection().values(world_.movement_communicator(), kernels_, sum.values().data());
    return state_with(sum.lengths(), pattern, {std::move(values), kernels_.size});
}

/// The result as a tensor of the left-hand side's order, where that names a diagonal.
std::shared_ptr<SparseState> SparseStatement::with_left_labels(std::shared_ptr<SparseState> result, const LabelledTerm& labels) const {
    if (labels.left.size() == labels.output.size()) return result;
    const auto& from = *result->pattern();
    IndexColumns indices;
    auto layout = from.layout;  // none: all elements of a symmetric tensor lie where their representatives do
    world_.agree([&] {
        for (int label : labels.left)
            indices.push_back(from.indices[std::find(labels.output.begin(), labels.output.end(), label) - labels.output.begin()]);
    });
    for (std::size_t d = 0; layout && d < layout->digits.size(); ++d) {
        auto& mode = layout->digits[d].mode;
        const auto label = labels.output[mode];
        mode = std::find(labels.left.begin(), labels.left.end(), label) - labels.left.begin();
    }
    const auto pattern = SparseState::pattern_of(result->world, {left_.sparse->lengths(), std::move(indices)}, layout);
    return state_with(left_.sparse->lengths(), pattern, result->values().copy());
}

/// By nonzero of the left-hand side: is it one of the elements that the labels name?
std::vector<bool> SparseStatement::named(const std::vector<int>& left_labels) const {
    const auto& pattern = *left_.sparse->pattern();
    std::vector<bool> result(pattern.count(), true);
    for (std::size_t m = 0; m < left_labels.size(); ++m)
        for (std::size_t other = 0; other < m; ++other)
            if (left_labels[m] == left_labels[other])
                for (std::size_t k = 0; k < result.size(); ++k) result[k] = result[k] && pattern.indices[m][k] == pattern.indices[other][k];
    return result;
}

/// Copies of the values, times a factor where there is one. Collective. @throws OutOfMemory
SparseValues SparseStatement::copied(const SparseState& tensor, const void* factor) const {
    SparseValues values;
    world_.agree([&] {
        require_here(tensor.values().bytes());
        values = tensor.values().copy();
        if (factor != nullptr && !kernels_.is_one(factor)) kernels_.scale(values.data(), values.count(), factor);
    });
    return values;
}

/// What stays of the left-hand side: elements that are not named, and beta times those that are; null: nothing.
std::shared_ptr<SparseState> SparseStatement::old_elements(const std::vector<int>& left_labels) const {
    const auto& old = *left_.sparse;
    const bool all_named = SparseStep::distinct(left_labels).size() == left_labels.size(),
               replaces = beta_ != nullptr && kernels_.is_zero(beta_);
    if (all_named && replaces && !right_.empty()) return nullptr;
    if (all_named) return state_with(old.lengths(), old.pattern(), copied(old, beta_));
    AnyNonzeros kept;
    world_.agree([&] {
        // Copies of what stays, and of the values.
        require_here(2 * old.values().bytes() + SparsePattern::bytes(old.order() + 1, old.count()));
        const auto is_named = named(left_labels);
        std::vector<std::size_t> places;
        for (std::size_t k = 0; k < is_named.size(); ++k)
            if (!is_named[k] || !replaces) places.push_back(k);
        kept = selected(*old.pattern(), old.values(), places);
        if (beta_ != nullptr && !replaces)
            for (std::size_t i = 0; i < places.size(); ++i)
                if (is_named[places[i]]) kernels_.scale(kept.values.data() + static_cast<std::int64_t>(i) * kernels_.size, 1, beta_);
    });
    auto state = state_with(old.lengths(), old.pattern(), old.values().copy());
    state->replace(std::move(kept), SparsePattern::Place::anywhere);
    return state;
}

void SparseStatement::run_sparse_left() {
    std::shared_ptr<SparseState> sum;
    bool is_given = false;  // it is an operand, which stays as it is
    for (std::size_t t = 0; t < right_.size(); ++t) {
        const auto& extents = terms_[t].extents;
        if (is_nothing(right_[t]) || std::find(extents.begin(), extents.end(), 0) != extents.end())
            continue;  // no multiplication reaches any
        const auto last = all_steps(right_[t], terms_[t], nullptr);
        auto result = with_left_labels(last.sparse, terms_[t]);
        if (!left_symmetry().trivial()) result = projected(*result, terms_[t]);
        is_given = !sum && last.is_given && result == last.sparse;
        sum = sum ? united(*sum, *result) : result;
    }
    const auto old = old_elements(right_.empty() ? left_alone_.output.labels : terms_[0].left);
    if (old) {
        sum = sum ? united(*old, *sum) : old;
        is_given = false;
    }
    SparseValues values(kernels_, 0);
    if (!sum)
        return left_.sparse->adopt(SparseState::pattern_of(left_.sparse->world, no_indices(left_.sparse->lengths()), SparseLayout()),
                                   std::move(values));
    auto pattern = sum->pattern();
    if (is_given)
        values = copied(*sum);
    else
        std::swap(values, sum->values());
    sum = nullptr;
    left_.sparse->adopt(std::move(pattern), std::move(values));
}

/// a + b.
std::shared_ptr<SparseState> SparseStatement::united(const SparseState& a, const SparseState& b) {
    if (a.pattern() == b.pattern()) {
        auto values = copied(a);
        world_.agree([&] {
            const local::ListedTransfer list{.count = a.count()};
            kernels_.transfer_listed(list, b.values().data(), values.data(), nullptr, {.accumulate = true});
        });
        return state_with(a.lengths(), a.pattern(), std::move(values));
    }
    const auto key = "sum " + std::to_string(a.pattern()->identity) + " " + std::to_string(b.pattern()->identity);
    std::shared_ptr<const SparsePattern> pattern;
    std::shared_ptr<PreparedSparseStep> run;
    if (const auto* const kept = world_.sparse_steps().find(key); kept != nullptr && is_usable(**kept, true, pattern)) run = *kept;
    if (!run) {
        const auto elsewhere = b.pattern()->layout.value_or(SparseLayout::along_longest(a.lengths(), world_.size()));
        const auto layout = a.pattern()->layout.value_or(elsewhere);
        auto match = std::make_unique<SparseMatch>(world_.movement_communicator(),
                                                   std::vector<IndexSpans>{spans_of(a.pattern()->indices), spans_of(b.pattern()->indices)},
                                                   layout, a.lengths(), require(text()));
        planned_ += match->inspected_bytes();
        if (match->has_pattern_of_first()) {
            pattern = a.pattern();
        } else {
            IndexColumns indices;
            world_.agree([&] { indices = match->indices_of(); });
            pattern = SparseState::pattern_of(a.world, {a.lengths(), std::move(indices)}, layout);
        }
        match->forget_indices();
        const auto bytes = world_.most(match->list_bytes());
        run = std::make_shared<PreparedSparseStep>(world_, std::move(match), bytes);
        run->result = pattern;
        keep(key, run);
    }
    const auto& match = run->match();
    Buffer<std::byte> from_a, from_b, both, values;
    planned_ += match.sent_bytes(0, kernels_.size) + match.sent_bytes(1, kernels_.size);
    // Values that have moved and those of both, side by side, then their sums.
    take_here((match.packed() + 2 * match.count() + match.runs().count()) * kernels_.size);
    const auto* const of_a = match.values(0, a.values().data(), kernels_.size, from_a);
    const auto* const of_b = match.values(1, b.values().data(), kernels_.size, from_b);
    world_.agree([&] {
        both = Buffer<std::byte>(match.count() * kernels_.size);
        const auto first = match.begin(1) * kernels_.size;
        copy_array(both.data(), of_a, first, nullptr);
        copy_array(both.data() + first, of_b, both.size() - first, nullptr);
        const auto& runs = match.runs();
        values = Buffer<std::byte>(runs.count() * kernels_.size);
        kernels_.sparse->add_runs(runs.count(), runs.start.data(), runs.order.data(), both.data(), values.data());
    });
    return state_with(a.lengths(), pattern, {std::move(values), kernels_.size});
}

}  // namespace arges
