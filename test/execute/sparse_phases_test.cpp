// Products with sparse factors that are made part by part, against those that are made at once.
#include "execute/sparse_phases.hpp"

#include "arges/error.hpp"
#include "comm/values.hpp"
#include "redistribute/movement_run.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>

namespace arges::test {
namespace {

using Elements = std::map<std::pair<std::int64_t, std::int64_t>, double>;

/// C_ik = sum over j of A_ij B_jk, of small integers, so that sums are exact.
class SparsePhasesTest : public ::testing::Test {
protected:
    static constexpr std::int64_t rows = 40, inner = 30, columns = 50, count = 300;

    SparsePhasesTest() {
        comm_.emplace(MPI_COMM_WORLD);
        if (comm_->size() == 1) comm_.reset();
        step_.label_extents = {rows, inner, columns};
        step_.label_names = {"i", "j", "k"};
        for (const auto& labels : {std::vector{0, 1}, std::vector{1, 2}})
            step_.factors.push_back({.labels = labels, .stored = StoredNonzeros{count}});
        step_.kept = step_.output.labels = {0, 2};
        step_.output.stored.emplace();
        std::mt19937_64 random(3);
        for (int o = 0; o < 2; ++o) {
            auto& own = indices_.emplace_back(2);
            auto& values = values_.emplace_back();
            std::set<std::pair<std::int64_t, std::int64_t>> known;
            const auto n = o == 0 ? rows : inner, m = o == 0 ? inner : columns;
            while (std::ssize(known) < count) {
                const std::pair index{static_cast<std::int64_t>(random() % n), static_cast<std::int64_t>(random() % m)};
                const double value = 1 + static_cast<double>(random() % 5);
                if (!known.insert(index).second || std::ssize(known) % size() != rank()) continue;
                own[0].push_back(index.first);
                own[1].push_back(index.second);
                values.push_back(value);
            }
        }
    }

    const Communicator* comm() const { return comm_ ? &*comm_ : nullptr; }
    std::int64_t size() const { return comm_ ? comm_->size() : 1; }
    std::int64_t rank() const { return comm_ ? comm_->rank() : 0; }
    std::vector<IndexSpans> indices() const { return {spans_of(indices_[0]), spans_of(indices_[1])}; }
    StepCall call() const {
        StepElements elements;
        for (const auto& values : values_) elements.operands.emplace_back(values.data());
        elements.conjugated = {false, false};
        return {tested_kernels<double>(), elements, nullptr, nullptr, nullptr, true};
    }
    SparseStepPlan plan(std::int64_t phases) const {
        PlanOptions options;
        options.memory_limit = std::numeric_limits<std::int64_t>::max();
        return plan_sparse_step(step_, size(), options, phases);
    }
    /// @param limit  of what may be asked for; the largest such number is noted
    StepExecutor executor(std::int64_t limit) {
        const auto ask = [this, limit](std::int64_t bytes) {
            most_asked_ = std::max(most_asked_, bytes);
            if (bytes > limit) throw OutOfMemory("too much");
        };
        return {comm(),
                {.require = ask, .take = [](auto, auto) {}, .free_bytes = [] { return std::int64_t{1} << 30; }, .workspace = workspace_}};
    }
    Elements elements_of(const StepNonzeros& nonzeros) const {
        const auto all = [&](const auto& mine) { return comm_ ? gathered(*comm_, mine) : mine; };
        const auto* const own = reinterpret_cast<const double*>(nonzeros.values.data());
        const auto i = all(nonzeros.indices[0]), k = all(nonzeros.indices[1]);
        const auto values = all(std::vector<double>(own, own + nonzeros.values.size() / std::int64_t{sizeof(double)}));
        Elements result;
        for (std::size_t n = 0; n < values.size(); ++n) EXPECT_TRUE(result.emplace(std::pair(i[n], k[n]), values[n]).second) << "twice";
        return result;
    }
    Elements at_once() {
        auto executor = this->executor(std::numeric_limits<std::int64_t>::max());
        const auto run = executor.inspected(step_, plan(1), indices(), {false, false}, 0);
        EXPECT_TRUE(run && executor.has_room(*run, call(), 0));
        auto values = executor.run(*run, call());
        return elements_of({run->take_indices(), std::move(values), run->result_layout()});
    }

    std::optional<Communicator> comm_;
    SparseStep step_;
    std::vector<IndexColumns> indices_;
    std::vector<std::vector<double>> values_;
    Workspace workspace_;
    std::int64_t most_asked_ = 0;
};

TEST_F(SparsePhasesTest, GiveTheNonzerosOfOneRun) {
    const auto expected = at_once();
    EXPECT_GT(expected.size(), 500U);
    for (const std::int64_t phases : {2, 4, 16}) {
        auto executor = this->executor(std::numeric_limits<std::int64_t>::max());
        const auto planned = plan(phases);
        ASSERT_EQ(planned.phases.parts, phases);
        EXPECT_EQ(elements_of(executor.run_phases(step_, planned, indices(), call())), expected) << phases;
        EXPECT_EQ(executor.shortage(), nullptr);
    }
}

TEST_F(SparsePhasesTest, ValuesOfAnotherTypeAreConvertedWhereTheyArrive) {
    const auto expected = at_once();
    auto executor = this->executor(std::numeric_limits<std::int64_t>::max());
    const auto planned = plan(1);
    const auto wide = executor.inspected(step_, planned, indices(), {false, false}, 0);
    std::vector<std::vector<float>> narrow;
    auto own = call();
    own.elements.operands.clear();
    for (const auto& values : values_) {
        narrow.emplace_back(values.begin(), values.end());
        own.elements.operands.emplace_back(narrow.back().data(), &tested_kernels<float>());
    }
    for (auto& factor : step_.factors) factor.element_bytes = sizeof(float);
    const auto run = executor.inspected(step_, planned, indices(), {false, false}, 0);
    ASSERT_TRUE(wide && run);
    EXPECT_TRUE(!comm_ || run->sent_bytes() < wide->sent_bytes());
    auto values = executor.run(*run, own);
    EXPECT_EQ(elements_of({run->take_indices(), std::move(values), run->result_layout()}), expected);
}

TEST_F(SparsePhasesTest, AreDividedWhereTheyDoNotFit) {
    const auto expected = at_once();
    const auto limit = most_asked_ * 2 / 3;
    auto executor = this->executor(limit);
    EXPECT_EQ(executor.inspected(step_, plan(1), indices(), {false, false}, 0), nullptr);
    EXPECT_NE(executor.shortage(), nullptr);
    auto roomy = this->executor(std::numeric_limits<std::int64_t>::max());
    most_asked_ = 0;
    roomy.run_phases(step_, plan(2), indices(), call());
    auto tight = this->executor(most_asked_ - 1);  // of two parts, one is not to fit
    EXPECT_EQ(elements_of(tight.run_phases(step_, plan(2), indices(), call())), expected);
    EXPECT_NE(tight.shortage(), nullptr);
    EXPECT_THROW(this->executor(10).run_phases(step_, plan(2), indices(), call()), OutOfMemory);
}

TEST_F(SparsePhasesTest, AddUpADenseResult) {
    // Sums of the rows of A; all of them lie on rank 0.
    const Layout layout({}, {rows}, Symmetry::none(1), std::vector<SlotMapping>(1));
    step_.factors.pop_back();
    step_.kept = {0};
    step_.output = {layout, {0}};
    std::vector<double> result(rank() == 0 ? rows : 0, 3), sums(rows, 0);
    for (std::size_t n = 0; n < values_[0].size(); ++n) sums[indices_[0][0][n]] += values_[0][n];
    if (comm_) comm_->sum(sums.data(), rows);
    const double beta = 2;
    auto own = call();
    own.elements.operands.pop_back();
    own.elements.conjugated = {false};
    own.beta = &beta;
    own.makes_sparse = false;
    own.result = reinterpret_cast<std::byte*>(result.data());
    auto executor = this->executor(std::numeric_limits<std::int64_t>::max());
    executor.run_phases(step_, plan(4), {spans_of(indices_[0])}, own);
    for (std::int64_t i = 0; i < std::ssize(result); ++i) EXPECT_EQ(result[i], 6 + sums[i]) << i;
}

}  // namespace
}  // namespace arges::test
