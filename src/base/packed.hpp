/// Structures as bytes, to be sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace arges {

/// Values one after the other as bytes: put in, or taken out in the same order. A value is a trivially copyable one, a vector, string, map
/// or variant of values, or of a class whose member `parts(packed)` calls packed(a, b, ...) for what it consists of.
class Packed {
public:
    /// To be put into.
    Packed() = default;
    /// To be taken from.
    explicit Packed(std::vector<std::byte> bytes) : bytes_(std::move(bytes)), is_read_(true) {}

    bool is_read() const { return is_read_; }
    std::vector<std::byte>& bytes() { return bytes_; }
    template <class... V>
    void operator()(V&... values) {
        (one(values), ...);
    }

private:
    template <class V>
    void one(V& value) {
        if constexpr (std::is_trivially_copyable_v<V>) {
            copy(&value, sizeof value);
        } else if constexpr (requires { value.parts(*this); }) {
            value.parts(*this);
        } else if constexpr (requires { value.index(); }) {
            auto index = value.index();
            one(index);
            if (is_read_) set_index(value, index, std::make_index_sequence<std::variant_size_v<V>>());
            std::visit([&](auto& held) { one(held); }, value);
        } else {
            auto count = value.size();
            one(count);
            if constexpr (requires { typename V::mapped_type; }) {
                for (auto at = value.begin(); count > 0; --count) {
                    auto key = is_read_ ? typename V::key_type() : at++->first;
                    one(key);
                    one(value[key]);
                }
            } else {
                if (is_read_) value.resize(count);
                for (auto& part : value) one(part);
            }
        }
    }
    template <class V, std::size_t... k>
    void set_index(V& value, std::size_t index, std::index_sequence<k...>) {
        static_cast<void>(((k == index && (value.template emplace<k>(), true)) || ...));
    }
    void copy(void* value, std::size_t size) {
        if (!is_read_) bytes_.resize(bytes_.size() + size);
        auto* const place = is_read_ ? bytes_.data() + taken_ : bytes_.data() + bytes_.size() - size;
        is_read_ ? std::memcpy(value, place, size) : std::memcpy(place, value, size);
        taken_ += size;
    }

    std::vector<std::byte> bytes_;
    std::size_t taken_ = 0;
    bool is_read_ = false;
};

}  // namespace arges
