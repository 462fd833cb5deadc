// Elements by key. What is given several times is added up; what a symmetry makes zero is dropped.
#include "cyclops/body.hpp"

#include <algorithm>
#include <optional>

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
    use(tensor.kernels());
    Pairs result{{}, Values(tensor.kernels())};
    result.keys = tensor.pairs_here(result.values.room());
    return result;
}

Pairs pairs_as_new(const AnyTensor& tensor) {
    auto own = pairs_of(tensor);
    if (tensor.is_sparse()) return own;
    Pairs result{{}, Values(tensor.kernels())};
    result.keys = pairs_of({arges::ElementType::int16, arges::Storage::dense, tensor.world(), tensor.extents(), tensor.symmetry()}).keys;
    const bool lies_so = own.keys == result.keys;
    auto values = read(tensor, lies_so ? std::vector<std::int64_t>() : result.keys);
    result.values = lies_so ? std::move(own.values) : std::move(values);
    return result;
}

void put_back(AnyTensor& tensor, Pairs& pairs) {
    use(tensor.kernels());
    tensor.accumulate_pairs(pairs.keys, pairs.values.data(), std::ssize(pairs.keys), nullptr, tensor.kernels().zero);
}

Values read(const AnyTensor& tensor, std::span<const std::int64_t> keys) {
    use(tensor.kernels());
    Values result(tensor.kernels());
    tensor.read_pairs(keys, result.room());
    return result;
}

void tensor::put(std::int64_t count, const std::int64_t* keys, const void* values, const void* alpha, const void* beta) {
    auto& own = of(*this);
    const auto bytes = own.kernels().size;
    const auto as_stored = [&](const void* program, std::int64_t number, std::optional<Values>& copy) {
        if (program == nullptr || bytes == program_bytes(own.kernels())) return program;
        return static_cast<const void*>(copy.emplace(own.kernels(), program, number).data());
    };
    std::optional<Values> values_copy, alpha_copy, beta_copy;
    values = as_stored(values, count, values_copy);
    alpha = as_stored(alpha, 1, alpha_copy);
    beta = as_stored(beta, 1, beta_copy);
    put_stored(own, {keys, static_cast<std::size_t>(count)}, values, alpha, beta);
    tell_stored();
}

void put_stored(AnyTensor& own, std::span<const std::int64_t> keys, const void* values, const void* alpha, const void* beta) {
    const auto count = std::ssize(keys);
    if (!has_zeros(own)) {
        own.accumulate_pairs(keys, values, count, alpha, beta);
        return;
    }
    Pairs given{{keys.begin(), keys.end()}, Values(own.kernels())};
    own.world().agree([&] {
        std::copy_n(static_cast<const char*>(values), count * own.kernels().size, static_cast<char*>(given.values.room()(count)));
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
    const auto& kernels = own.kernels();
    auto elements = read(own, {keys, static_cast<std::size_t>(count)});
    if (alpha != nullptr) kernels.scale(elements.data(), count, Values(kernels, alpha, 1).data());
    if (beta != nullptr) {
        Values factor(kernels, beta, 1), others(kernels, values, count);
        if (!kernels.is_zero(factor.data())) {
            kernels.scale(others.data(), count, factor.data());
            kernels.transfer_listed({.count = count}, others.data(), elements.data(), nullptr, {.accumulate = true});
        }
    }
    elements.give(values);
}

void tensor::local_pairs(std::int64_t* count, std::int64_t** keys, const std::function<void*(std::int64_t)>& room, bool nonzeros,
                         bool unpack) const {
    const auto& own = of(*this);
    const auto& kernels = own.kernels();
    auto pairs = pairs_as_new(unpack ? unpacked(own) : own);
    if (nonzeros && !own.is_sparse()) pairs.keep([&](std::int64_t i) { return !kernels.is_zero(pairs.values.at(i)); });
    *count = std::ssize(pairs.keys);
    *keys = static_cast<std::int64_t*>(std::malloc(std::max<std::size_t>(pairs.keys.size(), 1) * sizeof(std::int64_t)));
    std::copy(pairs.keys.begin(), pairs.keys.end(), *keys);
    pairs.values.give(room(*count));
}

void tensor::all_values(const std::function<void*(std::int64_t)>& room, bool unpack) const {
    const auto values = all_of(to_dense(of(*this)), unpack);
    values.give(room(values.count()));
}

}  // namespace CTF_int
