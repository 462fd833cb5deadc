/// MTTKRP on nonzeros in one order that serves all modes, whatever their indices are stored as.
#pragma once

#include "sparse/mttkrp_formats.hpp"

#include <memory>
#include <span>
#include <vector>

namespace arges::sparse {

/// Nonzeros that are decoded together: long enough that all rows of one batch are on their way while the one before is worked on.
constexpr int batch_size = 32;

/// Indices of a batch.
struct Batch {
    const std::uint32_t* index(int mode) const { return data.data() + mode * batch_size; }
    std::uint32_t* index(int mode) { return data.data() + mode * batch_size; }
    explicit Batch(int order) : data(order * batch_size) {}
    std::vector<std::uint32_t> data;  ///< mode by mode
};

/// Asks the memory for what is read some batches later, of numbers that are stored one behind the other.
template <class V>
void prefetch_ahead(const V* numbers) {
    constexpr int ahead = 4, line = 64 / static_cast<int>(sizeof(V));
    for (int at = 0; at < batch_size; at += line) __builtin_prefetch(numbers + ahead * batch_size + at);
}

/// Reads the indices of nonzeros, in ascending batches.
class BatchReader {
public:
    virtual ~BatchReader() = default;
    virtual void read(std::int64_t first, int count, Batch& batch) = 0;
};

/// Nonzeros in one order.
template <class T>
class StreamStorage {
public:
    virtual ~StreamStorage() = default;
    virtual Format format() const = 0;
    virtual std::int64_t bytes() const = 0;
    /// Of the nonzeros from one on.
    virtual std::unique_ptr<BatchReader> reader(std::int64_t first) const = 0;

    std::vector<T> values;
};

/// Their MTTKRP. It knows batches only, so it is compiled once for all storages: a call for a batch costs little beside its rows.
template <class T>
std::unique_ptr<Mttkrp<T>> make_stream(const LocalNonzeros<T>& nonzeros, std::span<const int> modes,
                                       std::unique_ptr<const StreamStorage<T>> storage);

}  // namespace arges::sparse
