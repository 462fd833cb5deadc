// TAPP's functions against loops over all labels: the properties that TAPP's own test program looks at, and what it leaves out. Each test
// takes ARGES_TAPP_COUNT random products of each element type, 1000 without it.
#include "c/tapp_cases.hpp"
#include "support/seeds.hpp"

#include <type_traits>

namespace arges::tapp::test {
namespace {

using arges::test::for_each_seed;
using arges::test::from_environment;

template <class T>
constexpr TAPP_datatype type_of = std::is_same_v<T, float>                 ? TAPP_F32
                                  : std::is_same_v<T, double>              ? TAPP_F64
                                  : std::is_same_v<T, std::complex<float>> ? TAPP_C32
                                                                           : TAPP_C64;

template <class T>
class Tapp : public testing::Test {
protected:
    static constexpr std::array<TAPP_datatype, 4> types = {type_of<T>, type_of<T>, type_of<T>, type_of<T>};

    /// Calls f(random) for many seeds, until one fails.
    template <class F>
    static void for_seeds(F&& f) {
        static const int count = from_environment("ARGES_TAPP_COUNT", from_environment("ARGES_FUZZ_COUNT", 1000));
        for_each_seed(1, count, [&](std::mt19937_64& engine) {
            if (testing::Test::HasFailure()) return;
            Random random(engine);
            f(random);
        });
    }
    static void expect_like_loops_for(const Wanted& wanted) {
        for_seeds([&](Random& random) { expect_like_loops(random_case(wanted, types, random)); });
    }
};
using ElementTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Tapp, ElementTypes);

TYPED_TEST(Tapp, MultipliesEntryByEntry) { this->expect_like_loops_for({.batch = 4, .left = 0, .right = 0, .summed = 0}); }
TYPED_TEST(Tapp, Contracts) { this->expect_like_loops_for({}); }
TYPED_TEST(Tapp, ContractsEqualExtents) { this->expect_like_loops_for({.equal_extents = true}); }
TYPED_TEST(Tapp, TakesOuterProducts) { this->expect_like_loops_for({.summed = 0}); }
TYPED_TEST(Tapp, ContractsToScalars) { this->expect_like_loops_for({.left = 0, .right = 0, .summed = 4}); }
TYPED_TEST(Tapp, MultipliesByScalars) { this->expect_like_loops_for({.left = 0, .right = 4, .summed = 0}); }
TYPED_TEST(Tapp, ContractsVectors) { this->expect_like_loops_for({.left = 1, .right = 3, .summed = 1}); }
TYPED_TEST(Tapp, ContractsPartsOfTensors) { this->expect_like_loops_for({.gaps = 3}); }
TYPED_TEST(Tapp, ContractsAgainstNegativeStrides) { this->expect_like_loops_for({.negative = 4}); }
TYPED_TEST(Tapp, ContractsPartsAgainstNegativeStrides) { this->expect_like_loops_for({.negative = 4, .gaps = 3}); }
TYPED_TEST(Tapp, ContractsAlongMixedStrides) { this->expect_like_loops_for({.negative = 2}); }
TYPED_TEST(Tapp, ContractsPartsAlongMixedStrides) { this->expect_like_loops_for({.negative = 2, .gaps = 3}); }
TYPED_TEST(Tapp, RepeatsAlongZeroStrides) { this->expect_like_loops_for({.batch = 1, .alone = 1, .zero = 2}); }
TYPED_TEST(Tapp, SumsOverLabelsOfOneOperand) { this->expect_like_loops_for({.alone = 2, .largest = 3}); }
TYPED_TEST(Tapp, TakesDiagonals) { this->expect_like_loops_for({.alone = 1, .repeats = 2, .largest = 3}); }
TYPED_TEST(Tapp, WritesDiagonals) { this->expect_like_loops_for({.repeats_d = 2, .largest = 3}); }
TYPED_TEST(Tapp, MultipliesEntryByEntryBesideFreeLabels) { this->expect_like_loops_for({.batch = 2, .summed = 0}); }
TYPED_TEST(Tapp, MultipliesEntryByEntryBesideSums) { this->expect_like_loops_for({.batch = 2, .left = 0, .right = 0}); }
TYPED_TEST(Tapp, ContractsConjugates) { this->expect_like_loops_for({.batch = 1, .alone = 1, .conjugates = true}); }
TYPED_TEST(Tapp, ContractsTensorsWithoutElements) { this->expect_like_loops_for({.batch = 1, .alone = 1, .smallest = 0, .largest = 2}); }
TYPED_TEST(Tapp, ContractsWhatHasAllOfThis) {
    this->expect_like_loops_for({.batch = 1,
                                 .alone = 1,
                                 .repeats = 1,
                                 .repeats_d = 1,
                                 .smallest = 0,
                                 .largest = 3,
                                 .negative = 1,
                                 .zero = 1,
                                 .gaps = 1,
                                 .conjugates = true});
}

TYPED_TEST(Tapp, DoesNotDependOnTheOrderOfOperands) {
    this->for_seeds([&](Random& random) {
        Case x = random_case({.batch = 1, .alone = 1, .negative = 1}, this->types, random);
        expect_like_loops(x);
        std::swap(x.a, x.b);
        expect_like_loops(x);
    });
}

TYPED_TEST(Tapp, DoesNotDependOnTheOrderOfModes) {
    this->for_seeds([&](Random& random) {
        Case x = random_case({}, this->types, random);
        for (Tensor* tensor : {&x.a, &x.b}) {
            std::ranges::rotate(tensor->labels, tensor->labels.begin() + (tensor->labels.empty() ? 0 : 1));
            std::ranges::rotate(tensor->extents, tensor->extents.begin() + (tensor->extents.empty() ? 0 : 1));
            std::ranges::rotate(tensor->strides, tensor->strides.begin() + (tensor->strides.empty() ? 0 : 1));
        }
        expect_like_loops(x);
    });
}

TYPED_TEST(Tapp, ConvertsElements) {
    this->for_seeds([&](Random& random) {
        std::array<TAPP_datatype, 4> mixed = this->types;
        for (std::size_t i = 0; i < 3; ++i) mixed[i] = static_cast<TAPP_datatype>(random.integer(0, 3));
        Case x =
            random_case({.batch = 1, .left = 1, .alone = 1, .largest = 3, .negative = 1, .zero = 1, .conjugates = true}, mixed, random);
        x.precision = static_cast<TAPP_prectype>(std::array{-1, 0, 1, 4, 5, 6}[static_cast<std::size_t>(random.integer(0, 5))]);
        expect_like_loops(x);
    });
}

TYPED_TEST(Tapp, UpdatesInPlace) {
    this->for_seeds([&](Random& random) {
        Case x = random_case({.batch = 1, .repeats_d = 1, .negative = 1, .conjugates = true}, this->types, random);
        const TAPP_element_op op = x.c.op;
        x.c = x.d;
        x.c.op = op;
        (random.integer(0, 1) == 0 ? x.in_place : x.c_is_d) = true;
        expect_like_loops(x);
    });
}

/// All four tensors in one array, at random places.
TYPED_TEST(Tapp, MayShareMemory) {
    this->for_seeds([&](Random& random) {
        Case x = random_case({.batch = 1, .negative = 1, .gaps = 1, .conjugates = true}, this->types, random);
        const std::size_t unit = bytes_of[x.d.type];
        std::size_t longest = 0;
        for (const Tensor* tensor : {&x.a, &x.b, &x.c, &x.d}) longest = std::max(longest, tensor->memory.size());
        Bytes all(longest + 8 * unit);
        for (std::size_t i = 0; i < all.size(); i += unit) write(x.d.type, all.data() + i, random.number(x.d.type));
        std::array<std::size_t, 4> places{};
        std::array<Tensor*, 4> tensors = {&x.a, &x.b, &x.c, &x.d};
        for (std::size_t i = 0; i < 4; ++i) {
            places[i] = static_cast<std::size_t>(random.integer(0, 8)) * unit;
            std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(places[i]), tensors[i]->memory.size(), tensors[i]->memory.begin());
        }
        const Expected expected = by_loops(x);
        for (const std::int64_t listed : {std::int64_t{0}, largest_listed}) {
            SCOPED_TRACE(text_of(x));
            set_listed_multiplications(listed);
            const Plan plan(x);
            const Executor executor;
            Bytes shared = all;
            unsigned char alpha[16], beta[16];
            write(x.d.type, alpha, x.alpha);
            write(x.d.type, beta, x.beta);
            const auto at = [&](std::size_t i) { return shared.data() + places[i] + static_cast<std::size_t>(tensors[i]->start) * unit; };
            ASSERT_EQ(TAPP_execute_product(plan.value, executor.value, nullptr, alpha, at(0), at(1), beta, at(2), at(3)), 0);
            Tensor d = x.d;
            std::copy_n(shared.begin() + static_cast<std::ptrdiff_t>(places[3]), d.memory.size(), d.memory.begin());
            expect_near(x, d, expected);
        }
    });
}

/// What is multiplied with zero is not read: it may be NaN, or have no address.
TYPED_TEST(Tapp, DoesNotReadWhatIsMultipliedWithZero) {
    const auto spoil = [](Tensor& t) {
        const long double nan = std::numeric_limits<long double>::quiet_NaN();
        for (std::size_t i = 0; i < t.memory.size(); i += bytes_of[t.type]) write(t.type, t.memory.data() + i, Wide(nan, nan));
    };
    this->for_seeds([&](Random& random) {
        Case x = random_case({.batch = 1, .negative = 1, .conjugates = true}, this->types, random);
        const bool without_product = random.integer(0, 1) == 0, without_c = !without_product || random.integer(0, 1) == 0;
        if (without_product) x.alpha = 0, spoil(x.a), spoil(x.b);
        if (without_c) x.beta = 0, spoil(x.c);
        expect_like_loops(x);
    });
}

TYPED_TEST(Tapp, ExecutesBatches) {
    this->for_seeds([&](Random& random) {
        const Case x = random_case({.batch = 1, .largest = 3}, this->types, random);
        Case y = x;
        for (Tensor* tensor : {&y.a, &y.b, &y.c, &y.d}) std::ranges::rotate(tensor->memory, tensor->memory.begin() + 16);
        y.in_place = y.d.strides == y.c.strides;
        const Plan plan(x);
        const Executor executor;
        Tensor first = x.d, second = y.d;
        unsigned char alpha[16], beta[16];
        write(x.d.type, alpha, x.alpha);
        write(x.d.type, beta, x.beta);
        const void *a[] = {x.a.at(0), y.a.at(0)}, *b[] = {x.b.at(0), y.b.at(0)};
        const void* c[] = {x.c.at(0), y.in_place ? TAPP_IN_PLACE : y.c.at(0)};
        void* d[] = {first.at(0), second.at(0)};
        TAPP_status status = -1;
        ASSERT_EQ(TAPP_execute_batched_product(plan.value, executor.value, &status, 2, alpha, a, b, beta, c, d), 0);
        expect_near(x, first, by_loops(x));
        expect_near(y, second, by_loops(y));
    });
}

/// Sizes at which the kernels copy, thread and call BLAS.
TYPED_TEST(Tapp, ContractsLargeTensors) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 engine(seed);
        Random random(engine);
        expect_like_loops(random_case({.batch = 1,
                                       .left = 2,
                                       .right = 1,
                                       .summed = 1,
                                       .alone = 1,
                                       .repeats = 1,
                                       .smallest = 6,
                                       .largest = 9,
                                       .negative = 1,
                                       .gaps = 1,
                                       .conjugates = true},
                                      this->types, random));
    }
}

TYPED_TEST(Tapp, RefusesDifferentExtents) {
    this->for_seeds([&](Random& random) {
        Case x = random_case({.batch = 1, .repeats = 1, .repeats_d = 1}, this->types, random);
        std::array<Tensor*, 3> tensors = {&x.a, &x.b, &x.d};
        Tensor& wrong = *tensors[static_cast<std::size_t>(random.integer(0, 2))];
        if (wrong.labels.empty()) return;
        wrong.extents[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(wrong.extents.size()) - 1))] += 1;
        const Plan plan(x);
        EXPECT_TRUE((plan.error >= 1 && plan.error <= 3) || (plan.error >= 9 && plan.error <= 11)) << plan.error;
        EXPECT_EQ(execute(plan, x, x.d), plan.error);
    });
}

TYPED_TEST(Tapp, RefusesCUnlikeD) {
    this->for_seeds([&](Random& random) {
        Case x = random_case({.right = 3, .smallest = 2}, this->types, random);
        const std::size_t modes = x.c.labels.size();
        if (modes == 0) return;
        TAPP_error expected = 5;
        if (random.integer(0, 2) == 0) {
            for (auto* numbers : {&x.c.labels, &x.c.extents, &x.c.strides}) numbers->pop_back();
        } else if (random.integer(0, 1) == 0) {
            x.c.labels.back() += 1000;
            expected = 6;
        } else {
            x.c.extents.back() += 1;
            expected = 7;
        }
        const Plan plan(x);
        EXPECT_EQ(plan.error, expected);
        EXPECT_EQ(execute(plan, x, x.d), expected);
    });
}

TYPED_TEST(Tapp, RefusesAResultThatOverlapsItself) {
    this->for_seeds([&](Random& random) {
        Case x = random_case({.left = 2, .right = 2, .smallest = 2}, this->types, random);
        if (x.d.labels.size() < 2) return;
        x.d.strides[0] = random.integer(0, 2) == 0 ? 0 : x.d.strides[1] * (random.integer(0, 1) == 0 ? 1 : -1);
        const Plan plan(x);
        EXPECT_EQ(plan.error, 8);
        EXPECT_EQ(execute(plan, x, x.d), 8);
    });
}

}  // namespace
}  // namespace arges::tapp::test
