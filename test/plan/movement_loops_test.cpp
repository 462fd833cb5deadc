#include "plan/movement/loops.hpp"

#include "support/movements.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>

namespace arges::test {
namespace {

const std::vector<RankGrid>& loop_grids() {
    static const std::vector<RankGrid> all{{{}}, {{2}}, {{3}}, {{2, 2}}, {{3, 2}}};
    return all;
}

/// The loops of a movement between all ranks, checked against each other and against the definition of a movement.
class LoopsOfAllRanks {
public:
    explicit LoopsOfAllRanks(const RandomMovement& movement) : movement_(movement), spec_(movement.spec) {
        for (std::int64_t r = 0; r < spec_.ranks(); ++r) lists_.emplace_back(spec_, r, LoopUse::always);
    }

    /// False if the movement has no loops.
    bool by_loops() const { return lists_[0].loops() != nullptr; }

    void check() const {
        std::vector<std::vector<Value>> source, target;
        for (std::int64_t r = 0; r < spec_.ranks(); ++r) {
            source.push_back(spec_.from.grid().is_idle(r) ? std::vector<Value>() : local_array(spec_.from, movement_.source, r));
            target.emplace_back(static_cast<std::size_t>(spec_.to.local_size(r)), 0);
        }
        std::map<std::pair<std::int64_t, std::int64_t>, std::deque<Value>> wire;
        for (std::int64_t r = 0; r < spec_.ranks(); ++r)
            for (const auto& message : at(r).sends())
                walk(r, message, true, [&](std::int64_t from, std::int64_t, int) {
                    wire[{r, message.peer}].push_back(source[static_cast<std::size_t>(r)].at(static_cast<std::size_t>(from)));
                });
        for (std::int64_t r = 0; r < spec_.ranks(); ++r)
            for (const auto& message : at(r).receives())
                walk(r, message, false, [&](std::int64_t from, std::int64_t to, int bits) {
                    Value value;
                    if (message.peer == r) {
                        value = source[static_cast<std::size_t>(r)].at(static_cast<std::size_t>(from));
                    } else {
                        auto& queue = wire[{message.peer, r}];
                        ASSERT_FALSE(queue.empty()) << "more is expected from " << message.peer << " on " << r << " than is sent";
                        value = queue.front();
                        queue.pop_front();
                    }
                    if ((bits & 2) != 0) value = std::conj(value);
                    target[static_cast<std::size_t>(r)].at(static_cast<std::size_t>(to)) += (bits & 1) != 0 ? -value : value;
                });
        for (const auto& [pair, queue] : wire) EXPECT_TRUE(queue.empty()) << pair.first << " sends " << pair.second << " too much";
        for (std::int64_t r = 0; r < spec_.ranks(); ++r) {
            if (spec_.to.grid().is_idle(r)) continue;
            for_each_element(spec_.to, r, [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
                EXPECT_EQ(target[static_cast<std::size_t>(r)][static_cast<std::size_t>(offset)], *moved_value(movement_, x))
                    << "rank " << r;
            });
            EXPECT_EQ(at(r).volume(), MovementLists(spec_, r).volume()) << "rank " << r;
        }
    }

private:
    const MovementLists& at(std::int64_t rank) const { return lists_[static_cast<std::size_t>(rank)]; }

    /// Calls f(source offset, target offset, factor bits) for each element of a message, and checks the counts of the parts.
    template <class F>
    void walk(std::int64_t rank, const MovementMessage& message, bool sending, F&& f) const {
        const auto& loops = *at(rank).loops();
        const auto& group = *message.groups.at(0);
        const auto from_coordinate = sending ? loops.from_coordinate(rank) : group.peer,
                   to_coordinate = sending ? group.peer : loops.to_coordinate(rank);
        std::int64_t count = 0;
        ASSERT_EQ(group.part_begin.size(), loops.parts().size() + 1);
        for (std::size_t p = 0; p < loops.parts().size(); ++p) {
            EXPECT_EQ(group.part_begin[p], count);
            loops.for_each_run(loops.parts()[p], from_coordinate, to_coordinate, [&](const LoopRun& run) {
                const auto& list = run.list;
                count += list.count;
                for (std::int64_t i = 0; i < list.count; ++i)
                    f(run.from + list.from[i], run.to + list.to[i], list.factor ^ (list.factors != nullptr ? list.factors[i] : 0));
            });
        }
        EXPECT_EQ(message.count, count);
    }

    const RandomMovement& movement_;
    const Movement& spec_;
    std::deque<MovementLists> lists_;
};

TEST(MovementLoops, OfRandomMovementsDoWhatTheirDefinitionSays) {
    int by_loops = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const auto movement =
            random_movement(70000 + seed, loop_grids()[seed % loop_grids().size()], loop_grids()[seed / 5 % loop_grids().size()]);
        if (!movement) continue;
        SCOPED_TRACE("seed " + std::to_string(70000 + seed) + ": " + movement->text);
        const LoopsOfAllRanks ranks(*movement);
        if (!ranks.by_loops()) continue;
        ranks.check();
        ++by_loops;
        if (HasFailure()) return;
    }
    EXPECT_GT(by_loops, 20);
}

/// Composite nodes are unpacked, packed and put together otherwise, whole rows and packed indices distributed, with one term and several.
TEST(MovementLoops, OfCompositeNodesDoWhatTheirDefinitionSays) {
    struct Case {
        const char *from_labels, *from, *to_labels, *to;
        std::vector<LabelTerm> terms;
    };
    const LabelTerm same{{0, 1, 2, 3}}, mirror{{2, 3, 0, 1}, true};                  // labels a, e, b, f
    const LabelTerm same_six{{0, 1, 2, 3, 4, 5}}, turned{{2, 3, 4, 5, 0, 1}, true};  // labels a, i, b, j, c, k
    const std::vector<Case> cases{
        {"aebf", "sym(sym(a,e),sym(b,f))", "abef", "sym(a,b) sym(e,f)", {same}},
        {"aebf", "sym(product(a,e),product(b,f))", "abef", "", {same}},
        {"aebf", "antisym(sym(a,e),sym(b,f))", "aebf", "", {same}},
        {"aebf", "hermitian(product(a,e),product(b,f))", "abef", "", {same}},
        {"aebf", "sym(a,e) sym(b,f)", "aebf", "sym(sym(a,e),sym(b,f))", {same}},
        {"aebf", "", "aebf", "antisym(product(a,e),product(b,f))", {same, mirror}},
        {"abef", "antisym(a,b) antisym(e,f)", "aebf", "sym(product(a,e),product(b,f))", {same}},
        {"aebf", "sym(sym(a,e),sym(b,f))", "aebf", "sym(sym(a,e),sym(b,f))", {same}},
        {"aebf", "hermitian(antisym(a,e),antisym(b,f))", "fbea", "hermitian(antisym(f,b),antisym(e,a))", {same}},
        {"aebf", "antisym(a,e,b,f)", "bfea", "", {same}},
        {"aebf", "", "aebf", "hollow(a,e,b,f)", {same, mirror}},
        {"aibjck", "sym(product(a,i),product(b,j),product(c,k))", "abcijk", "", {same_six}},
        {"aibjck", "antisym(product(a,i),product(b,j),product(c,k))", "kcjbia", "", {same_six, turned}},
        {"aibjck", "", "bjckai", "sym(product(b,j),product(c,k),product(a,i))", {same_six, turned}},
        {"abcijk", "sym(a,b,c) antisym(i,j,k)", "aibjck", "antisym(product(a,i),product(b,j),product(c,k))", {same_six}},
        {"aibjck", "hollow(sym(a,i),sym(b,j),sym(c,k))", "akbicj", "antisym(product(a,k),product(b,i),product(c,j))", {same_six}},
        {"aibjck", "sym(antisym(a,i),antisym(b,j),antisym(c,k))", "aibjck", "sym(antisym(a,i),antisym(b,j),antisym(c,k))", {same_six}}};
    const auto numbers = [](const std::string& labels, const char* letters) {
        std::vector<int> result;
        for (const char* l = letters; *l != 0; ++l) result.push_back(static_cast<int>(labels.find(*l)));
        return result;
    };
    int by_loops = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const auto& c : cases) {
            std::mt19937_64 random(seed);
            const std::string labels = std::string(c.from_labels).size() == 4 ? "aebf" : "aibjck";
            const std::vector<std::int64_t> extents(labels.size(), labels.size() == 4 ? 4 : 3);
            RandomMovement m;
            const auto from = Symmetry::parse(c.from_labels, c.from);
            m.spec.from = random_layout(loop_grids()[random() % loop_grids().size()], extents, from, random, random() % 2 == 0);
            m.spec.to = random_layout(m.spec.from.grid(), extents, Symmetry::parse(c.to_labels, c.to), random, random() % 2 == 0);
            m.spec.from_labels = numbers(labels, c.from_labels);
            m.spec.to_labels = numbers(labels, c.to_labels);
            m.spec.label_extents = extents;
            m.spec.terms = c.terms;
            m.source = random_dense(extents, from, true, random);
            SCOPED_TRACE(std::string(c.from) + " to " + c.to + ", seed " + std::to_string(seed) + ", from " + m.spec.from.to_string() +
                         " to " + m.spec.to.to_string());
            const LoopsOfAllRanks ranks(m);
            if (!ranks.by_loops()) continue;
            ++by_loops;
            ranks.check();
            if (HasFailure()) return;
        }
    EXPECT_GT(by_loops, 250);
}

/// The lists of long movements are short: between packed nodes they are progressions, from and to such a node loops.
TEST(MovementLoops, AndProgressionsAreFarShorterThanTheData) {
    struct Case {
        std::vector<std::int64_t> extents;
        const char *names, *from, *to;
    };
    const std::vector<std::int64_t> n(4, 30), ov{12, 5, 12, 5, 12, 5};
    const char *const pairs = "sym(sym(p,q),sym(r,s))", *const triples = "sym(product(a,i),product(b,j),product(c,k))";
    const std::vector<Case> cases{{{1 << 20}, "p", "", ""},   {n, "pqrs", pairs, pairs},        {n, "pqrs", pairs, ""},
                                  {n, "pqrs", "", pairs},     {ov, "aibjck", triples, triples}, {ov, "aibjck", triples, ""},
                                  {ov, "aibjck", "", triples}};
    for (const auto& c : cases)
        for (const std::int64_t from_grid_length : {1, 2, 3})
            for (const std::int64_t to_grid_length : {1, 2, 3}) {
                // Both sides lie on six ranks, in packed indices over the coordinates of the first slot.
                const RankGrid grid{{2, 3}};
                const auto layout = [&](const char* tree, std::int64_t coordinates) {
                    const auto symmetry = Symmetry::parse(c.names, tree);
                    std::vector<SlotMapping> mapping(symmetry.slots().size());
                    if (coordinates > 1) mapping[0].torus = {coordinates == 2 ? 0 : 1};
                    return Layout(grid, c.extents, symmetry, mapping);
                };
                const auto spec = copy_between(layout(c.from, from_grid_length), layout(c.to, to_grid_length));
                SCOPED_TRACE(std::string(c.from) + " to " + c.to + ": " + spec.from.to_string() + " to " + spec.to.to_string());
                const MovementLists lists(spec, 4);
                EXPECT_LT(lists.bytes(), 2 * spec.to.local_size(4));  // lists of elements take 16 bytes for each
            }
}

}  // namespace
}  // namespace arges::test
