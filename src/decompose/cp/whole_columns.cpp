#include "decompose/cp/whole_columns.hpp"

#include "base/first_error.hpp"
#include "base/math.hpp"
#include "comm/values.hpp"

#include <algorithm>
#include <numeric>

namespace arges::decompose {

namespace {

/// The first column of a rank.
int first_column(std::int64_t rank, std::int64_t ranks, int columns) { return static_cast<int>(rank * columns / ranks); }

}  // namespace

WholeColumns::WholeColumns(const Communicator& comm, const ModeRows& rows) : comm_(comm) {
    std::vector<std::int64_t> mine, counts;
    comm.agree([&] { mine.assign(rows.index.begin(), rows.index.begin() + rows.owned); });
    const auto all = gathered(comm, mine, &counts);
    comm.agree([&] {
        first_.assign(counts.size() + 1, 0);
        std::partial_sum(counts.begin(), counts.end(), first_.begin() + 1);
        std::vector<std::int64_t> order(all.size());
        std::iota(order.begin(), order.end(), std::int64_t{0});
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a] < all[b]; });
        index_.resize(all.size());
        places_.resize(all.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            index_[i] = all[order[i]];
            places_[order[i]] = static_cast<std::int64_t>(i);
        }
    });
}

template <class T>
void WholeColumns::transform(sparse::RowMatrix<T> rows, const std::function<void(int column, std::vector<double>& elements)>& f) const {
    const auto ranks = comm_.size();
    std::vector<std::vector<T>> lists(ranks);
    comm_.agree([&] {
        for (std::int64_t r = 0; r < ranks; ++r)
            for (int c = first_column(r, ranks, rows.columns); c < first_column(r + 1, ranks, rows.columns); ++c)
                for (std::int64_t i = 0; i < rows.rows; ++i) lists[r].push_back(rows.row(i)[c]);
    });
    lists = exchanged(comm_, std::move(lists));
    comm_.agree([&] {
        const int begin = first_column(comm_.rank(), ranks, rows.columns), end = first_column(comm_.rank() + 1, ranks, rows.columns);
        FirstError error;
#pragma omp parallel for schedule(static, 1)
        for (int c = begin; c < end; ++c)
            error.run([&] {
                std::vector<double> elements(index_.size());
                const auto each = [&](auto&& move) {
                    for (std::int64_t r = 0; r < ranks; ++r) {
                        const auto count = first_[r + 1] - first_[r];
                        T* const list = lists[r].data() + (c - begin) * count;
                        for (std::int64_t i = 0; i < count; ++i) move(list[i], elements[places_[first_[r] + i]]);
                    }
                };
                each([](const T& sent, double& element) { element = static_cast<double>(sent); });
                f(c, elements);
                each([](T& sent, double element) { sent = static_cast<T>(element); });
            });
        error.rethrow();
    });
    lists = exchanged(comm_, std::move(lists));
    for (std::int64_t r = 0; r < ranks; ++r) {
        const T* from = lists[r].data();
        for (int c = first_column(r, ranks, rows.columns); c < first_column(r + 1, ranks, rows.columns); ++c)
            for (std::int64_t i = 0; i < rows.rows; ++i) rows.row(i)[c] = *from++;
    }
}

std::int64_t whole_columns_memory(std::int64_t ranks, std::int64_t total, std::int64_t owned, std::int64_t columns,
                                  std::int64_t element_bytes, int threads) {
    constexpr std::int64_t number = sizeof(std::int64_t);
    const auto mine = ceil_div(columns, ranks), at_once = std::min<std::int64_t>(mine, threads);
    // The rows' numbers twice, and while they are sorted; lists, which grow as they are made, and messages both ways; columns at work, for
    // which an element has five numbers in a block of the regression and two beside.
    const auto lists = (owned * columns + total * mine) * element_bytes;
    return 4 * number * total + number * owned + 3 * lists + at_once * 11 * number * total;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void WholeColumns::transform(sparse::RowMatrix<T>, const std::function<void(int, std::vector<double>&)>&) const;
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
