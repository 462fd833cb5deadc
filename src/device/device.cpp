#include "device/device.hpp"

#include "arges/error.hpp"
#include "base/instantiate.hpp"
#include "base/options.hpp"

namespace arges::device {

namespace {

const Tables* replaced = nullptr;
bool is_replaced_by_default = false, may_replaced_have_messages = false, are_messages_there = false;

}  // namespace

#ifndef ARGES_CUDA
template <class T>
const ElementKernels& cuda_kernels(const ElementKernels&) {
    throw InvalidArgument(
        "a CUDA device: this library was built without CUDA; build it by `make GPU=cuda`, or use no device (Device, --device none, "
        "ARGES_DEVICE=none)");
}
#endif

Tables tables_of(DeviceKind kind) {
    if (kind == DeviceKind::none) return {};
    if (replaced != nullptr) return *replaced;
#define ARGES_TABLE(T) &cuda_kernels<T>(element_kernels<T>()),
    return {ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_TABLE)};
#undef ARGES_TABLE
}

DeviceKind default_kind() {
    const auto said = device_option();
    return is_replaced_by_default ? DeviceKind::cuda : said;
}

std::optional<bool> may_have_messages() {
    if (replaced == nullptr) return {};
    return may_replaced_have_messages;
}
bool has_messages() { return are_messages_there; }
void set_messages(bool on_device) { are_messages_there = on_device; }

void replace_cuda(const Tables* tables, bool by_default, bool messages) {
    replaced = tables;
    is_replaced_by_default = tables != nullptr && by_default;
    may_replaced_have_messages = messages;
}

}  // namespace arges::device
