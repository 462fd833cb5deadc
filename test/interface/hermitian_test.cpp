// Hermitian nodes anywhere in a tree: elements that a permutation maps to their own conjugates are real, however they are set.
#include "support/tensor_checks.hpp"

namespace arges::test {
namespace {

template <class T>
class Hermitian : public testing::Test {
protected:
    World world_;
};
using ElementTypes = testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Hermitian, ElementTypes);

/// Runs f(shape, group) over the shapes with hermitian nodes, in all mappings.
template <class F>
void for_each_hermitian(const World& world, F&& f) {
    with_all_mappings(world, [&] {
        for (const auto& shape : shapes()) {
            if (!shape.complex) continue;
            SCOPED_TRACE(shape.text());
            f(shape, group_elements(shape.symmetry()));
        }
    });
}

/// Each element of the full tensor is what the group says, to the last bit, and sum() is its sum.
template <class T>
void expect_symmetry(const Tensor<T>& A, const std::vector<GroupElement>& group) {
    const auto full = A.gather();
    const Dense keys(A.extents());
    Value sum = 0;
    double size = 1;
    for (std::size_t k = 0; k < full.size(); ++k) {
        sum += Value(full[k]);
        size += std::abs(full[k]);
        for (const auto& g : group) {
            auto there = full[keys.key(permuted(keys.index(k), g))];
            if (g.conjugate) there = std::conj(there);
            ASSERT_EQ(full[k], g.negative ? -there : there) << "key " << k;
        }
    }
    EXPECT_LE(std::abs(Value(A.sum()) - sum), size * (sizeof(T) == 8 ? 1e-5 : 1e-13));
    EXPECT_EQ(A.read(all_keys(A)), full);
}

TYPED_TEST(Hermitian, RandomElementsHaveTheSymmetry) {
    for_each_hermitian(this->world_, [&](const Shape& shape, const auto& group) {
        Tensor<TypeParam> A(this->world_, shape.extents, shape.symmetry(), "A");
        A.fill_random(3);
        EXPECT_GT(A.norm(), 0);
        expect_symmetry(A, group);
    });
}

TYPED_TEST(Hermitian, WritesOfValuesThatAreNotAllowedAreRefused) {
    using T = TypeParam;
    for_each_hermitian(this->world_, [&](const Shape& shape, const auto& group) {
        Tensor<T> A(this->world_, shape.extents, shape.symmetry(), "A");
        for (std::int64_t k = 0; k < A.size(); k += 1 + static_cast<std::int64_t>(thinning(this->world_))) {
            SCOPED_TRACE("key " + std::to_string(k));
            const auto allowed = allowed_values(shape.symmetry(), group, A.index(k));
            ASSERT_NE(allowed, Allowed::imaginary);
            const std::vector<std::int64_t> key{k};
            const std::vector<T> complex{T(1, 1)}, real{T(1)};
            if (allowed == Allowed::all) {
                EXPECT_NO_THROW(A.write(key, complex));
                EXPECT_EQ(A.read(key), complex);
                continue;
            }
            EXPECT_THROW(A.write(key, complex), InvalidArgument);
            EXPECT_THROW(A.accumulate(key, real, T(0, 1)), InvalidArgument);
            if (allowed == Allowed::zero) {
                EXPECT_THROW(A.write(key, real), InvalidArgument);
            } else {
                EXPECT_NO_THROW(A.accumulate(key, complex, T(1, -1), T(0)));
                EXPECT_EQ(A.read(key), std::vector<T>{T(static_cast<real_of<T>>(2 * this->world_.size()))});
            }
        }
        expect_symmetry(A, group);
    });
}

/// The word of the user that R has the symmetry, by canonical(), a function or another tree: imaginary parts are dropped where
/// the symmetry leaves none.
TYPED_TEST(Hermitian, ImaginaryPartsAreDroppedWhereTheUserVouches) {
    using T = TypeParam;
    for_each_hermitian(this->world_, [&](const Shape& shape, const auto& group) {
        std::vector<std::string> names;
        for (char c : shape.names) names.emplace_back(1, c);
        Tensor<T> N(this->world_, shape.extents, "N"), A(this->world_, shape.extents, shape.symmetry(), "A");
        N.fill_random(4);
        A[Labels(names)] = canonical(N[Labels(names)]);
        EXPECT_GT(A.norm(), 0);
        expect_symmetry(A, group);
        A[Labels(names)] += canonical(T(0, 2) * N[Labels(names)]);
        expect_symmetry(A, group);
        expect_symmetry(N.with_symmetry(shape.symmetry()), group);
        A.fill([](Index x) { return T(static_cast<real_of<T>>(x[0]), 1); });
        expect_symmetry(A, group);
        A.for_each_local([](Index, T& v) { v += T(0, 1); });
        expect_symmetry(A, group);
        expect_symmetry(conj(A), group);
    });
}

/// Rounding of a product leaves no imaginary part.
TYPED_TEST(Hermitian, ProductsAreRealOnTheDiagonal) {
    using T = TypeParam;
    Tensor<T> M(this->world_, {17, 23}, "M"), H(this->world_, {17, 17}, "ij", "hermitian(i,j)", "H");
    M.fill_random(5);
    H["ij"] = symmetrized(M["ik"] * conj(M["jk"]));
    expect_symmetry(H, group_elements(H.symmetry()));
    H["ij"] = canonical(M["ik"] * conj(M["jk"]));
    expect_symmetry(H, group_elements(H.symmetry()));
}

TYPED_TEST(Hermitian, DiagonalsTakeWhatIsRealByStructure) {
    using T = TypeParam;
    Tensor<T> v(this->world_, {4}, "v"), G(this->world_, {4, 4}, "ij", "hermitian(i,j)", "G"), H(G);
    v.fill_random(6);
    G.fill_random(7);
    H.fill_random(8);
    const auto g = G.gather(), h = H.gather(), x = v.gather();
    EXPECT_THROW(H["ii"] = v["i"], InvalidArgument);
    EXPECT_THROW(H["ii"] = T(0, 1) * G["ii"], InvalidArgument);
    EXPECT_EQ(H.gather(), h);
    H["ii"] = G["ii"];
    for (std::size_t k = 0; k < h.size(); ++k) EXPECT_EQ(H.gather()[k], k % 5 == 0 ? g[k] : h[k]);
    H["ii"] = canonical(v["i"]);
    for (std::size_t k = 0; k < h.size(); ++k) EXPECT_EQ(H.gather()[k], k % 5 == 0 ? T(x[k / 5].real()) : h[k]);
    H["ii"] = T(3);
    for (std::size_t k = 0; k < h.size(); ++k) EXPECT_EQ(H.gather()[k], k % 5 == 0 ? T(3) : h[k]);
}

/// Operands of a real type are their own conjugates.
TYPED_TEST(Hermitian, RealOperandsKeepIt) {
    using T = TypeParam;
    using R = real_of<T>;
    const World& world = this->world_;
    Tensor<T> G(world, {4, 4}, "ij", "hermitian(i,j)", "G"), H(G), N(world, {4, 4});
    Tensor<R> S(world, {4, 4}, "ij", "sym(i,j)", "S"), M(world, {4, 4}, "M"), v(world, {4}, "v"), d(world, {}, "d");
    G.fill_random(7);
    S.fill_random(8);
    M.fill_random(9);
    v.fill_random(10);
    d.fill(R(0.5));
    const auto expect_same = [&](const Expression<T>& right, const Expression<T>& other) {
        H["ij"] = right;
        N["ij"] = other;
        const auto h = H.gather(), n = N.gather();
        for (std::size_t k = 0; k < h.size(); ++k) EXPECT_LE(std::abs(h[k] - n[k]), 1e-6);
        expect_symmetry(H, group_elements(H.symmetry()));
    };
    const Expression<T> scaled = G["ij"] * d[""], weighted = v["i"] * G["ij"] * v["j"], masked = S["ij"] * G["ij"],
                        summed = M["ik"] * G["kl"] * M["jl"];
    for (const auto& e : {scaled, weighted, masked, summed}) expect_same(e, e);
    for (const auto& e : {scaled, masked}) {  // a projection takes factors as different tensors
        expect_same(symmetrized(e), e);
        expect_same(e + T(0.5) * symmetrized(e), T(1.5) * e);
    }
    SparseTensor<T> P(SparseTensor<T>::from_dense(G)), C(world, {4, 4}, "ij", "hermitian(i,j)");
    C["ij"] = P["ij"] * S["ij"] * d[""];
    H["ij"] = G["ij"] * S["ij"] * d[""];
    EXPECT_EQ(C.to_dense().gather(), H.gather());
    C["ij"] = symmetrized(where(P["ij"], P["ij"] * d[""]));
    H["ij"] = G["ij"] * d[""];
    EXPECT_EQ(C.to_dense().gather(), H.gather());
    EXPECT_THROW((H["ij"] = G["ij"] * M["ij"]), InvalidArgument);
    EXPECT_THROW((H["ij"] = G["ij"] * v["i"]), InvalidArgument);
    const auto x = v.gather();
    H["ii"] = v["i"];
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(H.gather()[5 * i], T(x[i]));
}

TYPED_TEST(Hermitian, PartsOfNestedNodesAreSymmetricAndAntisymmetric) {
    using T = TypeParam;
    for_each_hermitian(this->world_, [&](const Shape& shape, const auto&) {
        Tensor<T> A(this->world_, shape.extents, shape.symmetry(), "A");
        A.fill_random(9);
        const auto full = A.gather(), conjugated = conj(A).gather();
        const auto re = real(A).gather(), im = imag(A).gather();
        for (std::size_t k = 0; k < full.size(); ++k) {
            EXPECT_EQ(full[k], T(re[k], im[k])) << k;
            EXPECT_EQ(conjugated[k], std::conj(full[k])) << k;
        }
    });
}

}  // namespace
}  // namespace arges::test
