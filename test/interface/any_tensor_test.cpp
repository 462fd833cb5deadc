// Tensors whose type is known at run time, against numbers in a list: every element type, both storages, with and without symmetry.
#include "arges/arges.hpp"

#include "support/seeds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace arges::test {
namespace {

using enum ElementType;
using Complex = std::complex<double>;
using Numbers = std::vector<Complex>;

constexpr std::array types{float32, float64, complex64, complex128, int16, int32, int64, boolean};

bool has_imaginary_parts(ElementType type) { return type == complex64 || type == complex128; }

Complex value_of(const Number& number) {
    return std::visit([](const auto& value) { return Complex(value); }, number);
}

/// A tensor with small whole numbers, which every type holds, and the same numbers by key.
struct Given {
    AnyTensor tensor;
    Numbers numbers;

    Given(const World& world, std::mt19937_64& random, ElementType type, Storage storage, std::vector<std::int64_t> extents,
          const Symmetry& symmetry)
        : tensor(type, storage, world, std::move(extents), symmetry, "A"), numbers(tensor.size()) {
        std::vector<std::int64_t> keys;
        Numbers values;
        for (std::int64_t key = 0; key < tensor.size(); ++key) {
            const auto canonical = tensor.canonical_key(tensor.index(key));
            const bool is_stored = storage == Storage::dense || random() % 2 == 0;
            if (canonical.key != key || canonical.zero || !is_stored) continue;
            const double real = static_cast<double>(random() % 7) - 3, imaginary = static_cast<double>(random() % 3);
            const auto value = type == boolean             ? Complex(random() % 2)
                               : has_imaginary_parts(type) ? Complex(real, imaginary)
                                                           : Complex(real);
            keys.push_back(key);
            values.push_back(value);
            numbers[key] = value;
        }
        for (std::int64_t key = 0; key < tensor.size(); ++key) {
            const auto canonical = tensor.canonical_key(tensor.index(key));
            if (!canonical.zero) numbers[key] = canonical.negative ? -numbers[canonical.key] : numbers[canonical.key];
        }
        if (world.rank() != 0) keys.clear(), values.clear();
        std::vector<std::byte> elements;
        for (const auto& value : values) {
            const auto element = element_from(has_imaginary_parts(type) ? Number(value) : Number(value.real()), type);
            const auto* const first = static_cast<const std::byte*>(element.data());
            elements.insert(elements.end(), first, first + element.size());
        }
        tensor.write_pairs(keys, elements.data(), std::ssize(keys), Duplicates::refuse);
    }
};

/// All elements by key.
Numbers read(const AnyTensor& tensor) {
    std::vector<std::int64_t> keys(tensor.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i);
    std::vector<std::byte> elements;
    tensor.read_pairs(keys, [&](std::int64_t count) {
        elements.assign(static_cast<std::size_t>(count) * 16, std::byte{0x5a});  // what is not written is seen
        return elements.data();
    });
    Numbers result;
    const auto size = element_from(std::int64_t{0}, tensor.element()).size();
    for (std::size_t i = 0; i < keys.size(); ++i)
        result.push_back(value_of(number_from(elements.data() + static_cast<std::int64_t>(i) * size, tensor.element())));
    return result;
}

Given some_tensor(const World& world, std::mt19937_64& random, std::optional<ElementType> type = {}, std::optional<Storage> storage = {}) {
    const auto chosen = type.value_or(types[random() % types.size()]);
    const auto how = storage.value_or(random() % 2 == 0 ? Storage::dense : Storage::sparse);
    const std::int64_t n = static_cast<std::int64_t>(random() % 5) + 1, m = static_cast<std::int64_t>(random() % 4);
    const bool has_negative = chosen != boolean;
    const auto trees = has_negative ? std::vector<std::string>{"", "sym(a,b)", "antisym(a,b)"} : std::vector<std::string>{"", "sym(a,b)"};
    return {world, random, chosen, how, {n, n, m}, Symmetry::parse("abc", trees[random() % trees.size()])};
}

TEST(AnyTensors, AreWhatTheyAreMadeOf) {
    const World world;
    for_each_seed(1, 60, [&](std::mt19937_64& random) {
        const auto given = some_tensor(world, random);
        const auto& A = given.tensor;
        EXPECT_EQ(read(A), given.numbers);
        EXPECT_EQ(read(AnyTensor(A)), given.numbers);
        EXPECT_EQ(read(A.to_dense()), given.numbers);
        EXPECT_EQ(read(A.to_sparse(-1)), given.numbers);
        EXPECT_EQ(read(A.with_symmetry(Symmetry::none(3))), given.numbers);
        EXPECT_FALSE(A.to_dense().is_sparse());
        EXPECT_TRUE(A.to_sparse(0).is_sparse());
        EXPECT_EQ(A.to_sparse(-1).element(), A.element());
    });
}

TEST(AnyTensors, AreConvertedElementByElement) {
    const World world;
    for_each_seed(100, 60, [&](std::mt19937_64& random) {
        const auto given = some_tensor(world, random);
        const auto to = types[random() % types.size()];
        const auto& A = given.tensor;
        if (has_imaginary_parts(A.element()) && !has_imaginary_parts(to)) {
            EXPECT_THROW(A.converted(to), InvalidArgument);
            return;
        }
        if (to == boolean && A.symmetry().to_string().find("antisym") != std::string::npos) return;
        auto expected = given.numbers;
        if (to == boolean)
            for (auto& number : expected) number = number != Complex(0) ? 1 : 0;
        EXPECT_EQ(read(A.converted(to)), expected);
        EXPECT_EQ(A.converted(to).is_sparse(), A.is_sparse());
    });
    AnyTensor large(float64, Storage::dense, world, {3}, {}, "large");
    large.fill(1e10);
    EXPECT_THROW(large.converted(int32), InvalidArgument);
    large.fill(-9223372036854775808.0);
    EXPECT_EQ(value_of(large.converted(int64).minimum().value), Complex(-9223372036854775808.0));
}

TEST(AnyTensors, AddUp) {
    const World world;
    for_each_seed(200, 80, [&](std::mt19937_64& random) {
        const auto given = some_tensor(world, random);
        const auto& A = given.tensor;
        Complex sum = 0;
        double squares = 0, magnitudes = 0, largest = 0;
        for (const auto& number : given.numbers) {
            sum += number;
            squares += std::norm(number);
            magnitudes += std::abs(number);
            largest = std::max(largest, std::abs(number));
        }
        if (A.element() == boolean) {
            EXPECT_EQ(value_of(A.sum()), Complex(sum == Complex(0) ? 0 : 1));
            EXPECT_THROW(static_cast<void>(A.to_dense().norm()), InvalidArgument);
            return;
        }
        EXPECT_EQ(value_of(A.sum()), sum);
        const auto near = [&](double found, double expected) { EXPECT_NEAR(found, expected, 1e-5 * (1 + expected)); };
        near(A.norm(), std::sqrt(squares));
        const auto dense = A.to_dense();
        near(dense.norm1(), magnitudes);
        near(dense.norm_max(), largest);
        near(std::abs(value_of(dense.dot(dense))), squares);
        near(std::abs(value_of(dense.dot(dense.with_symmetry(Symmetry::none(3))))), squares);
        EXPECT_EQ(dense.count_nonzero(), std::count_if(given.numbers.begin(), given.numbers.end(), [](auto x) { return x != Complex(0); }));
        near(std::abs(value_of(dense.largest_magnitude().value)), largest);
        if (has_imaginary_parts(A.element()) || given.numbers.empty()) return;
        const auto less = [](const Complex& a, const Complex& b) { return a.real() < b.real(); };
        const auto [least, most] = std::minmax_element(given.numbers.begin(), given.numbers.end(), less);
        EXPECT_EQ(value_of(dense.minimum().value), *least);
        EXPECT_EQ(value_of(dense.maximum().value), *most);
        EXPECT_EQ(given.numbers[dense.key(dense.maximum().index)], *most);
    });
}

TEST(AnyTensors, OfSeveralTypesMeetInStatements) {
    const World world;
    for_each_seed(300, 60, [&](std::mt19937_64& random) {
        const auto a = some_tensor(world, random, types[random() % 2 == 0 ? 4 : random() % 4]);
        const auto b = some_tensor(world, random, types[random() % 2 == 0 ? 4 : random() % 4], Storage::dense);
        const auto &A = a.tensor, &B = b.tensor;
        const auto n = A.extents()[0], p = A.extents()[2], q = B.extents()[2];
        if (B.extents()[0] != n) return;
        const auto type = common_type(A.element(), B.element());
        AnyTensor C(has_imaginary_parts(type) ? complex128 : float64, Storage::dense, world, {n, p, q}, {}, "C");
        C.fill(std::int64_t{1});
        auto target = C["bcd"];
        target.assign(Number(2.0) * A["abc"] * B["aad"], std::int64_t{3});
        Numbers expected(n * p * q, Complex(3));
        for (std::int64_t x = 0; x < n; ++x)
            for (std::int64_t y = 0; y < n; ++y)
                for (std::int64_t z = 0; z < p; ++z)
                    for (std::int64_t w = 0; w < q; ++w)
                        expected[y + n * (z + p * w)] += 2.0 * a.numbers[x + n * (y + n * z)] * b.numbers[x + n * (x + n * w)];
        EXPECT_EQ(read(C), expected);
        const auto product = einsum("abc,aad->bcd", {&A, &B});
        EXPECT_EQ(product.element(), type);
        for (auto& number : expected) number = (number - 3.0) / 2.0;
        EXPECT_EQ(read(product), expected);
        target *= std::int64_t{0};
        target += A["abc"] * B["aad"];
        EXPECT_EQ(read(C), expected);
        target -= Number(3.0) * A["abc"] * B["aad"] - -(A["abc"] * B["aad"]);
        for (auto& number : expected) number *= -3.0;
        EXPECT_EQ(read(C), expected);
        AnyTensor wrong(boolean, Storage::dense, world, {n, p, q}, {}, "wrong");
        EXPECT_THROW(wrong["bcd"] = A["abc"] * B["aad"], InvalidArgument);
    });
}

TEST(AnyTensors, HaveTypedViewsOfTheirTypeOnly) {
    const World world;
    AnyTensor any(float64, Storage::dense, world, {3, 2}, {}, "any");
    any.fill(2.5);
    Tensor<double> typed(std::move(any));
    EXPECT_EQ(typed.sum(), 15);
    any = std::move(typed);
    EXPECT_EQ(value_of(any.sum()), Complex(15));
    EXPECT_THROW(Tensor<float>(AnyTensor(any)), InvalidArgument);
    EXPECT_THROW(SparseTensor<double>(AnyTensor(any)), InvalidArgument);
    EXPECT_THROW(static_cast<void>(any.local_indices(0)), InvalidArgument);
    EXPECT_THROW(static_cast<void>(any.to_sparse(0).norm1()), InvalidArgument);
    EXPECT_THROW(static_cast<void>(AnyTensor().element()), InvalidArgument);
}

}  // namespace
}  // namespace arges::test
