/// Numbers that tell values apart, to compare what the ranks were given.
#pragma once

#include "base/splitmix.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace arges {

/// A 64-bit number that depends on all values added and on their order (FNV-1a, Fowler, Noll and Vo, over their bytes).
/// Ranges count with their lengths, numbers with their bits: Digest().add(0.0) and Digest().add(-0.0) differ.
class Digest {
public:
    /// Adds a number, an enumerator, a text, a range of such, or anything that says what it consists of by add_to(digest, value).
    template <class V>
    Digest& add(const V& value) {
        if constexpr (requires { add_to(*this, value); }) {
            add_to(*this, value);
            return *this;
        } else if constexpr (std::convertible_to<const V&, std::string_view>) {
            const std::string_view text = value;
            add_bytes(text.data(), text.size());
            return add(text.size());
        } else if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
            add_bytes(&value, sizeof value);
            return *this;
        } else if constexpr (requires {
                                 value.real();
                                 value.imag();
                             }) {
            return add(value.real()).add(value.imag());
        } else {
            std::uint64_t count = 0;
            for (const auto& element : value) {
                add(element);
                ++count;
            }
            return add(count);
        }
    }
    template <class... V>
    requires(sizeof...(V) > 1) Digest& add(const V&... values) { return (add(values), ...); }
    std::uint64_t value() const { return splitmix(state_); }

private:
    void add_bytes(const void* data, std::size_t size) {
        const auto* bytes = static_cast<const unsigned char*>(data);
        for (std::size_t i = 0; i < size; ++i) state_ = (state_ ^ bytes[i]) * 0x100000001b3U;
    }
    std::uint64_t state_ = 0xcbf29ce484222325U;
};

/// An array with strides in elements, of either sign.
struct StridedArray {
    const void* data;
    std::span<const std::int64_t> extents, strides;  ///< equally many
    std::int64_t element_bytes;
};
/// Adds the elements and their places; where they lie in memory does not count. The array is read once, by all threads.
void add_to(Digest& digest, const StridedArray& array);

}  // namespace arges
