// Elements by key. What is given several times is added up; what a symmetry makes zero is dropped.
#include "cyclops/body.hpp"

#include <algorithm>
#include <cstring>

namespace CTF_int {

using arges::AnyTensor;

namespace {

/// Are there elements that are zero by symmetry?
bool has_zeros(const AnyTensor& tensor) {
    const auto& slots = tensor.symmetry().slots();
    return std::any_of(slots.begin(), slots.end(), [](const auto& slot) {
        return slot.kind == arges::NodeKind::antisymmetric || slot.kind == arges::NodeKind::hollow;
    });
}

bool is_zero(const AnyTensor& tensor, const char* element) {
    return arges::with_element_type(tensor.element(), [&]<class T>() { return *reinterpret_cast<const T*>(element) == T(0); });
}

/// Values of all elements, of those only that are stored unless `unpack`.
Values all_of(const AnyTensor& own, bool unpack) {
    Values all(own.element());
    own.gather_all(all.room());
    if (unpack || own.symmetry().trivial()) return all;
    Values stored(own.element());
    for (std::int64_t key = 0; key < own.size(); ++key) {
        const auto canonical = own.canonical_key(own.index(key));
        if (!canonical.zero && canonical.key == key) stored.take(all, key);
    }
    return stored;
}

}  // namespace

Values::Values(arges::ElementType type) : size_(static_cast<std::int64_t>(arges::element_kernels(type).size)) {}

arges::ElementRoom Values::room() {
    return [this](std::int64_t count) -> void* {
        bytes_.resize(count * size_);
        return bytes_.data();
    };
}

Pairs pairs_of(const AnyTensor& tensor) {
    Pairs result{{}, Values(tensor.element())};
    result.keys = tensor.pairs_here(result.values.room());
    return result;
}

Values read(const AnyTensor& tensor, std::span<const std::int64_t> keys) {
    Values result(tensor.element());
    tensor.read_pairs(keys, result.room());
    return result;
}

void tensor::put(std::int64_t count, const std::int64_t* keys, const void* values, const void* alpha, const void* beta) {
    auto& own = of(*this);
    const std::span<const std::int64_t> given(keys, count);
    if (!has_zeros(own)) {
        own.accumulate_pairs(given, values, count, alpha, beta);
        return;
    }
    const auto bytes = arges::element_kernels(own.element()).size;
    std::vector<std::int64_t> kept;
    std::vector<char> kept_values;
    own.world().agree([&] {
        for (std::int64_t i = 0; i < count; ++i) {
            if (own.canonical_key(own.index(keys[i])).zero) continue;
            kept.push_back(keys[i]);
            const char* const value = static_cast<const char*>(values) + i * bytes;
            kept_values.insert(kept_values.end(), value, value + bytes);
        }
    });
    own.accumulate_pairs(kept, kept_values.data(), std::ssize(kept), alpha, beta);
}

void tensor::get(std::int64_t count, const std::int64_t* keys, void* values, const void* alpha, const void* beta) const {
    const auto& own = of(*this);
    auto elements = read(own, {keys, static_cast<std::size_t>(count)});
    arges::with_element_type(own.element(), [&]<class T>() {
        const T* const from = reinterpret_cast<const T*>(elements.data());
        T* const to = static_cast<T*>(values);
        for (std::int64_t i = 0; i < count; ++i) {
            T value = from[i];
            if (alpha != nullptr) value = static_cast<T>(*static_cast<const T*>(alpha) * value);
            if (beta != nullptr && *static_cast<const T*>(beta) != T(0))
                value = static_cast<T>(value + *static_cast<const T*>(beta) * to[i]);
            to[i] = value;
        }
    });
}

void tensor::local_pairs(std::int64_t* count, std::int64_t** keys, const std::function<void*(std::int64_t)>& room, bool nonzeros,
                         bool unpack) const {
    const auto& own = of(*this);
    auto all = pairs_of(unpack ? unpacked(own) : own);
    Pairs kept{{}, Values(own.element())};
    for (std::size_t i = 0; nonzeros && i < all.keys.size(); ++i) {
        if (is_zero(own, all.values.at(i))) continue;
        kept.keys.push_back(all.keys[i]);
        kept.values.take(all.values, i);
    }
    auto& given = nonzeros ? kept : all;
    *count = std::ssize(given.keys);
    *keys = static_cast<std::int64_t*>(std::malloc(std::max<std::size_t>(given.keys.size(), 1) * sizeof(std::int64_t)));
    std::copy(given.keys.begin(), given.keys.end(), *keys);
    std::memcpy(room(*count), given.values.data(), *count * arges::element_kernels(own.element()).size);
}

void tensor::all_values(const std::function<void*(std::int64_t)>& room, bool unpack) const {
    auto values = all_of(of(*this), unpack);
    const auto count = values.count();
    std::memcpy(room(count), values.data(), count * arges::element_kernels(of(*this).element()).size);
}

}  // namespace CTF_int
