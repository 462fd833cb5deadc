#include "interface/statement/sparse_sums.hpp"

#include "sparse/index_sort.hpp"

#include <algorithm>

namespace arges {

namespace {

/// How often a tensor's nonzeros are put elsewhere.
constexpr int most_moves = 3;

/// Two tensors side by side, where one of them lies or their indices say.
std::unique_ptr<SparseMatch> match_of(SparseContext& context, const SparsePattern& a, const SparsePattern& b, const SparseLayout& layout) {
    auto match = std::make_unique<SparseMatch>(context.comm(), std::vector<IndexSpans>{spans_of(a.indices), spans_of(b.indices)}, layout,
                                               a.lengths, [&](std::int64_t bytes) { context.require(bytes); });
    context.planned += match->inspected_bytes();
    return match;
}

SparseLayout layout_for(const SparseContext& context, const SparsePattern& pattern) {
    return pattern.layout.value_or(SparseLayout::along_longest(pattern.lengths, context.world.size()));
}

/// By nonzero: is it one of the elements that the labels name?
std::vector<bool> named(const SparsePattern& pattern, const std::vector<int>& labels) {
    std::vector<bool> result(pattern.count(), true);
    for (std::size_t m = 0; m < labels.size(); ++m)
        for (std::size_t other = 0; other < m; ++other)
            if (labels[m] == labels[other])
                for (std::size_t k = 0; k < result.size(); ++k) result[k] = result[k] && pattern.indices[m][k] == pattern.indices[other][k];
    return result;
}

/// Modes by which nonzeros are sorted: labels of rows, the last one slowest, then the others.
std::vector<std::size_t> sorted_modes(const std::vector<int>& labels, const std::vector<int>& rows) {
    std::vector<std::size_t> modes;
    for (auto label = rows.rbegin(); label != rows.rend(); ++label)
        for (std::size_t m = 0; m < labels.size(); ++m)
            if (labels[m] == *label) modes.push_back(m);
    for (std::size_t m = labels.size(); m-- > 0;)
        if (std::find(modes.begin(), modes.end(), m) == modes.end()) modes.push_back(m);
    return modes;
}

}  // namespace

std::shared_ptr<SparseState> united(SparseContext& context, const SparseState& a, const SparseState& b) {
    const auto& kernels = context.kernels;
    if (a.pattern() == b.pattern()) {
        auto values = context.copied(a);
        context.world.agree([&] {
            const local::ListedTransfer list{.count = a.count()};
            kernels.transfer_listed(list, b.values().data(), values.data(), nullptr, {.accumulate = true});
        });
        return context.state(a.lengths(), a.pattern(), std::move(values));
    }
    const auto key = "sum " + std::to_string(a.pattern()->identity) + " " + std::to_string(b.pattern()->identity);
    const auto kept = context.kept_or_made(key, [&](std::shared_ptr<const SparsePattern>& pattern) {
        const auto layout = a.pattern()->layout ? *a.pattern()->layout : layout_for(context, *b.pattern());
        auto match = match_of(context, *a.pattern(), *b.pattern(), layout);
        if (match->has_pattern_of_first()) {
            pattern = a.pattern();
        } else {
            IndexColumns indices;
            context.world.agree([&] { indices = match->indices_of(); });
            pattern = SparseState::pattern_of(a.world, {a.lengths(), std::move(indices)}, layout);
        }
        match->forget_indices();
        return match;
    });
    const auto& match = kept.step->run<SparseMatch>();
    Buffer<std::byte> from_a, from_b, both, values;
    context.planned += match.sent_bytes(0, kernels.size) + match.sent_bytes(1, kernels.size);
    // Values that have moved and those of both, side by side, then their sums.
    context.take((match.packed() + 2 * match.count() + match.runs().count()) * kernels.size);
    const auto* const of_a = match.values(0, a.values().data(), kernels.size, from_a);
    const auto* const of_b = match.values(1, b.values().data(), kernels.size, from_b);
    context.world.agree([&] {
        both = Buffer<std::byte>(match.count() * kernels.size);
        const auto first = match.begin(1) * kernels.size;
        copy_array(both.data(), of_a, first, nullptr);
        copy_array(both.data() + first, of_b, both.size() - first, nullptr);
        const auto& runs = match.runs();
        values = Buffer<std::byte>(runs.count() * kernels.size);
        kernels.sparse->add_runs(runs.count(), runs.start.data(), runs.order.data(), both.data(), values.data());
    });
    return context.state(a.lengths(), kept.pattern, {std::move(values), kernels.size});
}

std::shared_ptr<SparseState> without(SparseContext& context, const SparseState& all, const SparseState& other) {
    const auto bytes = context.kernels.size;
    const auto& pattern = *all.pattern();
    const auto layout = layout_for(context, pattern);
    const auto match = match_of(context, pattern, *other.pattern(), layout);
    const auto& runs = match->runs();
    context.planned += match->sent_bytes(0, bytes);
    context.take((match->packed() + match->begin(1) + runs.count()) * bytes + match->list_bytes() +
                 runs.count() * static_cast<std::int64_t>((pattern.indices.size() + 2) * sizeof(std::int64_t)));
    Buffer<std::byte> room, values;
    const auto* const moved = match->values(0, all.values().data(), bytes, room);
    IndexColumns indices;
    context.world.agree([&] {
        std::vector<std::int64_t> kept, from;
        for (std::int64_t run = 0; run < runs.count(); ++run) {
            const auto begin = runs.start[run];
            if (runs.start[run + 1] - begin > 1) continue;
            kept.push_back(run);
            from.push_back(runs.order[begin]);
        }
        indices = match->indices_of(&kept);
        values = Buffer<std::byte>(std::ssize(from) * bytes);
        context.kernels.transfer_listed({.count = std::ssize(from), .from = from.data()}, moved, values.data(), nullptr, {});
    });
    const auto kept = SparseState::pattern_of(all.world, {pattern.lengths, std::move(indices)}, layout);
    return context.state(pattern.lengths, kept, {std::move(values), bytes});
}

std::shared_ptr<SparseState> projected(SparseContext& context, const SparseState& sum, const Symmetry& symmetry,
                                       const std::vector<SignedPermutation>& counted) {
    Digest terms;
    for (const auto& term : counted) terms.add(term.image).add(term.negative).add(term.conjugate);
    const auto key =
        "project " + std::to_string(sum.pattern()->identity) + " " + std::to_string(terms.value()) + " " + symmetry.to_string();
    const auto kept = context.kept_or_made(key, [&](std::shared_ptr<const SparsePattern>& pattern) {
        const auto layout = layout_for(context, *sum.pattern());
        auto projection = std::make_unique<SparseProjection>(context.comm(), *sum.pattern(), layout, symmetry, counted,
                                                             [&](std::int64_t bytes) { context.require(bytes); });
        context.planned += projection->inspected_bytes();
        pattern = SparseState::pattern_of(sum.world, {sum.lengths(), projection->take_indices()}, layout);
        return projection;
    });
    const auto& projection = kept.step->run<SparseProjection>();
    const auto bytes = context.kernels.size;
    context.planned += projection.sent_bytes(bytes);
    context.take(projection.working_bytes(bytes));
    auto values = projection.values(context.comm(), context.kernels, sum.values().data());
    return context.state(sum.lengths(), kept.pattern, {std::move(values), bytes});
}

std::shared_ptr<SparseState> with_left_labels(const SparseContext& context, std::shared_ptr<SparseState> result, const SparseTerm& term) {
    const auto& left = term.left();
    const auto own = SparseStep::distinct(left);
    if (left.size() == own.size()) return result;
    const auto& from = *result->pattern();
    IndexColumns indices;
    auto layout = from.layout;  // none: all elements of a symmetric tensor lie where their representatives do
    context.world.agree([&] {
        for (int label : left) indices.push_back(from.indices[std::find(own.begin(), own.end(), label) - own.begin()]);
    });
    for (std::size_t d = 0; layout && d < layout->digits.size(); ++d) {
        auto& mode = layout->digits[d].mode;
        mode = std::find(left.begin(), left.end(), own[mode]) - left.begin();
    }
    std::vector<std::int64_t> lengths;
    for (int label : left) lengths.push_back(term.product.label_extents[label]);
    const auto pattern = SparseState::pattern_of(result->world, {lengths, std::move(indices)}, layout);
    return context.state(lengths, pattern, result->values().copy());
}

std::shared_ptr<SparseState> old_elements(const SparseContext& context, const SparseState& old, const std::vector<int>& labels,
                                          const void* beta, bool is_added_to) {
    const auto& kernels = context.kernels;
    const bool replaces = beta != nullptr && kernels.is_zero(beta);
    if (SparseStep::distinct(labels).size() == labels.size())
        return replaces && is_added_to ? nullptr : context.state(old.lengths(), old.pattern(), context.copied(old, beta));
    AnyNonzeros kept;
    context.world.agree([&] {
        // Copies of what stays, and of the values.
        context.take_here(2 * old.values().bytes() + SparsePattern::bytes(old.order() + 1, old.count()));
        const auto is_named = named(*old.pattern(), labels);
        std::vector<std::size_t> places;
        for (std::size_t k = 0; k < is_named.size(); ++k)
            if (!is_named[k] || !replaces) places.push_back(k);
        kept = selected(*old.pattern(), old.values(), places);
        if (beta != nullptr && !replaces)
            for (std::size_t i = 0; i < places.size(); ++i)
                if (is_named[places[i]]) kernels.scale(kept.values.data() + static_cast<std::int64_t>(i) * kernels.size, 1, beta);
    });
    auto state = context.state(old.lengths(), old.pattern(), old.values().copy());
    state->replace(std::move(kept), SparsePattern::Place::anywhere);
    return state;
}

bool settle(SparseContext& context, const std::shared_ptr<SparseState>& tensor, const std::vector<int>& labels, const LabelGrid& grid,
            const std::vector<int>& rows, bool is_shared) {
    if (!tensor || SparseStep::distinct(labels).size() < labels.size() || grid.copies_of(labels).size() > 1) return false;
    auto& world = context.world;
    const auto before = tensor->pattern();
    const auto wanted = grid.layout_of(labels);
    // Statements that want it elsewhere in turn do not move it to and fro: then they move its values, along lists that they keep.
    if (before->layout && (*before->layout == wanted || is_shared || tensor->moves >= most_moves)) return false;
    const auto columns = spans_of(before->indices);
    const auto bytes = tensor->kernels->size, width = std::ssize(columns) * std::int64_t{sizeof(std::int64_t)} + bytes;
    const SparseMove move(context.comm(), columns, nullptr, wanted, {0});
    const auto working = move.most() * 2 * width;
    if (working > world.least_free_bytes()) return false;
    world.note_working(working);
    ++tensor->moves;
    auto indices = move.indices(columns);
    auto values = move.values(tensor->values().data(), bytes);
    context.planned += move.sent() * width;
    Buffer<std::byte> sorted(0);
    world.agree([&] {
        sparse::Columns by;
        std::vector<std::int64_t> lengths;
        for (auto m : sorted_modes(labels, rows)) {
            by.push_back(indices[m]);
            lengths.push_back(before->lengths[m]);
        }
        const auto order = sparse::sorted_runs(move.count(), {}, by, lengths).order;
        for (auto& column : indices) column = sparse::reordered(column, order);
        sorted = Buffer<std::byte>(values.size());
        tensor->kernels->transfer_listed({.count = move.count(), .from = order.data()}, values.data(), sorted.data(), nullptr, {});
    });
    const auto moved = SparseState::pattern_of(tensor->world, {before->lengths, std::move(indices)}, wanted);
    moved->imbalances = before->imbalances;
    tensor->adopt(moved, {std::move(sorted), bytes});
    return true;
}

}  // namespace arges
