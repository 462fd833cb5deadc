/// Calls of AnyTensor that sparse tensors answer in their own way. Collective.
#pragma once

#include "interface/sparse/sparse_state.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace arges::sparse_calls {

void write_pairs(const AnyTensor& tensor, std::span<const std::int64_t> keys, const void* values, std::int64_t count,
                 Duplicates duplicates);
void accumulate_pairs(const AnyTensor& tensor, std::span<const std::int64_t> keys, const void* values, std::int64_t count,
                      const void* alpha, const void* beta);
void read_pairs(const AnyTensor& tensor, std::span<const std::int64_t> keys, const ElementRoom& room);
void fill(SparseState& state, const void* value);
std::shared_ptr<SparseState> slice(const AnyTensor& tensor, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end);
void set_slice(SparseState& state, const std::vector<std::int64_t>& begin, const SparseState& part);
std::shared_ptr<SparseState> with_symmetry(const AnyTensor& tensor, const Symmetry& symmetry);

}  // namespace arges::sparse_calls
