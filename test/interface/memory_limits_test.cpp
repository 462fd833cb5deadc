// Random statements under memory limits that cut them into windows or refuse them: the result, all operands, and that no more is taken than
// the limit says, with copies of outputs that are on both sides and of operands of other types.
//   ARGES_FUZZ_COUNT=n   statements (default 120, on several ranks 12, on more than four 4)
//   ARGES_FUZZ_FIRST=s   begin with another seed
#include "arges/arges.hpp"
#include "support/seeds.hpp"
#include "support/tensor_checks.hpp"
#include "support/turned_slots.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace arges::test {
namespace {

/// Sums of plain products, in which each label of the output is in a factor; the output may be a factor, too.
class LimitedStatement {
public:
    LimitedStatement(const World& world, std::uint64_t seed) : world_(world), random_(seed) {
        for (int l = 0; l < 4; ++l) extents_.push_back(random_integer(random_, 2, 12));
        const auto labels = some_labels(1);
        is_aliased_ = random_() % 4 == 0;
        add(labels);
        const auto terms = 1 + random_() % 2;
        for (std::size_t t = 0; t < terms; ++t) {
            auto& term = terms_.emplace_back();
            auto missing = labels;
            if (is_aliased_) {
                term.push_back(0);
                missing.clear();
            }
            const auto count = 1 + random_() % 2;
            for (std::size_t f = 0; f < count; ++f) {
                auto own = some_labels(2);
                for (int l : missing)
                    if (f + 1 == count && std::find(own.begin(), own.end(), l) == own.end()) own.push_back(l);
                std::erase_if(missing, [&](int l) { return std::find(own.begin(), own.end(), l) != own.end(); });
                term.push_back(tensors_.size());
                add(own);
            }
        }
    }

    std::string text() const {
        auto result = letters(0) + " =";
        for (const auto& term : terms_) {
            for (auto f : term) result += " " + letters(f) + (is_float_[f] ? "(float)" : "");
            result += " +";
        }
        for (std::size_t l = 0; l < extents_.size(); ++l)
            result += " " + std::string(1, static_cast<char>('a' + l)) + std::to_string(extents_[l]);
        return result;
    }

    /// How many of the runs were done.
    int run() {
        const auto unlimited = world_.memory_limit();
        int done = 0;
        for (int repeat = 0; repeat < 2; ++repeat) {
            const auto extra = static_cast<std::int64_t>(1) << random_integer(random_, 8, 15);
            world_.set_memory_limit(world_.memory_in_use() + extra * random_integer(random_, 4, 8) / 4);
            const auto limit = world_.memory_limit();
            world_.reset_peak();
            bool is_done = true;
            for (int again = 0; again < 2 && is_done; ++again) {  // the second time another plan may be taken
                try {
                    assign();
                } catch (const OutOfMemory&) {
                    is_done = false;
                }
                if (is_done) apply();
            }
            EXPECT_LE(world_.memory_peak(), limit) << text();
            world_.set_memory_limit(unlimited);
            done += is_done ? 1 : 0;
            for (std::size_t t = 0; t < tensors_.size(); ++t) is_float_[t] ? compare(floats_[t], t) : compare(tensors_[t], t);
            if (::testing::Test::HasFailure()) break;
        }
        return done;
    }

private:
    std::vector<int> some_labels(std::size_t least) {
        std::vector<int> all{0, 1, 2, 3};
        std::shuffle(all.begin(), all.end(), random_);
        all.resize(least + random_() % (4 - least));  // three at most
        return all;
    }
    void add(const std::vector<int>& labels) {
        std::vector<std::int64_t> extents;
        for (int l : labels) extents.push_back(extents_[static_cast<std::size_t>(l)]);
        labels_.push_back(labels);
        dense_.push_back(random_dense(extents, Symmetry::none(static_cast<int>(labels.size())), false, random_));
        is_float_.push_back(!tensors_.empty() && random_() % 5 == 0);
        floats_.emplace_back();
        tensors_.emplace_back();
        if (is_float_.back())
            floats_.back() = with_turned_slots(distributed<float>(world_, dense_.back(), Symmetry::none(dense_order()), "F"), random_());
        else
            tensors_.back() = with_turned_slots(distributed<double>(world_, dense_.back(), Symmetry::none(dense_order()), "T"), random_());
    }
    int dense_order() const { return static_cast<int>(dense_.back().extents.size()); }
    std::string letters(std::size_t t) const {
        std::string text;
        for (int l : labels_[t]) text += static_cast<char>('a' + l);
        return text;
    }
    Expression<double> factor(std::size_t t) const {
        if (is_float_[t]) return Expression<double>(floats_[t][letters(t)]);
        return tensors_[t][letters(t)];
    }

    void assign() {
        Expression<double> right;
        for (const auto& term : terms_) {
            auto product = factor(term[0]);
            for (std::size_t f = 1; f < term.size(); ++f) product = product * factor(term[f]);
            right = right + sum(summed(term), product);
        }
        tensors_[0][letters(0)] = right;
    }
    /// Labels that occur once, which the statement wants named.
    std::string summed(const std::vector<std::size_t>& term) const {
        std::string result;
        for (int l = 0; l < static_cast<int>(extents_.size()); ++l) {
            std::ptrdiff_t times = 0;
            for (auto t : term) times += std::count(labels_[t].begin(), labels_[t].end(), l);
            if (times == 1 && std::count(labels_[0].begin(), labels_[0].end(), l) == 0) result += static_cast<char>('a' + l);
        }
        return result;
    }
    void apply() {
        Dense result(dense_[0].extents);
        for (const auto& term : terms_) {
            std::vector<DenseFactor> factors;
            for (auto t : term) factors.push_back({dense_[t], labels_[t], false});
            const auto product = dense_product(factors, labels_[0], extents_);
            for (std::size_t k = 0; k < result.data.size(); ++k) result.data[k] += product.data[k];
        }
        dense_[0] = result;
    }
    template <class T>
    void compare(const Tensor<T>& tensor, std::size_t t) const {
        const auto found = tensor.gather();
        for (std::size_t k = 0; k < found.size(); ++k) {
            const auto wanted = dense_[t].data[k].real();
            ASSERT_NEAR(static_cast<double>(found[k]), wanted, 1e-10 * (1 + std::abs(wanted))) << "tensor " << t << ": " << text();
        }
    }

    World world_;
    std::mt19937_64 random_;
    std::vector<std::int64_t> extents_;
    bool is_aliased_ = false;
    std::vector<std::vector<std::size_t>> terms_;
    std::vector<std::vector<int>> labels_;  // by tensor; the output is the first
    std::vector<Dense> dense_;
    std::vector<bool> is_float_;
    std::vector<Tensor<double>> tensors_;
    std::vector<Tensor<float>> floats_;
};

TEST(MemoryLimits, HoldForRandomStatementsAndLeaveTheOperands) {
    const World world;
    const auto first = from_environment("ARGES_FUZZ_FIRST", 0);
    const auto given = from_environment("ARGES_FUZZ_COUNT", 0);  // a refusal plans for many numbers of ranks, to give advice
    const auto count = given > 0 ? std::max(1, given / 50) : world.size() > 4 ? 4 : world.size() > 1 ? 12 : 120;
    int done = 0;
    for (int seed = first; seed < first + count; ++seed) {
        LimitedStatement statement(world, static_cast<std::uint64_t>(seed));
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + statement.text());
        done += statement.run();
        if (world.state()->communicator().maximum(::testing::Test::HasFailure() ? 1 : 0) != 0) return;
    }
    EXPECT_GT(done, 0);
}

/// An input of which windows take a part at a time is not moved elsewhere.
TEST(MemoryLimits, InputsThatWindowsCutStayWhereTheyAre) {
    World world;
    const auto unlimited = world.memory_limit();
    Tensor<double> C(world, {12}, "C"), A(world, {12, 9, 10}, "A"), B(world, {9, 10}, "B");
    A.fill_random(1);
    B.fill_random(2);
    const auto a = A.gather(), b = B.gather();
    for (std::int64_t extra = 1000; extra < 8000; extra += 271) {
        world.set_memory_limit(world.memory_in_use() + extra);
        try {
            C["i"] = A["ijk"] * B["jk"];
        } catch (const OutOfMemory&) {
        }
        world.set_memory_limit(unlimited);
        EXPECT_EQ(A.gather(), a) << extra;
        EXPECT_EQ(B.gather(), b) << extra;
    }
}

/// Copies count: of an output that is on both sides, and of operands of other types in sparse statements.
TEST(MemoryLimits, CountCopies) {
    World world;
    const auto unlimited = world.memory_limit();
    const std::int64_t n = 100;
    Tensor<double> A(world, {n, n}, "A"), C(world, {n, n}, "C"), c(world, {n}, "c");
    Tensor<float> F(world, {n, n}, "F");
    A.fill_random(1);
    F.fill(1);
    const auto S = SparseTensor<float>::from_dense(F);
    const auto refused = [&](const std::string& what, const auto& statement) {
        world.set_memory_limit(world.memory_in_use() + n * n / 3 * 8 / world.size());
        world.reset_peak();
        std::string message;
        try {
            statement();
        } catch (const OutOfMemory& error) {
            message = error.what();
        }
        EXPECT_NE(message.find(what), std::string::npos) << message;
        EXPECT_LE(world.memory_peak(), world.memory_limit()) << message;
        world.set_memory_limit(unlimited);
    };
    refused("a copy of C, which is on both sides, takes", [&] { C["ij"] = A["ik"] * C["kj"]; });
    refused("and the limit leaves", [&] { c["i"] = S["ij"] * c["j"]; });
}

}  // namespace
}  // namespace arges::test
