#include "redistribute/movement_run.hpp"

#include "plan/movement/movement.hpp"
#include "support/movements.hpp"
#include "support/tensor_checks.hpp"
#include "support/test_device.hpp"
#include "topology/unfold.hpp"

#include <gtest/gtest.h>

namespace arges::test {
namespace {

/// Ways to fold this number of ranks, and smaller grids that leave some of them idle.
std::vector<RankGrid> grids(std::int64_t ranks) {
    auto result = grids_for_products(Torus({ranks}));
    if (ranks > 1) result.push_back(RankGrid{{ranks}});
    auto turned = result[0];
    std::reverse(turned.lengths.begin(), turned.lengths.end());
    result.push_back(turned);
    return result;
}

template <class T>
std::vector<T> converted(const std::vector<Value>& values) {
    std::vector<T> result;
    for (const auto& v : values) result.push_back(element<T>(v));
    return result;
}

/// The same elements of a narrower type, which are converted where they arrive.
template <class S, class T>
void check_conversion(const Communicator& comm, Movement spec, const std::vector<T>& from, const std::vector<T>& to,
                      const std::vector<T>& expected, const std::array<T, 2>& alpha_and_beta, LoopUse loops, bool conjugate) {
    spec.from_bytes = sizeof(S);
    const MovementRun run(comm.size() > 1 ? &comm : nullptr, spec, comm.rank(), loops);
    std::vector<S> narrow;
    for (const auto& element : from) narrow.push_back(static_cast<S>(element));
    Workspace workspace;
    const auto before = comm.traffic().bytes_sent;
    auto result = to;
    run.run(tested_kernels<T>(), {narrow.data(), &tested_kernels<S>()}, result.data(), &alpha_and_beta[0], &alpha_and_beta[1], conjugate,
            workspace);
    EXPECT_EQ(result, expected) << "converted";
    EXPECT_EQ(comm.traffic().bytes_sent - before, run.volume().sent * static_cast<std::int64_t>(sizeof(S)));
    EXPECT_EQ(run.volume(), movement_volume(spec, comm.rank()));
}

/// Runs one movement on this rank, to = alpha * moved + beta * to, and compares with its definition.
template <class T>
void check_movement(const Communicator& comm, const RandomMovement& m, T alpha, T beta, LoopUse loops, bool conjugate) {
    const auto rank = comm.rank();
    MovementRun run(comm.size() > 1 ? &comm : nullptr, m.spec, rank, loops);
    const auto from = converted<T>(local_array(m.spec.from, m.source, rank));
    std::vector<T> to(static_cast<std::size_t>(m.spec.to.local_size(rank)), T(0)), expected;
    for_each_element(m.spec.to, rank, [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        to[static_cast<std::size_t>(offset)] = static_cast<T>(static_cast<real_of<T>>(1 + x.size()));
    });
    expected = to;
    for_each_element(m.spec.to, rank, [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        auto& e = expected[static_cast<std::size_t>(offset)];
        const auto moved = *moved_value(m, x);
        e = alpha * element<T>(conjugate ? std::conj(moved) : moved) + beta * e;
    });
    Workspace workspace;
    const auto before = comm.traffic().bytes_sent;
    for (int repeat = 0; repeat < 2; ++repeat) {
        auto result = to;
        run.run(from.data(), result.data(), alpha, beta, conjugate, workspace);
        EXPECT_EQ(result, expected);
    }
    EXPECT_EQ(comm.traffic().bytes_sent - before, 2 * run.volume().sent * static_cast<std::int64_t>(sizeof(T)));
    EXPECT_EQ(run.volume(), movement_volume(m.spec, rank));
    if (m.spec.stages.empty()) {
        EXPECT_EQ(run.volume(), MovementLists(m.spec, rank).volume());
    }
    EXPECT_EQ(comm.sum(run.volume().sent), comm.sum(run.volume().received));
    using Narrow = std::conditional_t<is_complex<T>, std::complex<float>, std::int16_t>;
    check_conversion<Narrow, T>(comm, m.spec, from, to, expected, {alpha, beta}, loops, conjugate);
}

/// By lists, and by loops where that is possible. True if it is.
template <class T>
bool check_movement(const Communicator& comm, const RandomMovement& m, T alpha, T beta) {
    for (const bool conjugate : {false, true}) {
        if (conjugate && !is_complex<T>) break;
        SCOPED_TRACE(conjugate ? "conjugated" : "as it is");
        check_movement(comm, m, alpha, beta, LoopUse::by_size, conjugate);
        if (MovementLists(m.spec, comm.rank(), LoopUse::always).loops() == nullptr) continue;
        SCOPED_TRACE("by loops");
        check_movement(comm, m, alpha, beta, LoopUse::always, conjugate);
    }
    if (MovementLists(m.spec, comm.rank(), LoopUse::always).loops() == nullptr) return false;
    return true;
}

template <class T>
class MovementRuns : public testing::Test {
protected:
    Communicator comm_{MPI_COMM_WORLD};
};
using ElementTypes = testing::Types<float, std::complex<double>>;
TYPED_TEST_SUITE(MovementRuns, ElementTypes);

TYPED_TEST(MovementRuns, OfRandomStatementsDoWhatTheirDefinitionSays) {
    using T = TypeParam;
    const auto all = grids(this->comm_.size());
    int moved = 0, by_loops = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        auto m = random_movement(50000 + seed, all[seed % all.size()], all[seed / 5 % all.size()]);
        if (!m) continue;
        if (std::set<int>(m->spec.to_labels.begin(), m->spec.to_labels.end()).size() < m->spec.to_labels.size()) continue;
        if constexpr (!is_complex<T>) {
            const bool conjugates = std::any_of(m->spec.terms.begin(), m->spec.terms.end(), [](const auto& t) { return t.conjugate; });
            if (conjugates || m->text.find("hermitian") != std::string::npos) continue;
            for (auto& v : m->source.data) v = v.real();
        }
        SCOPED_TRACE("seed " + std::to_string(50000 + seed) + ": " + m->text);
        by_loops += check_movement<T>(this->comm_, *m, T(2), static_cast<T>(static_cast<real_of<T>>(seed % 3))) ? 1 : 0;
        ++moved;
        if (this->comm_.maximum(testing::Test::HasFailure() ? 1 : 0) != 0) return;
    }
    EXPECT_GT(moved, 50);
    EXPECT_GT(by_loops, 2);
}

/// Slots that share labels crosswise, and composite nodes: whole and in slices, between all layouts, with one term and several.
TYPED_TEST(MovementRuns, OfCompositeNodesDoWhatTheirDefinitionSays) {
    using T = TypeParam;
    struct Case {
        const char *from_labels, *from, *to_labels, *to;
    };
    std::vector<Case> cases{{"aebf", "sym(sym(a,e),sym(b,f))", "abef", "sym(a,b) sym(e,f)"},
                            {"aebf", "sym(sym(a,e),sym(b,f))", "abef", "antisym(a,b) antisym(e,f)"},
                            {"aebf", "sym(sym(a,e),sym(b,f))", "aebf", "sym(sym(a,e),sym(b,f))"},
                            {"aebf", "antisym(antisym(a,e),antisym(b,f))", "feba", ""},
                            {"aebf", "sym(antisym(a,e),antisym(b,f))", "abef", ""},
                            {"aibj", "sym(product(a,i),product(b,j))", "abij", "sym(a,b) sym(i,j)"},
                            {"aibj", "sym(product(a,i),product(b,j))", "abij", "antisym(a,b) antisym(i,j)"},
                            {"aibj", "antisym(product(a,i),product(b,j))", "ajbi", "sym(product(a,j),product(b,i))"},
                            {"aibj", "", "aibj", "sym(product(a,i),product(b,j))"},
                            {"abef", "sym(a,b) sym(e,f)", "aebf", "sym(product(a,e),product(b,f))"},
                            {"abcd", "antisym(a,b) sym(c,d)", "acbd", "sym(b,d)"},
                            {"abcijk", "sym(product(a,i),product(b,j))", "ijkabc", "sym(i,j)"},
                            {"abcd", "hollow(product(a,b),product(c,d))", "acbd", "hollow(a,c)"},
                            {"aibjck", "sym(product(a,i),product(b,j),product(c,k))", "abcijk", ""},
                            {"aibjck", "sym(product(a,i),product(b,j),product(c,k))", "abcijk", "antisym(a,b,c) antisym(i,j,k)"},
                            {"aibjck", "", "aibjck", "antisym(product(a,i),product(b,j),product(c,k))"},
                            {"abcd", "antisym(a,b,c,d)", "dbca", ""}};
    if constexpr (is_complex<T>)
        for (const auto& c : {Case{"aebf", "hermitian(product(a,e),product(b,f))", "bfae", ""},
                              Case{"aebf", "hermitian(product(a,e),product(b,f))", "aebf", "hermitian(product(a,e),product(b,f))"},
                              Case{"aebf", "hermitian(sym(a,e),sym(b,f))", "abef", ""}})
            cases.push_back(c);
    std::mt19937_64 random(8);
    const auto all = grids(this->comm_.size());
    int by_loops = 0;
    for (int trial = 0; trial < 6; ++trial)
        for (const auto& c : cases) {
            const std::string from_labels = c.from_labels, to_labels = c.to_labels;
            const auto from = Symmetry::parse(from_labels, c.from), to = Symmetry::parse(to_labels, c.to);
            RandomMovement m;
            // The identity, or the sum over the target's group that makes any source fit.
            StructuralSum sum;
            sum.labels = static_cast<int>(from_labels.size());
            for (std::size_t l = 0; l < from_labels.size(); ++l) {
                m.spec.from_labels.push_back(static_cast<int>(l));
                sum.label_names.push_back(from_labels.substr(l, 1));
            }
            for (const char letter : to_labels) m.spec.to_labels.push_back(static_cast<int>(from_labels.find(letter)));
            sum.products = {{{{from, m.spec.from_labels}}}};
            sum.output = {to, m.spec.to_labels};
            sum.complex = is_complex<T>;
            const bool negates = std::string(c.to).starts_with("antisym");
            try {
                require_symmetry(sum);
                m.spec.terms = projection_terms(sum, Projection::none);
            } catch (const Error&) {
                m.spec.terms = projection_terms(sum, negates ? Projection::antisymmetrized : Projection::symmetrized);
            }
            // One extent for all labels that a tree exchanges: here for all.
            const std::int64_t n = trial < 5 ? 1 + static_cast<std::int64_t>(random() % 5) : from_labels.size() > 4 ? 4 : 7;
            const auto order = from_labels.size();
            const std::int64_t begin = trial % 2 == 1 ? static_cast<std::int64_t>(random() % 3) : 0;  // a slice of the source
            const std::vector<std::int64_t> part(order, n), whole(order, n + (begin > 0 ? begin + 1 : 0));
            if (begin > 0) m.spec.from_offset.assign(order, begin);
            m.spec.label_extents = part;
            m.spec.from = random_layout(all[random() % all.size()], whole, from, random, trial == 4);
            m.spec.to = random_layout(all[random() % all.size()], part, to, random, trial == 3);
            m.source = random_dense(whole, from, is_complex<T>, random);
            SCOPED_TRACE(std::string(c.from) + " to " + c.to + ": " + m.spec.from.to_string() + " to " + m.spec.to.to_string());
            by_loops += check_movement<T>(this->comm_, m, T(-1), T(trial % 2)) ? 1 : 0;
            if (this->comm_.maximum(testing::Test::HasFailure() ? 1 : 0) != 0) return;
        }
    EXPECT_GT(by_loops, 30);
}

/// Between random layouts of the same tree, and from it to none and back, on every grid.
TYPED_TEST(MovementRuns, MoveBetweenAllLayoutsOfEveryTree) {
    using T = TypeParam;
    std::mt19937_64 random(6);
    const auto all = grids(this->comm_.size());
    for (const auto& shape : shapes_for(is_complex<T>)) {
        const auto tree = shape.symmetry(), none = Symmetry::none(tree.order());
        const std::vector<std::pair<Symmetry, Symmetry>> pairs{{tree, tree}, {tree, none}, {none, tree}};
        for (const auto& [from, to] : pairs) {
            if (shape.tree.empty() && !(from == tree && to == tree)) continue;
            const auto& grid = all[random() % all.size()];
            RandomMovement m;
            const auto source = random_layout(grid, shape.extents, from, random, random() % 2 == 0);
            m.spec = copy_between(source, random_layout(all[random() % all.size()], shape.extents, to, random, random() % 2 == 0));
            m.source = random_dense(shape.extents, tree, is_complex<T>, random);
            SCOPED_TRACE(shape.text() + ": " + m.spec.from.to_string() + " to " + m.spec.to.to_string());
            check_movement<T>(this->comm_, m, T(1), T(0));
        }
    }
}

/// A gather, or sums that are scattered, of a tensor whose slots lie alike on both sides but for further dimensions on one; with a window
/// where a slot has one.
RandomMovement random_gather(const RankGrid& grid, bool gathers, bool is_complex, std::mt19937_64& random) {
    static const std::vector<std::pair<std::string, std::string>> trees{{"", ""},
                                                                        {"a", ""},
                                                                        {"ab", ""},
                                                                        {"abc", ""},
                                                                        {"ab", "antisym(a,b)"},
                                                                        {"abi", "sym(a,b)"},
                                                                        {"iab", "antisym(a,b)"},
                                                                        {"abij", "antisym(a,b) sym(i,j)"},
                                                                        {"aibj", "sym(product(a,i),product(b,j))"}};
    const auto& [labels, text] = trees[random() % trees.size()];
    const auto tree = Symmetry::parse(labels, text);
    const std::vector<std::int64_t> extents(labels.size(), static_cast<std::int64_t>(random() % 8));
    std::vector<SlotMapping> wide(tree.slots().size()), narrow;
    std::vector<int> order, partial;
    for (int t = 0; t < grid.dimensions(); ++t) order.push_back(t);
    std::shuffle(order.begin(), order.end(), random);
    for (const int t : order)
        if (!wide.empty() && random() % 5 != 0) wide[random() % wide.size()].torus.push_back(t);
    narrow = wide;
    for (auto& slot : narrow) {
        slot.torus.resize(random() % (slot.torus.size() + 1));
        const auto& all = wide[static_cast<std::size_t>(&slot - narrow.data())].torus;
        for (auto t = slot.torus.size(); t < all.size(); ++t)
            if (random() % 4 != 0) partial.push_back(all[t]);
    }
    RandomMovement m;
    const Layout at_rest(grid, extents, tree, wide);
    if (!narrow.empty() && random() % 3 == 0) {
        auto& slot = narrow[random() % narrow.size()];
        const auto size = at_rest.slot(static_cast<int>(&slot - narrow.data())).size();
        slot.begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size + 1));
        slot.end = slot.begin + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size - slot.begin + 1));
    }
    const Layout working(grid, extents, tree, narrow, gathers ? std::vector<int>{} : partial);
    m.spec = gathers ? copy_between(at_rest, working) : copy_between(working, at_rest);
    m.source = random_dense(extents, tree, is_complex, random);
    m.source.for_each([&](std::size_t k, const auto& x) {
        for (int s = 0; s < working.slots(); ++s) {
            std::array<std::int64_t, 8> position{};
            for (std::size_t d = 0; d < working.slot_dimensions(s).size(); ++d)
                position[d] = x[static_cast<std::size_t>(working.slot_dimensions(s)[d])];
            if (working.slot(s).locate(position.data()).outside) m.source.data[k] = 0;
        }
    });
    m.text = m.spec.from.to_string() + " to " + m.spec.to.to_string();
    return m;
}

/// The dimensions along which a movement is relayed, in stages.
std::vector<RelayStage> random_stages(std::vector<int> torus, std::mt19937_64& random) {
    std::shuffle(torus.begin(), torus.end(), random);
    std::vector<RelayStage> stages;
    for (const int t : torus) {
        if (stages.empty() || random() % 2 == 0) stages.push_back({{}, static_cast<RelayWay>(random() % 3)});
        stages.back().torus.push_back(t);
    }
    for (auto& stage : stages) std::sort(stage.torus.begin(), stage.torus.end());
    return stages;
}

TYPED_TEST(MovementRuns, ThatAreRelayedDoWhatTheirDefinitionSays) {
    using T = TypeParam;
    std::mt19937_64 random(9);
    const auto all = grids(this->comm_.size());
    int relayed = 0;
    for (int trial = 0; trial < 600; ++trial) {
        auto m = random_gather(all[random() % all.size()], trial % 2 == 0, is_complex<T>, random);
        const auto shape = relay_shape(m.spec);
        if (!shape) continue;
        EXPECT_EQ(shape->gathers, trial % 2 == 0);
        SCOPED_TRACE(m.text);
        check_movement<T>(this->comm_, m, T(2), T(trial % 3));
        const auto straight = m.spec;
        m.spec.stages = random_stages(shape->torus, random);
        check_movement<T>(this->comm_, m, T(2), T(trial % 3));
        const auto relayed_volume = movement_volume(m.spec, this->comm_.rank()), volume = movement_volume(straight, this->comm_.rank());
        EXPECT_EQ(shape->gathers ? relayed_volume.received : relayed_volume.sent, shape->gathers ? volume.received : volume.sent);
        EXPECT_LE(MovementRun(&this->comm_, m.spec, this->comm_.rank()).workspace_elements(), movement_bound(m.spec).buffers);
        ++relayed;
        if (this->comm_.maximum(testing::Test::HasFailure() ? 1 : 0) != 0) return;
    }
    EXPECT_GT(relayed, this->comm_.size() > 1 ? 100 : -1);
}

/// Short messages: every one is split.
TYPED_TEST(MovementRuns, WorkWithSplitMessages) {
    using T = TypeParam;
    this->comm_.set_message_limit(24);
    std::mt19937_64 random(7);
    const auto tree = Symmetry::parse("abij", "antisym(a,b) antisym(i,j)");
    for (const auto& grid : grids(this->comm_.size())) {
        RandomMovement m;
        m.spec.from = random_layout(grid, {6, 6, 4, 4}, tree, random, false);
        m.spec.to = random_layout(grid, {6, 6, 4, 4}, tree, random, false);
        m.spec.from_labels = {0, 1, 2, 3};
        m.spec.to_labels = {1, 0, 2, 3};
        m.spec.label_extents = {6, 6, 4, 4};
        m.spec.terms = {m.spec.identity()};
        m.source = random_dense({6, 6, 4, 4}, tree, is_complex<T>, random);
        check_movement<T>(this->comm_, m, T(-1), T(1));
    }
}

}  // namespace
}  // namespace arges::test
