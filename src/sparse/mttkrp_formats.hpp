/// What the formats of make_mttkrp() share.
#pragma once

#include "sparse/lanes.hpp"
#include "sparse/mttkrp.hpp"
#include "sparse/thread_rows.hpp"

#include <algorithm>
#include <memory>
#include <omp.h>
#include <type_traits>

namespace arges::sparse {

/// Checks what multiply() is given and keeps the rows that each thread touches.
template <class T>
class FormatBase : public Mttkrp<T> {
public:
    FormatBase(const LocalNonzeros<T>& nonzeros, std::span<const int> modes);
    void multiply(int mode, std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) final;

protected:
    virtual void multiply_checked(int mode, std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) = 0;

    /// Parts of the nonzeros, one for each thread; fewer if there are fewer nonzeros.
    int parts() const { return std::clamp<std::int64_t>(count_, 1, omp_get_max_threads()); }
    std::int64_t first_nonzero(int part, int parts) const { return count_ * part / parts; }

    /// Where the threads add in `mode`; found at the first call and when the number of threads changes.
    ThreadRows<T>& thread_rows(int mode, const typename ThreadRows<T>::EachRow& each_row);

    std::vector<std::int64_t> rows_;
    std::int64_t count_;

private:
    std::vector<bool> called_with_;  // by mode
    std::vector<std::unique_ptr<ThreadRows<T>>> thread_rows_;
};

/// The same columns of all matrices.
template <class T>
RowMatrix<T> columns_of(const RowMatrix<T>& matrix, int first, int count) {
    return {matrix.data + first, matrix.rows, count, matrix.stride};
}

/// Calls f(std::integral_constant<int, n>) for n = 1, 2, 3 and f(0) for any other number.
template <class F>
void with_number(int n, F&& f) {
    switch (n) {
    case 1: return f(std::integral_constant<int, 1>());
    case 2: return f(std::integral_constant<int, 2>());
    case 3: return f(std::integral_constant<int, 3>());
    default: return f(std::integral_constant<int, 0>());
    }
}

/// The modes that have a tree of their own; the others walk the first tree below its root. Pure.
std::vector<int> csf_roots(std::span<const std::int64_t> rows, Format format, std::span<const int> modes);
/// True if no thread needs a buffer for this mode, because it is the root of a tree. Pure.
bool is_csf_root(std::span<const std::int64_t> rows, Format format, std::span<const int> modes, int mode);

/// Memory beside the nonzeros of each format, see mttkrp_memory(). Pure.
MemoryTally csf_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, Format format,
                       std::span<const int> modes);
MemoryTally coordinates_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count);
MemoryTally hicoo_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count);
MemoryTally linear_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count);
MemoryTally device_memory(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, std::span<const int> modes);

/// csf_one, csf_two and csf_all.
template <class T>
std::unique_ptr<Mttkrp<T>> make_csf(const LocalNonzeros<T>& nonzeros, Format format, std::span<const int> modes);
template <class T>
std::unique_ptr<Mttkrp<T>> make_coordinates(const LocalNonzeros<T>& nonzeros, std::span<const int> modes);
template <class T>
std::unique_ptr<Mttkrp<T>> make_hicoo(const LocalNonzeros<T>& nonzeros, std::span<const int> modes);
template <class T>
std::unique_ptr<Mttkrp<T>> make_linear(const LocalNonzeros<T>& nonzeros, std::span<const int> modes);
template <class T>
std::unique_ptr<Mttkrp<T>> make_device(const LocalNonzeros<T>& nonzeros, std::span<const int> modes, const ElementKernels& device);

}  // namespace arges::sparse
