/// Sums over the elements of each row, from all ranks, and what rows become of them.
#pragma once

#include "base/first_error.hpp"
#include "base/stopwatch.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/cp/factors.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace arges::decompose {

/// Sums over the elements of each row of a factor. Sum is RowEquations, RowGradient or RowLoss.
template <class Sum, class T>
class RowUpdates {
public:
    /// @param rows  of the factors, by mode  @param folds the elements of a row are on several ranks  @param more  of a sum, but for
    /// columns
    template <class... More>
    RowUpdates(const Communicator& comm, std::span<const ModeRows> rows, int columns, bool folds, const More&... more)
        : comm_(comm), columns_(columns), folds_(folds) {
        comm.agree([&] {
            std::int64_t most = 0;
            for (const auto& mode : rows) most = std::max(most, mode.count());
            if (folds) packed_ = Buffer<double>(most * Sum::packed_count(columns));
            for (int t = 0; t < omp_get_max_threads(); ++t) sums_.emplace_back(columns, more...);
        });
    }
    /// Packed sums over the elements of all local rows, which are made elsewhere.
    using MakeSums = std::function<void(const sparse::RowMatrix<double>& packed)>;

    /// Calls update(sum, local row, its numbers) for each owned row that has elements, on several threads. Collective.
    /// @param seconds  of movements are added  @param make_sums  of this rank; null: they are made here
    template <class F>
    void run(const RowElements<T>& by_row, FactorMatrices<T>& factors, double& seconds, F&& update, const MakeSums& make_sums = {}) {
        const auto matrix = factors.matrix(by_row.mode);
        const int width = Sum::packed_count(columns_);
        sparse::RowMatrix<double> packed;
        comm_.agree([&] {
            if (folds_ || make_sums) packed = {packed_.reserve(matrix.rows * width), matrix.rows, width, width};
            if (make_sums)
                make_sums(packed);
            else if (folds_)
                std::fill_n(packed.data, packed.rows * width, 0.0);
            if (!make_sums)
                over_rows(by_row, factors.views(), [&](Sum& sum, std::uint32_t row) {
                    folds_ ? sum.pack(packed.row(row)) : static_cast<void>(update(sum, row, matrix.row(row)));
                });
            if (folds_)
                exchange_ = std::make_unique<RowExchange<double>>(comm_, factors.rows(by_row.mode), width);
            else if (make_sums)
                update_packed(packed, matrix, std::ssize(by_row.rows), by_row.rows.data(), update);
        });
        if (!folds_) return;
        const Stopwatch watch;
        exchange_->fold(packed);
        seconds += watch.seconds();
        comm_.agree([&] {
            exchange_.reset();
            update_packed(packed, matrix, factors.rows(by_row.mode).owned, nullptr, update);
        });
    }

private:
    /// Rows with so many elements are summed by all threads together.
    static constexpr std::int64_t long_row = 4096;

    /// @param rows  null: the first ones
    template <class F>
    void update_packed(const sparse::RowMatrix<double>& packed, const sparse::RowMatrix<T>& matrix, std::int64_t count,
                       const std::uint32_t* rows, F&& update) {
        FirstError error;
#pragma omp parallel for schedule(dynamic, 16) num_threads(static_cast <int>(sums_.size()))
        for (std::int64_t i = 0; i < count; ++i)
            error.run([&] {
                const auto row = rows == nullptr ? i : static_cast<std::int64_t>(rows[i]);
                auto& sum = sums_[omp_get_thread_num()];
                sum.unpack(packed.row(row));
                update(sum, row, matrix.row(row));
            });
        error.rethrow();
    }

    /// Calls done(sum, local row) for the rows that have elements here.
    template <class F>
    void over_rows(const RowElements<T>& by_row, const Views<T>& views, F&& done) {
        const auto& starts = by_row.starts;
        const int threads = sums_.size();
        std::vector<std::size_t> long_rows;
        FirstError error;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
        for (std::size_t i = 0; i < by_row.rows.size(); ++i) {
            if (starts[i + 1] - starts[i] >= long_row) {
#pragma omp critical(arges_long_rows)
                long_rows.push_back(i);
                continue;
            }
            error.run([&] {
                auto& sum = sums_[omp_get_thread_num()];
                sum.clear();
                sum.add(by_row, starts[i], starts[i + 1], views);
                done(sum, by_row.rows[i]);
            });
        }
        error.rethrow();
        for (auto i : long_rows) {
            const auto count = starts[i + 1] - starts[i];
#pragma omp parallel for schedule(static, 1) num_threads(threads)
            for (int t = 0; t < threads; ++t) {
                auto& sum = sums_[t];
                sum.clear();
                sum.add(by_row, starts[i] + count * t / threads, starts[i] + count * (t + 1) / threads, views);
            }
            for (std::size_t t = 1; t < sums_.size(); ++t) sums_[0].add(sums_[t]);
            done(sums_[0], by_row.rows[i]);
        }
    }

    const Communicator& comm_;
    int columns_;
    bool folds_;
    Buffer<double> packed_;  // sums for all rows of a mode
    std::vector<Sum> sums_;  // by thread
    std::unique_ptr<RowExchange<double>> exchange_;
};

}  // namespace arges::decompose
