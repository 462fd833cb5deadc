// Threads add to rows of their own: buffers for all rows, or for those that a bitmap says they touch, added in the order of the threads.
#include "sparse/thread_rows.hpp"

#include "base/first_error.hpp"
#include "base/math.hpp"

#include <algorithm>
#include <omp.h>

namespace arges::sparse {

template <class T>
ThreadRows<T>::ThreadRows(int parts, std::int64_t rows, const EachRow& each_row) : rows_(rows), parts_(parts - 1) {
    FirstError error;
#pragma omp parallel for schedule(static, 1) num_threads(parts)
    for (int p = 1; p < parts; ++p) error.run([&] { collect(parts_[p - 1], p, each_row); });
    error.rethrow();
}

std::int64_t thread_rows_memory(std::int64_t element_bytes, int parts, std::int64_t rows, std::int64_t nonzeros, int columns) {
    const auto words = ceil_div(rows, 64), places = std::min(rows, 2 * ceil_div(nonzeros, parts));
    return (parts - 1) *
           (words * std::int64_t{sizeof(std::uint64_t) + sizeof(std::uint32_t)} + array_memory(places * columns * element_bytes));
}

template <class T>
void ThreadRows<T>::collect(Part& part, int number, const EachRow& each_row) const {
    part.touched.assign(ceil_div(rows_, 64), 0);
    each_row(number, [&](const std::uint32_t* rows, std::int64_t count) {
        for (std::int64_t x = 0; x < count; ++x) part.touched[rows[x] >> 6] |= std::uint64_t{1} << (rows[x] & 63);
    });
    part.ranks.resize(part.touched.size());
    std::uint32_t total = 0;
    for (std::size_t w = 0; w < part.touched.size(); ++w) {
        part.ranks[w] = total;
        total += static_cast<std::uint32_t>(std::popcount(part.touched[w]));
    }
    part.all_rows = 2 * static_cast<std::int64_t>(total) >= rows_;
    part.places = part.all_rows ? rows_ : total;
}

template <class T>
RowTarget<T> ThreadRows<T>::target(Part& part, int columns) const {
    auto* data = part.buffer.data();
    std::fill_n(data, part.places * columns, T(0));
    if (part.all_rows) return {data, columns, nullptr, nullptr};
    return {data, columns, part.touched.data(), part.ranks.data()};
}

template <class T>
void ThreadRows<T>::add_buffers(RowMatrix<T> out, std::int64_t first_word, std::int64_t last_word) {
    for (auto& part : parts_)
        for (auto w = first_word; w < last_word; ++w) {
            std::int64_t place = part.ranks[w];
            for (auto bits = part.touched[w]; bits != 0; bits &= bits - 1, ++place) {
                const auto row = w * 64 + std::countr_zero(bits);
                const T* from = part.buffer.data() + (part.all_rows ? row : place) * out.columns;
                T* to = out.row(row);
#pragma omp simd
                for (int r = 0; r < out.columns; ++r) to[r] += from[r];
            }
        }
}

template <class T>
void ThreadRows<T>::run(RowMatrix<T> out, const std::function<void(int, const RowTarget<T>&)>& work) {
    const int number = parts();
    const auto words = ceil_div(rows_, 64);
    for (auto& part : parts_) part.buffer.reserve(part.places * out.columns);  // here, where it may throw
    FirstError error;
#pragma omp parallel num_threads(number)
    {
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < rows_; ++i) std::fill_n(out.row(i), out.columns, T(0));
#pragma omp for schedule(static, 1)
        for (int p = 0; p < number; ++p)
            error.run([&] { work(p, p == 0 ? RowTarget<T>{out.data, out.stride, nullptr, nullptr} : target(parts_[p - 1], out.columns)); });
        if (number > 1) {
#pragma omp for schedule(static)
            for (int p = 0; p < number; ++p) add_buffers(out, words * p / number, words * (p + 1) / number);
        }
    }
    error.rethrow();
}

template class ThreadRows<float>;
template class ThreadRows<double>;

}  // namespace arges::sparse
