/// Slow, obviously right versions of the local kernels, for tests.
#pragma once

#include "local/contract.hpp"
#include "local/transfer.hpp"

#include <span>

namespace arges::local {

/// What transfer() does, element by element with the last axis fastest.
template <class T>
void reference_transfer(std::span<const TransferAxis> axes, const T* from, T* to, T alpha, TransferMode mode);

/// What contract() does, one product at a time.
template <class T>
void reference_contract(const FoldedContraction& f, T alpha, const T* a, const T* b, T beta, T* c);

/// What reduce() does, one element at a time.
template <class T>
void reference_reduce(const FoldedContraction& f, T alpha, const T* a, T beta, T* c);

}  // namespace arges::local
