/// Values of nonzeros whose type is known at run time.
#pragma once

#include "arges/element_kernels.hpp"
#include "base/buffer.hpp"
#include "base/element_at.hpp"
#include "sparse/nonzeros.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

namespace arges {

/// An array of values on the host. Those of float and double may be a vector, which comes from files and goes to decompositions without a
/// copy.
class SparseValues {
public:
    SparseValues() = default;
    /// Room for so many values. @throws OutOfMemory, std::bad_alloc
    SparseValues(const ElementKernels& kernels, std::int64_t count) : element_bytes_(kernels.size) {
        if (*kernels.type == typeid(float))
            held_ = std::vector<float>();
        else if (*kernels.type == typeid(double))
            held_ = std::vector<double>();
        renew(count);
    }
    /// Copies of values. @throws OutOfMemory, std::bad_alloc
    SparseValues(const ElementKernels& kernels, const void* values, std::int64_t count) : SparseValues(kernels, count) {
        if (count > 0) std::memcpy(data(), values, bytes());
    }
    /// Takes over values of so many bytes each.
    SparseValues(Buffer<std::byte> values, std::int64_t element_bytes) : held_(std::move(values)), element_bytes_(element_bytes) {}
    /// Takes over values of float or double.
    template <class T>
    explicit SparseValues(std::vector<T> values) : held_(std::move(values)), element_bytes_(sizeof(T)) {}

    std::byte* data() {
        return std::visit([](auto& held) { return reinterpret_cast<std::byte*>(held.data()); }, held_);
    }
    const std::byte* data() const {
        return std::visit([](const auto& held) { return reinterpret_cast<const std::byte*>(held.data()); }, held_);
    }
    /// Of one value.
    std::int64_t element_bytes() const { return element_bytes_; }
    std::int64_t count() const {
        return std::visit(
            [&]<class Held>(const Held& held) {
                const auto size = std::ssize(held);
                return is_buffer<Held> ? size / element_bytes_ : size;
            },
            held_);
    }
    std::int64_t bytes() const { return count() * element_bytes_; }
    SparseValues copy() const {
        SparseValues result;
        result.element_bytes_ = element_bytes_;
        std::visit(
            [&]<class Held>(const Held& held) {
                if constexpr (is_buffer<Held>)
                    result.held_ = held.copy();
                else
                    result.held_ = held;
            },
            held_);
        return result;
    }
    /// Room for so many others of the same type. @throws OutOfMemory, std::bad_alloc
    SparseValues room_for(std::int64_t count) const {
        SparseValues result;
        result.element_bytes_ = element_bytes_;
        std::visit([&]<class Held>(const Held&) { result.held_ = Held(); }, held_);
        result.renew(count);
        return result;
    }
    /// Room for so many values of the same type; what was there is lost, and its memory is given back before.
    void renew(std::int64_t count) {
        std::visit(
            [&]<class Held>(Held& held) {
                held = Held();
                if constexpr (is_buffer<Held>)
                    held = Held(array_bytes(count, element_bytes_));
                else
                    held.resize(count);
            },
            held_);
    }
    /// Keeps the first ones, with room for so many in all. @throws OutOfMemory, std::bad_alloc
    void resize(std::int64_t wanted) {
        if (wanted == count()) return;
        std::visit(
            [&]<class Held>(Held& held) {
                if constexpr (is_buffer<Held>) {
                    Held other(array_bytes(wanted, element_bytes_));
                    copy_array(other.data(), held.data(), std::min(other.size(), held.size()), nullptr);
                    held = std::move(other);
                } else {
                    held.reserve(wanted);
                    held.resize(wanted);
                }
            },
            held_);
    }
    /// Gives values of float or double away.
    template <class T>
    std::vector<T> take() && {
        if (auto* const values = std::get_if<std::vector<T>>(&held_)) return std::move(*values);
        const auto* const first = reinterpret_cast<const T*>(data());
        return {first, first + count()};
    }

private:
    template <class Held>
    static constexpr bool is_buffer = std::is_same_v<Held, Buffer<std::byte>>;

    std::variant<Buffer<std::byte>, std::vector<float>, std::vector<double>> held_;
    std::int64_t element_bytes_ = 1;
};

/// Nonzeros of any type.
struct AnyNonzeros : sparse::NonzeroIndices {
    SparseValues values;

    AnyNonzeros() = default;
    AnyNonzeros(sparse::NonzeroIndices coordinates, SparseValues those)
        : NonzeroIndices(std::move(coordinates)), values(std::move(those)) {}
    /// Takes over nonzeros of float or double.
    template <class T>
    explicit AnyNonzeros(sparse::Nonzeros<T> nonzeros)
        : NonzeroIndices(static_cast<NonzeroIndices&&>(nonzeros)), values(std::move(nonzeros.values)) {}
    /// Gives them away again.
    template <class T>
    sparse::Nonzeros<T> take() && {
        return {static_cast<NonzeroIndices&&>(*this), std::move(values).take<T>()};
    }
};

/// Puts copies of nonzeros behind others. Local.
inline void append(AnyNonzeros& all, const AnyNonzeros& more) {
    auto values = all.values.room_for(all.values.count() + more.values.count());
    copy_array(values.data(), all.values.data(), all.values.bytes(), nullptr);
    copy_array(values.data() + all.values.bytes(), more.values.data(), more.values.bytes(), nullptr);
    for (std::size_t m = 0; m < all.indices.size(); ++m)
        all.indices[m].insert(all.indices[m].end(), more.indices[m].begin(), more.indices[m].end());
    all.values = std::move(values);
}

/// Copies of some nonzeros. Local.
inline AnyNonzeros selected(const sparse::NonzeroIndices& from, const SparseValues& values, const std::vector<std::size_t>& places) {
    AnyNonzeros some;
    some.lengths = from.lengths;
    for (const auto& column : from.indices) {
        auto& copy = some.indices.emplace_back();
        copy.reserve(places.size());
        for (auto i : places) copy.push_back(column[i]);
    }
    some.values = values.room_for(std::ssize(places));
    const auto bytes = values.element_bytes();
    const auto* const data = values.data();
    auto* to = some.values.data();
    for (auto i : places) {
        copy_element(to, element_at(data, i, bytes), bytes);
        to += bytes;
    }
    return some;
}

}  // namespace arges
