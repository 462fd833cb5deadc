// MTTKRP of a distributed sparse tensor: each rank multiplies its nonzeros in the format that suits their modes.
#include "decompose/cp/sparse_operator.hpp"

#include "base/memory_tally.hpp"

#include <algorithm>

namespace arges::decompose {

template <class T>
SparseOperator<T>::SparseOperator(const Communicator& comm, Distributed<T> distributed, sparse::Format format, int columns)
    : CpOperator<T>(comm, columns), distributed_(std::move(distributed)) {
    double squares = 0;
    for (auto value : distributed_.sets[0].nonzeros.values) squares += static_cast<double>(value) * value;
    comm.sum(&squares, 1);
    this->norm_squared_ = squares;
    comm.agree([&] {
        for (auto& set : distributed_.sets) {
            counts_.push_back(set.nonzeros.count());
            kernels_.push_back(sparse::make_mttkrp(set.nonzeros, format, set.modes));
            release(set.nonzeros.indices);
            release(set.nonzeros.values);
        }
        this->set_modes(distributed_.rows.size(), distributed_.folds);
    });
}

template <class T>
void SparseOperator<T>::multiply(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out) {
    kernels_[set_of(mode)]->multiply(mode, factors, out);
}

template <class T>
std::int64_t SparseOperator<T>::nonzeros() const {
    return *std::max_element(counts_.begin(), counts_.end());
}

template <class T>
std::int64_t SparseOperator<T>::bytes() const {
    std::int64_t sum = 0;
    for (const auto& kernel : kernels_) sum += kernel->bytes();
    for (const auto& rows : distributed_.rows)
        sum += rows.count() * 8 + rows.rows_shared() * (4 + this->columns_ * std::int64_t{sizeof(T)});
    return sum;
}

template class SparseOperator<float>;
template class SparseOperator<double>;

namespace {

sparse::Format format_of(const SparseShare& share, std::size_t set, sparse::Format wanted) {
    if (wanted != sparse::Format::automatic) return wanted;
    return sparse::choose_format(share.value_bytes, share.rows, share.nonzeros[set], share.modes_of(set));
}

std::int64_t thread_memory(const SparseShare& share, std::size_t set, sparse::Format format, int threads) {
    return sparse::thread_buffer_memory(share.value_bytes, share.rows, share.nonzeros[set], format_of(share, set, format),
                                        share.modes_of(set), share.columns, threads);
}

MemoryTally format_memory(const SparseShare& share, std::size_t set, sparse::Format format) {
    return sparse::mttkrp_memory(share.value_bytes, share.rows, share.nonzeros[set], format_of(share, set, format), share.modes_of(set));
}

}  // namespace

MemoryTally sparse_operator_memory(const SparseShare& share, sparse::Format format, int threads) {
    MemoryTally tally;
    for (std::size_t s = 0; s < share.nonzeros.size(); ++s) {
        tally.add(format_memory(share, s, format));
        tally.hold(-share.nonzeros[s] * share.local_bytes());
    }
    for (auto rows : share.shared) tally.hold(rows * share.columns * share.value_bytes);
    for (std::size_t s = 0; s < share.nonzeros.size(); ++s) tally.hold(thread_memory(share, s, format, threads));
    return tally;
}

std::int64_t kernel_memory(const SparseShare& share, sparse::Format format, int threads) {
    std::int64_t sum = 0;
    for (std::size_t s = 0; s < share.nonzeros.size(); ++s)
        sum += format_memory(share, s, format).held() + thread_memory(share, s, format, threads);
    return sum;
}

}  // namespace arges::decompose
