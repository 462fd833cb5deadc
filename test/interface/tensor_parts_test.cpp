// Slices, other symmetries, and real and imaginary parts.
#include "interface/dense/tensor_shares.hpp"
#include "support/seeds.hpp"
#include "support/tensor_checks.hpp"

namespace arges::test {
namespace {

using Bounds = std::vector<std::int64_t>;

template <class T>
class TensorParts : public testing::Test {
protected:
    World world_;
};
using PartTypes = testing::Types<float, std::complex<double>>;
TYPED_TEST_SUITE(TensorParts, PartTypes);

/// Random ranges that are often equal for several dimensions of equal extent, and sometimes empty.
std::pair<Bounds, Bounds> random_ranges(const Bounds& extents, std::mt19937_64& random) {
    Bounds begin, end;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        const auto like = static_cast<std::size_t>(random_integer(random, 0, static_cast<std::int64_t>(d)));
        if (d > 0 && like < d && extents[like] == extents[d] && random_integer(random, 0, 3) > 0) {
            begin.push_back(begin[like]);
            end.push_back(end[like]);
            continue;
        }
        const auto a = random_integer(random, 0, extents[d]), b = random_integer(random, 0, extents[d]);
        begin.push_back(std::min(a, b));
        end.push_back(std::max(a, b));
    }
    return {begin, end};
}

bool inside(const Bounds& x, const Bounds& begin, const Bounds& end) {
    for (std::size_t d = 0; d < x.size(); ++d)
        if (x[d] < begin[d] || x[d] >= end[d]) return false;
    return true;
}

Dense cut(const Dense& whole, const Bounds& begin, const Bounds& end) {
    Bounds lengths;
    for (std::size_t d = 0; d < begin.size(); ++d) lengths.push_back(end[d] - begin[d]);
    Dense part(lengths);
    for (std::size_t k = 0; k < part.data.size(); ++k) {
        auto x = part.index(k);
        for (std::size_t d = 0; d < x.size(); ++d) x[d] += begin[d];
        part.data[k] = whole.at(x);
    }
    return part;
}

/// Cut along a dimension, often with empty parts, and put together again.
TYPED_TEST(TensorParts, ConcatenatedSlicesAreTheWhole) {
    using T = TypeParam;
    for_each_seed(150, 2, [&](std::mt19937_64& random) {
        for_each_shape<T>(this->world_, random(), [&](const Shape& shape, const Dense& dense, const Tensor<T>& A) {
            if (A.order() == 0) return;
            const auto d = static_cast<std::size_t>(random_integer(random, 0, A.order() - 1));
            auto from = Bounds(shape.extents.size(), 0), to = shape.extents;
            from[d] = to[d] = random_integer(random, 0, shape.extents[d]);
            const auto whole = concatenated(static_cast<int>(d), A.slice(Bounds(from.size(), 0), to), A.slice(from, shape.extents));
            expect_equal(whole, dense);
            // Slots without the dimension stay.
            for (const auto& slot : A.symmetry().slots()) {
                const auto dimensions = slot.dimensions();
                if (std::find(dimensions.begin(), dimensions.end(), static_cast<int>(d)) != dimensions.end()) continue;
                EXPECT_NE(std::find(whole.symmetry().slots().begin(), whole.symmetry().slots().end(), slot),
                          whole.symmetry().slots().end());
            }
        });
    });
}

TEST(Concatenated, PartsMustAgree) {
    const World world;
    Tensor<double> A(world, {2, 3}, "A"), B(world, {2, 4}, "B"), C(world, {2}, "C");
    EXPECT_EQ(concatenated(1, A, B, A).extents(), (Bounds{2, 10}));
    EXPECT_THROW(concatenated(0, A, B), InvalidArgument);
    EXPECT_THROW(concatenated(0, A, C), InvalidArgument);
    EXPECT_THROW(concatenated(2, A, A), InvalidArgument);
    EXPECT_THROW(concatenated(-1, A, A), InvalidArgument);
}

/// Extents with the same product.
Bounds other_extents(std::int64_t size, std::mt19937_64& random) {
    Bounds result;
    for (std::int64_t n = 1; size > 1 && n <= size && result.size() < 3; ++n)
        if (size % n == 0 && random() % 2 == 0) {
            result.push_back(n);
            size /= n;
        }
    if (size != 1 || random() % 2 == 0) result.push_back(size);
    std::shuffle(result.begin(), result.end(), random);
    return result;
}

TYPED_TEST(TensorParts, ReshapedOnesHaveTheSameElementsInOrder) {
    using T = TypeParam;
    for_each_seed(150, 4, [&](std::mt19937_64& random) {
        for_each_shape<T>(this->world_, random(), [&](const Shape&, const Dense& dense, const Tensor<T>& A) {
            const auto extents = other_extents(A.size(), random);
            Dense expected(extents);
            expected.data = dense.data;
            expect_equal(A.reshaped(extents), expected);
            // The last index is the fastest on both sides where all dimensions are in the opposite order.
            const auto reversed = [](const Dense& given) {
                Dense result(Bounds(given.extents.rbegin(), given.extents.rend()));
                for (std::size_t k = 0; k < given.data.size(); ++k) {
                    const auto x = given.index(k);
                    result.at(Bounds(x.rbegin(), x.rend())) = given.data[k];
                }
                return result;
            };
            Dense backward(Bounds(extents.rbegin(), extents.rend()));
            backward.data = reversed(dense).data;
            expect_equal(A.reshaped(extents, true), reversed(backward));
        });
    });
}

TEST(Reshaped, RefusesAnotherNumberOfElements) {
    const World world;
    const Tensor<double> A(world, {2, 3}, "A");
    EXPECT_EQ(A.reshaped({6}).extents(), (Bounds{6}));
    EXPECT_EQ(A.reshaped({1, 1, 6, 1}).extents(), (Bounds{1, 1, 6, 1}));
    EXPECT_THROW(A.reshaped({5}), InvalidArgument);
    EXPECT_THROW(A.reshaped({}), InvalidArgument);
    EXPECT_THROW(A.reshaped({-2, -3}), InvalidArgument);
    EXPECT_EQ(Tensor<double>(world, {0, 3}).reshaped({7, 0}).extents(), (Bounds{7, 0}));
}

/// What a rank takes of the elements in an order of dimensions, and the way back.
TYPED_TEST(TensorParts, SharesAreTheElementsInOrder) {
    using T = TypeParam;
    for_each_seed(150, 5, [&](std::mt19937_64& random) {
        for_each_shape<T>(this->world_, random(), [&](const Shape& shape, const Dense& dense, const Tensor<T>& A) {
            Shares shares;
            for (int d = 0; d < A.order(); ++d) shares.order.push_back(d);
            std::shuffle(shares.order.begin(), shares.order.end(), random);
            shares.bounds = {0, A.size()};
            while (std::ssize(shares.bounds) <= this->world_.size()) shares.bounds.push_back(random_integer(random, 0, A.size()));
            std::sort(shares.bounds.begin(), shares.bounds.end());
            const auto rank = static_cast<std::size_t>(this->world_.rank());
            std::vector<T> share(static_cast<std::size_t>(shares.bounds[rank + 1] - shares.bounds[rank]));
            read_share(A, shares, share.data());
            for (std::size_t i = 0; i < share.size(); ++i) {
                auto number = shares.bounds[rank] + static_cast<std::int64_t>(i);
                Bounds x(shape.extents.size());
                for (const int d : shares.order) {
                    const auto length = shape.extents[static_cast<std::size_t>(d)];
                    x[static_cast<std::size_t>(d)] = number % length;
                    number /= length;
                }
                EXPECT_EQ(share[i], element<T>(dense.at(x)));
            }
            Tensor<T> B(this->world_, shape.extents);
            write_share(B, shares, share.data());
            expect_equal(B, dense);
        });
    });
}

TYPED_TEST(TensorParts, SliceTakesAnyRange) {
    using T = TypeParam;
    for_each_seed(200, 2, [&](std::mt19937_64& random) {
        for_each_shape<T>(this->world_, random(), [&](const Shape& shape, const Dense& dense, const Tensor<T>& A) {
            const auto [begin, end] = random_ranges(shape.extents, random);
            const auto part = A.slice(begin, end);
            expect_equal(part, cut(dense, begin, end));
            // What it says about its symmetry is true of its elements.
            for (const auto& g : group_elements(part.symmetry())) EXPECT_EQ(permuted(part.extents(), g), part.extents());
        });
    });
}

TEST(Slices, KeepTheSymmetryOfDimensionsWithEqualRanges) {
    const World world;
    const Tensor<double> A(world, {4, 4, 4, 4}, "pqrs", "sym(sym(p,q),sym(r,s))");
    EXPECT_EQ(A.slice({1, 1, 1, 1}, {3, 3, 3, 3}).symmetry().to_string("pqrs"), "sym(sym(p,q),sym(r,s))");
    EXPECT_EQ(A.slice({0, 0, 1, 1}, {2, 2, 4, 4}).symmetry().to_string("pqrs"), "sym(p,q) sym(r,s)");
    EXPECT_EQ(A.slice({0, 2, 0, 2}, {2, 4, 2, 4}).symmetry().to_string("pqrs"), "sym(product(p,q),product(r,s))");
    EXPECT_EQ(A.slice({0, 1, 2, 3}, {1, 2, 3, 4}).symmetry().to_string("pqrs"), "none");
    EXPECT_EQ(A.slice({0, 0, 1, 2}, {2, 2, 4, 4}).symmetry().to_string("pqrs"), "sym(p,q)");
}

/// A slice of another tensor with the same symmetry is written: where it is accepted, the result is known everywhere.
TYPED_TEST(TensorParts, SetSliceWritesAnyRangeThatItAccepts) {
    using T = TypeParam;
    int accepted = 0, refused = 0;
    for_each_seed(300, 3, [&](std::mt19937_64& random) {
        for_each_shape<T>(this->world_, random(), [&](const Shape& shape, const Dense& dense, Tensor<T> A) {
            const auto [begin, end] = random_ranges(shape.extents, random);
            const auto other = random_dense(shape.extents, shape.symmetry(), is_complex<T>, random);
            const double alpha = static_cast<double>(random_integer(random, -2, 2));
            const double beta = static_cast<double>(random_integer(random, 0, 2));
            const auto part = distributed<T>(this->world_, other, shape.symmetry(), "B").slice(begin, end);
            try {
                A.set_slice(begin, part, element<T>(alpha), element<T>(beta));
            } catch (const InvalidArgument&) {
                ++refused;
                expect_equal(A, dense);
                return;
            }
            ++accepted;
            auto expected = dense;
            const auto group = group_elements(shape.symmetry());
            for (std::size_t k = 0; k < dense.data.size(); ++k)
                for (const auto& g : group)
                    if (inside(permuted(dense.index(k), g), begin, end)) {
                        expected.data[k] = alpha * other.data[k] + beta * dense.data[k];
                        break;
                    }
            expect_equal(A, expected);
        });
    });
    if (std::getenv("ARGES_FUZZ_SEED") == nullptr) {
        EXPECT_GT(accepted, refused);
    }
}

TEST(Slices, AreWrittenIntoTheTensorThatTheyComeFrom) {
    const World world;
    Tensor<double> A(world, {4, 6});
    A.fill([](Index x) { return static_cast<double>(x[0] + 10 * x[1]); });
    A.set_slice({0, 2}, A.slice({0, 0}, {4, 4}), 2.0, 1.0);
    A.set_slice({0, 0}, A, 1.0, 1.0);
    for (std::int64_t k = 0; k < 24; ++k) {
        const auto x = k % 4, y = k / 4;
        const auto once = static_cast<double>(x + 10 * y + (y >= 2 ? 2 * (x + 10 * (y - 2)) : 0));
        EXPECT_EQ(A.gather()[static_cast<std::size_t>(k)], 2 * once);
    }
}

/// From each tree to its parts and back.
TYPED_TEST(TensorParts, WithSymmetryUnpacksAndPacks) {
    using T = TypeParam;
    for_each_shape<T>(this->world_, 9, [&](const Shape& shape, const Dense& dense, const Tensor<T>& A) {
        const auto unpacked = A.with_symmetry(Symmetry::none(A.order()));
        EXPECT_TRUE(unpacked.symmetry().trivial());
        expect_equal(unpacked, dense);
        expect_equal(unpacked.with_symmetry(shape.symmetry()), dense);
        // One level of the trees less.
        std::vector<SymmetryNode> slots;
        for (const auto& slot : A.symmetry().slots()) {
            if (slot.children.empty() || slot.children[0].children.empty()) continue;
            for (const auto& child : slot.children)
                if (child.kind != NodeKind::product) slots.push_back(child);
        }
        const auto less = A.with_symmetry(Symmetry(A.order(), product(slots)));
        expect_equal(less, dense);
        expect_equal(less.with_symmetry(shape.symmetry()), dense);
    });
}

TEST(Parts, OfComplexTensorsAreRealWithTheRightSymmetry) {
    using Complex = std::complex<double>;
    const World world;
    for_each_shape<Complex>(world, 10, [&](const Shape&, const Dense& dense, const Tensor<Complex>& A) {
        auto re = dense, im = dense, conjugate = dense;
        for (std::size_t k = 0; k < dense.data.size(); ++k) {
            re.data[k] = dense.data[k].real();
            im.data[k] = dense.data[k].imag();
            conjugate.data[k] = std::conj(dense.data[k]);
        }
        expect_equal(real(A), re);
        expect_equal(imag(A), im);
        expect_equal(conj(A), conjugate);
        EXPECT_EQ(conj(A).symmetry(), A.symmetry());
    });
    const Tensor<Complex> H(world, {3, 3}, "ij", "hermitian(i,j)");
    EXPECT_EQ(real(H).symmetry().to_string(), "sym(a,b)");
    EXPECT_EQ(imag(H).symmetry().to_string(), "antisym(a,b)");
}

}  // namespace
}  // namespace arges::test
