/// Transfers of elements that may change their type on the way: the kernels of the one type read, those of the other write.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/workspace.hpp"
#include "plan/movement/movement.hpp"

#include <cstdint>
#include <span>

namespace arges {

/// Elements at an address, which may have a table of their own: they have another type than the others, or lie in another memory.
template <class Address>
struct ElementArray {
    ElementArray(Address array, const ElementKernels* own_kernels = nullptr) : elements(array), kernels(own_kernels) {}
    const ElementKernels& kernels_or(const ElementKernels& others) const { return kernels != nullptr ? *kernels : others; }

    Address elements;
    const ElementKernels* kernels;  ///< null: that of whatever works with them
};

using SourceArray = ElementArray<const void*>;
using TargetArray = ElementArray<void*>;

/// The memory of both, or that of the host, which kernels of either reach.
inline const MemorySpace* common_space(const ElementKernels& from, const ElementKernels& to) {
    return from.space == to.space ? from.space : nullptr;
}

/// Room for elements on their way.
struct ConversionRoom {
    std::byte *before = nullptr, *after = nullptr;  ///< elements of the one type and of the other
    std::int64_t count = 0;
};

/// Takes conversion_bytes() for so many elements, which are converted or copied to another memory a window at a time. Only arrays that lie
/// in the same memory have room there. @throws OutOfMemory
inline ConversionRoom conversion_room(std::int64_t elements, const ElementKernels& from, const ElementKernels& to, Workspace& workspace) {
    const auto count = converted_at_once(elements);
    const auto* const space = common_space(from, to);
    return {workspace.take(count, from.size, space), workspace.take(count, to.size, space), count};
}

/// Copies along axes and lists, as the tables of kernels do; elements of another type are converted, a window of them at a time. Between
/// memories windows are packed where they lie, so that as much is copied as is asked for.
class ElementTransfer {
public:
    /// @param room  for axes. Without a conversion none is needed: what is read by kernels of another memory is then copied there from the
    /// first element to the last
    ElementTransfer(const ElementKernels& from, const ElementKernels& to, const ConversionRoom& room) : from_(from), to_(to), room_(room) {}
    /// Without a conversion.
    explicit ElementTransfer(const ElementKernels& kernels) : ElementTransfer(kernels, kernels, {}) {}

    /// The table of the elements that reaches both arrays, where their types are the same.
    const ElementKernels& reaching_both() const { return to_.space == nullptr ? from_ : to_; }
    std::int64_t from_bytes() const { return from_.size; }
    std::int64_t to_bytes() const { return to_.size; }
    const ElementKernels& target() const { return to_; }
    bool converts() const { return *from_.type != *to_.type; }
    /// Do elements go through the room?
    bool is_staged() const { return converts() || room_.count > 0; }
    /// As ElementKernels::transfer and transfer_listed; the second takes conversion_bytes() of its own.
    void along(std::span<const local::TransferAxis> axes, const void* from, void* to, const void* alpha, local::TransferMode mode) const;
    void listed(const local::ListedTransfer& list, const void* from, void* to, const void* alpha, local::TransferMode mode) const;

private:
    void convert_window(std::span<const local::TransferAxis> axes, const void* from, void* to, const void* alpha,
                        local::TransferMode mode) const;

    const ElementKernels &from_, &to_;
    ConversionRoom room_;
};

}  // namespace arges
