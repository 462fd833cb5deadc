// What the order of factors of statements with sparse tensors depends on: counts of nonzeros, sampled where they are not known.
#include "execute/sparse_match.hpp"
#include "interface/sparse_statement.hpp"

#include <algorithm>

namespace arges {

namespace {

/// Factors with fewer nonzeros are not sampled.
constexpr double least_sampled = 1000;

}  // namespace

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

/// The next step; what the search asks for is measured. Collective where statements run.
StepChoice SparseStatement::chosen_step(const LabelledTerm& term, const std::vector<Operand>& operands) {
    const std::vector<OrderedFactor> factors(operands.begin(), operands.end());
    for (MeasuredPairs measured;;) {
        auto found = next_step(term, factors, measured);
        if (auto* const choice = std::get_if<StepChoice>(&found)) return std::move(*choice);
        for (const auto& pair : std::get<std::vector<FactorPair>>(found))
            measured.emplace(pair, counts_of(term, operands[pair.a], operands[pair.b], pair.output));
    }
}

}  // namespace arges
