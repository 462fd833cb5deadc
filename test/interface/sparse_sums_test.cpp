// Sums of sparse tensors that stand alone in their terms, whose nonzeros come in any order, against maps. Nonzeros that are in order are
// merged, tensors by themselves are taken as they are: neither may show.
//   ARGES_FUZZ_COUNT=n   statements (default 1000)
//   ARGES_FUZZ_FIRST=s   begin with another seed
#include "arges/arges.hpp"
#include "support/seeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace arges {
namespace {

using test::for_each_seed, test::from_environment;
using Place = std::vector<std::int64_t>;
using Elements = std::map<Place, std::int64_t>;

Elements elements_of(const SparseTensor<std::int64_t>& tensor, bool last_index_fastest) {
    const auto all = tensor.gather(last_index_fastest);
    Elements result;
    std::vector<Place> order;
    for (std::size_t i = 0; i < all.values.size(); ++i) {
        Place x;
        for (const auto& mode : all.indices) x.push_back(mode[i]);
        result[x] = all.values[i];
        order.push_back(last_index_fastest ? x : Place(x.rbegin(), x.rend()));
    }
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(result.size(), order.size());
    return result;
}

class Sums {
public:
    Sums(World& world, std::mt19937_64& random) : world_(world), random_(random) {
        const auto length = pick({0, 1, 3, 7, 12});
        lengths_.assign(static_cast<std::size_t>(pick({1, 2, 2, 3})), length);
        for (int t = 0; t < 3; ++t) add_tensor();
    }

    void run() {
        for (int statement = 0; statement < 5; ++statement) {
            const auto to = static_cast<std::size_t>(pick({0, 1, 2}));
            const bool adds = pick({0, 1}) == 1;
            auto expected = adds ? elements_[to] : Elements();
            Expression<std::int64_t> right;
            for (std::int64_t term = 0, terms = pick({1, 1, 2, 2, 4}); term < terms; ++term) {
                const auto from = static_cast<std::size_t>(pick({0, 1, 2}));
                const auto factor = pick({1, 1, -2, 0});
                std::vector<std::size_t> place(lengths_.size());
                std::iota(place.begin(), place.end(), std::size_t{0});
                if (pick({0, 0, 1}) == 1) std::shuffle(place.begin(), place.end(), random_);
                std::string labels;
                for (auto p : place) labels += "ijk"[p];
                for (const auto& [x, value] : elements_[from]) {
                    Place y(x.size());
                    for (std::size_t m = 0; m < x.size(); ++m) y[place[m]] = x[m];
                    expected[y] += factor * value;
                }
                const auto alone = factor == 1 ? tensors_[from][Labels(labels)] : factor * tensors_[from][Labels(labels)];
                right = term == 0 ? Expression<std::int64_t>(alone) : right + alone;
            }
            const Labels all(std::string("ijk").substr(0, lengths_.size()));
            if (adds)
                tensors_[to][all] += right;
            else
                tensors_[to][all] = right;
            elements_[to] = expected;
            for (std::size_t t = 0; t < tensors_.size(); ++t) {
                ASSERT_EQ(elements_of(tensors_[t], t % 2 == 0), elements_[t]) << "statement " << statement << ", tensor " << t;
                ASSERT_EQ(tensors_[t].nonzeros(), static_cast<std::int64_t>(elements_[t].size()));
            }
        }
    }

private:
    std::int64_t pick(std::initializer_list<std::int64_t> choices) { return choices.begin()[random_() % choices.size()]; }

    /// Nonzeros on any ranks, on each in an order of their own: ascending, descending, any, by the first index or the last.
    void add_tensor() {
        auto& elements = elements_.emplace_back();
        std::vector<Place> mine;
        for (std::int64_t k = 0, count = pick({0, 3, 40}); k < count && lengths_[0] > 0; ++k) {
            Place x;
            for (auto n : lengths_) x.push_back(static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)));
            if (elements.emplace(x, k - 5).second && static_cast<std::int64_t>(random_() % 97) % world_.size() == world_.rank())
                mine.push_back(x);
        }
        const auto order = pick({0, 1, 2, 3});
        if (order == 0) std::sort(mine.begin(), mine.end());
        if (order == 1) std::sort(mine.rbegin(), mine.rend());
        if (order == 2)
            std::sort(mine.begin(), mine.end(), [](const Place& x, const Place& y) {
                return std::lexicographical_compare(x.rbegin(), x.rend(), y.rbegin(), y.rend());
            });
        SparseEntries<std::int64_t> entries;
        entries.indices.resize(lengths_.size());
        for (const auto& x : mine) {
            for (std::size_t m = 0; m < x.size(); ++m) entries.indices[m].push_back(x[m]);
            entries.values.push_back(elements.at(x));
        }
        tensors_.push_back(SparseTensor<std::int64_t>::from_entries(world_, lengths_, entries, Duplicates::refuse));
    }

    World& world_;
    std::mt19937_64& random_;
    Place lengths_;
    std::vector<SparseTensor<std::int64_t>> tensors_;
    std::vector<Elements> elements_;
};

TEST(SparseSums, OfTensorsInAnyOrderEqualMaps) {
    World world;
    for_each_seed(60000, from_environment("ARGES_FUZZ_COUNT", 1000) / 5, [&](std::mt19937_64& random) { Sums(world, random).run(); });
}

}  // namespace
}  // namespace arges
