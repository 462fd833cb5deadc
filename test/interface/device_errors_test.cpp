// What fails on a device in statements and calls of tensors.
#include "arges/arges.hpp"
#include "support/failing_device.hpp"

#include <complex>

namespace arges::test {
namespace {

class DeviceErrors : public FailingDevice {
protected:
    DeviceErrors() {
        A.fill_random(1);
        B.fill_random(2);
        S.fill_random(3);
    }

    Tensor<double> A{world, {6, 7}}, B{world, {7, 6}}, C{world, {6, 6}}, S{world, {6, 6}, "ij", "sym(i,j)"};
};

TEST_F(DeviceErrors, AreOneExceptionOnAllRanks) {
    check("a product", [&] { C["ij"] = A["ik"] * B["kj"]; });
    check("a sum with itself", [&] { C["ij"] += 0.5 * C["ji"]; });
    check("a product of a symmetric tensor", [&] { C["ij"] = S["ik"] * S["kj"]; });
    check("a product with integers", [&] { C["ij"] = N["ik"] * B["kj"]; });
    check("a symmetrized product", [&] { S["ij"] = symmetrized(A["ik"] * B["kj"]); });
    check("a function of elements", [&] { C["ij"] += map([](double x) { return 2 * x; }, S["ij"]); });
    check("a scalar", [&] { static_cast<void>(static_cast<double>(A["ij"] * A["ij"])); });
    check("a tensor", [&] { const Tensor<double> D(world, {5, 5}); });
    check("a copy", [&] { const Tensor<double> D = A; });
    check("numbers for all", [&] { C.fill(1.5); });
    check("norms", [&] { static_cast<void>(A.norm() + S.norm_max() + A.sum() + A.dot(A)); });
    check("extrema", [&] { static_cast<void>(A.maximum()); });
    check("slices", [&] { A.set_slice({1, 1}, A.slice({0, 0}, {3, 3})); });
    check("another symmetry", [&] { static_cast<void>(S.with_symmetry(Symmetry::none(2))); });
    check("elements by key", [&] { A.write({3}, {1.0}); });
    check("all elements", [&] { static_cast<void>(S.gather()); });
    check("another type", [&] { static_cast<void>(Tensor<std::complex<double>>(A)); });
    check("a sparse product", [&] {
        const auto P = SparseTensor<double>::from_dense(A, 0.2);
        C["ij"] = P["ik"] * B["kj"];
    });
}

TEST_F(DeviceErrors, AnotherWorldGoesOn) {
    const World host(MPI_COMM_WORLD, Device(DeviceKind::none));
    Tensor<double> D(host, {6, 7}), E(host, {6, 6});
    D.fill(1);
    if (world.rank() == world.size() - 1) TestDevice::fail_at(1);
    C.fill(1);
    E["ij"] = D["ik"] * D["jk"];
    EXPECT_EQ(E.norm_max(), 7);
    EXPECT_NE(caught([&] { C.norm(); }), "");
}

}  // namespace
}  // namespace arges::test
