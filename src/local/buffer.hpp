/// Uninitialized working memory.
#pragma once

#include "arges/error.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace arges::local {

/// Room for elements, aligned to cache lines and not initialized. It grows and never shrinks.
template <class T>
class Buffer {
public:
    /// Memory for at least `count` elements; what it held before is lost when it grows.
    /// @throws OutOfMemory
    T* reserve(std::int64_t count) {
        if (count <= capacity_) return data_.get();
        data_.reset();
        capacity_ = 0;
        const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
        data_.reset(static_cast<T*>(std::aligned_alloc(64, bytes)));
        if (!data_)
            throw OutOfMemory("a local kernel needs " + std::to_string(bytes) +
                              " bytes of workspace");
        capacity_ = count;
        return data_.get();
    }

    T* get() const { return data_.get(); }

private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<T, Free> data_;
    std::int64_t capacity_ = 0;
};

}  // namespace arges::local
