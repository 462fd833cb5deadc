#include "plan/sparse/sparse_order.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arges {

namespace {

/// An intermediate result of a sparse and a dense factor is sparse where it is expected to fill less than this part of its elements.
constexpr double sparse_fill = 0.125;

/// Multiplications that a nonzero of an intermediate sparse result counts for, which is found and sorted.
constexpr double result_steps = 10;

using Places = std::vector<std::size_t>;

class StepSearch {
public:
    StepSearch(const Product& product, const std::vector<Operand>& factors, const MeasuredPairs& measured)
        : product_(product), acts_(product.acts()), makes_sparse_(product.output.is_sparse()),
          output_(SparseStep::distinct(product.output.labels)), factors_(factors), measured_(measured) {
        for (std::size_t f = 0; f < factors.size(); ++f) (factors[f].is_sparse() ? sparse_ : dense_).push_back(f);
    }

    StepChoice run() {
        auto others = sparse_;
        others.insert(others.end(), dense_.begin(), dense_.end());
        if (sparse_.size() == 1) return {others, output_, makes_sparse_, true};
        for (std::size_t i = 0; i < sparse_.size(); ++i)
            for (std::size_t j = i + 1; j < others.size(); ++j) consider(sparse_[i], others[j]);
        return best_;
    }
    const std::vector<FactorPair>& wanted() const { return wanted_; }

private:
    void consider(std::size_t a, std::size_t b) {
        const auto &first = factors_[a], &second = factors_[b];
        // What acts, and masks beside it, meet only that on which it acts: two of them have no product.
        if (acts_ && first.role != Role::factor && second.role != Role::factor) return;
        const auto mask = second.is_sparse() ? mask_for(a, b) : std::nullopt;
        // Under a mask nothing larger than it is formed.
        Places taken{a, b};
        if (mask) taken.push_back(*mask);
        const auto output = output_of(taken);
        const auto multiplications = products(a, b, output);
        auto cost = multiplications;
        if (mask)
            cost = std::min({cost, products(*mask, b, output), products(*mask, a, output)}) / 2;  // by rows or by inner products
        else if (second.is_sparse() || makes_sparse_)
            cost += result_steps * std::min(multiplications, elements(output));
        if (cost >= least_) return;
        least_ = cost;
        best_ = mask ? under_mask(taken, output) : of_two(taken, output, multiplications);
        best_.is_last = makes_sparse_ && factors_.size() == taken.size() && best_.output == output_;
    }

    StepChoice under_mask(const Places& taken, const std::vector<int>& output) const {
        auto labels = SparseStep::distinct(factors_[taken.back()].labels);
        return {taken, output.size() == labels.size() ? output : std::move(labels), true, false};
    }

    StepChoice of_two(const Places& taken, std::vector<int> output, double multiplications) const {
        const auto &a = factors_[taken[0]], &b = factors_[taken[1]];
        // A sparse tensor has a mode: one label more is left, and summed later.
        if (output.empty()) {
            const auto common = shared(a, b);
            output = {common.empty() ? a.labels[0] : common[0]};
        }
        // What a sparse result stores follows from the sparse factors alone.
        const auto all = elements(output);
        const bool is_sparse = b.is_sparse() || makes_sparse_ || std::min(multiplications, all) < sparse_fill * all;
        return {taken, std::move(output), is_sparse, false};
    }

    /// A sparse factor whose labels the product of two others has, too, and which has all that are needed elsewhere.
    std::optional<std::size_t> mask_for(std::size_t a, std::size_t b) const {
        for (auto m : sparse_) {
            if (m == a || m == b || (acts_ && factors_[m].role != Role::mask)) continue;
            const auto labels = SparseStep::distinct(factors_[m].labels);
            const auto output = output_of({a, b, m});
            const bool is_covered = std::all_of(labels.begin(), labels.end(), [&](int label) { return has(a, label) || has(b, label); });
            const bool covers = std::all_of(output.begin(), output.end(), [&](int label) { return SparseStep::has(labels, label); });
            if (is_covered && covers) return m;
        }
        return {};
    }

    /// Labels of factors that the output or another factor has.
    std::vector<int> output_of(const Places& taken) const {
        auto all = output_;
        for (auto f : taken) all.insert(all.end(), factors_[f].labels.begin(), factors_[f].labels.end());
        std::vector<int> output;
        for (int label : SparseStep::distinct(all)) {
            const bool is_there = std::any_of(taken.begin(), taken.end(), [&](auto f) { return has(f, label); });
            if (is_there && is_needed(label, taken)) output.push_back(label);
        }
        return output;
    }
    /// Is a label left over by a step that takes these factors?
    bool is_needed(int label, const Places& taken) const {
        if (SparseStep::has(output_, label)) return true;
        for (std::size_t f = 0; f < factors_.size(); ++f)
            if (std::find(taken.begin(), taken.end(), f) == taken.end() && has(f, label)) return true;
        return false;
    }

    /// Expected multiplications of two factors.
    double products(std::size_t x, std::size_t y, const std::vector<int>& output) {
        const auto &a = factors_[x], &b = factors_[y];
        if (b.is_sparse()) {
            FactorPair pair{x, y, kept_labels(a, b, output)};
            const auto known = measured_.find(pair);
            if (known != measured_.end() && known->second) return known->second->products;
            if (known == measured_.end() && std::find(wanted_.begin(), wanted_.end(), pair) == wanted_.end()) wanted_.push_back(pair);
        }
        return a.stored->count * (b.is_sparse() ? b.stored->count : elements(b.labels)) / std::max(1.0, elements(shared(a, b)));
    }

    double elements(const std::vector<int>& labels) const {
        double product = 1;
        for (int label : SparseStep::distinct(labels)) product *= product_.label_extents[label];
        return product;
    }
    static std::vector<int> shared(const Operand& a, const Operand& b) {
        auto labels = SparseStep::distinct(a.labels);
        std::erase_if(labels, [&](int label) { return !SparseStep::has(b.labels, label); });
        return labels;
    }
    bool has(std::size_t factor, int label) const { return SparseStep::has(factors_[factor].labels, label); }

    const Product& product_;
    bool acts_, makes_sparse_;
    std::vector<int> output_;  // each label once
    const std::vector<Operand>& factors_;
    const MeasuredPairs& measured_;
    Places sparse_, dense_;
    std::vector<FactorPair> wanted_;
    StepChoice best_;
    double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::variant<StepChoice, std::vector<FactorPair>> next_step(const Product& product, const std::vector<Operand>& factors,
                                                            const MeasuredPairs& measured) {
    StepSearch search(product, factors, measured);
    auto choice = search.run();
    if (!search.wanted().empty()) return search.wanted();
    return choice;
}

SparseStep step_of(const Product& product, const std::vector<Operand>& factors, const StepChoice& choice,
                   const std::optional<ProductCounts>& counts) {
    SparseStep step;
    step.label_extents = product.label_extents;
    step.label_names = product.label_names;
    step.element_bytes = product.element_bytes;
    step.kept = step.output.labels = choice.output;
    if (choice.is_sparse) step.output.stored.emplace();
    step.counts = counts;
    for (auto f : choice.operands) {
        auto& operand = step.factors.emplace_back(factors[f]);
        if (operand.is_sparse()) operand.stored->count = std::round(operand.stored->count);
        if (choice.operands.size() == 1 || !product.acts()) operand.role = Role::factor;
    }
    return step;
}

std::string counts_key(const Operand& a, const Operand& b, const std::vector<int>& output) {
    std::string key;
    for (const auto* operand : {&a, &b}) {
        append_bytes(key, operand->stored->pattern);
        append_labels(key, operand->labels);
    }
    append_labels(key, kept_labels(a, b, output));
    return key;
}

std::vector<int> kept_labels(const Operand& a, const Operand& b, const std::vector<int>& output) {
    auto kept = output;
    std::erase_if(kept, [&](int label) { return !SparseStep::has(a.labels, label) && !SparseStep::has(b.labels, label); });
    std::sort(kept.begin(), kept.end());
    return kept;
}

}  // namespace arges
