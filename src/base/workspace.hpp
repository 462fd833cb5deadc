/// Memory for intermediate arrays, kept between operations so that repeated statements allocate nothing.
#pragma once

#include "base/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace arges {

/// A stack of arrays. Arrays taken since a mark are given back together by release(). Those in a space other than the host's memory come
/// from the space, one by one.
class Workspace {
public:
    /// Makes room for `bytes` in all, so that take() need not allocate. @throws OutOfMemory
    void reserve(std::int64_t bytes) {
        if (bytes <= block_.size() || used_ > 0) return;
        block_ = Buffer<std::byte>();
        block_ = Buffer<std::byte>(bytes);
    }
    /// An uninitialised array. @throws OutOfMemory
    std::byte* take(std::int64_t count, std::int64_t element_bytes, const MemorySpace* space = nullptr) {
        const auto bytes = padded(array_bytes(count, element_bytes));
        if (space != nullptr) return elsewhere_.emplace_back(bytes, space).data();
        if (overflow_.empty() && used_ + bytes <= block_.size()) {
            auto* const result = block_.data() + used_;
            used_ += bytes;
            return result;
        }
        overflow_.emplace_back(bytes);
        return overflow_.back().data();
    }
    /// Likewise, of a type. @throws OutOfMemory
    template <class T>
    T* take(std::int64_t count) {
        return reinterpret_cast<T*>(take(count, sizeof(T)));
    }
    /// A position to release to.
    struct Mark {
        std::int64_t used;
        std::size_t overflow, elsewhere;
    };
    Mark mark() const { return {used_, overflow_.size(), elsewhere_.size()}; }
    void release(const Mark& mark) {
        used_ = mark.used;
        overflow_.resize(mark.overflow);
        elsewhere_.resize(mark.elsewhere);
    }
    /// Releases in its destructor what was taken since it was made.
    class Scope {
    public:
        explicit Scope(Workspace& workspace) : workspace_(workspace), mark_(workspace.mark()) {}
        ~Scope() { workspace_.release(mark_); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        Workspace& workspace_;
        Mark mark_;
    };
    /// Gives the memory back to the system.
    void clear() {
        if (used_ == 0) block_ = Buffer<std::byte>();
    }
    std::int64_t capacity() const { return block_.size(); }
    /// Bytes that an array takes up.
    static std::int64_t padded(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

private:
    Buffer<std::byte> block_;
    std::int64_t used_ = 0;
    std::vector<Buffer<std::byte>> overflow_, elsewhere_;
};

}  // namespace arges
