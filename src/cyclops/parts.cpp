// Slices, permutations and tensors of other worlds: elements of one tensor that lie at other indices in another. Both may live on different
// worlds; all ranks of the larger one call, and those outside the smaller one pass null for its tensor.
#include "arges/error.hpp"
#include "cyclops/body.hpp"

#include <algorithm>
#include <optional>

namespace CTF_int {

using arges::AnyTensor;
using arges::InvalidArgument;

namespace {

using Extents = std::vector<std::int64_t>;
/// By dimension, where each index of one tensor is in another: -1 if it is not there.
using Places = std::vector<std::vector<std::int64_t>>;
using MakePlaces = std::function<Places()>;

/// to = alpha * from + beta * to, with maps for both directions; without a map no element is in the other.
struct Transfer {
    AnyTensor* to;
    const AnyTensor* from;
    MakePlaces to_from, from_to;
    const void *alpha, *beta;
};

/// Elements that a rank has of one tensor and that are in another, and their keys there.
struct Matches {
    Pairs here;
    std::vector<std::int64_t> there{};
};

Matches matches(const AnyTensor& here, const AnyTensor& there, const Places& places) {
    if (here.element() != there.element())
        throw InvalidArgument(here.title() + " and " + there.title() + " have elements of different types; make both of one type");
    if (here.order() != there.order())
        throw InvalidArgument(here.title() + " and " + there.title() + " are of order " + std::to_string(here.order()) + " and " +
                              std::to_string(there.order()) + "; elements move between tensors of one order");
    for (std::size_t d = 0; d < places.size(); ++d)
        for (auto place : places[d])
            if (place >= there.extents()[d])
                throw InvalidArgument(there.title() + ": index " + std::to_string(place) + " in dimension " + std::to_string(d) +
                                      " is out of range; its length is " + std::to_string(there.extents()[d]));
    Matches result{pairs_of(here)};
    const auto strides = strides_of(there);
    Indices indices(here);
    result.here.keep([&](std::int64_t i) {
        const auto& index = indices.of(result.here.keys[i]);
        std::int64_t key = 0;
        for (std::size_t d = 0; d < index.size(); ++d) {
            const auto place = places[d][index[d]];
            if (place < 0) return false;
            key += place * strides[d];
        }
        result.there.push_back(key);
        return true;
    });
    return result;
}

void pull(const Transfer& transfer) {
    Matches found{{{}, Values(transfer.from->kernels())}};
    transfer.from->world().agree([&] {
        if (transfer.to != nullptr && transfer.to_from) found = matches(*transfer.to, *transfer.from, transfer.to_from());
    });
    auto values = read(*transfer.from, found.there);
    if (transfer.to != nullptr)
        transfer.to->accumulate_pairs(found.here.keys, values.data(), values.count(), transfer.alpha, transfer.beta);
}

void push(const Transfer& transfer) {
    std::optional<AnyTensor> copy;
    const auto* from = transfer.from;
    if (from != nullptr && !from->symmetry().trivial()) from = &copy.emplace(unpacked(*from));
    Matches found{{{}, Values(transfer.to->kernels())}};
    transfer.to->world().agree([&] {
        if (from != nullptr && transfer.from_to) found = matches(*from, *transfer.to, transfer.from_to());
    });
    Indices indices(*transfer.to);
    found.here.keep([&](std::int64_t i) {
        indices.of(found.there[i]);
        return indices.is_stored();
    });
    std::erase_if(found.there, [&](std::int64_t key) {
        indices.of(key);
        return !indices.is_stored();
    });
    // Ranks may have factors of their own.
    transfer.to->kernels().scale(found.here.values.data(), found.here.values.count(), transfer.alpha);
    transfer.to->accumulate_pairs(found.there, found.here.values.data(), std::ssize(found.there), nullptr, transfer.beta);
}

void move(const Transfer& transfer) {
    if (transfer.from->world().size() >= transfer.to->world().size())
        pull(transfer);
    else
        push(transfer);
}

/// Indices from <= i < to, moved to begin + (i - from). @param extents  of i
Places shifted(const Extents& extents, const Extents& from, const Extents& to, const Extents& begin) {
    Places result;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        if (from[d] < 0 || begin[d] < 0 || to[d] > extents[d])
            throw InvalidArgument("slice: indices from " + std::to_string(std::min(from[d], begin[d])) + " to " + std::to_string(to[d]) +
                                  " of a dimension of length " + std::to_string(extents[d]) + "; stay within the tensor");
        auto& places = result.emplace_back(extents[d], -1);
        for (auto i = from[d]; i < to[d]; ++i) places[i] = begin[d] + i - from[d];
    }
    return result;
}

Places same(const Extents& extents) { return shifted(extents, Extents(extents.size(), 0), extents, Extents(extents.size(), 0)); }

/// The lengths of both must be the same, so that a part is not taken for the whole.
MakePlaces same(const AnyTensor& a, const AnyTensor* b) {
    return [&a, b] {
        if (b != nullptr && a.extents() != b->extents())
            throw InvalidArgument(a.title() + " and " + b->title() + " have different shapes; give tensors of one shape");
        return same(a.extents());
    };
}

Extents given(const std::int64_t* values, int count) { return values == nullptr ? Extents() : Extents(values, values + count); }

bool is_empty(const Extents& begin, const Extents& end) {
    for (std::size_t d = 0; d < begin.size(); ++d)
        if (begin[d] >= end[d]) return true;
    return false;
}

/// i to p[d][i]: -1 leaves it out, no row leaves it as it is. @param extents  of i
Places permuted(const Extents& extents, int* const* permutation) {
    auto result = same(extents);
    for (std::size_t d = 0; d < extents.size(); ++d)
        if (permutation[d] != nullptr) result[d].assign(permutation[d], permutation[d] + extents[d]);
    return result;
}

/// p[d][i] to i. @param to  lengths of what p gives
Places unpermuted(const Extents& to, const Extents& extents, int* const* permutation) {
    if (to.size() != extents.size()) throw InvalidArgument("permute: tensors of different orders; give tensors of one order");
    Places result;
    const auto places = permuted(extents, permutation);
    for (std::size_t d = 0; d < to.size(); ++d) {
        auto& back = result.emplace_back(to[d], -1);
        for (std::int64_t i = 0; i < extents[d]; ++i) {
            if (places[d][i] >= to[d])
                throw InvalidArgument("permute: " + std::to_string(places[d][i]) + " in dimension " + std::to_string(d) +
                                      " is out of range; its length is " + std::to_string(to[d]));
            if (places[d][i] >= 0) back[places[d][i]] = i;
        }
    }
    return result;
}

}  // namespace

std::vector<std::int64_t> tensor::index_of(std::int64_t key) const { return of(*this).index(key); }

void tensor::make_slice(const tensor& source, const std::int64_t* begin, const std::int64_t* end, const CTF::World* world) {
    const auto& from = of(source);
    const auto first = given(begin, source.order), last = given(end, source.order);
    if (world == nullptr || *world == *source.wrld) return become(std::make_shared<Body>(Body{from.slice(first, last)}), source, nullptr);
    Extents extents;
    from.world().agree([&] {
        for (int d = 0; d < source.order; ++d) {
            extents.push_back(last[d] - first[d]);
            if (extents[d] < 0) throw InvalidArgument("slice: it ends before it begins; give ranges that ascend");
        }
    });
    AnyTensor part(from.element(), arges::Storage::dense, world->body()->world, extents);
    const auto places = [&] { return shifted(extents, Extents(extents.size(), 0), extents, first); };
    pull({&part, &from, places, {}, nullptr, from.kernels().zero});
    become(std::make_shared<Body>(Body{std::move(part)}), source, world);
}

void tensor::put_slice(const std::int64_t* begin, const std::int64_t* end, const void* beta, const tensor& source, const std::int64_t* from,
                       const std::int64_t* to, const void* alpha) {
    auto& own = of(*this);
    const auto& other = of(source);
    const auto first = given(begin, order), last = given(end, order), first_there = given(from, source.order),
               last_there = given(to, source.order);
    const bool nothing = is_empty(first, last) || is_empty(first_there, last_there);
    const auto& all = own.world().size() >= other.world().size() ? own.world() : other.world();
    all.agree([&] {
        for (int d = 0; !nothing && d < std::max(order, source.order); ++d)
            if (order != source.order || last[d] - first[d] != last_there[d] - first_there[d])
                throw InvalidArgument("slice: ranges of different lengths; give the same in both tensors");
    });
    if (own.world() == other.world() && own.symmetry().trivial() && own.element() == other.element()) {
        if (!nothing) own.write_slice(first, unpacked(other.slice(first_there, last_there)), alpha, beta);
        return;
    }
    if (nothing) return move({&own, &other, {}, {}, alpha, beta});
    move({&own, &other, [&] { return shifted(own.extents(), first, last, first_there); },
          [&] { return shifted(other.extents(), first_there, last_there, first); }, alpha, beta});
}

void tensor::put_permuted(const void* beta, const tensor& source, int* const* permutation, const void* alpha) {
    auto& own = of(*this);
    const auto& other = of(source);
    move({&own, &other, [&] { return unpermuted(own.extents(), other.extents(), permutation); },
          [&] { return permuted(other.extents(), permutation); }, alpha, beta});
}

void tensor::get_permuted(int* const* permutation, const void* beta, const tensor& source, const void* alpha) {
    auto& own = of(*this);
    const auto& other = of(source);
    move({&own, &other, [&] { return permuted(own.extents(), permutation); },
          [&] { return unpermuted(other.extents(), own.extents(), permutation); }, alpha, beta});
}

void tensor::to_part(tensor* part, const void* alpha, const void* beta) const {
    const auto& own = of(*this);
    auto* const other = part == nullptr ? nullptr : &of(*part);
    pull({other, &own, same(own, other), {}, alpha, beta});
}

void tensor::from_part(const tensor* part, const void* alpha, const void* beta) {
    auto& own = of(*this);
    const auto* const other = part == nullptr ? nullptr : &of(*part);
    push({&own, other, {}, same(own, other), alpha, beta});
}

}  // namespace CTF_int
