// TAPP's objects without products: handles, executors, statuses, attributes, descriptions of tensors.
#include "c/tapp_error.hpp"
#include "c/tapp_labels.hpp"

#include <algorithm>
#include <memory>
#include <span>

namespace arges::tapp {
namespace {

/// Handles and executors have an address only.
struct Token {};

template <class Object>
Object* object(std::intptr_t value) {
    return reinterpret_cast<Object*>(value);
}

template <class Object>
std::intptr_t given_away(std::unique_ptr<Object> made) {
    return reinterpret_cast<std::intptr_t>(made.release());
}

TAPP_error create_token(std::intptr_t* result) {
    return guarded([&] {
        refuse_if(result == nullptr, null_pointer);
        *result = 0;
        *result = given_away(std::make_unique<Token>());
    });
}

Shape& changed_shape(TAPP_tensor_info info) {
    refuse_if(info == 0, null_pointer);
    return *object<Shape>(info);
}

/// `count` numbers at an address, which may be null if there are none.
std::span<const std::int64_t> numbers(const std::int64_t* data, std::size_t count) {
    refuse_if(data == nullptr && count > 0, null_pointer);
    return {data, count};
}

std::span<const std::int64_t> extents_at(const std::int64_t* data, std::size_t count) {
    const std::span<const std::int64_t> extents = numbers(data, count);
    for (const std::int64_t extent : extents) refuse_if(extent < 0, negative_extent);
    return extents;
}

}  // namespace

const Shape& shape_of(TAPP_tensor_info info) { return changed_shape(info); }

}  // namespace arges::tapp

using namespace arges::tapp;

TAPP_error TAPP_create_handle(TAPP_handle* handle) { return create_token(handle); }

TAPP_error TAPP_destroy_handle(TAPP_handle handle) {
    delete object<Token>(handle);
    return success;
}

TAPP_error TAPP_create_executor(TAPP_executor* exec) { return create_token(exec); }

TAPP_error TAPP_destroy_executor(TAPP_executor exec) {
    delete object<Token>(exec);
    return success;
}

TAPP_error TAPP_destroy_status(TAPP_status) { return success; }

TAPP_error TAPP_attr_set(TAPP_attr, TAPP_key, void*) { return no_such_attribute; }

TAPP_error TAPP_attr_get(TAPP_attr, TAPP_key, void** value) {
    if (value == nullptr) return null_pointer;
    *value = nullptr;
    return no_such_attribute;
}

TAPP_error TAPP_attr_clear(TAPP_attr, TAPP_key) { return no_such_attribute; }

TAPP_error TAPP_create_tensor_info(TAPP_tensor_info* info, TAPP_datatype type, int nmode, const std::int64_t* extents,
                                   const std::int64_t* strides) {
    return guarded([&] {
        refuse_if(info == nullptr, null_pointer);
        *info = 0;
        refuse_if(nmode < 0, negative_modes);
        const std::size_t modes = nmode;
        const auto sizes = extents_at(extents, modes), steps = numbers(strides, modes);
        refuse_if(type != TAPP_F32 && type != TAPP_F64 && type != TAPP_C32 && type != TAPP_C64, wrong_type);
        *info = given_away(std::make_unique<Shape>(Shape{type, {sizes.begin(), sizes.end()}, {steps.begin(), steps.end()}}));
    });
}

TAPP_error TAPP_destroy_tensor_info(TAPP_tensor_info info) {
    delete object<Shape>(info);
    return success;
}

int TAPP_get_nmodes(TAPP_tensor_info info) { return info == 0 ? -1 : static_cast<int>(object<Shape>(info)->extents.size()); }

TAPP_error TAPP_set_nmodes(TAPP_tensor_info info, int nmodes) {
    return guarded([&] {
        refuse_if(nmodes < 0, negative_modes);
        Shape changed = shape_of(info);
        changed.extents.resize(nmodes, 1);
        changed.strides.resize(nmodes, 0);
        changed_shape(info) = std::move(changed);
    });
}

void TAPP_get_extents(TAPP_tensor_info info, std::int64_t* extents) {
    if (info != 0 && extents != nullptr) std::ranges::copy(object<Shape>(info)->extents, extents);
}

TAPP_error TAPP_set_extents(TAPP_tensor_info info, const std::int64_t* extents) {
    return guarded([&] {
        Shape& shape = changed_shape(info);
        std::ranges::copy(extents_at(extents, shape.extents.size()), shape.extents.begin());
    });
}

void TAPP_get_strides(TAPP_tensor_info info, std::int64_t* strides) {
    if (info != 0 && strides != nullptr) std::ranges::copy(object<Shape>(info)->strides, strides);
}

TAPP_error TAPP_set_strides(TAPP_tensor_info info, const std::int64_t* strides) {
    return guarded([&] {
        Shape& shape = changed_shape(info);
        std::ranges::copy(numbers(strides, shape.strides.size()), shape.strides.begin());
    });
}
