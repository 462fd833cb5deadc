// Tensors: each large allocation of a collective call fails on the last rank; all ranks then throw, and none waits for another.
#include "allocation/failing_allocations.hpp"

#include "arges/arges.hpp"

#include <gtest/gtest.h>
#include <sstream>

namespace arges::test {
namespace {

class TensorAllocations : public testing::Test {
protected:
    World world{};
    Tensor<double> A{world, {64, 64}, "A"}, B{world, {64, 64}, "B"}, C{world, {64, 64}, "C"};
    Tensor<double> S{world, {48, 48, 48}, {SY, NS, NS}, "S"};
    std::vector<std::int64_t> keys;
    std::vector<double> values;

    void SetUp() override {
        A.fill_random(1, -1, 1);
        B.fill_random(2, -1, 1);
        S.fill_random(3, -1, 1);
        for (std::int64_t k = world.rank(); k < A.size(); k += world.size()) {
            keys.push_back(k);
            values.push_back(static_cast<double>(k));
        }
    }
    void expect(const std::string& name, const std::function<void()>& run) {
        expect_agreement({name, [] {}, run});
    }
};

TEST_F(TensorAllocations, Keys) {
    expect("write", [&] { C.write(keys, values); });
    expect("accumulate", [&] { C.accumulate(keys, values); });
    expect("read", [&] { (void)C.read(keys); });
}

TEST_F(TensorAllocations, Gather) {
    expect("gather", [&] { (void)A.gather(); });
    expect("gather_to", [&] { (void)A.gather_to(world.size() - 1); });
    expect("gather_to", [&] { (void)A.gather_to(0); });
    std::ostringstream text;
    expect("print", [&] { A.print(text); });
}

TEST_F(TensorAllocations, Parts) {
    expect("Tensor", [&] { Tensor<double>(world, {64, 64}, "N"); });
    expect("slice", [&] { (void)A.slice({0, 0}, {60, 50}); });
    const auto part = A.slice({0, 0}, {60, 50});
    expect("set_slice", [&] { C.set_slice({1, 1}, part); });
    expect("with_symmetry", [&] { (void)S.with_symmetry(Symmetry::none(3)); });
    expect("with_symmetry", [&] { (void)A.with_symmetry(symmetric({leaf(0), leaf(1)})); });
}

TEST_F(TensorAllocations, Transfer) {
    const World other;
    expect("transfer", [&] { (void)transfer(world, A, other); });
}

}  // namespace
}  // namespace arges::test
