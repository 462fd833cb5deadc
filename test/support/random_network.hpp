/// Random products of several tensors.
#pragma once

#include "support/dense_oracle.hpp"

#include <set>
#include <string>

namespace arges::test {

/// An operand's labels and symmetry.
struct NetworkOperand {
    std::vector<int> labels;
    Symmetry symmetry;
};

/// A product of `operands` tensors over random labels: chains, stars, batch labels, diagonals, labels of one factor, scalars.
struct RandomNetwork {
    RandomNetwork(std::mt19937_64& random, int operands, bool with_symmetry) {
        auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(random); };
        const auto labels = pick(1, std::min(9, 2 + operands));
        static const std::int64_t lengths[] = {1, 2, 2, 3, 3, 4, 5};
        for (std::int64_t l = 0; l < labels; ++l) extents.push_back(lengths[pick(0, 6)]);
        for (int o = 0; o < operands; ++o) {
            NetworkOperand operand;
            const auto order = pick(0, 9) == 0 ? 0 : pick(1, 3);
            for (std::int64_t d = 0; d < order; ++d) operand.labels.push_back(static_cast<int>(pick(0, labels - 1)));
            operand.symmetry = Symmetry::none(static_cast<int>(order));
            if (with_symmetry && order >= 2 && extents_of(operand)[0] == extents_of(operand)[1] && pick(0, 1) == 0) {
                std::vector<SymmetryNode> slots{pick(0, 1) == 0 ? symmetric({leaf(0), leaf(1)}) : antisymmetric({leaf(0), leaf(1)})};
                for (int d = 2; d < order; ++d) slots.push_back(leaf(d));
                operand.symmetry = Symmetry(static_cast<int>(order), product(slots));
            }
            factors.push_back(operand);
        }
        std::set<int> used;
        for (const auto& f : factors) used.insert(f.labels.begin(), f.labels.end());
        for (int l : used)
            if (output.size() < 4 && pick(0, 2) == 0) output.push_back(l);
        std::shuffle(output.begin(), output.end(), random);
        for (const auto& f : factors) values.push_back(random_dense(extents_of(f), f.symmetry, false, random));
    }

    std::vector<std::int64_t> extents_of(const NetworkOperand& operand) const {
        std::vector<std::int64_t> result;
        for (int l : operand.labels) result.push_back(extents[static_cast<std::size_t>(l)]);
        return result;
    }

    static std::string letters(const std::vector<int>& labels) {
        std::string text;
        for (int l : labels) text += static_cast<char>('a' + l);
        return text;
    }

    std::string text() const {
        std::string result;
        for (const auto& f : factors) result += (result.empty() ? "" : ",") + letters(f.labels);
        result += "->" + letters(output) + "  extents";
        for (auto n : extents) result += " " + std::to_string(n);
        return result;
    }

    /// From left to right, one factor after the other; labels are summed as soon as nothing else has them.
    Dense reference() const {
        DenseFactor product{Dense(std::vector<std::int64_t>()), {}};
        product.tensor.data[0] = 1;
        for (std::size_t f = 0; f < factors.size(); ++f) {
            std::set<int> needed(output.begin(), output.end()), here(product.labels.begin(), product.labels.end());
            for (auto g = f + 1; g < factors.size(); ++g) needed.insert(factors[g].labels.begin(), factors[g].labels.end());
            here.insert(factors[f].labels.begin(), factors[f].labels.end());
            std::vector<int> kept;
            for (int l : here)
                if (needed.count(l) > 0) kept.push_back(l);
            if (f + 1 == factors.size()) kept = output;
            product = {dense_product({product, {values[f], factors[f].labels}}, kept, extents), kept};
        }
        return product.tensor;
    }

    std::vector<std::int64_t> extents;  // by label
    std::vector<NetworkOperand> factors;
    std::vector<int> output;
    std::vector<Dense> values;
};

}  // namespace arges::test
