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

namespace {

template <class T>
sparse::Format format_of(const SparseShare& share, std::size_t set, sparse::Format wanted) {
    return wanted == sparse::Format::automatic ? sparse::choose_format<T>(share.rows, share.nonzeros[set], share.modes_of(set)) : wanted;
}

}  // namespace

template <class T>
MemoryTally SparseOperator<T>::memory(const SparseShare& share, sparse::Format format, int threads) {
    MemoryTally tally;
    for (std::size_t s = 0; s < share.nonzeros.size(); ++s) {
        const auto used = format_of<T>(share, s, format);
        tally.add(sparse::mttkrp_memory<T>(share.rows, share.nonzeros[s], used, share.modes_of(s)));
        tally.hold(-share.nonzeros[s] * share.local_bytes());
    }
    for (auto rows : share.shared) tally.hold(rows * share.columns * std::int64_t{sizeof(T)});
    for (std::size_t s = 0; s < share.nonzeros.size(); ++s)
        tally.hold(sparse::thread_buffer_memory<T>(share.rows, share.nonzeros[s], format_of<T>(share, s, format), share.modes_of(s),
                                                   share.columns, threads));
    return tally;
}

template <class T>
std::int64_t SparseOperator<T>::nonzeros_memory(const SparseShare& share, sparse::Format format, int threads) {
    std::int64_t sum = 0;
    for (std::size_t s = 0; s < share.nonzeros.size(); ++s) {
        const auto used = format_of<T>(share, s, format);
        sum += sparse::mttkrp_memory<T>(share.rows, share.nonzeros[s], used, share.modes_of(s)).held();
        sum += sparse::thread_buffer_memory<T>(share.rows, share.nonzeros[s], used, share.modes_of(s), share.columns, threads);
    }
    return sum;
}

template class SparseOperator<float>;
template class SparseOperator<double>;

}  // namespace arges::decompose
