// Factorizations and solvers of matrices on a device that fails.
#include "arges/linalg.hpp"

#include "support/failing_device.hpp"

namespace arges::test {
namespace {

class FactorizationsOnADevice : public FailingDevice {
protected:
    FactorizationsOnADevice() {
        A.fill_random(1);
        B.fill_random(2);
        P.fill([](Index x) { return x[0] == x[1] ? 9.0 : 1.0 / static_cast<double>(1 + x[0] + x[1]); });
    }

    Tensor<double> A{world, {8, 5}}, B{world, {5, 3}}, P{world, {5, 5}};
};

TEST_F(FactorizationsOnADevice, FailOnAllRanks) {
    check("qr", [&] { static_cast<void>(qr(A["i|j"])); });
    check("svd", [&] { static_cast<void>(svd(A["i|j"])); });
    check("eigh", [&] { static_cast<void>(eigh(P["i|j"])); });
    check("cholesky", [&] { static_cast<void>(cholesky(P["i|j"])); });
    check("solve_positive", [&] { static_cast<void>(solve_positive(P["i|j"], B["i|k"])); });
    check("least_squares", [&] { static_cast<void>(least_squares(A["i|j"], A["i|k"])); });
}

}  // namespace
}  // namespace arges::test
