/// What the functions of arges.h share: handles, errors as a status and a message, checks of pointers and texts.
#pragma once

#include "arges.h"

#include "arges/arges.hpp"
#include "arges/checkpoint.hpp"
#include "interface/sparse/sparse_state.hpp"

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct arges_world {
    arges::World world = arges::World::outside();
};

struct arges_tensor {
    arges::AnyTensor tensor{};
};

struct arges_statement {
    /// What terms are restricted to.
    struct Mask {
        arges::AnyIndexedTensor tensor;
        bool is_complement = false;
    };
    arges::AnyIndexedTensor left;
    arges::AnyExpression right;  // of the left type
    std::vector<Mask> masks{};
    std::vector<std::string> repeated{}, summed{};
};

struct arges_checkpoint {
    explicit arges_checkpoint(const arges::World& own) : world(own) {}
    arges::World world;
    std::optional<arges::CheckpointWriter> writer;
};

namespace arges::c {

/// Notes which function is called, for messages.
void begin_call(const char* function) noexcept;
/// No message.
arges_status succeeded() noexcept;
/// The exception under way as a status and a message.
arges_status failed() noexcept;

/// Calls body(); what it throws becomes a status and a message.
template <class F>
arges_status guarded(const char* function, F&& body) noexcept {
    begin_call(function);
    try {
        body();
        return succeeded();
    } catch (...) {
        return failed();
    }
}

/// An error of the function that is called: its name, what is wrong, and what to do.
[[noreturn]] void refuse(const std::string& text);

/// @throws InvalidArgument for null
void require_given(const void* pointer, const char* name);
/// What a pointer leads to. @throws InvalidArgument for null
template <class T>
T& given(T* pointer, const char* name) {
    require_given(static_cast<const void*>(pointer), name);
    return *pointer;
}
/// @throws InvalidArgument for null where there are elements
void require_array(const void* array, std::int64_t count, const char* name);
/// @throws InvalidArgument for a tensor that is not dense, or has no floating-point elements
void require_floating(const AnyTensor& tensor, const char* what);
/// @throws InvalidArgument for null
std::string text_of(const char* text, const char* name);
/// A number of a C enumeration from 0 to `last`. @throws InvalidArgument for another
template <class Enum, class From>
Enum choice(From value, int last, const char* name) {
    const int number = value;
    if (number < 0 || number > last)
        refuse(std::string(name) + " is " + std::to_string(number) + "; it must be one of its enumeration, 0 to " + std::to_string(last));
    return static_cast<Enum>(number);
}
inline ElementType element_type(arges_type type) { return choice<ElementType>(type, ARGES_BOOL, "type"); }
/// Letters, or with a comma names; see arges.h. @throws InvalidArgument for null and for empty names
Labels labels_of(const char* text, const char* name);
/// One number for each dimension.
std::vector<std::int64_t> numbers_of(const std::int64_t* numbers, int count, const char* name);
/// @throws InvalidArgument for letters and symmetries that do not fit the order
Symmetry symmetry_of(int order, const char* letters, const char* symmetry);

/// The world of the first tensor that is not null; the others may then be looked at by all ranks together.
const World& meeting(std::initializer_list<const arges_tensor*> tensors);

/// An element of the caller. A bool is any byte but 0.
ElementValue element_at(ElementType type, const void* place);
/// An element as a number; `otherwise` for null.
Number number_at(ElementType type, const void* place, std::int64_t otherwise);

/// Room for a tensor that is made, taken before collective work, so that no rank fails alone after it.
class TensorResult {
public:
    TensorResult() = default;
    TensorResult(arges_tensor** place, const char* name) : place_(&given(place, name)), box_(std::make_unique<arges_tensor>()) {}
    /// Nothing, without room.
    void give(AnyTensor tensor) noexcept {
        if (!box_) return;
        box_->tensor = std::move(tensor);
        *place_ = box_.release();
    }

private:
    arges_tensor** place_ = nullptr;
    std::unique_ptr<arges_tensor> box_;
};

struct Freed {
    void operator()(void* memory) const noexcept { std::free(memory); }
};
/// An array for arges_free().
template <class T>
using FreeArray = std::unique_ptr<T, Freed>;
/// @throws std::bad_alloc
template <class T>
FreeArray<T> free_array(std::int64_t count) {
    const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
    FreeArray<T> array(static_cast<T*>(std::malloc(bytes == 0 ? 1 : bytes)));
    if (!array) throw std::bad_alloc();
    return array;
}

}  // namespace arges::c
