// Sums that threads share in decompositions of dense and sparse tensors.
#include "decompose/tucker/dense_unfolding.hpp"

#include "arges/arges.hpp"
#include "support/threads.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace arges::test {
namespace {

using decompose::Gram;
using decompose::MiddleMode;

/// By the definition, its lower triangle.
template <class T>
Gram naive_gram(const std::vector<T>& block, const MiddleMode& at) {
    Gram gram(static_cast<std::size_t>(at.length * at.length), 0);
    for (std::int64_t k = 0; k < at.behind; ++k)
        for (std::int64_t c = 0; c < at.length; ++c)
            for (std::int64_t r = c; r < at.length; ++r)
                for (std::int64_t b = 0; b < at.before; ++b)
                    gram[static_cast<std::size_t>(r + c * at.length)] +=
                        static_cast<double>(block[static_cast<std::size_t>(b + at.before * (r + at.length * k))]) *
                        static_cast<double>(block[static_cast<std::size_t>(b + at.before * (c + at.length * k))]);
    return gram;
}

template <class T>
std::vector<T> waves(std::int64_t count) {
    std::vector<T> result;
    for (std::int64_t i = 0; i < count; ++i) result.push_back(static_cast<T>(std::sin(static_cast<double>(i * i % 1009))));
    return result;
}

template <class T>
class GramThreads : public testing::Test {};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(GramThreads, ElementTypes);

/// Panels of whole columns, of rows of long runs, and put together from short runs; several of each.
std::vector<std::vector<std::int64_t>> blocks() { return {{5, 20000, 1}, {20000, 5, 1}, {2000, 5, 9}, {9, 5, 2000}}; }

TYPED_TEST(GramThreads, AddTheSamePanels) {
    using T = TypeParam;
    for (const auto& sizes : blocks())
        for (int mode = 0; mode < 3; ++mode) {
            const MiddleMode at(sizes, mode);
            if (at.length > 100) continue;
            SCOPED_TRACE(std::to_string(at.before) + " x " + std::to_string(at.length) + " x " + std::to_string(at.behind));
            const auto block = waves<T>(at.before * at.length * at.behind);
            const auto expected = naive_gram(block, at);
            const double tolerance = (sizeof(T) == 4 ? 1e-5 : 1e-13) * static_cast<double>(at.before * at.behind);
            for (int threads : thread_numbers) {
                const Threads scope(threads);
                const auto gram = decompose::gram_of_block(block.data(), at);
                EXPECT_EQ(decompose::gram_of_block(block.data(), at), gram) << threads;
                for (std::int64_t c = 0; c < at.length; ++c)
                    for (std::int64_t r = c; r < at.length; ++r) {
                        const auto i = static_cast<std::size_t>(r + c * at.length);
                        ASSERT_NEAR(gram[i], expected[i], tolerance) << threads;
                    }
            }
        }
}

/// Runs whose distance is more than BLAS takes are copied, and give the same bits.
TYPED_TEST(GramThreads, CopyRunsThatAreTooFarApartForBlas) {
    using T = TypeParam;
    for (const auto& sizes : {std::vector<std::int64_t>{20000, 5, 1}, {5000, 4, 3}}) {
        const MiddleMode at(sizes, 1);
        const auto block = waves<T>(at.before * at.length * at.behind);
        for (int threads : thread_numbers) {
            const Threads scope(threads);
            EXPECT_EQ(decompose::gram_of_block(block.data(), at, at.before - 1), decompose::gram_of_block(block.data(), at));
        }
    }
}

TEST(DecompositionThreads, FitAlike) {
    const World world;
    if (world.size() > 2) GTEST_SKIP() << "two ranks with four threads each are enough for any machine";
    Tensor<double> X(world, {30, 24, 20}, "X");
    X.fill_random(7, 0, 1);
    const auto nonzeros = SparseTensor<double>::from_dense(X, 0.8);
    for (bool sparse : {false, true})
        for (auto algorithm : {CpAlgorithm::als, CpAlgorithm::nonnegative, CpAlgorithm::opt}) {
            double one = 0;
            for (int threads : thread_numbers) {
                const Threads scope(threads);
                CpOptions options;
                options.rank = 4;
                options.algorithm = algorithm;
                options.max_iterations = 4;
                options.tolerance = 0;
                const auto run = [&] { return sparse ? cp_decompose(nonzeros, options) : cp_decompose(X, options); };
                const auto first = run(), again = run();
                EXPECT_EQ(first.fit, again.fit);
                for (int m = 0; m < 3; ++m) EXPECT_EQ(first.model.factor(m), again.model.factor(m));
                if (threads == 1) one = first.fit;
                EXPECT_NEAR(first.fit, one, 1e-10) << threads << " threads, sparse " << sparse;
            }
        }
    for (bool sparse : {false, true}) {
        double one = 0;
        for (int threads : thread_numbers) {
            const Threads scope(threads);
            TuckerOptions options;
            options.ranks = {3, 4, 5};
            options.max_iterations = 3;
            const auto run = [&] { return sparse ? tucker_decompose(nonzeros, options) : tucker_decompose(X, options); };
            const auto first = run(), again = run();
            EXPECT_EQ(first.fit, again.fit);
            if (threads == 1) one = first.fit;
            EXPECT_NEAR(first.fit, one, 1e-10) << threads << " threads, sparse " << sparse;
        }
    }
}

}  // namespace
}  // namespace arges::test
