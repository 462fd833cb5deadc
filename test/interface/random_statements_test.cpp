// Random index-string statements against a dense reference: orders 0 to 8, random trees, several terms, tensors that occur more than
// once, diagonals, batch labels, broadcasts, all element types, both ways to spread symmetric groups, memory limits, tensors from
// other worlds, repeated runs. Whether a statement may be accepted is decided by brute force, too.
//   ARGES_FUZZ_COUNT=n   number of statements (default 2000 over all types)
//   ARGES_FUZZ_FIRST=s   begin with another seed
//   ARGES_FUZZ_SEED=s    replay the statement with this seed only
#include "arges/arges.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/wrong_uses.hpp"
#include "support/dense_oracle.hpp"
#include "support/random_statement.hpp"
#include "support/seeds.hpp"
#include "support/tensor_checks.hpp"
#include "support/turned_slots.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

namespace arges::test {
namespace {

bool has_repeated(std::vector<int> labels) {
    std::sort(labels.begin(), labels.end());
    return std::adjacent_find(labels.begin(), labels.end()) != labels.end();
}

/// Worlds over some of the ranks; World::outside() on the others.
class Subsets {
public:
    Subsets() {
        int rank = 0, size = 1;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        for (const bool inside : {2 * rank < size, rank % 2 == 1 || size == 1}) {
            MPI_Comm comm = MPI_COMM_NULL;
            MPI_Comm_split(MPI_COMM_WORLD, inside ? 0 : MPI_UNDEFINED, size - rank, &comm);
            worlds_.push_back(inside ? World(comm) : World::outside());
            if (inside) MPI_Comm_free(&comm);
        }
    }
    const World& operator[](std::size_t i) const { return worlds_[i % worlds_.size()]; }

private:
    std::vector<World> worlds_;
};

/// True if a node exchanges three dimensions.
bool has_triple(const SymmetryNode& node) {
    return std::any_of(node.children.begin(), node.children.end(), has_triple) ||
           (node.kind != NodeKind::product && node.children.size() == 3 && node.children[0].kind == NodeKind::leaf);
}

/// What a sum has by structure, seen on generic values: extents that leave several orbits.
class Structure {
public:
    /// A product, with another tensor for each factor.
    Structure(RandomStatement& s, const RandomTerm& term, bool complex) : Structure(s, std::vector{term}, complex, false) {}
    /// A sum, in which a tensor may occur several times.
    Structure(RandomStatement& s, const std::vector<RandomTerm>& terms, bool complex) : Structure(s, terms, complex, true) {}

private:
    Structure(RandomStatement& s, const std::vector<RandomTerm>& terms, bool complex, bool tensors_are_shared)
        : symmetry_(s.symmetry()), group_(group_elements(symmetry_)), output_(s.output) {
        const bool triples =
            std::any_of(s.tensors.begin(), s.tensors.end(), [](const auto& t) { return has_triple(product(t.symmetry.slots())); });
        const std::int64_t extent = triples ? 4 : 3;
        const std::vector<std::int64_t> extents(s.label_extents.size(), extent);
        r_ = Dense(std::vector<std::int64_t>(s.output.size(), extent));
        std::map<std::size_t, Dense> shared;
        for (const auto& term : terms) {
            std::vector<DenseFactor> factors;
            for (const auto& f : term.factors) {
                const std::vector<std::int64_t> n(f.labels.size(), extent);
                auto values = random_dense(n, s.tensors[f.tensor].symmetry, complex, s.random(), true);
                if (tensors_are_shared) values = shared.emplace(f.tensor, values).first->second;
                factors.push_back({std::move(values), f.labels, f.conjugated});
            }
            const auto product = dense_product(factors, s.output, extents);
            for (std::size_t k = 0; k < r_.data.size(); ++k) r_.data[k] += term.alpha * product.data[k];
            any_zero_ = any_zero_ || std::all_of(product.data.begin(), product.data.end(), [](Value v) { return std::abs(v) < 1e-9; });
        }
    }

public:
    /// Is one of the products zero?
    bool any_zero() const { return any_zero_; }
    /// |H|: how many permutations of the output's group R has.
    std::int64_t stabilizer() const { return stabilizer_size(r_, group_); }

    /// May R be assigned as it is: has it every symmetry and every zero of the output? Where labels are repeated, R is given on a
    /// diagonal only; elements there that are related must agree.
    bool fits() const {
        const bool on_diagonal = has_repeated(output_);
        return r_.all_of([&](std::size_t k, const auto& x) {
            if (!is_named(x, output_)) return true;
            if (std::abs(r_.data[k]) > 1e-9 && zero_by_symmetry(symmetry_, group_, x)) return false;
            return std::all_of(group_.begin(), group_.end(), [&](const auto& g) {
                return (on_diagonal && !is_named(permuted(x, g), output_)) || is_near(related(r_, x, g), r_.data[k]);
            });
        });
    }

    /// Are equal labels at equal indices?
    static bool is_named(const std::vector<std::int64_t>& x, const std::vector<int>& labels) {
        for (std::size_t i = 0; i < labels.size(); ++i)
            for (std::size_t j = i + 1; j < labels.size(); ++j)
                if (labels[i] == labels[j] && x[i] != x[j]) return false;
        return true;
    }

private:
    Symmetry symmetry_;
    std::vector<GroupElement> group_;
    std::vector<int> output_;
    Dense r_;
    bool any_zero_ = false;
};

/// True if the children of each node are sorted, the last dimension first: the element that canonical() takes.
bool is_sorted(const SymmetryNode& node, const std::vector<std::int64_t>& x) {
    std::vector<std::vector<std::int64_t>> tuples;
    for (const auto& child : node.children) {
        if (!is_sorted(child, x)) return false;
        auto dims = child.dimensions();
        std::reverse(dims.begin(), dims.end());
        tuples.emplace_back();
        for (int d : dims) tuples.back().push_back(x[static_cast<std::size_t>(d)]);
    }
    return node.kind == NodeKind::product || std::is_sorted(tuples.begin(), tuples.end());
}

enum class Outcome { executed, refused, no_memory };

template <class T>
class StatementCheck {
public:
    StatementCheck(const World& world, const Subsets& subsets, std::uint64_t seed)
        : world_(world), subsets_(subsets), complex_(is_complex<T>), seed_(seed), statement_(seed, complex_) {
        // In blocks, canonical() may take another element of an orbit.
        const bool is_canonical = std::any_of(statement_.terms.begin(), statement_.terms.end(),
                                              [](const auto& t) { return t.projection == Projection::canonical; });
        const bool in_blocks = seed % 4 == 0 && !is_canonical;
        world_.set_group_mapping(in_blocks ? GroupMapping::blocks : seed % 8 == 1 ? GroupMapping::best : GroupMapping::packed);
        world_.state()->prepared().clear();
    }

    Outcome run() {
        auto& s = statement_;
        for (std::size_t t = 0; t < s.tensors.size(); ++t) {
            const auto extents = s.extents_of(s.tensors[t].labels);
            dense_.push_back(random_dense(extents, s.tensors[t].symmetry, complex_, s.random()));
            tensors_.push_back(make(t));
        }
        // Plans may find tensors in blocks, too, that need not stay so.
        if (world_.group_mapping() == GroupMapping::blocks && seed_ % 8 == 4) world_.set_group_mapping(GroupMapping::best);
        const auto right = right_hand_side();
        const auto limit = world_.memory_limit();
        const auto statement_limit = seed_ % 6 == 5 ? world_.memory_in_use() + static_cast<std::int64_t>(s.random()() % 30000) : limit;
        auto outcome = Outcome::executed;
        for (int run = 0; run < (seed_ % 3 == 0 ? 3 : 1) && outcome == Outcome::executed && !testing::Test::HasFailure(); ++run) {
            world_.set_memory_limit(statement_limit);
            outcome = run_once(right);
            world_.set_memory_limit(limit);  // comparing takes memory too
            if (outcome == Outcome::executed) compare_all();
        }
        return outcome;
    }
    const RandomStatement& statement() const { return statement_; }

private:
    Tensor<T> make(std::size_t t) {
        const auto& symmetry = statement_.tensors[t].symmetry;
        const auto name = t == 0 ? "C" : "F" + std::to_string(t);
        if (seed_ % 5 == 3 && statement_.random()() % 2 == 0) {
            const auto& some = subsets_[statement_.random()()];
            Tensor<T> source;
            if (some.takes_part()) source = distributed<T>(some, dense_[t], symmetry, name);
            return transfer(world_, source, world_);
        }
        if (seed_ % 3 == 0 && t > 0) turn_grid_of_new_tensors(world_);
        auto tensor = distributed<T>(world_, dense_[t], symmetry, name);
        if (symmetry.trivial() && (seed_ + t) % 3 == 0) tensor = with_turned_slots(tensor, seed_ * 7 + t);
        world_.state()->tensor_grid = world_.state()->grid();
        return tensor;
    }

    Expression<T> right_hand_side() const {
        std::optional<Expression<T>> sum;
        for (const auto& term : statement_.terms) {
            Expression<T> product(element<T>(term.alpha));
            for (const auto& f : term.factors) {
                Expression<T> factor = tensors_[f.tensor][RandomStatement::names_of(f.labels)];
                product = product * (f.conjugated ? conj(factor) : factor);
            }
            if (term.projection == Projection::antisymmetrized) product = antisymmetrized(product);
            if (term.projection == Projection::symmetrized) product = symmetrized(product);
            if (term.projection == Projection::canonical) product = canonical(product);
            product = vouched(term, product);
            sum = sum ? *sum + product : product;
        }
        return *sum;
    }

    /// Says that unusual labels are meant.
    Expression<T> vouched(const RandomTerm& term, Expression<T> product) const {
        std::vector<std::string> repeated, summed;
        for (std::size_t l = 0; l < statement_.label_extents.size() && !term.factors.empty(); ++l) {
            const auto label = static_cast<int>(l);
            std::ptrdiff_t times = 0;
            for (const auto& f : term.factors) times += std::count(f.labels.begin(), f.labels.end(), label);
            const bool is_named = std::count(statement_.output.begin(), statement_.output.end(), label) > 0;
            if (times == 0 && is_named) repeated.push_back("x" + std::to_string(l));
            if (times == 1 && !is_named) summed.push_back("x" + std::to_string(l));
        }
        if (!repeated.empty() && seed_ % 2 == 0) product = broadcast(Labels(repeated), product);
        if (!summed.empty() && seed_ % 2 == 1) product = sum(Labels(summed), product);
        return product;
    }

    /// The terms that are assigned as they are.
    std::vector<RandomTerm> without_projection() const {
        std::vector<RandomTerm> result;
        for (const auto& term : statement_.terms)
            if (term.projection == Projection::none) result.push_back(term);
        return result;
    }

    Outcome run_once(const Expression<T>& right) {
        auto& C = tensors_[0];
        const auto labels = RandomStatement::names_of(statement_.output);
        const auto before = local_elements();
        auto outcome = Outcome::executed;
        bool invalid = false;
        try {
            C[labels].assign(right, T(static_cast<real_of<T>>(statement_.beta)));
        } catch (const InvalidArgument&) {
            outcome = Outcome::refused;
            invalid = true;
        } catch (const Unsupported&) {
            outcome = Outcome::refused;
        } catch (const OutOfMemory&) {
            outcome = Outcome::no_memory;
        }
        if (outcome != Outcome::executed) {
            EXPECT_EQ(static_cast<std::int64_t>(before.size()), C.state()->count());
            EXPECT_EQ(std::memcmp(before.data(), HostElements(*C.state()).data(), before.size() * sizeof(T)), 0)
                << "changed, though an exception was thrown";
            if (invalid && world_.rank() == 0) check_refusal();
            return outcome;
        }
        EXPECT_EQ(world_.last_report().bytes_sent, world_.last_report().bytes_planned);
        if (seed_ % 8 == 1) {
            EXPECT_NO_THROW(C[labels].explain(right, T(static_cast<real_of<T>>(statement_.beta))));
        }
        if (world_.rank() == 0) advance();
        return outcome;
    }

    std::vector<T> local_elements() const {
        const auto& state = *tensors_[0].state();
        const HostElements here(state);
        return {here.of<T>(), here.of<T>() + state.count()};
    }

    /// A statement is refused for terms that together lack a symmetry or a zero of the output, or for a diagonal. What is zero for want of
    /// different indices need not be seen.
    void check_refusal() {
        if (has_repeated(statement_.output)) return;
        const Structure structure(statement_, without_projection(), complex_);
        EXPECT_FALSE(structure.fits() && !structure.any_zero()) << "refused, though the right-hand side has the symmetry";
    }

    /// What the statement does to the dense values.
    void advance() {
        const auto old = dense_;
        auto& result = dense_[0];
        result.for_each([&](std::size_t k, const auto& x) {
            if (Structure::is_named(x, statement_.output)) result.data[k] *= statement_.beta;
        });
        scale_ = 1;
        if (!statement_.symmetry().trivial()) {
            EXPECT_TRUE(Structure(statement_, without_projection(), complex_).fits())
                << "accepted, though the right-hand side lacks a symmetry or a zero";
        }
        for (const auto& term : statement_.terms) add(term, old, result);
    }

    void add(const RandomTerm& term, const std::vector<Dense>& old, Dense& result) {
        std::vector<DenseFactor> factors, magnitudes;
        for (const auto& f : term.factors) {
            factors.push_back({old[f.tensor], f.labels, f.conjugated});
            magnitudes.push_back(factors.back());
            for (auto& v : magnitudes.back().tensor.data) v = std::abs(v);
        }
        auto r = dense_product(factors, statement_.output, statement_.label_extents);
        for (const auto& v : dense_product(magnitudes, statement_.output, statement_.label_extents).data)
            scale_ = std::max(scale_, std::abs(v * term.alpha));
        for (auto& v : r.data) v *= term.alpha;
        const bool has_symmetry = !statement_.symmetry().trivial();
        if (term.projection == Projection::canonical && has_symmetry)
            r = one_of_each_orbit(r);
        else if (term.projection != Projection::none && !has_repeated(statement_.output))
            r = projected(r, Structure(statement_, term, complex_).stabilizer());
        for (std::size_t k = 0; k < r.data.size(); ++k) result.data[k] += r.data[k];
    }

    Dense projected(const Dense& r, std::int64_t stabilizer) const {
        const auto group = group_elements(statement_.symmetry());
        auto result = group_sum(r, group);
        for (std::size_t k = 0; k < result.data.size(); ++k) {
            result.data[k] /= static_cast<double>(stabilizer);
            if (zero_by_symmetry(statement_.symmetry(), group, result.index(k))) result.data[k] = 0;
        }
        return result;
    }

    /// The tensor that canonical(R) stands for.
    Dense one_of_each_orbit(const Dense& r) const {
        const auto& symmetry = statement_.symmetry();
        const auto group = group_elements(symmetry);
        const auto root = product(symmetry.slots());
        Dense result(r.extents);
        for (std::size_t k = 0; k < r.data.size(); ++k) {
            const auto x = r.index(k);
            const auto allowed = allowed_values(symmetry, group, x);
            if (allowed == Allowed::zero) continue;
            const auto g = std::find_if(group.begin(), group.end(), [&](const auto& h) { return is_sorted(root, permuted(x, h)); });
            result.data[k] = related(r, x, *g);
            if (allowed == Allowed::real) result.data[k] = result.data[k].real();
        }
        return result;
    }

    void compare_all() {
        for (std::size_t t = 0; t < tensors_.size(); ++t) {
            const auto got = tensors_[t].gather();
            const auto sum = tensors_[t].sum();
            if (world_.rank() != 0 || !has_room_for(dense_[t])) continue;
            check(got, dense_[t], t);
            Value total = 0;
            double size = 1;
            for (const auto& v : got) {
                total += Value(v);
                size += std::abs(v);
            }
            EXPECT_LE(std::abs(Value(sum) - total), size * (std::is_same_v<real_of<T>, float> ? 1e-4 : 1e-12))
                << "sum() and gather() differ";
        }
    }

    /// A tensor that is multiplied by itself again and again may outgrow its type, which the reference does not.
    static bool has_room_for(const Dense& wanted) {
        const double most = 1e-8 * static_cast<double>(std::numeric_limits<real_of<T>>::max());
        return std::all_of(wanted.data.begin(), wanted.data.end(), [&](const auto& v) { return std::abs(v) <= most; });
    }

    void check(const std::vector<T>& got, const Dense& wanted, std::size_t t) {
        double scale = t == 0 ? scale_ : 1;
        for (const auto& v : wanted.data) scale = std::max(scale, std::abs(v));
        const double tolerance = scale * (std::is_same_v<real_of<T>, float> ? 2e-5 : 1e-12);
        ASSERT_EQ(got.size(), wanted.data.size());
        for (std::size_t k = 0; k < got.size(); ++k)
            ASSERT_LE(std::abs(Value(got[k]) - wanted.data[k]), tolerance)
                << "tensor " << t << " key " << k << ": " << got[k] << " instead of " << wanted.data[k];
    }

    World world_;
    const Subsets& subsets_;
    bool complex_;
    std::uint64_t seed_;
    RandomStatement statement_;
    std::vector<Dense> dense_;
    std::vector<Tensor<T>> tensors_;
    double scale_ = 1;
};

/// @param found  seeds that have found something, and are run besides
template <class T>
void run_many(std::uint64_t first_seed, const std::vector<std::uint64_t>& found = {}) {
    const World world;
    const Subsets subsets;
    const int count = from_environment("ARGES_FUZZ_COUNT", 2000) / 4;
    const int replay = from_environment("ARGES_FUZZ_SEED", -1);
    std::vector<std::uint64_t> seeds = found;
    const auto first = first_seed + static_cast<std::uint64_t>(from_environment("ARGES_FUZZ_FIRST", 0));
    for (int i = 0; i < count; ++i) seeds.push_back(first + static_cast<std::uint64_t>(i));
    if (replay >= 0) {
        seeds.clear();
        if (static_cast<std::uint64_t>(replay) / 10000000 == first_seed / 10000000) seeds.push_back(static_cast<std::uint64_t>(replay));
    }
    int executed = 0;
    auto& device = world.state()->device();
    const auto device_limit = device.limit();
    for (const auto seed : seeds) {
        // Little room on a device: tensors lie here and there, and products are computed in windows.
        if (device_limit > 0) device.set_limit(std::array<std::int64_t, 4>{device_limit, 4096, 512, 64}[seed % 4]);
        StatementCheck<T> check(world, subsets, seed);
        SCOPED_TRACE("ARGES_FUZZ_SEED=" + std::to_string(seed) + "  " + check.statement().text());
        executed += check.run() == Outcome::executed ? 1 : 0;
        const auto failed = world.state()->communicator().maximum(::testing::Test::HasFailure() ? 1 : 0);
        if (failed != 0) {
            if (world.rank() == 0) ADD_FAILURE() << "ARGES_FUZZ_SEED=" << seed << "  " << check.statement().text();
            return;
        }
    }
    if (replay < 0) {
        EXPECT_GT(executed, count / 2) << "most statements should be meaningful";
    }
}

TEST(RandomStatements, OfDoublesEqualTheDenseReference) { run_many<double>(0); }
TEST(RandomStatements, OfComplexDoublesEqualTheDenseReference) { run_many<std::complex<double>>(10000000); }
TEST(RandomStatements, OfFloatsEqualTheDenseReference) { run_many<float>(20000000); }
TEST(RandomStatements, OfComplexFloatsEqualTheDenseReference) { run_many<std::complex<float>>(30000000); }

/// On a machine that is told to have slow links in a line: movements are relayed.
TEST(RandomStatements, OnASlowTorusEqualTheDenseReference) {
    int ranks = 1, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const auto file =
        std::filesystem::temp_directory_path() / ("arges-slow-torus-" + std::to_string(::getuid()) + "-" + std::to_string(ranks));
    if (rank == 0)
        std::ofstream(file) << "torus = " << ranks << "\nlink_bytes_per_second = 1e6\nlink_seconds = 1e-12\nmessage_seconds = 1e-12\n"
                            << "flops_per_second = 1e4\n";
    MPI_Barrier(MPI_COMM_WORLD);
    {
        const Environment machine("ARGES_MACHINE", file.c_str());
        run_many<double>(40000000, {40901471});  // odd parts that a ring passes on in halves
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::filesystem::remove(file);
}

}  // namespace
}  // namespace arges::test
