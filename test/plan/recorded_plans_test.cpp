// Plans of many products as they once were: none may become slower, by the model. test/plan/recorded_plans.txt has them; after a change of
// the model itself, or to keep what became better, RENEW=1 writes it anew.
#include "plan/report/plan_report.hpp"
#include "support/contractions.hpp"
#include "support/product_text.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace arges::test {
namespace {

constexpr const char* records = "test/plan/recorded_plans.txt";

/// Seconds and bytes of a plan, in the first run and from then on, with tensors where the first one leaves them.
struct Record {
    double first_seconds = 0, later_seconds = 0;
    std::int64_t first_bytes = 0, later_bytes = 0;
};

Record record_of(Product spec, const PlanOptions& options) {
    Record record;
    auto plan = plan_product(spec, options);
    record.first_seconds = plan.seconds(spec.element_bytes, options);
    record.first_bytes = plan_report(plan, spec, options).bytes;
    spec = settled(plan, spec);
    plan = plan_product(spec, options);
    record.later_seconds = plan.seconds(spec.element_bytes, options);
    record.later_bytes = plan_report(plan, spec, options).bytes;
    return record;
}

/// Products by name: pairs with symmetry, and plain ones of two to five factors.
std::map<std::string, Product> products(std::int64_t ranks) {
    std::map<std::string, Product> result;
    for (const auto& [name, text] : contraction_cases(40, 10, 16)) result[name] = pairwise_product(text, unfold(Torus({ranks})));
    const std::map<char, std::int64_t> extents{{'a', 24}, {'b', 20}, {'c', 20}, {'d', 20}, {'e', 20},
                                               {'i', 96}, {'j', 90}, {'k', 64}, {'l', 30}, {'m', 12}};
    for (const char* text : {"ij,jk->ik", "ij,ij->ij", "ij,j->i", "ijk,ja,ka->ia", "ij,jk,kl->il", "ij,jk,kl,lm->im",
                             "ijklm,ja,ka,la,ma->ia", "ijlm,jb,lc,md->ibcd"})
        result[text] = product_of(text, extents, ranks);
    return result;
}

std::map<std::string, Record> plans() {
    std::map<std::string, Record> result;
    for (const std::int64_t ranks : {1, 2, 4, 6, 7, 8, 13, 64, 512})
        for (const auto& [name, spec] : products(ranks))
            for (const std::int64_t runs : {1, 16}) {
                PlanOptions options;
                options.grids = grids_for_products(Torus({ranks}));
                options.expected_runs = runs;
                auto lasting = spec;
                for (auto& factor : lasting.factors) factor.is_lasting = true;
                lasting.output_is_free = true;
                auto key = name + " on " + std::to_string(ranks) + " for " + std::to_string(runs);
                std::replace(key.begin(), key.end(), ' ', '_');
                result[key] = record_of(lasting, options);
            }
    return result;
}

TEST(RecordedPlans, DoNotBecomeSlower) {
    const auto now = plans();
    if (std::getenv("RENEW") != nullptr) {
        std::ofstream file(records);
        file << "# product on ranks for expected runs; seconds and bytes of the busiest rank in the first run, and in the second\n";
        file.precision(4);
        for (const auto& [name, r] : now)
            file << name << ' ' << r.first_seconds << ' ' << r.first_bytes << ' ' << r.later_seconds << ' ' << r.later_bytes << '\n';
    }
    std::ifstream file(records);
    std::size_t compared = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        std::string name;
        Record before;
        ASSERT_TRUE(words >> name >> before.first_seconds >> before.first_bytes >> before.later_seconds >> before.later_bytes) << line;
        ASSERT_TRUE(now.contains(name)) << name;
        const auto& after = now.at(name);
        EXPECT_LE(after.first_seconds + 15 * after.later_seconds, (before.first_seconds + 15 * before.later_seconds) * 1.01)
            << name << ": " << after.first_bytes << ", then " << after.later_bytes << " bytes, were " << before.first_bytes << ", then "
            << before.later_bytes;
        if (name.ends_with("_for_1")) {
            EXPECT_LE(after.first_seconds, before.first_seconds * 1.01)
                << name << ": " << after.first_bytes << " bytes, were " << before.first_bytes;
        }
        ++compared;
    }
    EXPECT_EQ(compared, now.size());
}

}  // namespace
}  // namespace arges::test
