/// Where each thread adds its rows of a result, so that no two write to the same place.
#pragma once

#include "base/buffer.hpp"
#include "sparse/row_matrix.hpp"

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

namespace arges::sparse {

/// Rows to which one thread adds.
template <class T>
struct RowTarget {
    T* data = nullptr;
    std::int64_t stride = 0;
    const std::uint64_t* touched = nullptr;  ///< set: a bit for each row that the thread touches; only those have a place
    const std::uint32_t* ranks = nullptr;    ///< touched rows before each word of `touched`

    T* row(std::uint32_t i) const {
        if (!touched) return data + static_cast<std::int64_t>(i) * stride;
        const auto word = touched[i >> 6];
        const auto below = word & ((std::uint64_t{1} << (i & 63)) - 1);
        return data + static_cast<std::int64_t>(ranks[i >> 6] + static_cast<std::uint32_t>(std::popcount(below))) * stride;
    }
};

/// Thread 0 adds to the result itself, every other thread to a buffer of its own, and the buffers are added in the order of the
/// threads. A buffer has a row for each row of the result if the thread touches at least half of them, else only for those that
/// it touches: never more than twice as many rows as the thread has nonzeros. Which rows a thread touches costs one bit per row.
template <class T>
class ThreadRows {
public:
    /// Calls f(row) for each nonzero of a part.
    using EachRow = std::function<void(int part, const std::function<void(const std::uint32_t*, std::int64_t)>& add)>;

    /// Finds what each of `parts` touches, of `rows` rows. `each_row` passes on arrays of rows.
    ThreadRows(int parts, std::int64_t rows, const EachRow& each_row);

    int parts() const { return static_cast<int>(parts_.size()) + 1; }

    /// Calls work(part, target) on the threads, one part each, for a result of at most max_lane_columns columns, and adds up.
    /// `out` is overwritten.
    void run(RowMatrix<T> out, const std::function<void(int, const RowTarget<T>&)>& work);

private:
    struct Part {
        std::vector<std::uint64_t> touched;
        std::vector<std::uint32_t> ranks;
        std::int64_t places = 0;
        bool all_rows = false;
        Buffer<T> buffer;
    };
    void collect(Part& part, int number, const EachRow& each_row) const;
    RowTarget<T> target(Part& part, int columns) const;
    void add_buffers(RowMatrix<T> out, std::int64_t first_word, std::int64_t last_word);

    std::int64_t rows_;
    std::vector<Part> parts_;  // of the threads 1, 2, ...
};

/// Memory of a ThreadRows for `columns` columns where the parts have `nonzeros` in all, an upper bound. Pure.
std::int64_t thread_rows_memory(std::int64_t element_bytes, int parts, std::int64_t rows, std::int64_t nonzeros, int columns);

}  // namespace arges::sparse
