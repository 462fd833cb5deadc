#include "interface/sparse/known_elements.hpp"

#include "arges/element_functions.hpp"
#include "arges/error.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/sparse/sparse_tensor_merge.hpp"
#include "interface/world/call_arguments.hpp"
#include "interface/world/world_state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace arges {

namespace {

constexpr auto nowhere = std::numeric_limits<std::int64_t>::max();

/// Of the number of an element, the last index fastest.
std::vector<std::int64_t> index_of(std::int64_t number, const std::vector<std::int64_t>& extents) {
    if (number == nowhere) return {};
    std::vector<std::int64_t> index(extents.size());
    for (auto d = extents.size(); d-- > 0; number /= extents[d]) index[d] = number % extents[d];
    return index;
}

/// The norm of a tensor that has none of them is finite, but for very large elements; it is found sooner.
template <class T>
bool are_all_finite(const Tensor<T>& tensor) {
    return std::isfinite(tensor.norm());
}

/// @param over calls a function for each element of the mask on this rank @throws InvalidArgument on every rank
template <class Any, class F>
void check_mask(const Any& tensor, const Any& mask, F&& over) {
    if (mask.extents() != tensor.extents())
        throw InvalidArgument("a mask and weights must have the lengths of the tensor, " + joined(tensor.extents(), " x ") + ", not " +
                              joined(mask.extents(), " x ") + "; give one of these lengths");
    if (mask.world().state() != tensor.world().state())
        throw InvalidArgument("a mask and weights must be on the world of the tensor; make them there, or transfer() them");
    std::int64_t wrong = 0;
    over([&](auto element) { wrong += !std::isfinite(element) || element < 0; });
    wrong = communicator_of(tensor.world(), "masked").sum(wrong);
    if (wrong > 0)
        throw InvalidArgument("a mask and weights must have finite numbers that are not negative; " + with_commas(wrong) +
                              " are others; leave them out, or make them 0");
}

/// Likewise, and that there is memory for finding elements of one in the other, so many bytes with both of them.
template <class T>
void check_sparse_mask(const SparseTensor<T>& tensor, const SparseTensor<T>& mask, std::int64_t bytes) {
    check_mask(tensor, mask, [&](auto&& check) { std::ranges::for_each(mask.local_values(), check); });
    if (!mask.symmetry().trivial())
        throw InvalidArgument("masked: the mask has symmetry, with which not all of its elements are stored; use with_symmetry({}) of it");
    auto& world = *tensor.world().state();
    const auto most = world.most(bytes);
    const auto& source = state_of(tensor, "masked");
    world.require_everywhere(most - source.pattern()->held() - state_of(mask, "masked").pattern()->held(),
                             source.title() + ": the elements of a mask");
}

/// The indices of this rank's elements, one tuple after the other. Local.
template <class T>
std::vector<std::int64_t> stored_tuples(const SparseTensor<T>& tensor) {
    const int order = tensor.order();
    std::vector<std::int64_t> tuples(tensor.local_nonzeros() * order);
    for (int m = 0; m < order; ++m) {
        const auto indices = tensor.local_indices(m);
        for (std::size_t x = 0; x < indices.size(); ++x) tuples[x * order + m] = indices[x];
    }
    return tuples;
}

}  // namespace

std::string not_finite_text(const std::string& title, std::int64_t size, const NotFinite& found) {
    return title + ": " + with_commas(found.count()) + " of " + with_commas(size) + " elements are not finite (" + with_commas(found.nan) +
           " NaN, " + with_commas(found.infinite) + " infinite), the first is " + coordinate_text(found.first, 0) + ", counted from 0";
}

template <class T>
NotFinite not_finite(const Tensor<T>& dense) {
    const auto& state = state_of(dense, "not_finite");
    const CollectiveCall call(ranks_of(dense.world()), "not_finite", dense);
    const auto& comm = communicator_of(dense.world(), state.title());
    const auto extents = dense.extents();
    std::int64_t counts[] = {0, 0}, first = nowhere, infinity = nowhere;
    comm.agree([&] {
        if (!state.shape().is_first_copy(comm.rank())) return;
        dense.for_each_local([&](Index index, const T& value) {
            if (std::isfinite(value)) return;
            const bool is_nan = std::isnan(value);
            ++counts[is_nan ? 0 : 1];
            std::int64_t number = 0;
            for (std::size_t d = 0; d < extents.size(); ++d) number = number * extents[d] + index[d];
            first = std::min(first, number);
            if (!is_nan) infinity = std::min(infinity, number);
        });
    });
    comm.sum(counts, 2);
    return {counts[0], counts[1], index_of(comm.minimum(first), extents), index_of(comm.minimum(infinity), extents)};
}

template <class T>
SparseTensor<T> known_elements(const Tensor<T>& dense, MissingElements missing) {
    const auto& state = state_of(dense, "known_elements");
    const auto title = state.title();
    const CollectiveCall call(ranks_of(dense.world()), "known_elements", dense, missing);
    communicator_of(dense.world(), title);  // not of a dry run
    if (!are_all_finite(dense)) {
        const auto found = not_finite(dense);
        if (found.nan > 0 && missing != MissingElements::nan)
            throw InvalidArgument(not_finite_text(title, dense.size(), found) +
                                  "; replace them, or, if NaN stands for missing elements, say so (--drop nan)");
        if (found.infinite > 0)
            throw InvalidArgument(title + ": " + with_commas(found.infinite) + " of " + with_commas(dense.size()) +
                                  " elements are infinite, the first is " + coordinate_text(found.infinity, 0) +
                                  ", counted from 0; replace them, or make them NaN if they are missing");
    }
    state.world->require_everywhere(known_elements_memory(state.shape().max_local_size(), dense.order(), sizeof(T)),
                                    title + ": the indices of its elements");
    const auto stays = [missing](const void* element) {
        const T value = *static_cast<const T*>(element);
        return missing == MissingElements::zeros ? value != T(0) : missing == MissingElements::none || !std::isnan(value);
    };
    return SparseTensor<T>(dense.sparse_where(stays, static_cast<double>(missing)));
}

template <class T>
Tensor<T> masked(const Tensor<T>& tensor, const Tensor<T>& mask) {
    const auto& state = state_of(tensor, "masked");
    const CollectiveCall call(ranks_of(tensor.world()), "masked", tensor, mask);
    check_mask(tensor, mask, [&](auto&& check) { mask.for_each_local([&](Index, const T& element) { check(element); }); });
    std::string labels;
    for (int m = 0; m < tensor.order(); ++m) labels += static_cast<char>('a' + m);
    Tensor<T> result(tensor.world(), tensor.extents(), state.name);
    const auto at = [](T x, T in_mask) { return in_mask == 0 ? std::numeric_limits<T>::quiet_NaN() : x; };
    result[labels] = map(at, tensor[labels], mask[labels]);
    return result;
}

template <class T>
SparseTensor<T> masked(const SparseTensor<T>& tensor, const SparseTensor<T>& mask) {
    const CollectiveCall call(ranks_of(tensor.world()), "masked", tensor, mask);
    check_sparse_mask(tensor, mask, masked_memory(tensor, mask));
    SparseTensor<T> result = mask;
    result.drop();
    std::ranges::copy(tensor.read_at(stored_tuples(result)), result.local_values().begin());
    return result;
}

template <class T>
std::vector<T> weights_of_stored(const SparseTensor<T>& tensor, const SparseTensor<T>& weights) {
    check_sparse_mask(tensor, weights, masked_memory(weights, tensor));
    return weights.read_at(stored_tuples(tensor));
}

template <class T>
std::int64_t masked_memory(const SparseTensor<T>& tensor, const SparseTensor<T>& mask) {
    const auto &whole = state_of(tensor, "masked"), &known = state_of(mask, "masked");
    // The tensor, which moves to where its elements are found; the mask, and the result; tuples, which move there, and values.
    return 3 * whole.bytes() + 4 * known.bytes() + SparsePattern::bytes(known.order(), known.count());
}

std::int64_t known_elements_memory(std::int64_t elements, int order, std::int64_t element_bytes) {
    constexpr std::int64_t number = sizeof(std::int64_t);
    // Keys and values of all, places, keys and values of those that stay, and their indices (AnyTensor::sparse_where).
    return elements * (number * (order + 3) + 2 * element_bytes);
}

template NotFinite not_finite(const Tensor<float>&);
template NotFinite not_finite(const Tensor<double>&);
template SparseTensor<float> known_elements(const Tensor<float>&, MissingElements);
template SparseTensor<double> known_elements(const Tensor<double>&, MissingElements);
template Tensor<float> masked(const Tensor<float>&, const Tensor<float>&);
template Tensor<double> masked(const Tensor<double>&, const Tensor<double>&);
template SparseTensor<float> masked(const SparseTensor<float>&, const SparseTensor<float>&);
template SparseTensor<double> masked(const SparseTensor<double>&, const SparseTensor<double>&);
template std::vector<float> weights_of_stored(const SparseTensor<float>&, const SparseTensor<float>&);
template std::vector<double> weights_of_stored(const SparseTensor<double>&, const SparseTensor<double>&);
template std::int64_t masked_memory(const SparseTensor<float>&, const SparseTensor<float>&);
template std::int64_t masked_memory(const SparseTensor<double>&, const SparseTensor<double>&);

}  // namespace arges
