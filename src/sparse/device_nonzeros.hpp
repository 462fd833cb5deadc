/// Nonzeros in the memory of a device, for MTTKRP and TTMc there.
#pragma once

#include "arges/element_kernels.hpp"
#include "arges/loss.hpp"
#include "base/buffer.hpp"
#include "base/memory_tally.hpp"
#include "sparse/nonzeros.hpp"
#include "sparse/row_matrix.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace arges::sparse {

struct NonzeroFit;
struct NonzeroRows;

/// A factor of a product: column c of the sums takes column take[c] of it; without `take` column c.
struct FactorColumns {
    int mode = 0;
    std::vector<std::int32_t> take{};
};

/// A rank's nonzeros sorted by the slices of each mode, there. Slices are cut into pieces, at places that depend on the tensor only, so
/// that sums are the same to the bit however they are run. What fails there is kept, see device/failure.
template <class T>
class DeviceNonzeros {
public:
    /// @param kernels  that have sum_nonzeros; must outlive the object
    /// @param rows     by mode, as LocalNonzeros::rows
    DeviceNonzeros(const ElementKernels& kernels, std::vector<std::int64_t> rows);
    ~DeviceNonzeros();
    DeviceNonzeros(const DeviceNonzeros&) = delete;
    DeviceNonzeros& operator=(const DeviceNonzeros&) = delete;

    /// Nonzeros for the sums over slices of a mode, with weights where there are some: sorts them, on the host, and copies them.
    /// @param fits  they are also for fit() and derive()
    void add(const LocalNonzeros<T>& nonzeros, int mode, bool fits = false);

    /// The factor of a mode has other elements than in the last call of multiply(), where its address is the same.
    void factor_changes(int mode) { copies_[mode].of = {}; }
    /// MTTKRP: out(i, c) = sum over the nonzeros x of slice i of value(x) * weight(x) * product over the other modes m of factors[m](x_m,
    /// c). Rows without nonzeros become zero.
    /// @param factors  by mode, on the host as `out` is; that of the mode is not looked at
    void multiply(int mode, std::span<const RowMatrix<const T>> factors, RowMatrix<T> out);
    /// Likewise with products of any columns of these factors. @param by_weights  without values
    void multiply(int mode, std::span<const RowMatrix<const T>> factors, const std::vector<FactorColumns>& product, RowMatrix<T> out,
                  bool by_weights = false);

    /// Sums of weight (value - model)^2 and of weight model^2 over the nonzeros of a mode; a CP model of all factors.
    struct Fit {
        double residual = 0, model = 0;
    };
    Fit fit(int mode, std::span<const RowMatrix<const T>> factors);
    /// Returns the sum of the losses of such a model at the nonzeros of a mode, times the weights; out(i, c) = the derivative of that by
    /// factors[mode](i, c).
    /// @param to_zero  without what the model would cost if the values were zero
    double derive(int mode, std::span<const RowMatrix<const T>> factors, const Loss& loss, bool to_zero, RowMatrix<T> out);

    /// On the device, of nonzeros.
    std::int64_t bytes() const;
    /// Sums of pieces that multiply() keeps at most; wider ones are made some columns at a time. The default is 256 MiB.
    void set_most_kept(std::int64_t bytes) { most_kept_ = bytes; }

private:
    struct Slices;
    struct Copy {
        RowMatrix<const T> of{};
        Buffer<T> data;
    };
    const void* copied(int mode, RowMatrix<const T> factor);
    std::vector<FactorColumns> all_but(int mode) const;
    NonzeroFit model_at(const Slices& slices, std::span<const RowMatrix<const T>> factors, std::vector<NonzeroRows>& matrices);
    void multiply(int mode, std::span<const RowMatrix<const T>> factors, const std::vector<FactorColumns>& product, RowMatrix<T> out,
                  const T* values, const T* weights);

    const ElementKernels& kernels_;
    std::vector<std::int64_t> rows_;
    std::vector<std::unique_ptr<Slices>> slices_;  // by mode
    std::vector<Copy> copies_;                     // by mode
    Buffer<T> out_, kept_, derivatives_;
    std::int64_t most_kept_;
};

/// Memory of add() on the host beside the nonzeros; nothing is left. Pure.
MemoryTally device_nonzeros_memory(std::int64_t element_bytes, std::int64_t rows, std::int64_t count);
/// What it adds on the device, and the sums of pieces with so many columns, an upper bound. Pure. @param rows  by mode
std::int64_t device_nonzeros_bytes(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, int mode,
                                   std::int64_t columns);

}  // namespace arges::sparse
