// Slices, permutations and tensors of other worlds: elements of one tensor that lie at other indices in another. Both may live on different
// worlds; all ranks of the larger one call.
#include "arges/error.hpp"
#include "cyclops/body.hpp"

#include <algorithm>
#include <optional>

namespace CTF_int {

using arges::AnyTensor;
using arges::InvalidArgument;

namespace {

using Indices = std::vector<std::int64_t>;
/// Where an index of one tensor is in another; nothing if it is not there.
using Place = std::function<std::optional<Indices>(const Indices&)>;

/// Both tensors, a map for each direction, and the factors.
struct Transfer {
    AnyTensor* to;
    const AnyTensor* from;
    Place to_from, from_to;
    const void *alpha, *beta;
};

/// Keys of the elements that a rank has of one tensor which are in another, and their keys there.
struct Matches {
    std::vector<std::int64_t> here{}, there{};
    Values values;
};

Matches matches(const AnyTensor* here, const AnyTensor& there, const Place& place) {
    Matches result{{}, {}, Values(there.element())};
    if (here == nullptr) return result;
    auto pairs = pairs_of(*here);
    for (std::size_t i = 0; i < pairs.keys.size(); ++i)
        if (const auto index = place(here->index(pairs.keys[i]))) {
            result.here.push_back(pairs.keys[i]);
            result.there.push_back(there.key(*index));
            result.values.take(pairs.values, i);
        }
    return result;
}

/// to = alpha * from + beta * to, where ranks outside one of both pass null for it.
void pull(const Transfer& transfer) {
    const auto found = matches(transfer.to, *transfer.from, transfer.to_from);
    auto values = read(*transfer.from, found.there);
    if (transfer.to != nullptr)
        transfer.to->accumulate_pairs(found.here, values.data(), std::ssize(found.here), transfer.alpha, transfer.beta);
}

void push(const Transfer& transfer) {
    auto found = matches(transfer.from, *transfer.to, transfer.from_to);
    transfer.to->accumulate_pairs(found.there, found.values.data(), std::ssize(found.there), transfer.alpha, transfer.beta);
}

void move(const Transfer& transfer) {
    if (transfer.from->world().size() >= transfer.to->world().size())
        pull(transfer);
    else
        push(transfer);
}

/// Indices from <= i < to, moved to begin + (i - from).
Place shift(const Indices& from, const Indices& to, const Indices& begin) {
    return [=](const Indices& index) -> std::optional<Indices> {
        Indices result(begin);
        for (std::size_t d = 0; d < index.size(); ++d) {
            if (index[d] < from[d] || index[d] >= to[d]) return std::nullopt;
            result[d] += index[d] - from[d];
        }
        return result;
    };
}

Place same() {
    return [](const Indices& index) { return std::optional(index); };
}

Indices given(const std::int64_t* values, int count) { return values == nullptr ? Indices() : Indices(values, values + count); }

bool is_empty(const Indices& begin, const Indices& end) {
    for (std::size_t d = 0; d < begin.size(); ++d)
        if (begin[d] >= end[d]) return true;
    return false;
}

/// i to p[d][i]: -1 leaves it out, no row leaves it as it is.
Place permuted(int order, int* const* permutation) {
    return [=](const Indices& index) -> std::optional<Indices> {
        Indices result(index);
        for (int d = 0; d < order; ++d) {
            if (permutation[d] != nullptr) result[d] = permutation[d][index[d]];
            if (result[d] < 0) return std::nullopt;
        }
        return result;
    };
}

/// p[d][i] to i. @param extents  of i
Place unpermuted(const Indices& extents, int* const* permutation) {
    std::vector<std::vector<std::int64_t>> back(extents.size());
    for (std::size_t d = 0; d < extents.size(); ++d)
        for (std::int64_t i = 0; permutation[d] != nullptr && i < extents[d]; ++i) {
            const auto to = permutation[d][i];
            if (to < 0) continue;
            if (to >= std::ssize(back[d])) back[d].resize(to + 1, -1);
            back[d][to] = i;
        }
    return [=](const Indices& index) -> std::optional<Indices> {
        Indices result(index);
        for (std::size_t d = 0; d < index.size(); ++d) {
            if (permutation[d] != nullptr) result[d] = index[d] < std::ssize(back[d]) ? back[d][index[d]] : -1;
            if (result[d] < 0 || result[d] >= extents[d]) return std::nullopt;
        }
        return result;
    };
}

/// A tensor, unpacked where the target has no symmetry.
class Source {
public:
    Source(const AnyTensor& target, const AnyTensor& tensor) : tensor_(&tensor) {
        if (target.symmetry().trivial() && !tensor.symmetry().trivial()) tensor_ = &copy_.emplace(unpacked(tensor));
    }
    const AnyTensor* tensor() const { return tensor_; }

private:
    std::optional<AnyTensor> copy_;
    const AnyTensor* tensor_;
};

}  // namespace

std::vector<std::int64_t> tensor::index_of(std::int64_t key) const { return of(*this).index(key); }

void tensor::make_slice(const tensor& source, const std::int64_t* begin, const std::int64_t* end, const CTF::World* world) {
    const auto& from = of(source);
    const Indices first = given(begin, source.order), last = given(end, source.order);
    delete wrld;
    wrld = new CTF::World(world == nullptr ? *source.wrld : *world);
    sr = source.sr;
    if (world == nullptr || *world == *source.wrld) {
        told(std::make_shared<Body>(Body{from.slice(first, last)}));
        return;
    }
    Indices extents;
    for (int d = 0; d < source.order; ++d) extents.push_back(last[d] - first[d]);
    AnyTensor part(from.element(), arges::Storage::dense, world->body()->world, extents);
    const Indices zero(extents.size(), 0);
    const auto& kernels = arges::element_kernels(from.element());
    pull({&part, &from, shift(zero, extents, first), {}, nullptr, kernels.zero});
    told(std::make_shared<Body>(Body{std::move(part)}));
}

void tensor::put_slice(const std::int64_t* begin, const std::int64_t* end, const void* beta, const tensor& source, const std::int64_t* from,
                       const std::int64_t* to, const void* alpha) {
    auto& own = of(*this);
    const auto& other = of(source);
    const Indices first = given(begin, order), last = given(end, order), first_there = given(from, source.order),
                  last_there = given(to, source.order);
    const bool nothing = is_empty(first, last) || is_empty(first_there, last_there);
    const auto& all = own.world().size() >= other.world().size() ? own.world() : other.world();
    all.agree([&] {
        for (int d = 0; !nothing && d < std::max(order, source.order); ++d)
            if (order != source.order || last[d] - first[d] != last_there[d] - first_there[d])
                throw InvalidArgument("slice: ranges of different lengths; give the same in both tensors");
    });
    if (own.world() == other.world() && own.symmetry().trivial()) {
        if (!nothing) own.write_slice(first, unpacked(other.slice(first_there, last_there)), alpha, beta);
        return;
    }
    const auto none = [](const Indices&) -> std::optional<Indices> { return std::nullopt; };
    const Source there(own, other);
    move({&own, there.tensor(), nothing ? Place(none) : shift(first, last, first_there),
          nothing ? Place(none) : shift(first_there, last_there, first), alpha, beta});
}

void tensor::put_permuted(const void* beta, const tensor& source, int* const* permutation, const void* alpha) {
    auto& own = of(*this);
    const Source from(own, of(source));
    move({&own, from.tensor(), unpermuted(from.tensor()->extents(), permutation), permuted(order, permutation), alpha, beta});
}

void tensor::get_permuted(int* const* permutation, const void* beta, const tensor& source, const void* alpha) {
    auto& own = of(*this);
    const Source from(own, of(source));
    move({&own, from.tensor(), permuted(order, permutation), unpermuted(own.extents(), permutation), alpha, beta});
}

void tensor::to_part(tensor* part, const void* alpha, const void* beta) const {
    pull({part == nullptr ? nullptr : &of(*part), &of(*this), same(), {}, alpha, beta});
}

void tensor::from_part(const tensor* part, const void* alpha, const void* beta) {
    push({&of(*this), part == nullptr ? nullptr : &of(*part), {}, same(), alpha, beta});
}

}  // namespace CTF_int
