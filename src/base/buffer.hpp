/// Owned, aligned memory for elements.
#pragma once

#include "arges/error.hpp"
#include "arges/memory_space.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace arges {

/// Memory of an array on a cache-line boundary. Large arrays come from the system by themselves, on huge pages where it has them,
/// and go back to it.
/// @param bytes above 0 @param space null for the host's memory @throws OutOfMemory if the memory is not to be had
void* allocate_array(std::int64_t bytes, const MemorySpace* space);
/// Gives the memory of an array of so many bytes back.
void free_array(void* data, std::int64_t bytes, const MemorySpace* space) noexcept;
/// Memory that an array of so many bytes takes up at most, where all of it is used.
std::int64_t array_memory(std::int64_t bytes) noexcept;
/// True if arrays of so many bytes are zero when they come from allocate_array().
bool arrays_start_zero(std::int64_t bytes) noexcept;

/// Asks for huge pages in fresh memory that does not come from allocate_array().
void prefer_huge_pages(void* data, std::int64_t bytes) noexcept;

/// Copies between arrays of a space and of the host. @param space null: both are the host's
inline void copy_array(void* to, const void* from, std::int64_t bytes, const MemorySpace* space) {
    if (bytes == 0) return;
    if (space == nullptr)
        std::memcpy(to, from, bytes);
    else
        space->copy(to, from, bytes);
}

/// Bytes of an array. @throws OutOfMemory if they are more than memory can have
inline std::int64_t array_bytes(std::int64_t count, std::size_t element_bytes) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max() / 2;  // sizes are rounded up
    const std::int64_t each = element_bytes;
    if (count >= 0 && count <= most / each) return count * each;
    throw OutOfMemory("out of memory: an array of " + std::to_string(count) + " elements of " + std::to_string(element_bytes) +
                      " bytes; use more ranks or smaller tensors");
}

/// A fixed number of elements on a cache-line boundary. Elements are raw until they are written or zeroed. Those in a space other than the
/// host's memory have an address only.
template <class T>
class Buffer {
public:
    Buffer() = default;
    /// @throws OutOfMemory if the memory is not to be had
    explicit Buffer(std::int64_t count, const MemorySpace* space = nullptr) : data_(nullptr, Free{0, space, {}}), count_(count) {
        if (count != 0) data_ = {static_cast<T*>(allocate_array(size_of(count), space)), Free{size_of(count), space, {}}};
    }
    /// An array of somebody else on the host, who has it until `owner` goes with the buffer.
    Buffer(T* data, std::int64_t count, std::shared_ptr<const void> owner)
        : data_(data, Free{size_of(count), nullptr, std::move(owner)}), count_(count) {}
    /// A copy of a list of the host. @throws OutOfMemory
    static Buffer copy_of(std::span<const T> list, const MemorySpace* space) {
        Buffer result(std::ssize(list), space);
        copy_array(result.data(), list.data(), result.bytes(), space);
        return result;
    }
    /// All elements zero. On the host.
    static Buffer zeros(std::int64_t count) {
        Buffer result(count);
        if (!arrays_start_zero(size_of(count))) result.zero();
        return result;
    }
    /// Memory for at least `count` elements; what was there is lost when it grows. @throws OutOfMemory
    T* reserve(std::int64_t count) {
        if (count > count_) {
            const auto* const where = space();
            *this = Buffer();
            *this = Buffer(count, where);
        }
        return data();
    }
    Buffer copy() const {
        Buffer result(count_, space());
        if (count_ > 0) copy_array(result.data(), data(), bytes(), space());
        return result;
    }
    /// Forgets elements behind the first ones; pages that were not written take no memory.
    void shorten(std::int64_t count) { count_ = count; }
    /// On the host.
    void zero() {
        if (count_ > 0) std::memset(static_cast<void*>(data()), 0, bytes());
    }
    /// The same memory as elements of another type.
    template <class U>
    Buffer<U> reinterpreted() && {
        Buffer<U> result;
        result.count_ = bytes() / sizeof(U);
        auto& free = data_.get_deleter();
        result.data_ = {reinterpret_cast<U*>(data_.get()), {free.bytes, space(), std::move(free.owner)}};
        static_cast<void>(data_.release());
        count_ = 0;
        return result;
    }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    std::int64_t size() const { return count_; }
    /// Null: the host's memory.
    const MemorySpace* space() const { return data_.get_deleter().space; }
    std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }
    T& operator[](std::int64_t i) { return data_.get()[i]; }
    const T& operator[](std::int64_t i) const { return data_.get()[i]; }

private:
    template <class U>
    friend class Buffer;
    static std::int64_t size_of(std::int64_t count) { return array_bytes(count, sizeof(T)); }
    struct Free {
        std::int64_t bytes = 0;
        const MemorySpace* space = nullptr;
        std::shared_ptr<const void> owner = {};  // null: the buffer itself
        void operator()(T* p) const {
            if (!owner) free_array(p, bytes, space);
        }
    };
    std::unique_ptr<T, Free> data_;
    std::int64_t count_ = 0;
};

}  // namespace arges
