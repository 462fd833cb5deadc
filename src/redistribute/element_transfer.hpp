/// Transfers of elements that may change their type on the way: the kernels of the one type read, those of the other write.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/workspace.hpp"
#include "plan/movement/movement.hpp"

#include <cstdint>
#include <span>

namespace arges {

/// Elements to read.
struct SourceArray {
    SourceArray(const void* array, const ElementKernels* own_kernels = nullptr) : elements(array), kernels(own_kernels) {}
    const ElementKernels& kernels_or(const ElementKernels& others) const { return kernels != nullptr ? *kernels : others; }

    const void* elements;
    const ElementKernels* kernels;  ///< null: the elements have the type of those that are written
};

/// Room for elements on their way.
struct ConversionRoom {
    std::byte *before = nullptr, *after = nullptr;  ///< elements of the one type and of the other
    std::int64_t count = 0;
};

/// Takes conversion_bytes() for so many elements, which are converted a window at a time. @throws OutOfMemory
inline ConversionRoom conversion_room(std::int64_t elements, const ElementKernels& from, const ElementKernels& to, Workspace& workspace) {
    const auto count = converted_at_once(elements);
    return {workspace.take(count, from.size, from.space), workspace.take(count, to.size, to.space), count};
}

/// Copies along axes and lists, as the tables of kernels do; elements of another type are converted, a window of them at a time.
class ElementTransfer {
public:
    /// @param room  for axes; without a conversion none is needed
    ElementTransfer(const ElementKernels& from, const ElementKernels& to, const ConversionRoom& room) : from_(from), to_(to), room_(room) {}
    /// Without a conversion.
    explicit ElementTransfer(const ElementKernels& kernels) : ElementTransfer(kernels, kernels, {}) {}

    std::int64_t from_bytes() const { return from_.size; }
    std::int64_t to_bytes() const { return to_.size; }
    const ElementKernels& target() const { return to_; }
    /// As ElementKernels::transfer and transfer_listed; the second takes conversion_bytes() of its own.
    void along(std::span<const local::TransferAxis> axes, const void* from, void* to, const void* alpha, local::TransferMode mode) const;
    void listed(const local::ListedTransfer& list, const void* from, void* to, const void* alpha, local::TransferMode mode) const;

private:
    bool converts() const { return &from_ != &to_; }
    void convert_window(std::span<const local::TransferAxis> axes, const void* from, void* to, const void* alpha,
                        local::TransferMode mode) const;

    const ElementKernels &from_, &to_;
    ConversionRoom room_;
};

}  // namespace arges
