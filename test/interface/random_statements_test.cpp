// Random index-string statements against a dense reference: orders 0 to 6, random trees, diagonals, batch labels, broadcasts,
// all element types, both ways to spread symmetric groups.
//   ARGES_FUZZ_COUNT=n   number of statements (default 2000 over all types)
//   ARGES_FUZZ_SEED=s    replay the statement with this seed only
#include "arges/arges.hpp"
#include "interface/world_state.hpp"
#include "support/dense_oracle.hpp"
#include "support/random_statement.hpp"
#include "support/tensor_checks.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace arges::test {
namespace {

int from_environment(const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
}

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
        : world_(world), complex_(!std::is_same_v<T, real_of<T>>), explain_(seed % 8 == 1), turns_grid_(seed % 3 == 0), statement_(seed, complex_) {
        world_.state()->group_mapping = seed % 4 == 0 ? GroupMapping::blocks : GroupMapping::packed;
        world_.state()->prepared().clear();
    }

    /// Runs the statement; returns false if it was refused.
    bool run() {
        auto& s = statement_;
        std::vector<Tensor<T>> tensors;
        for (std::size_t f = 0; f < s.factors.size(); ++f) {
            if (turns_grid_) turn_grid_of_new_tensors(world_);
            dense_.push_back({random_dense(s.extents_of(s.factors[f]), s.factors[f].symmetry, complex_, s.random()),
                              s.factors[f].labels, s.conjugated[f]});
            tensors.push_back(distributed<T>(world_, dense_.back().tensor, s.factors[f].symmetry, "F" + std::to_string(f)));
        }
        const auto before = random_dense(s.extents_of(s.output), s.output.symmetry, complex_, s.random());
        auto C = distributed<T>(world_, before, s.output.symmetry, "C");
        world_.state()->tensor_grid = world_.state()->grid();
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
        if (explain_) {
            EXPECT_NO_THROW(C[s.labels_of(s.output)].explain(product, static_cast<T>(s.beta)));
        }
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
    bool complex_, explain_, turns_grid_;
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
