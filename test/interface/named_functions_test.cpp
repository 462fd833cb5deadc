// Functions of elements that are known by name, on a device against the host: shapes, orders of labels, numbers, types.
#include "arges/arges.hpp"
#include "support/failing_device.hpp"
#include "support/named_values.hpp"
#include "support/seeds.hpp"
#include "support/shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <random>
#include <string>
#include <vector>

namespace arges::test {
namespace {

template <class T>
class NamedFunctions : public ::testing::Test {
protected:
    /// A function with its operands: tensors and numbers.
    struct Call {
        Shape shape;
        Function f{};
        bool has_number = false, number_first = false, is_turned = false, accumulates = false;
        T number{};
        std::uint64_t seed = 0;
    };

    static statements::NamedFunction named(const Call& call) {
        const bool is_unary = operands_of(call.f) == 1;
        statements::NamedFunction result{call.f, std::vector<ElementValue>(is_unary ? 1 : 2), {}};
        if (call.has_number && !is_unary) result.numbers[call.number_first ? 0 : 1] = ElementValue::of(call.number);
        result.on_host = [call, is_unary](const std::vector<const void*>& inputs, void* results, std::int64_t count) {
            const auto at = [&](std::size_t o, std::int64_t i) { return static_cast<const T*>(inputs[o])[i]; };
            for (std::int64_t i = 0; i < count; ++i) {
                T a = at(0, i), b = is_unary || call.has_number ? call.number : at(1, i);
                if (!is_unary && call.has_number && call.number_first) std::swap(a, b);
                static_cast<T*>(results)[i] = named_value(call.f, a, b);
            }
        };
        return result;
    }

    struct Outcome {
        std::string where, error;
        std::vector<T> elements;
        /// The message up to numbers, which may be one NaN or another.
        std::string reason() const { return error.substr(0, error.find("the function's result is")); }
    };
    static Outcome outcome(const World& world, const Call& call) {
        const auto make = [&](std::uint64_t seed) {
            Tensor<T> result(world, call.shape.extents, call.shape.symmetry());
            result.fill_random(seed, real_of<T>(-2), real_of<T>(2));
            return result;
        };
        auto A = make(call.seed), B = make(call.seed + 1), E = make(call.seed + 2);
        auto names = call.shape.names;
        const auto output = names;
        if (call.is_turned) std::reverse(names.begin(), names.end());
        std::vector<Factor> operands{A[output].factor()};
        if (operands_of(call.f) == 2 && !call.has_number) operands.push_back(B[names].factor());
        const Mapping<T> right(operands, named(call), {MapOver::all, {}, nullptr});
        Outcome result{explain(E[output], right), {}, {}};
        try {
            call.accumulates ? E[output] += right : E[output] = right;
        } catch (const Error& error) {
            result.error = error.what();
        }
        result.elements = E.gather();
        return result;
    }
    static bool agree(const std::vector<T>& a, const std::vector<T>& b) {
        const auto& kernels = element_kernels<T>();
        for (std::size_t i = 0; i < a.size(); ++i)
            if (!kernels.agree(&a[i], &b[i], 1e-6)) return false;
        return a.size() == b.size();
    }

    const TestDevice device_;
    World there_{MPI_COMM_WORLD, Device(DeviceKind::cuda)}, here_{MPI_COMM_WORLD, Device(DeviceKind::none)};
};

using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(NamedFunctions, Types);

TYPED_TEST(NamedFunctions, GiveOnADeviceWhatTheHostGives) {
    using T = TypeParam;
    constexpr bool is_complex = kernels::is_complex<T>;
    std::int64_t on_device = 0, refused = 0;
    for_each_seed(1, from_environment("ARGES_FUZZ_COUNT", 120), [&](std::mt19937_64& random) {
        const auto below = [&](std::size_t n) { return random() % n; };
        typename TestFixture::Call call;
        do call.shape = shapes()[below(shapes().size())];
        while (call.shape.complex && !is_complex);
        do call.f = static_cast<Function>(below(function_names.size()));
        while (!runs_on_device(call.f, is_complex) || (is_complex && call.f == Function::abs));
        call.has_number = below(2) == 0;
        call.number_first = below(2) == 0;
        call.is_turned = call.shape.tree.empty() && std::all_of(call.shape.extents.begin(), call.shape.extents.end(),
                                                                [&](auto n) { return n == call.shape.extents.front(); });
        call.accumulates = below(3) == 0;
        call.number = T(static_cast<real_of<T>>(below(7)) / 2 - 1);
        if constexpr (is_complex)
            if (below(3) == 0) call.number += T(0, 1);
        call.seed = random() % 1000;
        const auto found = this->outcome(this->there_, call), wanted = this->outcome(this->here_, call);
        const auto what = call.shape.text() + ", " + std::string(to_string(call.f)) + "\n" + found.where;
        EXPECT_EQ(found.reason(), wanted.reason()) << what;
        EXPECT_TRUE(this->agree(found.elements, wanted.elements)) << what;
        const bool is_there = found.where.find("on the device") != std::string::npos;
        EXPECT_TRUE(!is_there || found.error.empty() || found.error.find("where indices are equal") != std::string::npos) << what;
        on_device += is_there ? 1 : 0;
        refused += found.error.empty() ? 0 : 1;
    });
    EXPECT_GT(on_device, 30);
    EXPECT_GT(refused, 3);
}

TYPED_TEST(NamedFunctions, ComputeThere) {
    using T = TypeParam;
    Tensor<T> A(this->there_, {40, 30}), C(this->there_, {40, 30});
    Tensor<real_of<T>> size(this->there_, {40, 30});
    A.fill_random(1);
    this->there_.reset_peak();
    const auto before = this->there_.memory_peak();
    C["ij"] = map<Function::multiply>(A["ij"], A["ij"]);
    C["ij"] += map<Function::subtract>(T(1), A["ij"]);
    size["ij"] = map<Function::abs>(A["ij"]);
    EXPECT_EQ(this->there_.memory_peak(), before) << "the host has had elements";
    const auto a = A.gather(), c = C.gather();
    const auto s = size.gather();
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_LT(std::abs(c[i] - (a[i] * a[i] + (T(1) - a[i]))), 1e-6);
        EXPECT_LT(std::abs(s[i] - std::abs(a[i])), 1e-6);
    }
}

/// A Hermitian matrix has real elements on its diagonal, of which a root may have an imaginary part.
TYPED_TEST(NamedFunctions, RootsOfNegativeDiagonalsAreRefused) {
    using T = TypeParam;
    if constexpr (kernels::is_complex<T>) {
        for (const auto& world : {this->there_, this->here_}) {
            Tensor<T> H(world, {3, 3}, "ij", "hermitian(i,j)");
            H.fill([](Index x) { return x[0] == x[1] ? T(-1 - static_cast<real_of<T>>(x[0])) : T(); });
            const auto before = H.gather();
            EXPECT_THROW((H["ij"] = map<Function::sqrt>(H["ij"])), InvalidArgument);
            EXPECT_EQ(H.gather(), before);
            H["ij"] = map<Function::exp>(H["ij"]);
            EXPECT_EQ(H.gather()[0], T(std::exp(real_of<T>(-1))));
        }
    }
}

class NamedFunctionsOnADevice : public FailingDevice {};

TEST_F(NamedFunctionsOnADevice, SayWhereTheyRun) {
    Tensor<double> A(world, {4, 4}, "ij", "", "A"), E(world, {4, 4}, "ij", "", "E");
    Tensor<std::complex<double>> Z(world, {4, 4}), W(world, {4, 4});
    Tensor<double> S(world, {4, 4}, "ij", "antisym(i,j)", "S");
    const Tensor<std::int32_t> I(world, {4, 4});
    EXPECT_EQ(explain(E["ij"], map<Function::sqrt>(A["ij"])),
              "E[\"ij\"] = sqrt of A[\"ij\"]: on the device, where operands and results lie there\n");
    EXPECT_EQ(explain(E["ij"], map([](double x) { return x; }, A["ij"])),
              "E[\"ij\"] = map(...) of A[\"ij\"]: on the host: a device has functions that are known by name\n");
    const auto says = [](const std::string& text, const char* part) { EXPECT_NE(text.find(part), std::string::npos) << text; };
    says(explain(N["ij"], map<Function::add>(N["ij"], N["ij"])), "on the host: tensor lies there");
    says(explain(E["ij"], map([](std::int32_t x) { return 1.0 * x; }, I["ij"]).named(Function::negative, {{}})), "several types");
    says(explain(W["ij"], map<Function::sin>(Z["ij"])), "no sin of complex elements");
    says(explain(S["ij"], map<Function::exp>(S["ij"])), "exp may not have the symmetry of S");
    says(explain(S["ij"], map<Function::sin>(S["ij"])), "on the device");
}

TEST_F(NamedFunctionsOnADevice, FailOnAllRanks) {
    Tensor<double> A(world, {6, 7}), C(world, {7, 6}), S(world, {5, 5}, "ij", "sym(i,j)");
    A.fill_random(1);
    S.fill_random(2);
    check("exp", [&] { C["ji"] = map<Function::exp>(A["ij"]); });
    check("a sum of", [&] { S["ij"] += map<Function::maximum>(S["ij"], 0.25); });
    check("a quotient", [&] { A["ij"] /= C["ji"] + 2.0 * A["ij"]; });
}

}  // namespace
}  // namespace arges::test
