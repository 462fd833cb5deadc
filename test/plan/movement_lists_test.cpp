#include "plan/movement/lists.hpp"

#include "support/movements.hpp"
#include "support/shapes.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>

namespace arges::test {
namespace {

using Arrays = std::vector<std::vector<Value>>;

/// Calls f(entry of each group) for every element of a message, first component fastest.
template <class F>
void for_each_entry(const MovementMessage& message, F&& f) {
    std::vector<std::size_t> digit(message.groups.size(), 0);
    for (std::int64_t i = 0; i < message.count; ++i) {
        f(digit);
        for (std::size_t g = 0; g < digit.size() && static_cast<std::int64_t>(++digit[g]) == message.groups[g]->count(); ++g) digit[g] = 0;
    }
}

/// All ranks' lists, checked against each other.
class AllRanks {
public:
    explicit AllRanks(const Movement& spec) : spec_(spec) {
        for (std::int64_t r = 0; r < spec.ranks(); ++r) lists_.emplace_back(spec, r);
    }

    /// What one rank sends another is what the other expects, pair by pair and in all.
    void check_pairs() const {
        std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sent, received;
        Volume total;
        for (std::size_t r = 0; r < lists_.size(); ++r) {
            const auto rank = static_cast<std::int64_t>(r);
            for (const auto& m : lists_[r].sends()) {
                EXPECT_NE(m.peer, rank);
                EXPECT_GT(m.count, 0);
                EXPECT_TRUE(sent.emplace(std::pair(rank, m.peer), m.count).second) << "one message for each peer";
            }
            for (const auto& m : lists_[r].receives()) {
                if (m.peer == rank) continue;
                EXPECT_TRUE(received.emplace(std::pair(m.peer, rank), m.count).second);
            }
            total.sent += lists_[r].volume().sent;
            total.received += lists_[r].volume().received;
        }
        EXPECT_EQ(sent, received);
        EXPECT_EQ(total.sent, total.received);
    }

    /// Plays the messages and returns the targets of all ranks.
    Arrays play(const Arrays& source) const {
        Arrays target, buffer;
        std::map<std::pair<std::int64_t, std::int64_t>, std::deque<Value>> wire;
        for (std::size_t r = 0; r < lists_.size(); ++r) {
            const auto rank = static_cast<std::int64_t>(r);
            target.emplace_back(static_cast<std::size_t>(spec_.to.local_size(rank)), 0);
            for (const auto& m : lists_[r].sends())
                for_each_entry(m, [&](const auto& digit) { wire[{rank, m.peer}].push_back(source[r][offset(m, digit, true)]); });
        }
        for (std::size_t r = 0; r < lists_.size(); ++r)
            for (const auto& m : lists_[r].receives())
                for_each_entry(m, [&](const auto& digit) {
                    const auto rank = static_cast<std::int64_t>(r);
                    Value value;
                    if (m.peer == rank) {
                        value = source[r][offset(m, digit, true)];
                    } else {
                        auto& queue = wire[{m.peer, rank}];
                        value = queue.front();
                        queue.pop_front();
                    }
                    const auto bits = factor(m, digit);
                    if ((bits & 2) != 0) value = std::conj(value);
                    target[r][offset(m, digit, false)] += (bits & 1) != 0 ? -value : value;
                });
        for (const auto& [pair, queue] : wire) EXPECT_TRUE(queue.empty());
        return target;
    }

private:
    static std::size_t offset(const MovementMessage& m, const std::vector<std::size_t>& digit, bool from) {
        std::int64_t sum = 0;
        for (std::size_t g = 0; g < digit.size(); ++g) {
            const auto& group = *m.groups[g];
            if (const auto& p = group.progression)
                sum += (from ? p->from : p->to) + static_cast<std::int64_t>(digit[g]) * (from ? p->from_stride : p->to_stride);
            else
                sum += (from ? group.from : group.to)[digit[g]];
        }
        return static_cast<std::size_t>(sum);
    }
    static int factor(const MovementMessage& m, const std::vector<std::size_t>& digit) {
        int bits = 0;
        for (std::size_t g = 0; g < digit.size(); ++g) {
            const auto& group = *m.groups[g];
            if (group.progression) bits ^= group.progression->factor;
            if (!group.factor.empty()) bits ^= group.factor[digit[g]];
        }
        return bits;
    }

    const Movement& spec_;
    std::deque<MovementLists> lists_;
};

const std::vector<RankGrid>& grids() {
    static const std::vector<RankGrid> all{{{2}}, {{3}}, {{2, 2}}, {{5}}, {{3, 2}}, {{2, 2, 2}}, {{2, 3, 2}}};
    return all;
}

/// Both sides agree without keys, and the elements arrive where the definition of a movement wants them.
TEST(MovementLists, MoveEveryElementToItsPlace) {
    int moved = 0;
    for (std::uint64_t seed = 0; seed < 6000; ++seed) {
        const auto& grid = grids()[seed % grids().size()];
        const auto m = random_movement(seed, grid, seed % 3 == 0 ? grids()[seed / 3 % grids().size()] : grid);
        if (!m) continue;
        ++moved;
        SCOPED_TRACE("seed " + std::to_string(seed) + ": " + m->text);
        const AllRanks ranks(m->spec);
        ranks.check_pairs();
        Arrays source;
        for (std::int64_t r = 0; r < m->spec.ranks(); ++r) source.push_back(local_array(m->spec.from, m->source, r));
        const auto target = ranks.play(source);
        std::set<int> labels(m->spec.to_labels.begin(), m->spec.to_labels.end());
        if (labels.size() < m->spec.to_labels.size()) continue;  // diagonals: see the tests of statements
        for (std::size_t r = 0; r < target.size(); ++r)
            for_each_element(m->spec.to, static_cast<std::int64_t>(r), [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
                EXPECT_EQ(target[r][static_cast<std::size_t>(offset)], *moved_value(*m, x));
            });
        if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(moved, 500);
}

/// Plays a movement of some elements; both sides' lists must agree, and the elements arrive.
void expect_moved(const Movement& spec, const Dense& source, const Dense& expected) {
    const AllRanks ranks(spec);
    ranks.check_pairs();
    Arrays here, there;
    for (std::int64_t r = 0; r < spec.ranks(); ++r) {
        here.push_back(local_array(spec.from, source, r));
        there.push_back(local_array(spec.to, expected, r));
    }
    EXPECT_EQ(ranks.play(here), there);
}

/// From every tree to the same one and to none and back: moving, unpacking, packing, gathering.
TEST(MovementLists, AgreeForEveryTree) {
    std::mt19937_64 random(5);
    for (const auto& shape : shapes()) {
        const auto tree = shape.symmetry(), none = Symmetry::none(tree.order());
        const auto values = random_dense(shape.extents, tree, true, random);
        for (const auto& [from, to] : {std::pair(tree, tree), std::pair(tree, none), std::pair(none, tree)})
            for (const auto& grid : grids()) {
                SCOPED_TRACE(shape.text() + ": " + from.to_string() + " to " + to.to_string());
                const auto source_layout = random_layout(grid, shape.extents, from, random, random() % 2 == 0);
                const auto spec = copy_between(source_layout, random_layout(random() % 3 == 0 ? grids()[random() % grids().size()] : grid,
                                                                            shape.extents, to, random, random() % 2 == 0));
                expect_moved(spec, values, values);
            }
    }
}

/// Into a range of every tree, from the same tree and from none: both sides agree on which elements there are.
TEST(MovementLists, AgreeForSlices) {
    std::mt19937_64 random(8);
    for (const auto& shape : shapes()) {
        constexpr std::size_t most_elements = 300;  // each is looked at for every pair of ranks and layouts
        if (Dense(shape.extents).data.size() > most_elements) continue;
        const auto tree = shape.symmetry(), none = Symmetry::none(tree.order());
        std::vector<std::int64_t> begin, length;
        for (auto n : shape.extents) {
            begin.push_back(n > 2 ? 1 : 0);
            length.push_back(n - begin.back());
        }
        const auto values = random_dense(length, tree, true, random);
        Dense whole(shape.extents);
        for (std::size_t k = 0; k < values.data.size(); ++k) {
            auto x = values.index(k);
            for (std::size_t d = 0; d < x.size(); ++d) x[d] += begin[d];
            whole.at(x) = values.data[k];
        }
        for (const auto& from : {tree, none})
            for (const auto& grid : grids()) {
                SCOPED_TRACE(shape.text() + ": a slice of " + from.to_string());
                const auto part = random_layout(grid, length, from, random, random() % 2 == 0);
                auto spec = copy_between(part, random_layout(grid, shape.extents, tree, random, random() % 2 == 0));
                spec.to_offset = begin;
                expect_moved(spec, values, whole);
            }
    }
}

/// Nothing moves between equal layouts; a gather of one slot over p places receives (p-1)/p of the tensor.
TEST(MovementLists, CountWhatMoves) {
    const RankGrid grid{{2, 2}};
    const auto tree = Symmetry::parse("abij", "antisym(a,b) antisym(i,j)");
    const std::vector<std::int64_t> n{6, 6, 4, 4};
    const Layout spread(grid, n, tree, {{{0}, {}, {}}, {{1}, {}, {}}});
    auto spec = copy_between(spread, spread);
    EXPECT_EQ(MovementLists(spec, 1).volume(), (Volume{0, 0}));
    spec.to = Layout(grid, n, tree, {{{0}, {}, {}}, {{}, {}, {}}});
    for (std::int64_t r = 0; r < 4; ++r) {
        const auto mine = spec.from.local_size(r);
        EXPECT_EQ(MovementLists(spec, r).volume(), (Volume{mine, spec.to.local_size(r) - mine}));
    }
}

}  // namespace
}  // namespace arges::test
