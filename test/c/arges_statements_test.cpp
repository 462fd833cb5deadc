// Statements by the functions of arges.h give bit by bit what those of C++ give, or the same error.
#include "c/c_support.hpp"
#include "support/random_statement.hpp"
#include "support/seeds.hpp"

#include <complex>
#include <cstring>

namespace arges::test {
namespace {

template <class T>
T element_from(Value value) {
    if constexpr (kernels::is_complex<T>)
        return T(static_cast<real_of<T>>(value.real()), static_cast<real_of<T>>(value.imag()));
    else if constexpr (std::is_same_v<T, bool>)
        return value.real() != 0;
    else
        return static_cast<T>(value.real());
}

template <class T>
arges_type c_type() {
    return static_cast<arges_type>(element_type_of<T>());
}

/// A tensor of C++ and one of C with the same elements.
template <class T>
struct Pair {
    Tensor<T> own;
    CTensor c;

    Pair(const World& world, const CWorld& of_c, const std::vector<std::int64_t>& extents, const Symmetry& symmetry, const Dense& values) {
        const auto letters = letters_for(static_cast<int>(extents.size()));
        const auto text = symmetry.trivial() ? "" : symmetry.to_string(letters);
        own = Tensor<T>(world, extents, letters, text);
        c = c_tensor(of_c, c_type<T>(), extents, letters.c_str(), text.c_str());
        std::vector<std::int64_t> keys;
        std::vector<Stored<T>> elements;
        for (std::size_t k = static_cast<std::size_t>(world.rank()); k < values.data.size(); k += static_cast<std::size_t>(world.size())) {
            keys.push_back(static_cast<std::int64_t>(k));
            elements.push_back(element_from<T>(values.data[k]));
        }
        own.write(keys, std::span(reinterpret_cast<const T*>(elements.data()), elements.size()));
        EXPECT_OK(arges_tensor_write(c.get(), static_cast<std::int64_t>(keys.size()), keys.data(), elements.data(), ARGES_REFUSE));
    }
};

/// What C++ says: a status and a message.
template <class F>
std::pair<arges_status, std::string> said(F&& f) {
    try {
        f();
        return {ARGES_OK, ""};
    } catch (const InvalidArgument& error) {
        return {ARGES_INVALID_ARGUMENT, error.what()};
    } catch (const OutOfMemory& error) {
        return {ARGES_OUT_OF_MEMORY, error.what()};
    } catch (const Unsupported& error) {
        return {ARGES_UNSUPPORTED, error.what()};
    }
}

template <class T>
class CStatements : public testing::Test {};
using Elements = testing::Types<float, double, std::complex<float>, std::complex<double>, std::int16_t, std::int32_t, std::int64_t, bool>;
TYPED_TEST_SUITE(CStatements, Elements);

TYPED_TEST(CStatements, AreThoseOfCpp) {
    using T = TypeParam;
    constexpr bool is_complex = kernels::is_complex<T>;
    const World world;
    const auto of_c = c_world();
    int accepted = 0, refused = 0;
    for_each_seed(4000, from_environment("ARGES_FUZZ_COUNT", 400) / 8, [&](std::mt19937_64& random) {
        RandomStatement s(random(), is_complex);
        SCOPED_TRACE(s.text());
        std::vector<Pair<T>> tensors;
        const auto made = said([&] {
            for (const auto& t : s.tensors)
                tensors.emplace_back(world, of_c, s.extents_of(t.labels), t.symmetry,
                                     random_dense(s.extents_of(t.labels), t.symmetry, is_complex, s.random()));
        });
        if (made.first != ARGES_OK) return;  // an antisymmetric tensor of bool
        Expression<T> right;
        CStatement statement;
        const auto name = [](const std::vector<int>& labels) { return c_labels(RandomStatement::names_of(labels)); };
        ASSERT_OK(arges_statement_create(tensors[0].c.get(), name(s.output).c_str(), Made(statement)));
        for (const auto& term : s.terms) {
            Expression<T> product(T(1));
            std::vector<const arges_tensor*> factors;
            std::vector<std::string> texts;
            std::vector<int> conjugated;
            for (const auto& f : term.factors) {
                const Expression<T> factor = tensors[f.tensor].own[RandomStatement::names_of(f.labels)];
                product = product * (f.conjugated ? conj(factor) : factor);
                factors.push_back(tensors[f.tensor].c.get());
                texts.push_back(name(f.labels));
                conjugated.push_back(f.conjugated ? 1 : 0);
            }
            const auto alpha = element_from<T>(term.alpha);
            product.scale(alpha);
            for (auto& part : product.terms()) part.projection = term.projection;
            right = right + product;
            std::vector<const char*> labels;
            for (const auto& text : texts) labels.push_back(text.c_str());
            ASSERT_OK(arges_statement_add(statement.get(), &alpha, static_cast<int>(factors.size()), factors.data(), labels.data(),
                                          conjugated.data(), static_cast<arges_projection>(term.projection)));
        }
        const auto beta = element_from<T>(s.beta);
        auto target = tensors[0].own[RandomStatement::names_of(s.output)];
        const auto expected = said([&] { target.assign(right, beta); });
        const auto status = arges_statement_run(statement.get(), s.beta == 0 && s.random()() % 2 == 0 ? nullptr : &beta);
        EXPECT_EQ(expected.first, status) << arges_message() << " / " << expected.second;
        EXPECT_EQ(expected.second, arges_message());
        EXPECT_EQ(gathered<T>(tensors[0].own), gathered<T>(tensors[0].c));
        (status == ARGES_OK ? accepted : refused) += 1;
        if (status != ARGES_OK) return;
        char* text = nullptr;
        ASSERT_OK(arges_statement_explain(statement.get(), &beta, &text));
        EXPECT_EQ(target.explain(right, beta), text);
        arges_free(text);
    });
    if (std::getenv("ARGES_FUZZ_SEED") == nullptr) {
        EXPECT_GT(accepted, refused);
    }
}

/// Random matrices with few nonzeros.
template <class T>
void write_some(const World& world, SparseTensor<T>& own, const CTensor& c, std::mt19937_64& random) {
    std::vector<std::int64_t> keys;
    std::vector<Stored<T>> values;
    std::int64_t size = 1;
    for (auto n : own.lengths()) size *= n;
    for (std::int64_t key = 0; key < size; ++key) {
        const bool is_stored = random() % 4 == 0;
        const auto value = element_from<T>(static_cast<double>(random() % 5) - 2.0);
        if (!is_stored || key % world.size() != world.rank()) continue;
        keys.push_back(key);
        values.push_back(value);
    }
    own.write(keys, std::span(reinterpret_cast<const T*>(values.data()), values.size()), Duplicates::refuse);
    EXPECT_OK(arges_tensor_write(c.get(), static_cast<std::int64_t>(keys.size()), keys.data(), values.data(), ARGES_REFUSE));
}

TYPED_TEST(CStatements, WithSparseTensorsAreThoseOfCpp) {
    using T = TypeParam;
    const World world;
    const auto of_c = c_world();
    const auto type = c_type<T>();
    for_each_seed(50, 6, [&](std::mt19937_64& random) {
        const std::int64_t n = 1 + static_cast<std::int64_t>(random() % 9), m = 1 + static_cast<std::int64_t>(random() % 9), k = 7;
        const bool is_complement = random() % 2 == 0;
        SparseTensor<T> A(world, {n, k}), B(world, {k, m}), P(world, {n, m}), C(world, {n, m});
        const auto a = c_tensor(of_c, type, {n, k}, nullptr, nullptr, true), b = c_tensor(of_c, type, {k, m}, nullptr, nullptr, true);
        const auto p = c_tensor(of_c, type, {n, m}, nullptr, nullptr, true), c = c_tensor(of_c, type, {n, m}, nullptr, nullptr, true);
        write_some(world, A, a, random);
        write_some(world, B, b, random);
        write_some(world, P, p, random);
        const Expression<T> product = A["ik"] * B["kj"];
        C["ij"] = is_complement ? where_not(P["ij"], product) : where(P["ij"], product);
        CStatement statement;
        ASSERT_OK(arges_statement_create(c.get(), "ij", Made(statement)));
        const arges_tensor* factors[] = {a.get(), b.get()};
        const char* labels[] = {"ik", "kj"};
        ASSERT_OK(arges_statement_where(statement.get(), p.get(), "ij", is_complement ? 1 : 0));
        ASSERT_OK(arges_statement_add(statement.get(), nullptr, 2, factors, labels, nullptr, ARGES_AS_IT_IS));
        ASSERT_OK(arges_statement_run(statement.get(), nullptr));
        std::int64_t stored = 0;
        ASSERT_OK(arges_tensor_size(c.get(), nullptr, &stored));
        EXPECT_EQ(C.nonzeros(), stored);
        CTensor dense;
        ASSERT_OK(arges_tensor_to_dense(c.get(), Made(dense)));
        EXPECT_EQ(gathered<T>(C.to_dense()), gathered<T>(dense));
        // Local pairs of all ranks are what is stored.
        std::int64_t count = 0, total = 0;
        std::int64_t* keys = nullptr;
        void* values = nullptr;
        ASSERT_OK(arges_tensor_local_pairs(c.get(), &count, &keys, &values));
        MPI_Allreduce(&count, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        EXPECT_EQ(stored, total);
        std::vector<Stored<T>> read(static_cast<std::size_t>(count));
        ASSERT_OK(arges_tensor_read(dense.get(), count, keys, read.data()));
        EXPECT_TRUE(std::equal(read.begin(), read.end(), static_cast<const Stored<T>*>(values)));
        arges_free(keys);
        arges_free(values);
    });
}

TYPED_TEST(CStatements, ContractIsOneStatement) {
    using T = TypeParam;
    const World world;
    const auto of_c = c_world();
    std::mt19937_64 random(5);
    const auto make = [&](std::vector<std::int64_t> extents) {
        const auto none = Symmetry::none(static_cast<int>(extents.size()));
        return Pair<T>(world, of_c, extents, none, random_dense(extents, none, kernels::is_complex<T>, random));
    };
    auto A = make({4, 3, 5}), B = make({5, 6}), C = make({6, 4, 3});
    const T alpha = element_from<T>(2), beta = element_from<T>(3);
    C.own["mij"].assign(Expression<T>(alpha) * (A.own["ijk"] * B.own["km"]), beta);
    ASSERT_OK(arges_contract(&alpha, A.c.get(), "ijk", B.c.get(), "k,m", &beta, C.c.get(), "mij"));
    EXPECT_EQ(gathered<T>(C.own), gathered<T>(C.c));
    auto transposed = make({3, 5, 4});
    transposed.own["jki"] = A.own["ijk"];
    ASSERT_OK(arges_contract(nullptr, A.c.get(), "ijk", nullptr, nullptr, nullptr, transposed.c.get(), "jki"));
    EXPECT_EQ(gathered<T>(transposed.own), gathered<T>(transposed.c));
    CTensor product;
    const arges_tensor* operands[] = {A.c.get(), B.c.get()};
    ASSERT_OK(arges_einsum("ijk,km->mij", 2, operands, Made(product)));
    Tensor<T> expected(world, {6, 4, 3});
    expected["mij"] = A.own["ijk"] * B.own["km"];
    EXPECT_EQ(gathered<T>(expected), gathered<T>(product));
}

TEST(CStatementParts, MixedTypesAndNumbers) {
    const auto world = c_world();
    const auto real = c_tensor(world, ARGES_FLOAT32, {3, 3}), complex = c_tensor(world, ARGES_COMPLEX128, {3, 3});
    const float two = 2;
    ASSERT_OK(arges_tensor_fill(real.get(), &two));
    const std::complex<double> i(0, 1);
    ASSERT_OK(arges_contract(&i, real.get(), "ik", real.get(), "kj", nullptr, complex.get(), "ij"));
    EXPECT_EQ(std::vector<std::complex<double>>(9, {0, 12}), gathered<std::complex<double>>(complex));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_contract(nullptr, complex.get(), "ik", real.get(), "kj", nullptr, real.get(), "ij"));
    EXPECT_NE(nullptr, std::strstr(arges_message(), "complex128")) << arges_message();
    // Numbers alone, none at all, and beta alone.
    CStatement statement;
    ASSERT_OK(arges_statement_create(complex.get(), "ij", Made(statement)));
    ASSERT_OK(arges_statement_run(statement.get(), &i));
    EXPECT_EQ(std::vector<std::complex<double>>(9, {-12, 0}), gathered<std::complex<double>>(complex));
    ASSERT_OK(arges_statement_run(statement.get(), nullptr));
    EXPECT_EQ(std::vector<std::complex<double>>(9, 0), gathered<std::complex<double>>(complex));
    ASSERT_OK(arges_statement_add(statement.get(), &i, 0, nullptr, nullptr, nullptr, ARGES_AS_IT_IS));
    ASSERT_OK(arges_statement_run(statement.get(), nullptr));
    EXPECT_EQ(std::vector<std::complex<double>>(9, i), gathered<std::complex<double>>(complex));
    ASSERT_OK(arges_statement_divide(statement.get()));
    EXPECT_EQ(std::vector<std::complex<double>>(9, 1), gathered<std::complex<double>>(complex));
}

TEST(CStatementParts, VouchedLabels) {
    const auto world = c_world();
    const auto A = c_tensor(world, ARGES_FLOAT64, {3, 4}), x = c_tensor(world, ARGES_FLOAT64, {2});
    const double one = 1;
    ASSERT_OK(arges_tensor_fill(A.get(), &one));
    CStatement statement;
    ASSERT_OK(arges_statement_create(x.get(), "x", Made(statement)));
    const arges_tensor* factor = A.get();
    const char* labels = "ij";
    ASSERT_OK(arges_statement_add(statement.get(), nullptr, 1, &factor, &labels, nullptr, ARGES_AS_IT_IS));
    EXPECT_EQ(ARGES_INVALID_ARGUMENT, arges_statement_run(statement.get(), nullptr));
    ASSERT_OK(arges_statement_vouch(statement.get(), "x", nullptr));
    ASSERT_OK(arges_statement_run(statement.get(), nullptr));
    EXPECT_EQ(std::vector<double>(2, 12.0), gathered<double>(x));
}

}  // namespace
}  // namespace arges::test
