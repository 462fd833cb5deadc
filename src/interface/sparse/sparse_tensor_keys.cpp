#include "interface/sparse/sparse_tensor_keys.hpp"

#include "base/text.hpp"
#include "interface/sparse/sparse_state.hpp"

namespace arges {

void check_keys(const AnyTensor& tensor) {
    if (tensor.has_keys()) return;
    throw InvalidArgument(sparse_state_of(tensor, "keys").title() + ": " + joined(tensor.extents(), " x ") +
                          " has more than 2^63 - 1 elements, so there are no 64-bit keys; use read_at() and write_at() with index tuples");
}

void check_index(std::int64_t index, std::int64_t length, std::size_t mode, const std::string& title) {
    if (index < 0 || index >= length)
        throw InvalidArgument(title + ": index " + std::to_string(index) + " in mode " + std::to_string(mode + 1) + " of length " +
                              std::to_string(length) + "; indices run from 0");
}

std::vector<std::int64_t> keys_of(const sparse::NonzeroIndices& nonzeros) {
    std::vector<std::int64_t> keys(nonzeros.count(), 0);
    for (std::size_t m = nonzeros.indices.size(); m-- > 0;)
        for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = keys[i] * nonzeros.lengths[m] + nonzeros.indices[m][i];
    return keys;
}

sparse::NonzeroIndices coordinates_of(std::span<const std::int64_t> keys, const std::vector<std::int64_t>& lengths) {
    auto result = no_indices(lengths);
    for (auto& column : result.indices) column.reserve(keys.size());
    for (auto key : keys)
        for (std::size_t m = 0; m < lengths.size(); key /= lengths[m++]) result.indices[m].push_back(key % lengths[m]);
    return result;
}

sparse::NonzeroIndices elements_of(const AnyTensor& tensor, std::span<const std::int64_t> keys) {
    check_keys(tensor);
    std::int64_t size = 1;
    for (auto n : tensor.extents()) size *= n;
    for (auto key : keys)
        if (key < 0 || key >= size)
            throw InvalidArgument(sparse_state_of(tensor, "keys").title() + ": key " + std::to_string(key) +
                                  " is out of range; the tensor has " + std::to_string(size) + " elements, keys run from 0");
    return coordinates_of(keys, tensor.extents());
}

sparse::NonzeroIndices elements_at(const AnyTensor& tensor, std::span<const std::int64_t> tuples) {
    const auto title = sparse_state_of(tensor, "tuples").title();
    auto result = no_indices(tensor.extents());
    const auto n = result.lengths.size();
    for (std::size_t i = 0; i < tuples.size(); ++i) {
        check_index(tuples[i], result.lengths[i % n], i % n, title);
        result.indices[i % n].push_back(tuples[i]);
    }
    return result;
}

}  // namespace arges
