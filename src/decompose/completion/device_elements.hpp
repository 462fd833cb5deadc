/// Sums over the elements of rows on a rank's device.
#pragma once

#include "arges/loss.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/cp/factors.hpp"
#include "decompose/distribution/distribute.hpp"
#include "decompose/distribution/sparse_share.hpp"
#include "sparse/device_nonzeros.hpp"

#include <cstdint>
#include <functional>

namespace arges::decompose {

/// Elements of all modes on a device. All calls are local, and throw what has failed there.
template <class T>
class DeviceElements {
public:
    DeviceElements(const ElementKernels& device, const Distributed<T>& nonzeros);

    /// The normal equations of all local rows of a mode, as RowEquations packs them; double only.
    void sum_equations(int mode, const Views<T>& factors, const sparse::RowMatrix<double>& packed);
    /// The losses of all local rows of a mode and their gradients, as RowLoss packs them; all losses are in one row that has elements.
    /// @param to_zero  of f(x, m) - f(0, m)
    void sum_losses(const RowElements<T>& by_row, const Views<T>& factors, const Loss& loss, bool to_zero,
                    const sparse::RowMatrix<double>& packed);
    FitSums fit(const Views<T>& factors);

private:
    void factors_change();

    int order_;
    sparse::DeviceNonzeros<T> nonzeros_;
};

/// What makes the equations for RowUpdates; null where there is no device.
template <class T>
std::function<void(const sparse::RowMatrix<double>& packed)> equations_of(DeviceElements<T>* device, int mode,
                                                                          const FactorMatrices<T>& factors) {
    if (device == nullptr) return nullptr;
    return [=, &factors](const sparse::RowMatrix<double>& packed) { device->sum_equations(mode, factors.views(), packed); };
}

/// Memory on the host, of which nothing is left, while elements are brought to a device. Pure.
MemoryTally device_elements_memory(const SparseShare& share);
/// And of RowUpdates whose sums, so many numbers for each row, are made on a device. Pure.
std::int64_t device_rows_memory(const SparseShare& share, std::int64_t numbers);

}  // namespace arges::decompose
