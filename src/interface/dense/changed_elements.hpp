/// The elements that a call has changed so far.
#pragma once

#include "base/buffer.hpp"
#include "base/element_at.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace arges {

/// Tells the first change of an element from later ones, and takes all changes back if need be. Local. @tparam Bytes  a number, see
/// with_element_bytes()
template <class Bytes = std::int64_t>
class ChangedElements {
public:
    /// @param data      the elements, `size` of them
    /// @param expected  number of changes, about
    ChangedElements(std::byte* data, Bytes element_bytes, std::int64_t size, std::int64_t expected)
        : data_(data), element_bytes_(element_bytes) {
        constexpr std::int64_t bits = 64;
        if (size / bits <= expected) seen_.resize(size / bits + 1, 0);
    }

    /// True the first time for an element, whose value is then kept for undo(). @throws std::bad_alloc, and nothing has changed
    bool first(std::int64_t offset) {
        if (seen_.empty()) {
            if (few_.count(offset) > 0) return false;
            keep(offset);
            few_.insert(offset);
            return true;
        }
        auto& word = seen_[offset >> 6];
        const auto bit = std::uint64_t(1) << (offset & 63);
        if ((word & bit) != 0) return false;
        keep(offset);
        word |= bit;
        return true;
    }
    /// Gives every element the value from before its first change.
    void undo() {
        for (auto chunk = before_.size(); chunk-- > 0; count_ = chunk_length)
            while (count_-- > 0)
                copy_element(element_at(data_, before_[chunk].offsets[count_], element_bytes_),
                             element_at(before_[chunk].values.data(), count_, element_bytes_), element_bytes_);
        before_.clear();
    }

private:
    struct Chunk {
        Buffer<std::int64_t> offsets;
        Buffer<std::byte> values;
    };
    static constexpr std::int64_t chunk_length = std::int64_t(1) << 15;

    void keep(std::int64_t offset) {
        if (before_.empty() || count_ == chunk_length) {
            before_.push_back({Buffer<std::int64_t>(chunk_length), Buffer<std::byte>(chunk_length * element_bytes_)});
            count_ = 0;
        }
        auto& last = before_.back();
        last.offsets[count_] = offset;
        copy_element(element_at(last.values.data(), count_, element_bytes_), element_at(data_, offset, element_bytes_), element_bytes_);
        ++count_;
    }

    std::byte* data_;
    Bytes element_bytes_;
    std::vector<std::uint64_t> seen_;       // a bit per element
    std::unordered_set<std::int64_t> few_;  // in its place where changes are few
    std::vector<Chunk> before_;
    std::int64_t count_ = 0;  // in the last chunk
};

}  // namespace arges
