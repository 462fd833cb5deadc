// Random right-hand sides whose symmetry is decided by brute force on generic values.
#include "plan/product/structure.hpp"

#include "arges/error.hpp"
#include "support/dense_oracle.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

namespace arges::test {
namespace {

constexpr std::int64_t extent = 4;  // leaves several orbits, and elements without equal indices, in groups of three

/// A sum, and values of its tensors.
class RandomSum {
public:
    explicit RandomSum(std::uint64_t seed) : random_(seed) {
        sum.complex = chance(0.5);
        const auto& [names, tree] = pick(trees());
        sum.output = {Symmetry::parse(names, tree), {}, 0, false, "C"};
        for (std::size_t d = 0; d < names.size(); ++d) sum.output.labels.push_back(new_label(names[d]));
        for (int t = 0; t < 4; ++t) add_tensor();
        const int count = pick(std::vector<int>{1, 1, 1, 2});
        for (int p = 0; p < count; ++p) add_products();
        sum.labels = static_cast<int>(sum.label_names.size());
    }

    StructuralSum sum;

    std::string text() const {
        std::ostringstream s;
        s << sum.output.symmetry.to_string() << (sum.complex ? " complex" : "") << " [" << letters(sum.output) << "] =";
        for (const auto& p : sum.products) {
            s << " + " << p.coefficient;
            for (const auto& f : p.factors)
                s << (f.conjugated ? " * conj " : " * ") << f.tensor << "{" << f.symmetry.to_string() << "}[" << letters(f) << "]";
        }
        return s.str();
    }

    /// Has the sum the symmetry, and the zeros, of the output for the values?
    bool fits() const {
        const auto r = value();
        const auto group = group_elements(sum.output.symmetry);
        for (const auto& g : group)
            if (!keeps(g, r)) return false;
        for (std::size_t k = 0; k < r.data.size(); ++k)
            if (std::abs(r.data[k]) > 1e-9 && zero_by_symmetry(sum.output.symmetry, group, r.index(k))) return false;
        return true;
    }

private:
    using Tree = std::pair<std::string, std::string>;
    static const std::vector<Tree>& trees() {
        static const std::vector<Tree> all{{"ab", "sym(a,b)"},
                                           {"ab", "antisym(a,b)"},
                                           {"ab", "hollow(a,b)"},
                                           {"ab", "hermitian(a,b)"},
                                           {"abc", "sym(a,b,c)"},
                                           {"abc", "antisym(a,b,c)"},
                                           {"abi", "sym(a,b)"},
                                           {"abij", "antisym(a,b) antisym(i,j)"},
                                           {"abij", "sym(product(a,i),product(b,j))"},
                                           {"abij", "sym(sym(a,b),sym(i,j))"},
                                           {"abij", "antisym(a,b) sym(i,j)"},
                                           {"abij", "hermitian(product(a,b),product(i,j))"}};
        return all;
    }
    static const std::vector<Tree>& factor_trees() {
        static const std::vector<Tree> all{{"a", ""},
                                           {"a", ""},
                                           {"ab", ""},
                                           {"ab", ""},
                                           {"ab", "sym(a,b)"},
                                           {"ab", "antisym(a,b)"},
                                           {"ab", "hollow(a,b)"},
                                           {"ab", "hermitian(a,b)"},
                                           {"abc", "sym(a,b)"},
                                           {"abc", "antisym(a,b,c)"},
                                           {"abij", "sym(sym(a,b),sym(i,j))"},
                                           {"abij", "antisym(a,b) antisym(i,j)"},
                                           {"abij", "sym(product(a,i),product(b,j))"},
                                           {"abc", ""}};
        return all;
    }

    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    template <class V>
    const V& pick(const std::vector<V>& all) {
        return all[random_() % all.size()];
    }
    int new_label(char letter) {
        sum.label_names.emplace_back(1, letter);
        return static_cast<int>(sum.label_names.size()) - 1;
    }
    std::string letters(const StructuralFactor& f) const {
        std::string result;
        for (int l : f.labels) result += sum.label_names[static_cast<std::size_t>(l)];
        return result;
    }

    void add_tensor() {
        auto tree = pick(factor_trees());
        while (!sum.complex && tree.second.starts_with("hermitian")) tree = pick(factor_trees());
        const auto symmetry =
            tree.second.empty() ? Symmetry::none(static_cast<int>(tree.first.size())) : Symmetry::parse(tree.first, tree.second);
        tensors_.push_back(symmetry);
        values_.push_back(random_dense(std::vector<std::int64_t>(tree.first.size(), extent), symmetry, sum.complex, random_, true));
    }

    /// A product that has each output label once, mostly, and the rest of its labels twice.
    StructuralProduct product() {
        StructuralProduct result;
        std::size_t places = 0;
        while (places < sum.output.labels.size() && result.factors.size() < 4) {
            const auto t = random_() % tensors_.size();
            result.factors.push_back({tensors_[t], {}, t, sum.complex && chance(0.3), "T"});
            places += static_cast<std::size_t>(tensors_[t].order());
        }
        auto labels = sum.output.labels;
        const std::size_t first = labels.size();
        for (std::size_t summed = 0; labels.size() < places; ++summed) {
            if (summed_.size() <= summed) summed_.push_back(new_label(static_cast<char>('p' + summed)));
            labels.push_back(summed_[summed]);
            if (labels.size() < places) labels.push_back(summed_[summed]);
        }
        labels.resize(places);
        if (first < places || chance(0.5)) std::shuffle(labels.begin(), labels.end(), random_);
        std::size_t next = 0;
        for (auto& factor : result.factors)
            for (int d = 0; d < factor.symmetry.order(); ++d) factor.labels.push_back(labels[next++]);
        result.coefficient = {pick(std::vector<double>{1, 0.5, -2}), sum.complex && chance(0.2) ? 1.0 : 0.0};
        return result;
    }

    /// A product, often with what the output's group makes of it, in other words.
    void add_products() {
        const auto base = product();
        const auto group = group_elements(sum.output.symmetry);
        if (chance(0.2)) {
            sum.products.push_back(base);
            return;
        }
        const bool spoiled = chance(0.2);
        for (const auto& g : group) {
            if (spoiled && chance(0.3)) continue;
            auto p = base;
            std::vector<int> image(sum.label_names.size());
            std::iota(image.begin(), image.end(), 0);
            for (std::size_t d = 0; d < g.image.size(); ++d)
                image[static_cast<std::size_t>(sum.output.labels[d])] = sum.output.labels[static_cast<std::size_t>(g.image[d])];
            auto renamed = summed_;
            std::shuffle(renamed.begin(), renamed.end(), random_);
            for (std::size_t s = 0; s < summed_.size(); ++s) image[static_cast<std::size_t>(summed_[s])] = renamed[s];
            for (auto& f : p.factors) {
                for (auto& l : f.labels) l = image[static_cast<std::size_t>(l)];
                f.conjugated ^= sum.complex && g.conjugate;
                rewrite(f, p.coefficient);
            }
            if (g.conjugate) p.coefficient = std::conj(p.coefficient);
            if (g.negative != (spoiled && chance(0.1))) p.coefficient = -p.coefficient;
            std::shuffle(p.factors.begin(), p.factors.end(), random_);
            sum.products.push_back(p);
        }
    }

    /// The same element by another index.
    void rewrite(StructuralFactor& f, std::complex<double>& coefficient) {
        const auto group = group_elements(f.symmetry);
        const auto& g = pick(group);
        if (chance(0.5)) return;
        auto labels = f.labels;
        for (std::size_t d = 0; d < labels.size(); ++d) labels[d] = f.labels[static_cast<std::size_t>(g.image[d])];
        f.labels = labels;
        f.conjugated ^= sum.complex && g.conjugate;
        if (g.negative) coefficient = -coefficient;
    }

    Dense value() const {
        const std::vector<std::int64_t> extents(sum.label_names.size(), extent);
        Dense result(std::vector<std::int64_t>(sum.output.labels.size(), extent));
        for (const auto& p : sum.products) {
            std::vector<DenseFactor> factors;
            for (const auto& f : p.factors) factors.push_back({values_[f.tensor], f.labels, f.conjugated});
            const auto r = dense_product(factors, sum.output.labels, extents);
            for (std::size_t k = 0; k < r.data.size(); ++k) result.data[k] += p.coefficient * r.data[k];
        }
        return result;
    }

    std::mt19937_64 random_;
    std::vector<Symmetry> tensors_;
    std::vector<Dense> values_;
    std::vector<int> summed_;
};

bool is_accepted(const StructuralSum& sum) {
    try {
        require_symmetry(sum);
        return true;
    } catch (const InvalidArgument&) {
        return false;
    }
}

TEST(RequiredSymmetry, IsDecidedAsOnGenericValues) {
    constexpr int count = 1000;
    int symmetric = 0, missed = 0;
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
        const RandomSum random(seed);
        const bool fits = random.fits(), accepted = is_accepted(random.sum);
        EXPECT_TRUE(fits || !accepted) << "seed " << seed << ": accepted, though it has not the symmetry: " << random.text();
        symmetric += fits ? 1 : 0;
        missed += fits && !accepted ? 1 : 0;
        if (fits && !accepted) std::cout << "not seen, seed " << seed << ": " << random.text() << "\n";
    }
    std::cout << symmetric << " of " << count << " have the symmetry, " << missed << " of them are refused\n";
    EXPECT_GT(symmetric, count / 4);
    EXPECT_LT(symmetric, 3 * count / 4);
    EXPECT_LE(missed, symmetric / 100);
}

}  // namespace
}  // namespace arges::test
