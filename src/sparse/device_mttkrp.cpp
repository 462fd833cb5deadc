// MTTKRP in the memory of a device.
#include "sparse/device_nonzeros.hpp"
#include "sparse/mttkrp_formats.hpp"

namespace arges::sparse {

namespace {

template <class T>
class DeviceMttkrp final : public FormatBase<T> {
public:
    DeviceMttkrp(const LocalNonzeros<T>& nonzeros, std::span<const int> modes, const ElementKernels& device)
        : FormatBase<T>(nonzeros, modes), nonzeros_(device, nonzeros.rows) {
        for (int mode : modes) nonzeros_.add(nonzeros, mode);
    }
    void factor_changes(int mode) override { nonzeros_.factor_changes(mode); }
    Format format() const override { return Format::device; }
    std::int64_t bytes() const override { return nonzeros_.bytes(); }

protected:
    void multiply_checked(int mode, std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) override {
        nonzeros_.multiply(mode, factors, out);
    }

private:
    DeviceNonzeros<T> nonzeros_;
};

}  // namespace

MemoryTally device_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, std::span<const int> modes) {
    MemoryTally tally;
    for (int mode : modes) tally.add(device_nonzeros_memory(element_bytes, rows[mode], count));
    return tally;
}

template <class T>
std::unique_ptr<Mttkrp<T>> make_device(const LocalNonzeros<T>& nonzeros, std::span<const int> modes, const ElementKernels& device) {
    return std::make_unique<DeviceMttkrp<T>>(nonzeros, modes, device);
}

template std::unique_ptr<Mttkrp<float>> make_device(const LocalNonzeros<float>&, std::span<const int>, const ElementKernels&);
template std::unique_ptr<Mttkrp<double>> make_device(const LocalNonzeros<double>&, std::span<const int>, const ElementKernels&);

}  // namespace arges::sparse
