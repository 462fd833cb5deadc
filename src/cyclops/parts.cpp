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
    if (*here.kernels().type != *there.kernels().type)
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
    if (transfer.to == nullptr) return;
    use(transfer.to->kernels());
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
    use(transfer.to->kernels());
    // Ranks may have factors of their own.
    if (transfer.alpha != nullptr && !transfer.to->kernels().is_one(transfer.alpha))
        transfer.to->kernels().scale(found.here.values.data(), found.here.values.count(), transfer.alpha);
    transfer.to->accumulate_pairs(found.there, found.here.values.data(), std::ssize(found.there), nullptr, transfer.beta);
}

/// Where one of both is sparse: elements of the target are scaled or removed before those of the source come.
void move_sparse(const Transfer& transfer) {
    auto& to = *transfer.to;
    const auto& kernels = to.kernels();
    const auto& all = to.world().size() >= transfer.from->world().size() ? to.world() : transfer.from->world();
    all.agree([&] {
        if (!(to.world() == transfer.from->world()))
            throw arges::Unsupported("parts of sparse tensors of different worlds; move them by get_local_data and write");
    });
    use(kernels);
    if (transfer.beta != nullptr && !kernels.is_one(transfer.beta)) {
        std::optional<Matches> old;
        all.agree([&] {
            old.emplace(Matches{{{}, Values(kernels)}});
            if (transfer.to_from) old = matches(to, *transfer.from, transfer.to_from());
        });
        auto& values = old->here.values;
        use(kernels);
        if (kernels.is_zero(transfer.beta) && to.is_sparse()) {
            const auto places = transfer.to_from ? transfer.to_from() : Places(to.order());
            to.keep_if("slice", [&](arges::Index x, const void*) {
                if (!transfer.to_from) return true;
                for (std::size_t d = 0; d < x.size(); ++d)
                    if (places[d][x[d]] < 0) return true;
                return false;
            });
        } else {
            if (kernels.is_zero(transfer.beta))
                kernels.fill(values.data(), values.count(), kernels.zero);
            else
                kernels.scale(values.data(), values.count(), transfer.beta);
            put_back(to, old->here);
        }
    }
    push({&to, transfer.from, {}, transfer.from_to, transfer.alpha, nullptr});
}

void move(const Transfer& transfer) {
    if (transfer.from->is_sparse() || transfer.to->is_sparse()) return move_sparse(transfer);
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

/// Factors as tensors have elements; null for one.
class Factors {
public:
    Factors(const arges::ElementKernels& kernels, const void* alpha, const void* beta) {
        if (alpha != nullptr) alpha_.emplace(kernels, alpha, 1);
        if (beta != nullptr) beta_.emplace(kernels, beta, 1);
    }
    const void* alpha() const { return alpha_ ? alpha_->data() : nullptr; }
    const void* beta() const { return beta_ ? beta_->data() : nullptr; }

private:
    std::optional<Values> alpha_{}, beta_{};
};

/// Lengths of ranges, without those that are `left_out`.
Extents lengths_of(const Extents& begin, const Extents& end, std::int64_t left_out) {
    Extents result;
    for (std::size_t d = 0; d < begin.size(); ++d)
        if (end[d] - begin[d] != left_out) result.push_back(end[d] - begin[d]);
    return result;
}

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

/// A map, or none where nothing moves.
MakePlaces unless(bool nothing, MakePlaces places) { return nothing ? MakePlaces() : std::move(places); }

/// A scalar of another world says that a rank has no part in what moves.
bool is_no_part(const AnyTensor& own, const AnyTensor& other) {
    return !(own.world() == other.world()) && own.order() != other.order() && (own.order() == 0 || other.order() == 0);
}

}  // namespace

std::vector<std::int64_t> tensor::index_of(std::int64_t key) const { return of(*this).index(key); }

void tensor::make_slice(const tensor& source, const std::int64_t* begin, const std::int64_t* end, const CTF::World* world) {
    const auto& from = of(source);
    const auto first = given(begin, source.order), last = given(end, source.order);
    if (world == nullptr || *world == *source.wrld) return become(held(from.slice(first, last)), source, nullptr);
    Extents extents;
    from.world().agree([&] {
        for (int d = 0; d < source.order; ++d) {
            extents.push_back(last[d] - first[d]);
            if (extents[d] < 0) throw InvalidArgument("slice: it ends before it begins; give ranges that ascend");
        }
    });
    auto part = made(from.kernels(), arges::Storage::dense, world->body()->world, extents);
    const auto places = [&] { return shifted(extents, Extents(extents.size(), 0), extents, first); };
    const auto& kernels = from.kernels();
    pull({&part, &from, places, {}, nullptr, kernels.zero});
    if (from.is_sparse() && !extents.empty()) part = part.sparse_where([&](const void* element) { return !kernels.is_zero(element); }, 0);
    become(held(std::move(part)), source, world);
}

void tensor::put_slice(const std::int64_t* begin, const std::int64_t* end, const void* beta, const tensor& source, const std::int64_t* from,
                       const std::int64_t* to, const void* alpha) {
    auto& own = of(*this);
    const auto& other = of(source);
    const auto first = given(begin, order), last = given(end, order), first_there = given(from, source.order),
               last_there = given(to, source.order);
    const bool nothing = is_empty(first, last) || is_empty(first_there, last_there);
    const auto& all = own.world().size() >= other.world().size() ? own.world() : other.world();
    // Dimensions with one index do not count.
    const bool same_shape = lengths_of(first, last, 0) == lengths_of(first_there, last_there, 0);
    all.agree([&] {
        if (!nothing && lengths_of(first, last, 1) != lengths_of(first_there, last_there, 1))
            throw InvalidArgument("slice: ranges of different lengths; give the same in both tensors");
        if (!nothing && !same_shape && !(own.world() == other.world()))
            throw arges::Unsupported("slice: tensors of different orders on different worlds; reshape one of them");
    });
    if (!nothing && !same_shape) {
        const auto part = unpacked(to_dense(other.slice(first_there, last_there)));
        Extents lengths;
        for (int d = 0; d < order; ++d) lengths.push_back(last[d] - first[d]);
        tensor same_order;
        same_order.become(held(part.reshaped(lengths)), source, nullptr);
        put_slice(begin, end, beta, same_order, Extents(lengths.size(), 0).data(), lengths.data(), alpha);
        return;
    }
    const Factors factors(own.kernels(), alpha, beta);
    if (own.world() == other.world() && own.symmetry().trivial() && own.kernels().type == other.kernels().type && !own.is_sparse() &&
        !other.is_sparse()) {
        if (!nothing) {
            const auto part = unpacked(other.slice(first_there, last_there));
            use(own.kernels());
            own.write_slice(first, part, factors.alpha(), factors.beta());
        }
        return;
    }
    move({&own, &other, unless(nothing, [&] { return shifted(own.extents(), first, last, first_there); }),
          unless(nothing, [&] { return shifted(other.extents(), first_there, last_there, first); }), factors.alpha(), factors.beta()});
    tell_stored();
}

void tensor::put_permuted(const void* beta, const tensor& source, int* const* permutation, const void* alpha) {
    auto& own = of(*this);
    const auto& other = of(source);
    const Factors factors(own.kernels(), alpha, beta);
    const bool nothing = is_no_part(own, other);
    move({&own, &other, unless(nothing, [&] { return unpermuted(own.extents(), other.extents(), permutation); }),
          unless(nothing, [&] { return permuted(other.extents(), permutation); }), factors.alpha(), factors.beta()});
    tell_stored();
}

void tensor::get_permuted(int* const* permutation, const void* beta, const tensor& source, const void* alpha) {
    auto& own = of(*this);
    const auto& other = of(source);
    const Factors factors(own.kernels(), alpha, beta);
    const bool nothing = is_no_part(own, other);
    move({&own, &other, unless(nothing, [&] { return permuted(own.extents(), permutation); }),
          unless(nothing, [&] { return unpermuted(other.extents(), own.extents(), permutation); }), factors.alpha(), factors.beta()});
    tell_stored();
}

void tensor::to_part(tensor* part, const void* alpha, const void* beta) const {
    const auto& own = of(*this);
    auto* const other = part == nullptr ? nullptr : &of(*part);
    own.world().agree([&] {
        if (other != nullptr && other->is_sparse())
            throw arges::Unsupported("add_to_subworld of a sparse part; take a dense one and sparsify() it afterwards");
    });
    const Factors factors(own.kernels(), alpha, beta);
    pull({other, &own, same(own, other), {}, factors.alpha(), factors.beta()});
}

void tensor::from_part(const tensor* part, const void* alpha, const void* beta) {
    auto& own = of(*this);
    const auto* const other = part == nullptr ? nullptr : &of(*part);
    const Factors factors(own.kernels(), alpha, beta);
    own.world().agree([&] {
        use(own.kernels());
        const bool sparse = own.is_sparse() || (other != nullptr && other->is_sparse());
        if (sparse && factors.beta() != nullptr && !own.kernels().is_one(factors.beta()))
            throw arges::Unsupported("add_from_subworld of sparse tensors with a factor; scale the tensor before");
    });
    push({&own, other, {}, same(own, other), factors.alpha(), factors.beta()});
    tell_stored();
}

}  // namespace CTF_int
