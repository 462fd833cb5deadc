/// Owned, aligned memory for elements.
#pragma once

#include "arges/error.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace arges {

/// A fixed number of elements on a cache-line boundary. Elements are raw until they are written or zeroed.
template <class T>
class Buffer {
public:
    Buffer() = default;
    /// @throws OutOfMemory if the memory is not to be had
    explicit Buffer(std::int64_t count) : count_(count) {
        if (count == 0) return;
        const auto bytes = (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
        data_.reset(static_cast<T*>(std::aligned_alloc(64, bytes)));
        if (!data_)
            throw OutOfMemory("out of memory: " + std::to_string(bytes) +
                              " bytes could not be allocated; use more ranks or smaller tensors");
    }
    /// All elements zero.
    static Buffer zeros(std::int64_t count) {
        Buffer result(count);
        result.zero();
        return result;
    }
    /// Memory for at least `count` elements; what was there is lost when it grows. @throws OutOfMemory
    T* reserve(std::int64_t count) {
        if (count > count_) *this = Buffer(count);
        return data();
    }
    Buffer copy() const {
        Buffer result(count_);
        if (count_ > 0) std::memcpy(static_cast<void*>(result.data()), data(), bytes());
        return result;
    }
    void zero() {
        if (count_ > 0) std::memset(static_cast<void*>(data()), 0, bytes());
    }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    std::int64_t size() const { return count_; }
    std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }
    T& operator[](std::int64_t i) { return data_.get()[i]; }
    const T& operator[](std::int64_t i) const { return data_.get()[i]; }

private:
    struct Free {
        void operator()(T* p) const { std::free(p); }
    };
    std::unique_ptr<T, Free> data_;
    std::int64_t count_ = 0;
};

}  // namespace arges
