/// One triple of occupied orbitals of the closed-shell (T), on a rank's device.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/buffer.hpp"
#include "chemistry/equations/rtriples_kernel.hpp"

#include <cstdint>
#include <span>

namespace arges::chemistry {

/// Energies of blocks whose parts lie on a device, by functions of its table. What fails there is kept, see device/failure.
class DeviceTriples {
public:
    /// @param kernels   of doubles on the device; must outlive the object
    /// @param energies, singles  of virtual orbitals, and t_i^a with a fastest; on the host
    /// @param elements  room for blocks: most of elements_of() for them
    DeviceTriples(const ElementKernels& kernels, std::span<const double> energies, std::span<const double> singles, std::int64_t elements);

    /// Numbers that a block takes. Pure.
    static std::int64_t elements_of(const TripleBlock& block) { return 2 * block.connected_elements() + block.cube(); }

    /// As TripleBlock::energy(). @param block  with left and right sides on the device; energies and singles are those of this object
    /// @param orbitals  i, j, k
    double energy(const TripleBlock& block, const std::array<std::int64_t, 3>& orbitals);

private:
    void connect(const TripleBlock& block, const TripleBlock::Ranges& ranges, double* w) const;
    void divide(const TripleBlock& block, const TripleBlock::Ranges& ranges, const std::array<std::int64_t, 3>& orbitals, const double* w,
                double* y, double* room) const;

    const ElementKernels& kernels_;
    Buffer<double> energies_, singles_, room_;
};

}  // namespace arges::chemistry
