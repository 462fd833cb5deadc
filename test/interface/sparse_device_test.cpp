// Statements with a sparse factor on a device against those of a world on the host: where they run, what stays there, and what fails.
#include "arges/arges.hpp"
#include "support/failing_device.hpp"
#include "support/test_device.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

namespace arges::test {
namespace {

constexpr std::int64_t ample = std::int64_t{1} << 30;

/// On which products with nonzeros take long on the host, or on the device.
MachineModel machine_with(double host_seconds, double device_seconds) {
    MachineModel machine;
    machine.sparse_product_seconds = host_seconds;
    machine.device = DeviceRates();
    machine.device->call_seconds = device_seconds;
    return machine;
}

template <class T>
class SparseOnDevice : public ::testing::Test {
protected:
    static World fast(std::int64_t limit = ample) { return World(machine_with(1, 1e-5), Device(DeviceKind::cuda, limit)); }
    static World slow() { return World(machine_with(1e-12, 1), Device(DeviceKind::cuda, ample)); }
    static World host() { return World(MPI_COMM_WORLD, Device(DeviceKind::none)); }

    /// Small integers.
    static T value(std::int64_t seed) {
        const auto digit = [&](std::int64_t k) { return static_cast<real_of<T>>((seed * 37 + k * 11 + seed / 3) % 7 - 3); };
        if constexpr (kernels::is_complex<T>)
            return T(digit(1), digit(2));
        else
            return digit(1);
    }
    static Tensor<T> dense(const World& world, const std::vector<std::int64_t>& extents, std::int64_t seed) {
        Tensor<T> result(world, extents);
        result.fill([&](Index x) {
            std::int64_t key = seed;
            for (auto i : x) key = key * 13 + i;
            return value(key);
        });
        return result;
    }
    /// One row has half of all nonzeros, some have none.
    static SparseTensor<T> sparse(const World& world, const std::vector<std::int64_t>& lengths, std::int64_t seed) {
        SparseTensor<T> result(world, lengths);
        std::vector<std::int64_t> keys;
        std::vector<T> values;
        std::int64_t size = 1;
        for (auto n : lengths) size *= n;
        for (std::int64_t k = world.rank(); k < size; k += world.size())
            if (k % lengths[0] == 3 || (k * 7 + seed) % 11 == 0) {
                keys.push_back(k);
                values.push_back(value(k + seed));
            }
        result.write(keys, values, Duplicates::refuse);
        return result;
    }
    /// The elements that a statement gives. @param runs  how often it is run, with other values each time
    template <class F>
    static std::vector<T> elements(const World& world, F&& statement, int runs = 1) {
        auto S = sparse(world, {17, 211}, 1);
        const auto A = dense(world, {17, 5}, 2), B = dense(world, {211, 5}, 3);
        auto C = dense(world, {17, 5}, 4), D = dense(world, {17, 211}, 5);
        SparseTensor<T> R(world, {17, 211});
        for (int r = 0; r < runs; ++r) {
            for (auto& x : S.local_values()) x = x + T(static_cast<real_of<T>>(r));
            statement(S, A, B, C, D, R);
        }
        auto all = C.gather();
        const auto more = D.gather();
        all.insert(all.end(), more.begin(), more.end());
        const auto entries = R.gather();
        all.insert(all.end(), entries.values.begin(), entries.values.end());
        return all;
    }
    /// By all worlds; on the fast device lists are left, on the slow one none.
    template <class F>
    static void compare(const char* what, F&& statement, int runs = 3) {
        const auto wanted = elements(host(), statement, runs);
        const auto at_slow = slow(), at_fast = fast();
        EXPECT_EQ(elements(at_slow, statement, runs), wanted) << what;
        EXPECT_EQ(at_slow.device_memory_in_use(), 0) << what;
        EXPECT_EQ(elements(at_fast, statement, runs), wanted) << what;
        EXPECT_GT(at_fast.device_memory_in_use(), 0) << what << ": nothing was computed on the device";
    }

    const TestDevice device_;
};

using Types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SparseOnDevice, Types);

TYPED_TEST(SparseOnDevice, GivesWhatTheHostGives) {
    using T = TypeParam;
    this->compare("SpMM", [](auto& S, auto&, auto& B, auto& C, auto&, auto&) { C["ik"] = S["ij"] * B["jk"]; });
    this->compare("beta, alpha", [](auto& S, auto&, auto& B, auto& C, auto&, auto&) { C["ik"] += T(3) * S["ij"] * B["jk"]; });
    this->compare("conjugates", [](auto& S, auto&, auto& B, auto& C, auto&, auto&) { C["ik"] -= conj(S["ij"]) * conj(B["jk"]); });
    this->compare("transposed", [](auto& S, auto& A, auto&, auto& C, auto& D, auto&) {
        D["ij"] += sum("k", S["ij"] * A["ik"]);
        C["ik"] = sum("j", S["ij"] * A["ik"]);
    });
    this->compare("several factors", [](auto& S, auto& A, auto& B, auto& C, auto&, auto&) { C["ik"] = S["ij"] * B["jk"] * A["ik"]; });
    this->compare("sampled", [](auto& S, auto& A, auto& B, auto&, auto&, auto& R) { R["ij"] = S["ij"] * A["ik"] * B["jk"]; });
    this->compare("sampled, added", [](auto& S, auto& A, auto& B, auto&, auto&, auto& R) { R["ij"] += S["ij"] * A["ik"] * B["jk"]; });
    this->compare("several terms", [](auto& S, auto& A, auto& B, auto& C, auto&, auto&) {
        C["ik"] = S["ij"] * B["jk"] + T(2) * A["ik"] - conj(S["ij"]) * B["jk"];
    });
    this->compare(
        "on both sides", [](auto& S, auto&, auto& B, auto& C, auto&, auto&) { C["ik"] = S["ij"] * B["jk"] * C["ik"]; }, 1);
    this->compare("no dense factor", [](auto& S, auto&, auto&, auto&, auto& D, auto&) { D["ij"] += T(2) * S["ij"]; });
}

TYPED_TEST(SparseOnDevice, GivesNumbers) {
    using T = TypeParam;
    const auto number = [&](const World& world) {
        const auto S = this->sparse(world, {17, 211}, 1);
        const auto A = this->dense(world, {17, 5}, 2), B = this->dense(world, {211, 5}, 3);
        Tensor<T> x(world, {});
        x[""] = S["ij"] * A["ik"] * B["jk"];
        return x.gather();
    };
    EXPECT_EQ(number(this->fast()), number(this->host()));
}

TYPED_TEST(SparseOnDevice, TakesTensorsOfOtherTypesAndPlaces) {
    using T = TypeParam;
    const auto product = [&](const World& world) {
        const auto S = this->sparse(world, {17, 211}, 1);
        Tensor<float> B(world, {211, 5});
        B.fill([](Index x) { return static_cast<float>(x[0] % 5 - x[1]); });
        Tensor<T> C(world, {17, 5});
        C["ik"] = S["ij"] * B["jk"];
        return C.gather();
    };
    EXPECT_EQ(product(this->fast()), product(this->host()));
}

/// Below some limit it is the host that computes, or a tensor that lies there; what is taken on the device stays within it.
TYPED_TEST(SparseOnDevice, StaysWithinTheMemoryOfTheDevice) {
    const auto statement = [](auto& S, auto& A, auto& B, auto& C, auto& D, auto& R) {
        C["ik"] += S["ij"] * B["jk"];
        D["ij"] += S["ij"];
        R["ij"] = S["ij"] * A["ik"] * B["jk"];
    };
    const auto wanted = this->elements(this->host(), statement, 2);
    for (std::int64_t limit = 1 << 10; limit < 1 << 20; limit *= 4) {
        const auto world = this->fast(limit);
        TestDevice::reset_peak();
        const auto before = TestDevice::peak();
        EXPECT_EQ(this->elements(world, statement, 2), wanted) << limit;
        constexpr std::int64_t on_its_way = 512 << 10;  // kernels' own copies of what comes from the host
        EXPECT_LE(TestDevice::peak() - before, limit + on_its_way);
    }
}

/// The account has what is there: tensors, and lists as long as their step is kept.
TYPED_TEST(SparseOnDevice, GivesListsBack) {
    const auto world = this->fast();
    {
        const auto S = this->sparse(world, {17, 211}, 1);
        const auto B = this->dense(world, {211, 5}, 3);
        auto C = this->dense(world, {17, 5}, 4);
        const auto before = world.device_memory_in_use();
        C["ik"] = S["ij"] * B["jk"];
        const auto once = world.device_memory_in_use();
        EXPECT_GT(once, before);
        C["ik"] = S["ij"] * B["jk"];
        EXPECT_EQ(world.device_memory_in_use(), once);
    }
}

TYPED_TEST(SparseOnDevice, SaysWhereItIs) {
    const auto text = [&](const World& world) {
        const auto S = this->sparse(world, {17, 211}, 1);
        const auto B = this->dense(world, {211, 5}, 3);
        auto C = this->dense(world, {17, 5}, 4);
        return C["ik"].explain(S["ij"] * B["jk"]);
    };
    EXPECT_EQ(text(this->fast()).rfind("on the device, where there is room\n", 0), 0U) << text(this->fast());
    EXPECT_EQ(text(this->slow()).rfind("on the host\n", 0), 0U);
    EXPECT_EQ(text(this->host()).rfind("step 1", 0), 0U);
}

class SparseStatementsOnADevice : public FailingDevice {};

TEST_F(SparseStatementsOnADevice, FailOnAllRanks) {
    const World fast(machine_with(1, 1e-5), Device(DeviceKind::cuda, ample));
    SparseTensor<double> S(fast, {9, 8}), R(fast, {9, 8});
    std::vector<std::int64_t> keys;
    for (std::int64_t k = fast.rank(); k < 72; k += 2 * fast.size()) keys.push_back(k);
    S.write(keys, std::vector<double>(keys.size(), 1.5), Duplicates::refuse);
    Tensor<double> A(fast, {9, 4}), B(fast, {8, 4}), C(fast, {9, 4});
    A.fill_random(1);
    B.fill_random(2);
    R["ij"] = S["ij"];
    check("SpMM", [&] { C["ik"] = S["ij"] * B["jk"]; });
    const auto before = R.gather().values;
    check("a sampled product", [&] {
        try {
            R["ij"] = S["ij"] * A["ik"] * B["jk"];
        } catch (...) {
            EXPECT_EQ(R.gather().values, before) << "the result on the host has changed";
            throw;
        }
        R["ij"] = S["ij"];
    });
}

}  // namespace
}  // namespace arges::test
