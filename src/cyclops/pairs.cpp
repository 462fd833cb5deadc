// Elements by key. What is given several times is added up; what a symmetry makes zero is dropped.
#include "cyclops/body.hpp"

#include <algorithm>
#include <cstring>

namespace CTF_int {

using arges::AnyTensor;
using arges::NodeKind;

namespace {

bool has_zeros(NodeKind kind) { return kind == NodeKind::antisymmetric || kind == NodeKind::hollow; }

/// Are there elements that are zero by symmetry?
bool has_zeros(const AnyTensor& tensor) {
    const auto& slots = tensor.symmetry().slots();
    return std::any_of(slots.begin(), slots.end(), [](const auto& slot) { return has_zeros(slot.kind); });
}

/// Values of all elements, of those only that are stored unless `unpack`.
Values all_of(const AnyTensor& own, bool unpack) {
    Values all(own.kernels());
    own.gather_all(all.room());
    if (unpack || own.symmetry().trivial()) return all;
    Indices indices(own);
    std::int64_t kept = 0;
    for (std::int64_t key = 0; key < own.size(); ++key) {
        indices.of(key);
        if (indices.is_stored()) all.copy(kept++, key);
    }
    all.resize(kept);
    return all;
}

}  // namespace

Values::Values(const arges::ElementKernels& kernels) : size_(static_cast<std::int64_t>(kernels.size)) {}

arges::ElementRoom Values::room() {
    return [this](std::int64_t count) -> void* {
        resize(count);
        return bytes_.data();
    };
}

const std::vector<std::int64_t>& Indices::of(std::int64_t key) {
    if (key < 0 || key >= tensor_.size()) (void)tensor_.index(key);  // says what is wrong
    for (std::size_t d = 0; d < index_.size(); ++d) {
        index_[d] = key % tensor_.extents()[d];
        key /= tensor_.extents()[d];
    }
    return index_;
}

bool Indices::is_zero() const {
    for (const auto& slot : tensor_.symmetry().slots()) {
        if (!has_zeros(slot.kind)) continue;
        const auto dims = slot.dimensions();
        for (std::size_t a = 0; a < dims.size(); ++a)
            for (std::size_t b = 0; b < a; ++b)
                if (index_[dims[a]] == index_[dims[b]]) return true;
    }
    return false;
}

bool Indices::is_stored() const {
    for (const auto& slot : tensor_.symmetry().slots()) {
        const auto dims = slot.dimensions();
        for (std::size_t i = 0; i + 1 < dims.size(); ++i)
            if (index_[dims[i]] + (has_zeros(slot.kind) ? 1 : 0) > index_[dims[i + 1]]) return false;
    }
    return true;
}

std::vector<std::int64_t> strides_of(const AnyTensor& tensor) {
    std::vector<std::int64_t> result;
    std::int64_t stride = 1;
    for (auto extent : tensor.extents()) {
        result.push_back(stride);
        stride *= extent;
    }
    return result;
}

Pairs pairs_of(const AnyTensor& tensor) {
    Pairs result{{}, Values(tensor.kernels())};
    result.keys = tensor.pairs_here(result.values.room());
    return result;
}

Pairs pairs_as_new(const AnyTensor& tensor) {
    auto result = pairs_of(AnyTensor(tensor.element(), arges::Storage::dense, tensor.world(), tensor.extents(), tensor.symmetry()));
    auto own = pairs_of(tensor);
    const bool lies_so = own.keys == result.keys;
    auto values = read(tensor, lies_so ? std::vector<std::int64_t>() : result.keys);
    result.values = lies_so ? std::move(own.values) : std::move(values);
    return result;
}

void put_back(AnyTensor& tensor, Pairs& pairs) {
    tensor.accumulate_pairs(pairs.keys, pairs.values.data(), std::ssize(pairs.keys), nullptr, tensor.kernels().zero);
}

Values read(const AnyTensor& tensor, std::span<const std::int64_t> keys) {
    Values result(tensor.kernels());
    tensor.read_pairs(keys, result.room());
    return result;
}

void tensor::put(std::int64_t count, const std::int64_t* keys, const void* values, const void* alpha, const void* beta) {
    auto& own = of(*this);
    if (!has_zeros(own)) {
        own.accumulate_pairs({keys, static_cast<std::size_t>(count)}, values, count, alpha, beta);
        return;
    }
    Pairs given{{keys, keys + count}, Values(own.kernels())};
    own.world().agree([&] {
        std::memcpy(given.values.room()(count), values, count * own.kernels().size);
        Indices indices(own);
        given.keep([&](std::int64_t i) {
            indices.of(keys[i]);
            return !indices.is_zero();
        });
    });
    own.accumulate_pairs(given.keys, given.values.data(), std::ssize(given.keys), alpha, beta);
}

void tensor::get(std::int64_t count, const std::int64_t* keys, void* values, const void* alpha, const void* beta) const {
    const auto& own = of(*this);
    const std::span<const std::int64_t> asked(keys, count);
    if (alpha == nullptr) return own.read_pairs(asked, [&](std::int64_t) { return values; });
    auto elements = read(own, asked);
    arges::with_element_type(own.element(), [&]<class T>() {
        const T a = *static_cast<const T*>(alpha), b = *static_cast<const T*>(beta);
        const T* const from = reinterpret_cast<const T*>(elements.data());
        T* const to = static_cast<T*>(values);
        for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(b == T(0) ? a * from[i] : a * from[i] + b * to[i]);
    });
}

void tensor::local_pairs(std::int64_t* count, std::int64_t** keys, const std::function<void*(std::int64_t)>& room, bool nonzeros,
                         bool unpack) const {
    const auto& own = of(*this);
    const auto& kernels = own.kernels();
    auto pairs = pairs_as_new(unpack ? unpacked(own) : own);
    if (nonzeros) pairs.keep([&](std::int64_t i) { return !kernels.is_zero(pairs.values.at(i)); });
    *count = std::ssize(pairs.keys);
    *keys = static_cast<std::int64_t*>(std::malloc(std::max<std::size_t>(pairs.keys.size(), 1) * sizeof(std::int64_t)));
    std::copy(pairs.keys.begin(), pairs.keys.end(), *keys);
    std::memcpy(room(*count), pairs.values.data(), *count * kernels.size);
}

void tensor::all_values(const std::function<void*(std::int64_t)>& room, bool unpack) const {
    auto values = all_of(of(*this), unpack);
    const auto count = values.count();
    std::memcpy(room(count), values.data(), count * of(*this).kernels().size);
}

}  // namespace CTF_int
