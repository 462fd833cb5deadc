// Operands of other types, which are converted where they arrive, against the same statements with operands that were converted before.
#include "arges/arges.hpp"

#include "support/seeds.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace arges::test {
namespace {

using enum ElementType;
using Complex = std::complex<double>;

struct LabelledOperand {
    std::string labels, symmetry;
    bool is_sparse = false;
};
struct MixedStatement {
    std::string output;
    std::vector<LabelledOperand> factors;
};

/// Movements, products, chains and products that break up groups, among them those whose plans read a pair node by rows or form its parts.
const std::vector<MixedStatement> mixed_statements{
    {"ji", {{"ij", ""}}},
    {"i", {{"ii", ""}}},
    {"ba", {{"ab", "sym(a,b)"}}},
    {"ik", {{"ij", ""}, {"jk", ""}}},
    {"ki", {{"ji", ""}, {"jk", ""}, {"k", ""}}},
    {"", {{"ij", ""}, {"ij", ""}}},
    {"ac", {{"ab", "sym(a,b)"}, {"bc", ""}}},
    {"ac", {{"ab", "antisym(a,b)"}, {"cb", "sym(c,b)"}}},
    {"ir", {{"ijk", ""}, {"jr", ""}, {"kr", ""}}},
    {"pq", {{"pqrs", "sym(sym(p,q),sym(r,s))"}, {"rs", ""}}},
    {"aibj", {{"aebf", "sym(product(a,e),product(b,f))"}, {"eifj", "sym(product(e,i),product(f,j))"}}},
    {"pqrs", {{"pqrs", "sym(sym(p,q),sym(r,s))"}}},
};

/// One sparse factor alone and beside dense ones that lie elsewhere or in another order, two of them, and a third as a mask.
const std::vector<MixedStatement> sparse_statements{
    {"ji", {{"ij", "", true}}},
    {"i", {{"ii", "", true}}},
    {"ij", {{"ij", "sym(i,j)", true}}},
    {"i", {{"ij", "", true}, {"j", ""}}},
    {"ri", {{"ij", "", true}, {"jr", ""}}},
    {"jki", {{"li", "", true}, {"kjl", ""}}},
    {"ir", {{"ijk", "", true}, {"jr", ""}, {"kr", ""}}},
    {"ijr", {{"ijk", "", true}, {"rk", ""}}},
    {"ab", {{"ab", "", true}, {"ak", ""}, {"kb", ""}}},
    {"ik", {{"ij", "sym(i,j)", true}, {"jk", "sym(j,k)"}}},
    {"ik", {{"ij", "", true}, {"jk", "", true}}},
    {"ik", {{"ij", "", true}, {"jk", "", true}, {"ki", "", true}}},
    {"ilk", {{"ij", "", true}, {"jk", "", true}, {"kl", ""}}},
    {"", {{"ij", "", true}, {"ij", "", true}}},
};

const std::map<ElementType, std::vector<ElementType>> held_by{
    {float64, {float32, float64, int16, int32, boolean}},
    {complex64, {float32, complex64, int16, boolean}},
    {complex128, {float32, float64, complex64, complex128, int16, int32, boolean}},
    {int64, {int16, int32, int64, boolean}},
};

template <class T>
const T& any_of(const std::vector<T>& all, std::mt19937_64& random) {
    return all[random() % all.size()];
}

/// A tensor of small whole numbers, of which sums and products are exact; of a sparse one a third of the elements is there.
AnyTensor of_small_numbers(const World& world, const std::vector<std::int64_t>& extents, const LabelledOperand& operand, ElementType type,
                           std::uint64_t seed) {
    const auto hashed = [seed](Index index) {
        std::uint64_t hash = seed;
        for (auto i : index) hash = (hash ^ static_cast<std::uint64_t>(i + 1)) * 0x9e3779b97f4a7c15U;
        return hash >> 33;
    };
    const auto number = [&](Index index) { return static_cast<double>(hashed(index) % 5); };
    const auto is_there = [&](Index index) { return !operand.is_sparse || hashed(index) / 5 % 3 == 0; };
    const auto stored = [&](const AnyTensor& all) { return operand.is_sparse ? all.to_sparse(-1) : all; };
    const auto letters = operand.symmetry.empty() ? std::string("abcd").substr(0, extents.size()) : operand.labels;  // of "ii", too
    if (type == complex64 || type == complex128) {
        Tensor<Complex> tensor(world, extents, letters, operand.symmetry, "factor");
        tensor.fill([&](Index index) { return is_there(index) ? Complex(number(index), 1 - number(index)) : Complex(); });
        return stored(tensor.converted(type));
    }
    Tensor<double> tensor(world, extents, letters, operand.symmetry, "factor");
    tensor.fill([&](Index index) { return is_there(index) ? number(index) : 0; });
    return stored(tensor.converted(type));
}

/// Zeros lose their signs, which depend on the processor where BLAS multiplies.
template <class R>
void drop_signs_of_zeros(std::vector<std::byte>& elements) {
    for (std::size_t i = 0; i + sizeof(R) <= elements.size(); i += sizeof(R)) {
        R part = 0;
        std::memcpy(&part, &elements[i], sizeof(R));
        part += R(0);
        std::memcpy(&elements[i], &part, sizeof(R));
    }
}

/// Of a sparse tensor with the number of those that it stores.
std::vector<std::byte> elements_of(const AnyTensor& tensor) {
    std::vector<std::byte> elements;
    if (tensor.is_sparse()) {
        elements = elements_of(tensor.to_dense());
        elements.resize(elements.size() + static_cast<std::size_t>(tensor.stored()));
        return elements;
    }
    tensor.gather_all([&](std::int64_t count) {
        elements.resize(static_cast<std::size_t>(count) * sizeof(Complex));
        return elements.data();
    });
    if (tensor.element() == float64 || tensor.element() == complex128) drop_signs_of_zeros<double>(elements);
    if (tensor.element() == complex64) drop_signs_of_zeros<float>(elements);
    return elements;
}

/// One random statement, with all operands of the type of the output and with narrower ones.
class MixedPair {
public:
    MixedPair(const World& world, const std::vector<MixedStatement>& statements, std::mt19937_64& random)
        : world_(world), statement_(any_of(statements, random)) {
        const auto type = any_of(std::vector{float64, complex64, complex128, int64}, random);
        std::map<char, std::int64_t> extents;
        const std::int64_t most = statement_.output.size() > 3 ? 6 : 14, equal = 1 + static_cast<std::int64_t>(random() % most);
        const auto shape = [&](const std::string& labels) {
            std::vector<std::int64_t> result;
            for (char label : labels)
                result.push_back(
                    extents.try_emplace(label, random() % 2 == 0 ? equal : 1 + static_cast<std::int64_t>(random() % most)).first->second);
            return result;
        };
        for (const auto& factor : statement_.factors)
            for (char label : factor.labels)
                if (!factor.symmetry.empty()) extents[label] = equal;
        for (const auto& factor : statement_.factors) {
            auto own = any_of(held_by.at(type), random);
            if (own == boolean && factor.symmetry.starts_with("antisym")) own = int16;
            narrow_.push_back(of_small_numbers(world, shape(factor.labels), factor, own, random()));
            wide_.push_back(narrow_.back().converted(type));
            conjugated_.push_back(random() % 3 == 0);
        }
        adds_ = random() % 2 == 0;
        const auto& output = statement_.output;
        const bool may_be_sparse = statement_.factors[0].is_sparse && !output.empty();
        before_ = of_small_numbers(world, shape(output), {output, "", may_be_sparse && random() % 2 == 0}, type, random());
        if (may_be_sparse && random() % 4 == 0)
            mask_ = of_small_numbers(world, shape(output), {output, "", true}, any_of(held_by.at(type), random), random());
    }

    AnyTensor result(bool mixed) const {
        auto target = before_;
        const auto& factors = mixed ? narrow_ : wide_;
        auto right = factor(factors, 0);
        for (std::size_t f = 1; f < factors.size(); ++f) right = right * factor(factors, f);
        if (mask_) right = masked((*mask_)[Labels(statement_.output)], false, right);
        if (adds_)
            target[Labels(statement_.output)] += right;
        else
            target[Labels(statement_.output)] = right;
        EXPECT_EQ(world_.last_report().bytes_sent, world_.last_report().bytes_planned);
        return target;
    }
    std::string text() const {
        auto text = to_string(before_.element()) + " " + statement_.output + " =";
        for (std::size_t f = 0; f < narrow_.size(); ++f)
            text += " " + to_string(narrow_[f].element()) + (narrow_[f].is_sparse() ? " sparse " : " ") + statement_.factors[f].labels +
                    " " + statement_.factors[f].symmetry + (conjugated_[f] ? " conjugated" : "");
        return text + (before_.is_sparse() ? ", sparse" : "") + (adds_ ? ", added" : "") + (mask_ ? ", masked" : "");
    }

private:
    AnyExpression factor(const std::vector<AnyTensor>& factors, std::size_t f) const {
        const AnyExpression own = factors[f][Labels(statement_.factors[f].labels)];
        return conjugated_[f] ? conj(own) : own;
    }

    const World& world_;
    const MixedStatement& statement_;
    std::vector<AnyTensor> narrow_, wide_;
    std::vector<bool> conjugated_;
    AnyTensor before_;
    std::optional<AnyTensor> mask_;
    bool adds_ = false;
};

class MixedTypes : public testing::TestWithParam<const std::vector<MixedStatement>*> {};

TEST_P(MixedTypes, RandomStatementsEqualThoseOfConvertedOperands) {
    const World world;
    for_each_seed(9000, 120, [&](std::mt19937_64& random) {
        const MixedPair pair(world, *GetParam(), random);
        SCOPED_TRACE(pair.text());
        const auto expected = elements_of(pair.result(false));
        for (int repeat = 0; repeat < 3; ++repeat) ASSERT_EQ(elements_of(pair.result(true)), expected);
    });
}

TEST_P(MixedTypes, KeepToMemoryLimits) {
    World world;
    const auto unlimited = world.memory_limit();
    int done = 0;
    for_each_seed(9500, 80, [&](std::mt19937_64& random) {
        const MixedPair pair(world, *GetParam(), random);
        SCOPED_TRACE(pair.text());
        const auto expected = elements_of(pair.result(false));
        world.set_memory_limit(world.memory_in_use() + 2000 + static_cast<std::int64_t>(random() % 200000));
        world.reset_peak();
        try {
            const auto result = pair.result(true);
            EXPECT_LE(world.memory_peak(), world.memory_limit());
            world.set_memory_limit(unlimited);
            ++done;
            EXPECT_EQ(elements_of(result), expected);
        } catch (const OutOfMemory&) {
            world.set_memory_limit(unlimited);
        }
    });
    EXPECT_GT(done, 0);
}

INSTANTIATE_TEST_SUITE_P(Dense, MixedTypes, testing::Values(&mixed_statements));
INSTANTIATE_TEST_SUITE_P(Sparse, MixedTypes, testing::Values(&sparse_statements));

/// Messages have elements of the operand's own type.
TEST(NarrowOperands, SendNarrowElements) {
    const World world;
    const std::int64_t n = 24;
    Tensor<Complex> C(world, {n, n});
    Tensor<double> D(world, {n, n});
    Tensor<float> F(world, {n, n});
    D.fill_random(1);
    F.fill_random(2);
    const auto sent = [&](const auto& statement) {
        statement();
        EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
        return world.sum(world.last_report().bytes_sent);
    };
    const auto whole = sent([&] { C["ij"] = Tensor<Complex>(D)["ji"]; });
    EXPECT_EQ(whole, 2 * sent([&] { C["ij"] = D["ji"]; }));
    EXPECT_EQ(whole, 4 * sent([&] { C["ij"] = F["ji"]; }));
    EXPECT_TRUE(whole > 0 || world.size() == 1);
}

/// A limit that does not leave room for a copy of an operand in the other type; windows of it are converted.
TEST(NarrowOperands, AreConvertedInWindows) {
    World world;
    const std::int64_t n = 600;
    Tensor<double> A(world, {4, n}), D(world, {4, n}), E(world, {4, n});
    Tensor<float> F(world, {n, n}, "F");
    A.fill([](Index x) { return static_cast<double>((x[0] + 3 * x[1]) % 5); });
    F.fill([](Index x) { return static_cast<float>((2 * x[0] + x[1]) % 7); });
    E["ij"] = A["ik"] * Tensor<double>(F)["kj"];
    const auto unlimited = world.memory_limit();
    world.set_memory_limit(world.memory_in_use() + n * n * 8 / world.size() * 3 / 4 + (world.size() > 1 ? 600000 : 0));
    D["ij"] = A["ik"] * F["kj"];
    world.set_memory_limit(unlimited);
    EXPECT_EQ(D.gather(), E.gather());
}

}  // namespace
}  // namespace arges::test
