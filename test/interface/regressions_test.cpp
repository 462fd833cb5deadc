// Cases that users of other tensor libraries had to report as bugs; each test is named after what it protects.
#include "arges/arges.hpp"
#include "support/tensor_checks.hpp"

#include <map>
#include <set>

namespace arges::test {
namespace {

using Complex = std::complex<double>;
using Extents = std::vector<std::int64_t>;

/// A dense tensor and the same on the ranks.
template <class T>
struct Operand {
    Operand(const World& world, const Extents& extents, std::mt19937_64& random, const std::string& name = "A",
            const Symmetry& symmetry = {})
        : dense(random_dense(extents, symmetry.order() < 0 ? Symmetry::none(static_cast<int>(extents.size())) : symmetry, is_complex<T>,
                             random)),
          tensor(distributed<T>(world, dense, symmetry, name)) {}
    Dense dense;
    Tensor<T> tensor;
};

/// Compares a product in the notation of einsum with the reference: as a statement that adds, executed twice from one plan, and
/// if nothing is conjugated by einsum().
/// @param extents    of the labels, by letter
/// @param conjugated numbers of the operands that are conjugated
template <class T>
void check_product(const World& world, const std::string& text, const std::map<char, std::int64_t>& extents,
                   const std::set<std::size_t>& conjugated = {}) {
    SCOPED_TRACE(text);
    std::mt19937_64 random(71);
    const auto arrow = text.find("->");
    const auto output = text.substr(arrow + 2);
    Extents by_label(26, 1);
    for (const auto& [letter, n] : extents) by_label[static_cast<std::size_t>(letter - 'a')] = n;
    auto extents_of = [&](const std::string& letters) {
        Extents result;
        for (char l : letters) result.push_back(extents.at(l));
        return result;
    };
    auto numbers = [](const std::string& letters) {
        std::vector<int> result;
        for (char l : letters) result.push_back(l - 'a');
        return result;
    };
    std::vector<Tensor<T>> tensors;
    std::vector<DenseFactor> factors;
    Expression<T> right(T(1));
    for (std::size_t begin = 0; begin < arrow;) {
        const auto end = std::min(text.find(',', begin), arrow);
        const auto letters = text.substr(begin, end - begin);
        const Operand<T> operand(world, extents_of(letters), random, "T" + std::to_string(tensors.size()));
        const bool conjugate = conjugated.count(tensors.size()) > 0;
        factors.push_back({operand.dense, numbers(letters), conjugate});
        tensors.push_back(operand.tensor);
        right = right * (conjugate ? conj(operand.tensor[letters]) : Expression<T>(operand.tensor[letters]));
        begin = end + 1;
    }
    const Operand<T> before(world, extents_of(output), random);
    auto C = before.tensor;
    auto expected = dense_product(factors, numbers(output), by_label);
    std::vector<const Tensor<T>*> operands;
    for (const auto& t : tensors) operands.push_back(&t);
    if (conjugated.empty()) expect_equal(einsum(text, operands), expected);
    for (std::size_t k = 0; k < expected.data.size(); ++k) expected.data[k] = before.dense.data[k] + 2.0 * expected.data[k];
    for (int repeat = 0; repeat < 2; ++repeat) {
        C[output] += right;
        EXPECT_EQ(world.last_report().bytes_sent, world.last_report().bytes_planned);
    }
    expect_equal(C, expected);
}

template <class T>
class Regressions : public testing::Test {
protected:
    World world_;
};
using ElementTypes = testing::Types<double, Complex, float, std::complex<float>>;
TYPED_TEST_SUITE(Regressions, ElementTypes);

TYPED_TEST(Regressions, ExtentsOfOneInAChainOfThreeOnManyRanks) {
    const std::string text = "abdi,isup,s->absdup";
    check_product<TypeParam>(this->world_, text, {{'a', 1}, {'b', 1}, {'d', 1}, {'i', 1}, {'s', 1}, {'u', 1}, {'p', 1}});
    check_product<TypeParam>(this->world_, text, {{'a', 2}, {'b', 1}, {'d', 3}, {'i', 1}, {'s', 2}, {'u', 1}, {'p', 3}});
}

TYPED_TEST(Regressions, ElementwiseFactorsOfALongThinProduct) {
    check_product<TypeParam>(this->world_, "ik,ik,ikl,lj->ijkl", {{'i', 3}, {'j', 31}, {'k', 4}, {'l', 2}});
    check_product<TypeParam>(this->world_, "ik,ik,ikl,lj->ijkl", {{'i', 1}, {'j', 2}, {'k', 97}, {'l', 3}});
}

TYPED_TEST(Regressions, OuterProductWhoseLabelsInterleave) {
    const std::map<char, std::int64_t> extents{{'a', 3}, {'b', 4}, {'c', 5}};
    for (const char* text : {"ac,b->abc", "b,ac->abc", "ca,b->abc", "ac,b->cba"}) check_product<TypeParam>(this->world_, text, extents);
}

TYPED_TEST(Regressions, ConjugatingTheSecondOperandOnly) {
    const std::map<char, std::int64_t> extents{{'i', 4}, {'j', 5}, {'k', 6}, {'l', 2}};
    for (const char* text : {"ik,kj->ij", "ki,jk->ji", "ilk,kjl->ij", "ik,ik->", "ik,kj,jl->il"})
        for (const std::set<std::size_t>& conjugated : {std::set<std::size_t>{1}, {0}, {0, 1}})
            check_product<TypeParam>(this->world_, text, extents, conjugated);
}

TYPED_TEST(Regressions, ProductAddedToItsOwnOutput) {
    std::mt19937_64 random(72);
    const Operand<TypeParam> A(this->world_, {5, 7}, random, "A"), B(this->world_, {7, 6}, random, "B");
    const Operand<TypeParam> c(this->world_, {5, 6}, random);
    auto expected = dense_product({{A.dense, {0, 1}}, {B.dense, {1, 2}}}, {0, 2}, {5, 7, 6});
    for (std::size_t k = 0; k < expected.data.size(); ++k) expected.data[k] += c.dense.data[k];
    auto C = c.tensor, D = c.tensor, E = c.tensor;
    C["ij"] = A.tensor["ik"] * B.tensor["kj"] + C["ij"];
    D["ij"] = D["ij"] + A.tensor["ik"] * B.tensor["kj"];
    E["ij"] += A.tensor["ik"] * B.tensor["kj"];
    for (const auto* result : {&C, &D, &E}) expect_equal(*result, expected);
}

/// Plans are kept by layout and labels: equal shapes with other modes exchanged must not take each other's plan.
TYPED_TEST(Regressions, SwappedModesOfEqualShapesWithKeptPlans) {
    std::mt19937_64 random(73);
    const Operand<TypeParam> A(this->world_, {4, 4, 4}, random, "A"), B(this->world_, {4, 4}, random, "B");
    Tensor<TypeParam> C(this->world_, {4, 4, 4}, "C");
    for (int round = 0; round < 2; ++round)
        for (const std::string a : {"ijk", "kji", "jki"})
            for (const std::string b : {"kl", "lk"})
                for (const std::string c : {"ijl", "lji"}) {
                    SCOPED_TRACE(a + " " + b + " " + c);
                    const auto labels = [&](const std::string& text) {
                        std::vector<int> result;
                        for (char l : text) result.push_back(l - 'i');
                        return result;
                    };
                    C[c] = A.tensor[a] * B.tensor[b];
                    expect_equal(C, dense_product({{A.dense, labels(a)}, {B.dense, labels(b)}}, labels(c), {4, 4, 4, 4}));
                }
}

TYPED_TEST(Regressions, AssignmentFromNoSymmetryToSymmetric) {
    std::mt19937_64 random(74);
    const auto symmetric_pair = Symmetry::parse("ij", "sym(i,j)");
    const Operand<TypeParam> N(this->world_, {7, 7}, random, "N"), s(this->world_, {7, 7}, random, "S", symmetric_pair);
    auto S = s.tensor;
    EXPECT_THROW(S["ij"] = N.tensor["ij"], InvalidArgument);
    expect_equal(S, s.dense);
    S["ij"] = symmetrized(N.tensor["ij"]);
    const auto sum = group_sum(N.dense, group_elements(symmetric_pair));
    expect_equal(S, sum);
    Tensor<TypeParam> U(this->world_, {7, 7}, "U");
    U["ij"] = S["ij"];
    S.fill(0);
    S["ij"] = canonical(U["ij"]);
    expect_equal(S, sum);
    U["ij"] -= S["ji"];
    EXPECT_EQ(U.norm_max(), 0);
}

TEST(Regressions, GroupOfFourSymmetricDimensions) {
    const World world;
    EXPECT_THROW(Tensor<double>(world, {4, 4, 4, 4}, {SY, SY, SY, SY}), InvalidArgument);  // the message says {SY, SY, SY, NS}
    const auto tree = Symmetry::from_relations({SY, SY, SY, NS});
    with_all_mappings(world, [&] {
        std::mt19937_64 random(75);
        const Operand<double> A(world, {4, 4, 4, 4}, random, "A", tree), B(world, {4, 4, 4, 4}, random, "B", tree);
        const Operand<double> M(world, {4, 4}, random, "M");
        expect_equal(A.tensor, A.dense);
        const Extents n(8, 4);
        Tensor<double> x(world, {}), P(world, {4, 4}, {SY, NS}), Q(world, {4, 4, 4, 4}, {SY, SY, NS, NS}), R(world, {4, 4, 4, 4});
        x[""] = A.tensor["ijkl"] * B.tensor["ijkl"];
        expect_equal(x, dense_product({{A.dense, {0, 1, 2, 3}}, {B.dense, {0, 1, 2, 3}}}, {}, n));
        P["ij"] = symmetrized(A.tensor["iklm"] * B.tensor["jklm"]);
        const auto p = dense_product({{A.dense, {0, 2, 3, 4}}, {B.dense, {1, 2, 3, 4}}}, {0, 1}, n);
        expect_equal(P, group_sum(p, group_elements(P.symmetry())));
        Q["ijkl"] = A.tensor["ijkm"] * M.tensor["ml"];
        expect_equal(Q, dense_product({{A.dense, {0, 1, 2, 4}}, {M.dense, {4, 3}}}, {0, 1, 2, 3}, n));
        R["ijkl"] = A.tensor["ijmn"] * B.tensor["mnkl"];
        expect_equal(R, dense_product({{A.dense, {0, 1, 4, 5}}, {B.dense, {4, 5, 2, 3}}}, {0, 1, 2, 3}, n));
    });
}

/// A communicator that is freed.
class OwnedComm {
public:
    OwnedComm(int color, int key) { MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm_); }
    ~OwnedComm() { MPI_Comm_free(&comm_); }
    OwnedComm(const OwnedComm&) = delete;
    OwnedComm& operator=(const OwnedComm&) = delete;
    MPI_Comm operator*() const { return comm_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// All ranks in reverse order, and two parts of them that differ in size and are not contiguous.
TEST(Regressions, TwoCommunicatorsNeitherOfThemTheWorld) {
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const OwnedComm reversed(0, size - rank), part(rank == 0 || 3 * rank > 2 * size ? 1 : 0, rank);
    const World all(*reversed), some(*part);
    std::mt19937_64 random(76);
    const Operand<double> A(all, {6, 5}, random, "A"), B(all, {5, 7}, random, "B");
    const auto expected = dense_product({{A.dense, {0, 1}}, {B.dense, {1, 2}}}, {0, 2}, {6, 5, 7});
    const auto D = distributed<double>(some, A.dense, Symmetry::none(2), "D");
    const auto E = distributed<double>(some, B.dense, Symmetry::none(2), "E");
    Tensor<double> C(all, {6, 7}, "C"), F(some, {6, 7}, "F");
    EXPECT_THROW(F["ik"] = A.tensor["ij"] * B.tensor["jk"], InvalidArgument);
    for (int repeat = 0; repeat < 3; ++repeat) {
        C["ik"] = A.tensor["ij"] * B.tensor["jk"];
        F["ik"] = D["ij"] * E["jk"];
        expect_equal(F, expected);
        expect_equal(C, expected);
        EXPECT_EQ(all.last_report().bytes_sent, all.last_report().bytes_planned);
        EXPECT_EQ(some.last_report().bytes_sent, some.last_report().bytes_planned);
    }
}

/// The sum over all labels of a hermitian tensor is real, also over eight of them: symmetrized() adds no conjugate.
TEST(Regressions, EightSummedLabelsOfAHermitianTensor) {
    const World world;
    Tensor<Complex> T(world, {1, 2, 2, 2, 1, 1, 2, 1}, "abcdefgh",
                      "hollow(product(sym(a,e),hermitian(g,c)),product(sym(h,f),hermitian(d,b)))");
    Tensor<Complex> C(world, {2, 2}, "xy", "hermitian(x,y)");
    T.fill_random(3, 1, 2);
    C["xy"] = symmetrized(broadcast("xy", T["abcdefgh"]));
    Complex sum = 0;
    for (const auto& value : T.gather()) sum += value;
    EXPECT_GT(std::abs(sum), 1);
    for (const auto& value : C.gather()) EXPECT_LT(std::abs(value - sum.real()), 1e-12 * std::abs(sum));
}

}  // namespace
}  // namespace arges::test
