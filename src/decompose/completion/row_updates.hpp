/// Sums over the elements of each row, from all ranks, and what rows become of them.
#pragma once

#include "base/first_error.hpp"
#include "base/stopwatch.hpp"
#include "decompose/completion/elements.hpp"
#include "decompose/cp/factors.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdint>
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
    /// Calls update(sum, local row, its numbers) for each owned row that has elements, on several threads. Collective.
    /// @param seconds  of movements are added
    template <class F>
    void run(const RowElements<T>& by_row, FactorMatrices<T>& factors, double& seconds, F&& update) {
        const auto& comm = comm_;
        const auto matrix = factors.matrix(by_row.mode);
        const auto views = factors.views();
        if (folds_) {
            const int width = Sum::packed_count(columns_);
            const sparse::RowMatrix<double> packed{packed_.data(), matrix.rows, width, width};
            std::fill_n(packed.data, packed.rows * width, 0.0);
            comm.agree([&] {
                over_rows(by_row, views, [&](Sum& sum, std::uint32_t row) { sum.pack(packed.row(row)); });
                exchange_ = std::make_unique<RowExchange<double>>(comm, factors.rows(by_row.mode), width);
            });
            const Stopwatch watch;
            exchange_->fold(packed);
            seconds += watch.seconds();
            comm.agree([&] {
                exchange_.reset();
                FirstError error;
#pragma omp parallel for schedule(dynamic, 16) num_threads(static_cast <int>(sums_.size()))
                for (std::int64_t row = 0; row < factors.rows(by_row.mode).owned; ++row)
                    error.run([&] {
                        auto& sum = sums_[omp_get_thread_num()];
                        sum.unpack(packed.row(row));
                        update(sum, row, matrix.row(row));
                    });
                error.rethrow();
            });
        } else {
            comm.agree([&] { over_rows(by_row, views, [&](Sum& sum, std::uint32_t row) { update(sum, row, matrix.row(row)); }); });
        }
    }

private:
    /// Rows with so many elements are summed by all threads together.
    static constexpr std::int64_t long_row = 4096;

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
