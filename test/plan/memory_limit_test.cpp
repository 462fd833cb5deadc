// Memory is never refused that would do: random products on up to a million ranks, down to the smallest limit.
#include "plan/product/step_memory.hpp"
#include "support/contractions.hpp"
#include "support/needed_bytes.hpp"
#include "support/product_text.hpp"
#include "support/seeds.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace arges::test {
namespace {

std::int64_t pick(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// A product of small primes.
std::int64_t random_ranks(std::mt19937_64& random) {
    static const std::int64_t primes[] = {2, 2, 2, 2, 3, 3, 5, 7};
    const auto most = static_cast<std::int64_t>(std::pow(10.0, static_cast<double>(pick(random, 0, 600)) / 100));
    std::int64_t ranks = 1;
    for (;;) {
        const auto next = ranks * primes[pick(random, 0, 7)];
        if (next > most) return ranks;
        ranks = next;
    }
}

/// A case of coupled cluster, or two to four tensors over random labels, each of which two of them have or one and the output.
Product random_product(std::mt19937_64& random, std::string& name) {
    const auto ranks = random_ranks(random);
    Product result;
    if (pick(random, 0, 1) == 0) {
        const auto cases = contraction_cases(pick(random, 4, 120), pick(random, 2, 40), pick(random, 2, 40));
        const auto chosen = std::next(cases.begin(), pick(random, 0, static_cast<std::int64_t>(cases.size()) - 1));
        name = chosen->first;
        result = pairwise_product(chosen->second, unfold(Torus({ranks})));
        result.output_is_free = pick(random, 0, 1) == 0;
    } else {
        const auto tensors = pick(random, 2, 4), labels = pick(random, 2, 6);
        std::vector<std::string> operands(static_cast<std::size_t>(tensors) + 1);
        std::map<char, std::int64_t> extents;
        for (char l = 'a'; l < 'a' + labels; ++l) {
            extents[l] = pick(random, 1, 4) * pick(random, 1, 60);
            const auto first = pick(random, 0, tensors - 1);
            operands[static_cast<std::size_t>(first)] += l;
            operands[static_cast<std::size_t>((first + pick(random, 1, tensors)) % (tensors + 1))] += l;
        }
        for (const auto& letters : operands) name += (name.empty() ? "" : &letters == &operands.back() ? "->" : ",") + letters;
        result = product_of(name, extents, ranks);
        result.output_is_free = pick(random, 0, 1) == 0;
    }
    for (auto& factor : result.factors) factor.is_lasting = pick(random, 0, 1) == 0;
    for (std::size_t l = 0; l < result.label_extents.size(); ++l)
        name += " " + result.label_names[l] + "=" + std::to_string(result.label_extents[l]);
    name += " on " + std::to_string(ranks);
    return result;
}

struct Outcome {
    bool fits = false;
    double seconds = 0;
    std::int64_t bytes = 0;  // taken, or needed
};

Outcome plan_within(const Product& spec, std::int64_t limit, PlanOptions options = {}) {
    options.memory_limit = limit;
    try {
        const auto plan = plan_product(spec, options);
        return {true, plan.seconds(spec.element_bytes, options), memory_bound(plan, spec, options)};
    } catch (const OutOfMemory& error) {
        return {false, 0, needed_bytes(error)};
    }
}

/// More memory never takes longer; what an error asks for is enough; and it is no more than the smallest windows take: padded arrays of an
/// element, and messages of one to and from each rank where a single number is summed over all of them.
TEST(MemoryLimit, IsUsedToTheLastByte) {
    constexpr std::int64_t padded_elements = std::int64_t{64} << 10;
    int cut = 0;
    const int count = from_environment("ARGES_FUZZ_COUNT", 50);
    const auto check = [&](std::mt19937_64& random) {
        std::string name;
        const auto spec = random_product(random, name);
        SCOPED_TRACE(name + (spec.output_is_free ? ", free" : ""));
        const auto whole = plan_within(spec, PlanOptions::unlimited);
        ASSERT_TRUE(whole.fits);
        const auto refused = plan_within(spec, 0);
        ASSERT_FALSE(refused.fits);
        EXPECT_LE(refused.bytes, padded_elements + 2 * spec.output.layout.grid().ranks() * spec.element_bytes);
        double faster = whole.seconds;
        for (auto limit = whole.bytes; limit > refused.bytes; limit = limit / pick(random, 2, 9)) {
            const auto tight = plan_within(spec, limit);
            EXPECT_TRUE(tight.fits) << limit << " of at least " << refused.bytes;
            EXPECT_LE(tight.bytes, limit);
            EXPECT_GE(tight.seconds, faster * (1 - 1e-6)) << limit;
            faster = std::max(faster, tight.seconds);
            ++cut;
        }
        const auto least = plan_within(spec, refused.bytes);
        EXPECT_TRUE(least.fits) << "at least " << refused.bytes << " but then " << least.bytes;
        EXPECT_GE(least.seconds, faster * (1 - 1e-6)) << refused.bytes;
    };
    for_each_seed(0, count, check);
    for_each_seed(20911, 1, check);  // messages, which the quick estimates do not see, take most of the time
    if (from_environment("ARGES_FUZZ_SEED", -1) < 0) {
        EXPECT_GT(cut, count);
    }
}

/// Products of two tensors on tori of up to five dimensions and 4,096 ranks: time never rises when the limit does.
TEST(MemoryLimit, NeverMakesAPlanFasterOnLinks) {
    int cut = 0;
    const int count = from_environment("ARGES_FUZZ_COUNT", 12);
    for_each_seed(0, count, [&](std::mt19937_64& random) {
        const std::vector<Torus> tori{Torus({16, 16, 16}), Torus({64}),      Torus({16, 4}),        Torus({8, 8, 8}),
                                      Torus({4, 4, 4, 4}), Torus({6, 4, 2}), Torus({4, 4, 2, 2, 2})};
        const auto& torus = tori[random() % tori.size()];
        static const std::vector<std::string> names{"mm", "ladder", "ring", "sy", "t3t2", "spin adapted"};
        const auto& name = names[random() % names.size()];
        const auto cases = contraction_cases(pick(random, 4, 60), pick(random, 2, 20), pick(random, 16, name == "mm" ? 4096 : 64));
        auto spec = pairwise_product(cases.at(name), unfold(torus));
        spec.output_is_free = random() % 2 == 0;
        SCOPED_TRACE(name + " on " + torus.to_string());
        PlanOptions options;
        const auto& machine = options.machine;
        options.links = std::make_shared<const Links>(Links::of_torus(torus, {}, {machine.bytes_per_second, machine.message_seconds}));
        auto looser = plan_within(spec, PlanOptions::unlimited, options);
        ASSERT_TRUE(looser.fits);
        for (auto limit = looser.bytes - 1; limit > 0; limit = limit / 10 * pick(random, 3, 9)) {
            const auto tight = plan_within(spec, limit, options);
            if (!tight.fits) break;
            EXPECT_GE(tight.seconds, looser.seconds * (1 - 1e-6)) << limit;
            looser = tight;
            ++cut;
        }
    });
    if (from_environment("ARGES_FUZZ_SEED", -1) < 0) {
        EXPECT_GT(cut, count);
    }
}

}  // namespace
}  // namespace arges::test
