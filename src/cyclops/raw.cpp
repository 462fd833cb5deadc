// Elements of a rank as an array that programs read and write, in a layout that they may ask for.
#include "arges/error.hpp"
#include "cyclops/body.hpp"

namespace CTF_int {

namespace {

/// Keys of a rank's elements where dimension d is dealt out to parts[d] ranks; -1 for padding.
std::vector<std::int64_t> dealt_keys(const arges::AnyTensor& tensor, const std::vector<int>& parts) {
    std::vector<std::int64_t> keys{0};
    const auto strides = strides_of(tensor);
    auto rank = tensor.world().rank();
    for (std::size_t d = 0; d < parts.size(); rank /= parts[d++]) {
        std::vector<std::int64_t> longer;
        const auto extent = tensor.extents()[d];
        for (std::int64_t i = 0; i < (extent + parts[d] - 1) / parts[d]; ++i) {
            const auto index = i * parts[d] + rank % parts[d];
            for (auto key : keys) longer.push_back(key < 0 || index >= extent ? -1 : key + index * strides[d]);
        }
        keys = std::move(longer);
    }
    if (rank > 0) keys.clear();  // more ranks than parts
    return keys;
}

}  // namespace

void tensor::deal_out(const std::string& labels, const std::string& dealt, const std::vector<int>& ranks) {
    auto& own = of(*this);
    std::vector<int> parts(order, 1);
    std::int64_t all = 1;
    for (std::size_t i = 0; i < dealt.size(); ++i) {
        const auto d = labels.find(dealt[i]);
        all *= ranks[i];
        if (d == std::string::npos || static_cast<int>(d) >= order || ranks[i] < 1 || all > own.world().size() || has_symmetry())
            throw arges::InvalidArgument(own.title() +
                                         ": a layout needs labels of the tensor, no more ranks than there are, and no symmetry");
        parts[d] = ranks[i];
    }
    body_->parts = parts;
}

void* tensor::raw(std::int64_t* count) {
    auto& own = of(*this);
    auto& body = *body_;
    own.world().agree([&] {
        if (program_bytes(own.kernels()) != own.kernels().size)
            throw arges::Unsupported(own.title() + ": raw data of elements of " + std::to_string(program_bytes(own.kernels())) +
                                     " bytes; take get_local_data and write");
    });
    body.raw.emplace(Pairs{{}, Values(own.kernels())});
    auto& raw = *body.raw;
    if (body.parts.empty())
        raw = pairs_as_new(own);
    else {
        raw.keys = dealt_keys(own, body.parts);
        std::vector<std::int64_t> asked;
        for (auto key : raw.keys) asked.push_back(std::max<std::int64_t>(key, 0));
        raw.values = read(own, asked);
        const auto* const zero = static_cast<const char*>(own.kernels().zero);
        const auto bytes = raw.values.at(1) - raw.values.at(0);
        for (std::size_t i = 0; i < raw.keys.size(); ++i)
            if (raw.keys[i] < 0) std::copy(zero, zero + bytes, raw.values.at(static_cast<std::int64_t>(i)));
    }
    body.is_given = true;
    *count = std::ssize(raw.keys);
    return raw.values.data();
}

void take_back(Body& body) {
    body.is_given = false;
    auto changed = *body.raw;
    changed.keep([&](std::int64_t i) { return changed.keys[i] >= 0; });
    put_back(body.tensor, changed);
}

}  // namespace CTF_int
