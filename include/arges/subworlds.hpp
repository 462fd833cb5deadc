/// @file subworlds.hpp
/// Several worlds at once: tensors of worlds over subsets of ranks as parts of a tensor of the ranks' common world, each rank with its own
/// in one call.
#pragma once

#include "arges/tensor.hpp"

#include <cstdint>
#include <vector>

namespace arges {

/// Where a tensor lies in a larger one: element x of the part is the element of the whole whose index d is begin[d] + x[dimension[d]].
/// Example: begin {2, 0} and dimension {1, 0} name the transpose of a matrix, two rows down.
struct PartPlace {
    std::vector<std::int64_t> begin{};  ///< by dimension of the whole; empty: zeros
    std::vector<int> dimension{};       ///< of the part, by dimension of the whole: a permutation; empty: the same order
};

/// @cond
namespace subworlds {

/// Keys in the whole of the part's elements on this rank, in the order of for_each_local(); with `once`, of each element on one rank only,
/// and the places must be such that they can be written. Collective over the whole's world.
std::vector<std::int64_t> keys_of(const AnyTensor& whole, const AnyTensor& part, const PartPlace& place, bool once);

}  // namespace subworlds
/// @endcond

/// part[x] = the element of `whole` at its place: every rank, or every world that the ranks form beside, gives a tensor of its own and a
/// place of its own. Collective over the world of `whole`; ranks that want nothing give a default-constructed tensor. A part with symmetry
/// takes one element of each orbit, as canonical() does.
/// @throws InvalidArgument on every rank if a part does not fit into the whole, or if some ranks of a part's world give another place
template <class T>
void read_part(const Tensor<T>& whole, Tensor<T>& part, const PartPlace& place = {}) {
    const auto values = whole.read(subworlds::keys_of(whole, part, place, false));
    std::size_t next = 0;
    if (part.state()) part.for_each_local([&](Index, T& element) { element = values[next++]; });
}

/// The element of `whole` at its place += alpha * part[x], for the parts of all ranks or worlds together; parts may overlap. The rules for
/// symmetry are those of Tensor::set_slice(): dimensions that the whole's symmetry relates need the same range and a part with that
/// symmetry, or ranges that do not overlap. Collective over the world of `whole`; ranks that have nothing give a default-constructed
/// tensor.
/// @throws InvalidArgument on every rank, as read_part(), where the symmetry forbids it, and if alpha is not the same on all ranks that
/// have a part; nothing has changed then
template <class T>
requires kernels::is_number<T>
void add_part(Tensor<T>& whole, const Tensor<T>& part, const PartPlace& place = {}, T alpha = T(1)) {
    const auto keys = subworlds::keys_of(whole, part, place, true);
    std::vector<T> values;
    values.reserve(keys.size());
    if (!keys.empty()) part.for_each_local([&](Index, const T& element) { values.push_back(element); });
    whole.accumulate(keys, values, alpha);
}

}  // namespace arges
