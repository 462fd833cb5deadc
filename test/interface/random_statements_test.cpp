// Random index-string statements against a dense reference: orders 0 to 6, random trees, diagonals, batch labels, broadcasts,
// all element types, both ways to spread symmetric groups.
//   ARGES_FUZZ_COUNT=n   number of statements (default 2000 over all types)
//   ARGES_FUZZ_SEED=s    replay the statement with this seed only
#include "arges/arges.hpp"
#include "interface/world_state.hpp"
#include "support/dense_oracle.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

namespace arges::test {
namespace {

int from_environment(const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
}

/// Labels that tend to stay together, with the symmetry that tensors tend to have over them.
struct LabelGroup {
    std::vector<int> labels;
    NodeKind kind = NodeKind::leaf;
    bool composite = false;  // sym(product(l0,l1),product(l2,l3)) or its nested form
};

struct RandomTensor {
    std::vector<int> labels;
    Symmetry symmetry;
};

class RandomStatement {
public:
    RandomStatement(std::uint64_t seed, bool complex) : random_(seed), complex_(complex) {
        make_groups();
        const int factors = pick({0, 1, 1, 1, 2, 2, 2, 2, 3});
        for (int f = 0; f < factors; ++f) this->factors.push_back(tensor(f < 3 ? 5 : 3));
        output = tensor(6);
        conjugated.resize(this->factors.size());
        for (std::size_t f = 0; f < conjugated.size(); ++f) conjugated[f] = complex && chance(0.3);
        alpha = {static_cast<double>(pick({1, 1, 2, -1, 3})), complex && chance(0.3) ? 1.0 : 0.0};
        beta = static_cast<double>(pick({0, 0, 1, 2}));
        projection = choose_projection();
    }

    std::vector<std::int64_t> label_extents;
    std::vector<RandomTensor> factors;
    RandomTensor output;
    std::vector<bool> conjugated;
    Value alpha = 1;
    double beta = 0;
    Projection projection = Projection::none;

    std::vector<std::int64_t> extents_of(const RandomTensor& t) const {
        std::vector<std::int64_t> n;
        for (int l : t.labels) n.push_back(label_extents[static_cast<std::size_t>(l)]);
        return n;
    }
    Labels labels_of(const RandomTensor& t) const {
        std::vector<std::string> names;
        for (int l : t.labels) names.push_back("x" + std::to_string(l));
        return Labels(names);
    }
    std::mt19937_64& random() { return random_; }

    std::string text() const {
        std::ostringstream s;
        auto show = [&](const RandomTensor& t) {
            s << "[";
            for (int l : t.labels) s << "x" << l << ":" << label_extents[static_cast<std::size_t>(l)] << " ";
            s << "| " << t.symmetry.to_string() << "]";
        };
        s << "C";
        show(output);
        s << " = " << beta << " C + " << alpha << " projection " << static_cast<int>(projection);
        for (std::size_t f = 0; f < factors.size(); ++f) {
            s << (conjugated[f] ? " * conj " : " * ");
            show(factors[f]);
        }
        return s.str();
    }

private:
    bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }
    int pick(std::vector<int> choices) {
        return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random_)];
    }

    void make_groups() {
        const int count = pick({1, 2, 2, 3, 3});
        for (int g = 0; g < count && label_extents.size() < 6; ++g) {
            LabelGroup group;
            group.composite = chance(0.12) && label_extents.size() <= 2;
            const int size = group.composite ? 4 : pick({1, 1, 2, 2, 2, 3});
            const int extent = pick(size > 2 ? std::vector<int>{1, 2, 2, 3, 3, 4} : std::vector<int>{0, 1, 2, 3, 3, 4, 5, 7});
            for (int i = 0; i < size; ++i) {
                group.labels.push_back(static_cast<int>(label_extents.size()));
                label_extents.push_back(extent);
            }
            const std::vector<NodeKind> kinds{NodeKind::antisymmetric, NodeKind::antisymmetric, NodeKind::symmetric,
                                              NodeKind::symmetric, NodeKind::hollow};
            group.kind = kinds[static_cast<std::size_t>(pick({0, 1, 2, 3, 4}))];
            if (complex_ && size == 2 && chance(0.2)) group.kind = NodeKind::hermitian;
            groups_.push_back(group);
        }
    }

    SymmetryNode node_of(const LabelGroup& group, const std::vector<int>& dims) {
        std::vector<SymmetryNode> leaves;
        for (int d : dims) leaves.push_back(leaf(d));
        if (group.composite) {
            const auto inner = pick({0, 0, 1, 2});
            auto pair = [&](std::size_t i) {
                std::vector<SymmetryNode> two{leaves[i], leaves[i + 1]};
                return inner == 0 ? product(two) : inner == 1 ? symmetric(two) : antisymmetric(two);
            };
            std::vector<SymmetryNode> both{pair(0), pair(2)};
            return chance(0.8) ? symmetric(both) : antisymmetric(both);
        }
        SymmetryNode node = product(leaves);
        node.kind = chance(0.85) || group.kind == NodeKind::hermitian ? group.kind : NodeKind::symmetric;
        return node;
    }

    RandomTensor tensor(int most_labels) {
        RandomTensor t;
        std::vector<std::pair<const LabelGroup*, std::vector<int>>> whole;
        for (const auto& g : groups_) {
            if (!chance(0.75)) continue;
            std::vector<int> labels;
            for (int l : g.labels)
                if (chance(0.9)) labels.push_back(l);
            if (static_cast<int>(t.labels.size() + labels.size()) > most_labels) continue;
            t.labels.insert(t.labels.end(), labels.begin(), labels.end());
            const bool fits = g.composite ? labels.size() == 4 : labels.size() > 1;
            if (fits && (labels.size() == 2 || g.kind != NodeKind::hermitian) && chance(0.75)) whole.emplace_back(&g, labels);
        }
        if (!t.labels.empty() && chance(0.08) && static_cast<int>(t.labels.size()) < most_labels)
            t.labels.push_back(t.labels[0]);
        std::shuffle(t.labels.begin(), t.labels.end(), random_);
        std::vector<SymmetryNode> slots;
        for (const auto& [group, labels] : whole) {
            std::vector<int> dims;
            for (int l : labels)
                dims.push_back(static_cast<int>(std::find(t.labels.begin(), t.labels.end(), l) - t.labels.begin()));
            slots.push_back(node_of(*group, dims));
        }
        t.symmetry = Symmetry(static_cast<int>(t.labels.size()), product(slots));
        return t;
    }

    static bool contains_kind(const SymmetryNode& node, NodeKind kind) {
        return node.kind == kind || std::any_of(node.children.begin(), node.children.end(),
                                                [&](const auto& c) { return contains_kind(c, kind); });
    }

    Projection choose_projection() {
        if (output.symmetry.trivial() || chance(0.3)) return Projection::none;
        for (const auto& slot : output.symmetry.slots())
            if (contains_kind(slot, NodeKind::antisymmetric)) return Projection::antisymmetrized;
        return Projection::symmetrized;
    }

    std::mt19937_64 random_;
    bool complex_;
    std::vector<LabelGroup> groups_;
};

/// |H|: how many permutations of the output's group R has by structure, found on generic values with larger extents.
std::int64_t structural_stabilizer(RandomStatement& s, bool complex, const std::vector<SignedPermutation>& group) {
    const std::vector<std::int64_t> extents(s.label_extents.size(), 3);
    std::vector<DenseFactor> factors;
    for (std::size_t f = 0; f < s.factors.size(); ++f) {
        const std::vector<std::int64_t> n(s.factors[f].labels.size(), 3);
        factors.push_back({random_dense(n, s.factors[f].symmetry, complex, s.random(), true), s.factors[f].labels, s.conjugated[f]});
    }
    auto r = dense_product(factors, s.output.labels, extents);
    for (auto& v : r.data) v *= s.alpha;
    return stabilizer_size(r, group);
}

bool has_repeated_labels(const RandomTensor& t) {
    auto labels = t.labels;
    std::sort(labels.begin(), labels.end());
    return std::adjacent_find(labels.begin(), labels.end()) != labels.end();
}

template <class T>
class StatementCheck {
public:
    StatementCheck(const World& world, std::uint64_t seed)
        : world_(world), complex_(!std::is_same_v<T, real_of<T>>), statement_(seed, complex_) {
        world_.state()->group_mapping = seed % 4 == 0 ? GroupMapping::blocks : GroupMapping::packed;
        world_.state()->prepared().clear();
    }

    /// Runs the statement; returns false if it was refused.
    bool run() {
        auto& s = statement_;
        std::vector<Tensor<T>> tensors;
        for (std::size_t f = 0; f < s.factors.size(); ++f) {
            dense_.push_back({random_dense(s.extents_of(s.factors[f]), s.factors[f].symmetry, complex_, s.random()),
                              s.factors[f].labels, s.conjugated[f]});
            tensors.push_back(distributed<T>(world_, dense_.back().tensor, s.factors[f].symmetry, "F" + std::to_string(f)));
        }
        const auto before = random_dense(s.extents_of(s.output), s.output.symmetry, complex_, s.random());
        auto C = distributed<T>(world_, before, s.output.symmetry, "C");
        try {
            assign(C, tensors);
        } catch (const InvalidArgument&) {
            compare(C, before);
            return false;
        } catch (const Unsupported&) {
            return false;
        }
        EXPECT_EQ(world_.last_report().bytes_sent, world_.last_report().bytes_planned);
        const auto got = C.gather();
        if (world_.rank() == 0) check(got, expected(before));
        return true;
    }
    const RandomStatement& statement() const { return statement_; }

private:
    void assign(Tensor<T>& C, const std::vector<Tensor<T>>& tensors) {
        const auto& s = statement_;
        Expression<T> product(element<T>(s.alpha));
        for (std::size_t f = 0; f < tensors.size(); ++f) {
            Expression<T> factor = tensors[f][s.labels_of(s.factors[f])];
            product = product * (s.conjugated[f] ? conj(factor) : factor);
        }
        if (s.projection == Projection::antisymmetrized) product = antisymmetrized(product);
        if (s.projection == Projection::symmetrized) product = symmetrized(product);
        C[s.labels_of(s.output)].assign(product, static_cast<T>(s.beta));
    }

    Dense expected(const Dense& before) {
        auto& s = statement_;
        auto r = diagonal_or_product();
        const bool diagonal = has_repeated_labels(s.output);
        if (s.projection != Projection::none && !diagonal) {
            const auto group = group_of(s.output.symmetry);
            const auto stabilizer = structural_stabilizer(s, complex_, group);
            r = group_sum(r, group);
            for (std::size_t k = 0; k < r.data.size(); ++k) {
                r.data[k] /= static_cast<double>(stabilizer);
                if (on_zero_diagonal(product(s.output.symmetry.slots()), r.index(k))) r.data[k] = 0;
            }
        }
        auto result = before;
        for (std::size_t k = 0; k < result.data.size(); ++k)
            if (named(result.index(k))) result.data[k] = result.data[k] * s.beta + r.data[k];
        return result;
    }

    Dense diagonal_or_product() {
        auto r = dense_product(dense_, statement_.output.labels, statement_.label_extents);
        for (auto& v : r.data) v *= statement_.alpha;
        return r;
    }

    /// Is this element of the output named by its labels (repeated ones equal)?
    bool named(const std::vector<std::int64_t>& x) const {
        const auto& labels = statement_.output.labels;
        for (std::size_t i = 0; i < labels.size(); ++i)
            for (std::size_t j = i + 1; j < labels.size(); ++j)
                if (labels[i] == labels[j] && x[i] != x[j]) return false;
        return true;
    }

    void compare(const Tensor<T>& C, const Dense& wanted) {
        const auto got = C.gather();
        if (world_.rank() == 0) check(got, wanted);
    }
    void check(const std::vector<T>& got, const Dense& wanted) {
        double scale = 1;
        for (const auto& v : wanted.data) scale = std::max(scale, std::abs(v));
        const double tolerance = scale * (std::is_same_v<real_of<T>, float> ? 2e-5 : 1e-12);
        ASSERT_EQ(got.size(), wanted.data.size());
        for (std::size_t k = 0; k < got.size(); ++k)
            ASSERT_LE(std::abs(Value(got[k]) - wanted.data[k]), tolerance) << "key " << k << ": " << got[k] << " instead of " << wanted.data[k];
    }

    World world_;
    bool complex_;
    RandomStatement statement_;
    std::vector<DenseFactor> dense_;
};

template <class T>
void run_many(std::uint64_t first_seed) {
    const World world;
    const int count = from_environment("ARGES_FUZZ_COUNT", 2000) / 4;
    const int replay = from_environment("ARGES_FUZZ_SEED", -1);
    int executed = 0;
    for (int i = 0; i < count; ++i) {
        const auto seed = first_seed + static_cast<std::uint64_t>(i);
        if (replay >= 0 && seed != static_cast<std::uint64_t>(replay)) continue;
        StatementCheck<T> check(world, seed);
        SCOPED_TRACE("ARGES_FUZZ_SEED=" + std::to_string(seed) + "  " + check.statement().text());
        executed += check.run() ? 1 : 0;
        const auto failed = world.state()->communicator().maximum(::testing::Test::HasFailure() ? 1 : 0);
        if (failed != 0) {
            if (world.rank() == 0) ADD_FAILURE() << "ARGES_FUZZ_SEED=" << seed << "  " << check.statement().text();
            return;
        }
    }
    if (replay < 0) {
        EXPECT_GT(executed, count / 2) << "most statements should be meaningful";
    }
}

TEST(RandomStatements, OfDoublesEqualTheDenseReference) { run_many<double>(0); }
TEST(RandomStatements, OfComplexDoublesEqualTheDenseReference) { run_many<std::complex<double>>(100000); }
TEST(RandomStatements, OfFloatsEqualTheDenseReference) { run_many<float>(200000); }
TEST(RandomStatements, OfComplexFloatsEqualTheDenseReference) { run_many<std::complex<float>>(300000); }

}  // namespace
}  // namespace arges::test
