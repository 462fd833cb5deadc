// The order in which statements with sparse tensors take their factors: two by two while several are sparse, by sampled counts, then all
// dense ones at once.
#include "execute/sparse_sample.hpp"
#include "interface/sparse_statement.hpp"

#include <algorithm>
#include <limits>

namespace arges {

namespace {

/// An intermediate result of a sparse and a dense factor is sparse where it is expected to fill less than this part of its elements.
constexpr double sparse_fill = 0.125;

/// Multiplications that a nonzero of an intermediate sparse result counts for, which is found and sorted.
constexpr double result_steps = 10;

/// Factors with fewer nonzeros are not sampled.
constexpr double least_sampled = 1000;

}  // namespace

double SparseStatement::elements(const LabelledTerm& term, const std::vector<int>& labels) const {
    double product = 1;
    for (int label : SparseStep::distinct(labels)) product *= term.extents[label];
    return product;
}

/// Operands that know how many nonzeros they have.
std::vector<SparseStatement::Operand> SparseStatement::counted(std::vector<Operand> operands) {
    for (auto& operand : operands)
        if (operand.is_sparse) {
            operand.nonzeros = operand.sparse->pattern()->total;
            for (const auto& slot : operand.sparse->symmetry.slots()) operand.nonzeros *= static_cast<double>(group_size(slot));
        }
    return operands;
}

/// What is left to multiply after a step: the other operands, then its result.
std::vector<SparseStatement::Operand> SparseStatement::replaced(const std::vector<Operand>& operands, const Choice& choice,
                                                                Operand result) {
    std::vector<Operand> next;
    for (std::size_t o = 0; o < operands.size(); ++o)
        if (std::find(choice.operands.begin(), choice.operands.end(), o) == choice.operands.end()) next.push_back(operands[o]);
    next.push_back(std::move(result));
    return next;
}

/// What the counts of a product are kept by.
std::string SparseStatement::counts_key(const Operand& a, const Operand& b, const std::vector<int>& output) {
    std::string key;
    for (const auto* operand : {&a, &b}) {
        append(key, static_cast<std::int64_t>(operand->sparse->pattern()->identity));
        append(key, operand->labels);
    }
    append(key, kept_labels(a, b, output));
    return key;
}

/// Labels of two factors that are left; ascending.
std::vector<int> SparseStatement::kept_labels(const Operand& a, const Operand& b, std::vector<int> output) {
    std::erase_if(output, [&](int label) { return !SparseStep::has(a.labels, label) && !SparseStep::has(b.labels, label); });
    std::sort(output.begin(), output.end());
    return output;
}

/// How large the product of two sparse factors is, if that has been found out or can be. Collective where statements run.
std::optional<ProductCounts> SparseStatement::counts_of(const LabelledTerm& term, const Operand& a, const Operand& b,
                                                        const std::vector<int>& output) {
    for (const auto* operand : {&a, &b})
        if (!operand->sparse || operand->nonzeros < least_sampled || !operand->sparse->symmetry.trivial() ||
            SparseStep::distinct(operand->labels).size() < operand->labels.size())
            return {};
    const auto key = counts_key(a, b, output);
    if (const auto* const known = world_.sparse_counts().find(key)) return *known;
    // On one rank there is nothing to choose, unless memory is short.
    if (!may_sample_ || (world_.size() == 1 && term.operands.size() == 2 && !shortage_)) return {};
    const auto taken = sample_bytes(a.sparse->pattern()->total, b.sparse->pattern()->total);
    if (taken > world_.least_free_bytes()) return {};
    world_.make_room(taken);
    world_.note_working(taken);
    SampledFactor of_a, of_b;
    const auto column = [](const Operand& operand, int label) {
        const auto mode = std::find(operand.labels.begin(), operand.labels.end(), label) - operand.labels.begin();
        return std::span<const std::int64_t>(operand.sparse->pattern()->indices[mode]);
    };
    const auto kept = kept_labels(a, b, output);
    for (std::size_t label = 0; label < term.extents.size(); ++label) {
        const int l = label;
        const bool in_a = SparseStep::has(a.labels, l), in_b = SparseStep::has(b.labels, l), in_output = SparseStep::has(kept, l);
        if (in_a && in_b) {
            of_a.shared.push_back(column(a, l));
            of_b.shared.push_back(column(b, l));
            if (!in_output) continue;
            of_a.common.push_back(column(a, l));
            of_b.common.push_back(column(b, l));
        } else if (in_output) {
            if (in_a) of_a.output.push_back(column(a, l));
            if (in_b) of_b.output.push_back(column(b, l));
        }
    }
    const auto sent = world_.communicator().traffic().bytes_sent;
    const auto counts = sample_product(world_.movement_communicator(), of_a, of_b);
    planned_ += world_.communicator().traffic().bytes_sent - sent;
    return world_.sparse_counts().use(key) = counts;
}

/// Likewise of the factors of a step, if two of them are sparse.
std::optional<ProductCounts> SparseStatement::counts_for(const LabelledTerm& term, const std::vector<Operand>& operands,
                                                         const Choice& choice) {
    if (choice.operands.size() < 2 || !operands[choice.operands[1]].is_sparse) return {};
    return counts_of(term, operands[choice.operands[0]], operands[choice.operands[1]], choice.output);
}

/// One sparse factor takes all dense ones at once. Of several, the pair with the fewest expected multiplications comes first.
SparseStatement::Choice SparseStatement::next_step(const LabelledTerm& term, const std::vector<Operand>& operands) {
    std::vector<std::size_t> sparse, dense;
    for (std::size_t o = 0; o < operands.size(); ++o) (operands[o].is_sparse ? sparse : dense).push_back(o);
    if (sparse.size() == 1) {
        auto all = sparse;
        all.insert(all.end(), dense.begin(), dense.end());
        return {all, term.output, term.makes_sparse, true};
    }
    const auto shared = [&](std::size_t a, std::size_t b) {
        std::vector<int> labels;
        for (int label : SparseStep::distinct(operands[a].labels))
            if (SparseStep::has(operands[b].labels, label)) labels.push_back(label);
        return labels;
    };
    // Is a label left over by a step that takes these operands?
    const auto is_needed = [&](int label, const std::vector<std::size_t>& taken) {
        if (SparseStep::has(term.output, label)) return true;
        for (std::size_t o = 0; o < operands.size(); ++o)
            if (std::find(taken.begin(), taken.end(), o) == taken.end() && SparseStep::has(operands[o].labels, label)) return true;
        return false;
    };
    const auto output_of = [&](const std::vector<std::size_t>& taken) {
        auto all = term.output;
        for (auto o : taken) all.insert(all.end(), operands[o].labels.begin(), operands[o].labels.end());
        std::vector<int> output;
        for (int label : SparseStep::distinct(all)) {
            const bool is_there =
                std::any_of(taken.begin(), taken.end(), [&](auto o) { return SparseStep::has(operands[o].labels, label); });
            if (is_there && is_needed(label, taken)) output.push_back(label);
        }
        return output;
    };
    // A sparse factor whose labels the product of two others has, too, and which has all that are needed elsewhere.
    const auto mask_for = [&](std::size_t a, std::size_t b) {
        for (auto m : sparse) {
            if (m == a || m == b || (term.acts && !operands[m].is_mask)) continue;
            const auto labels = SparseStep::distinct(operands[m].labels);
            const auto output = output_of({a, b, m});
            const bool is_covered = std::all_of(labels.begin(), labels.end(), [&](int label) {
                return SparseStep::has(operands[a].labels, label) || SparseStep::has(operands[b].labels, label);
            });
            const bool covers = std::all_of(output.begin(), output.end(), [&](int label) { return SparseStep::has(labels, label); });
            if (is_covered && covers) return m;
        }
        return operands.size();
    };
    Choice best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < sparse.size(); ++i) {
        auto others = std::vector<std::size_t>(sparse.begin() + i + 1, sparse.end());
        others.insert(others.end(), dense.begin(), dense.end());
        for (auto other : others) {
            const auto& a = operands[sparse[i]];
            const auto& b = operands[other];
            // What acts, and masks beside it, meet only that on which it acts: two of them have no product.
            if (term.acts && (a.is_actor || a.is_mask) && (b.is_actor || b.is_mask)) continue;
            const auto mask = b.is_sparse ? mask_for(sparse[i], other) : operands.size();
            // Under a mask nothing larger than it is formed.
            std::vector<std::size_t> taken{sparse[i], other};
            if (mask < operands.size()) taken.push_back(mask);
            const auto output = output_of(taken);
            const auto products_of = [&](std::size_t x, std::size_t y) {
                if (const auto counts = counts_of(term, operands[x], operands[y], output)) return counts->products;
                const auto size = operands[y].is_sparse ? operands[y].nonzeros : elements(term, operands[y].labels);
                return operands[x].nonzeros * size / std::max(1.0, elements(term, shared(x, y)));
            };
            auto products = products_of(sparse[i], other);
            const auto multiplications = products;
            if (mask < operands.size()) {
                // Nothing larger than the mask is formed, by rows or by inner products.
                products = std::min({products, products_of(mask, other), products_of(mask, sparse[i])}) / 2;
            } else if (b.is_sparse || term.makes_sparse) {
                products += result_steps * std::min(products, elements(term, output));
            }
            if (products >= least) continue;
            least = products;
            best.operands = taken;
            if (mask < operands.size()) {
                best.output = SparseStep::distinct(operands[mask].labels);
                if (output.size() == best.output.size()) best.output = output;
                best.is_sparse = true;
            } else {
                best.output = output;
                // A sparse tensor has a mode: one label more is left, and summed later.
                if (best.output.empty()) best.output = {shared(sparse[i], other).empty() ? a.labels[0] : shared(sparse[i], other)[0]};
                // What a sparse result stores follows from the sparse factors alone.
                best.is_sparse = b.is_sparse || term.makes_sparse ||
                                 std::min(multiplications, elements(term, best.output)) < sparse_fill * elements(term, best.output);
            }
            best.is_last = term.makes_sparse && operands.size() == best.operands.size() && best.output == term.output;
        }
    }
    return best;
}

}  // namespace arges
