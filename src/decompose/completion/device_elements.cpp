#include "decompose/completion/device_elements.hpp"

#include "decompose/completion/completion_method.hpp"
#include "device/failure.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace arges::decompose {

template <class T>
DeviceElements<T>::DeviceElements(const ElementKernels& device, const Distributed<T>& nonzeros)
    : order_(set_of(nonzeros, 0).order()), nonzeros_(device, set_of(nonzeros, 0).rows) {
    for (int m = 0; m < order_; ++m) nonzeros_.add(set_of(nonzeros, m), m, true);
    device::Failure::the().rethrow();
}

template <class T>
void DeviceElements<T>::sum_equations(int mode, const Views<T>& factors, const sparse::RowMatrix<double>& packed) {
    if constexpr (std::is_same_v<T, double>) {
        const int columns = factors[0].columns, triangle = columns * (columns + 1) / 2;
        std::vector<std::int32_t> first, second;
        for (int c = 0; c < columns; ++c)
            for (int r = c; r < columns; ++r) {
                first.push_back(c);
                second.push_back(r);
            }
        std::vector<sparse::FactorColumns> squares;
        for (int m = 0; m < order_; ++m) {
            if (m == mode) continue;
            squares.push_back({m, first});
            squares.push_back({m, second});
        }
        factors_change();
        nonzeros_.multiply(mode, factors, squares, {packed.data, packed.rows, triangle, packed.stride}, true);
        nonzeros_.multiply(mode, factors, {packed.data + triangle, packed.rows, columns, packed.stride});
        device::Failure::the().rethrow();
    }
}

template <class T>
void DeviceElements<T>::sum_losses(const RowElements<T>& by_row, const Views<T>& factors, const Loss& loss, bool to_zero,
                                   const sparse::RowMatrix<double>& packed) {
    const int columns = factors[0].columns;
    Buffer<T> gradient(packed.rows * columns);
    if (by_row.mode == 0) factors_change();
    const double sum = nonzeros_.derive(by_row.mode, factors, loss, to_zero, {gradient.data(), packed.rows, columns, columns});
    device::Failure::the().rethrow();
    for (std::int64_t i = 0; i < packed.rows; ++i) {
        std::copy_n(gradient.data() + i * columns, columns, packed.row(i));
        packed.row(i)[columns] = 0;
    }
    if (!by_row.rows.empty()) packed.row(by_row.rows[0])[columns] = sum;
}

template <class T>
FitSums DeviceElements<T>::fit(const Views<T>& factors) {
    factors_change();
    const auto fit = nonzeros_.fit(0, factors);
    device::Failure::the().rethrow();
    return {fit.residual, fit.model};
}

template <class T>
void DeviceElements<T>::factors_change() {
    for (int m = 0; m < order_; ++m) nonzeros_.factor_changes(m);
}

MemoryTally device_elements_memory(const SparseShare& share) {
    MemoryTally tally;
    for (int m = 0; m < share.order(); ++m)
        tally.add(sparse::device_nonzeros_memory(share.element_bytes(), share.rows[m],
                                                 share.nonzeros[share.nonzeros.size() == 1 ? 0 : static_cast<std::size_t>(m)]));
    return tally;
}

std::int64_t device_rows_memory(const SparseShare& share, std::int64_t numbers) {
    // The sums of all rows of a mode, and those of the columns as they come from the device.
    return 2 * array_memory(*std::max_element(share.rows.begin(), share.rows.end()) * numbers * std::int64_t{sizeof(double)});
}

template class DeviceElements<float>;
template class DeviceElements<double>;

}  // namespace arges::decompose
