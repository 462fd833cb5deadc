#include "sparse/row_structure.hpp"

#include "base/first_error.hpp"

#include <algorithm>
#include <bit>
#include <omp.h>
#include <vector>

namespace arges::sparse {

namespace {

/// Rows that a thread takes at a time.
constexpr std::int64_t rows_together = 64;

/// The columns of one row at a time, as bits.
class ColumnSet {
public:
    explicit ColumnSet(std::int64_t width) : bits_(width / 64 + 1, 0) {}
    /// Makes room for all columns, so that nothing is allocated later.
    void reserve() { touched_.reserve(bits_.size()); }

    void add(const RowPattern& a, const RowPattern& b, std::int64_t row) {
        touched_.clear();
        count_ = 0;
        for (auto k = a.start[row]; k < a.start[row + 1]; ++k) {
            const std::size_t other = a.columns[k];
            const auto* column = b.columns.data() + b.start[other];
            const auto* const end = b.columns.data() + b.start[other + 1];
            while (column != end) {  // columns of one word go together: they mostly ascend
                const auto place = *column >> 6U;
                std::uint64_t here = 0;
                do here |= std::uint64_t{1} << (*column & 63U);
                while (++column != end && *column >> 6U == place);
                auto& word = bits_[place];
                if (word == 0) touched_.push_back(place);
                count_ += std::popcount(here & ~word);
                word |= here;
            }
        }
    }
    std::int64_t count() const { return count_; }
    void clear() {
        for (auto word : touched_) bits_[word] = 0;
    }
    /// The columns in ascending order.
    void write(std::uint32_t* to) {
        if (touched_.size() * 8 > bits_.size()) {
            touched_.clear();
            for (std::size_t word = 0; word < bits_.size(); ++word)
                if (bits_[word] != 0) touched_.push_back(word);
        } else {
            std::sort(touched_.begin(), touched_.end());
        }
        for (auto word : touched_)
            for (auto left = bits_[word]; left != 0; left &= left - 1)
                *to++ = word << 6U | static_cast<std::uint32_t>(std::countr_zero(left));
    }

private:
    std::vector<std::uint64_t> bits_;
    std::vector<std::uint32_t> touched_;  // words that are not zero
    std::int64_t count_ = 0;
};

/// Which nonzeros of one row of a mask are reached. `marks` is as long as a row, and all zero before and afterwards.
class ReachedRow {
public:
    ReachedRow(const RowPattern& mask, const RowPattern& a, const RowPattern& b, std::vector<char>& reached)
        : mask_(mask), a_(a), b_(b), reached_(reached) {}

    /// Marks the columns of the mask, and those of them that rows of b meet, until all are met.
    void by_rows(std::size_t row, char* marks) const {
        const auto begin = mask_.start[row], end = mask_.start[row + 1];
        auto left = end - begin;
        for (auto k = begin; k < end; ++k) marks[mask_.columns[k]] = wanted;
        for (auto k = a_.start[row]; k < a_.start[row + 1] && left > 0; ++k) {
            const auto other = a_.columns[k];
            for (auto l = b_.start[other]; l < b_.start[other + 1]; ++l) {
                auto& mark = marks[b_.columns[l]];
                if (mark != wanted) continue;
                mark = met;
                --left;
            }
        }
        for (auto k = begin; k < end; ++k) {
            auto& mark = marks[mask_.columns[k]];
            reached_[k] = mark == met ? 1 : 0;
            mark = 0;
        }
    }
    /// Looks for the first nonzero that a row of a and a column of b share.
    void by_dots(std::size_t row, char* marks) const {
        for (auto k = a_.start[row]; k < a_.start[row + 1]; ++k) marks[a_.columns[k]] = met;
        for (auto k = mask_.start[row]; k < mask_.start[row + 1]; ++k) {
            const auto other = mask_.columns[k];
            const auto* const first = b_.columns.data() + b_.start[other];
            const auto* const last = b_.columns.data() + b_.start[other + 1];
            reached_[k] = std::any_of(first, last, [&](auto column) { return marks[column] == met; }) ? 1 : 0;
        }
        for (auto k = a_.start[row]; k < a_.start[row + 1]; ++k) marks[a_.columns[k]] = 0;
    }

private:
    static constexpr char wanted = 1, met = 2;
    const RowPattern &mask_, &a_, &b_;
    std::vector<char>& reached_;
};

}  // namespace

std::int64_t products_of(const RowPattern& a, const RowPattern& b) {
    std::int64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::size_t k = 0; k < a.columns.size(); ++k) sum += b.start[a.columns[k] + 1] - b.start[a.columns[k]];
    return sum;
}

RowStructure structure_of_product(const RowPattern& a, const RowPattern& b, std::int64_t width) {
    RowStructure result;
    result.start = Buffer<std::int64_t>(a.rows() + 1);
    result.start[0] = 0;
    const int threads = omp_get_max_threads();
    std::vector<ColumnSet> sets(threads, ColumnSet(width));
    for (auto& set : sets) set.reserve();
    // Rows together have an array of their own, until it is known where they begin.
    const auto groups = (a.rows() + rows_together - 1) / rows_together;
    std::vector<Buffer<std::uint32_t>> columns(groups);
    FirstError error;
#pragma omp parallel num_threads(threads)
    {
        auto& set = sets[omp_get_thread_num()];
        std::vector<std::uint32_t> together;
#pragma omp for schedule(dynamic)
        for (std::int64_t group = 0; group < groups; ++group)
            error.run([&] {
                together.clear();
                for (auto row = group * rows_together; row < std::min(a.rows(), (group + 1) * rows_together); ++row) {
                    set.add(a, b, row);
                    const auto before = together.size();
                    together.resize(before + static_cast<std::size_t>(set.count()));
                    set.write(together.data() + before);
                    set.clear();
                    result.start[row + 1] = set.count();
                }
                auto& own = columns[group];
                own = Buffer<std::uint32_t>(std::ssize(together));
                std::copy(together.begin(), together.end(), own.data());
            });
    }
    error.rethrow();
    for (std::int64_t row = 0; row < a.rows(); ++row) result.start[row + 1] += result.start[row];
    result.columns = Buffer<std::uint32_t>(result.start[a.rows()]);
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t group = 0; group < groups; ++group) {
        auto& own = columns[group];
        std::copy_n(own.data(), own.size(), result.columns.data() + result.start[group * rows_together]);
        own = {};
    }
    return result;
}

std::vector<char> reached_by_product(const RowPattern& mask, const RowPattern& a, const RowPattern& b, std::int64_t width,
                                     bool transposed) {
    std::vector<char> result(mask.columns.size());
    const int threads = omp_get_max_threads();
    std::vector<std::vector<char>> marks(threads, std::vector<char>(width, 0));
    const ReachedRow reached(mask, a, b, result);
#pragma omp parallel for num_threads(threads) schedule(dynamic, rows_together)
    for (std::int64_t row = 0; row < mask.rows(); ++row) {
        if (mask.start[row] == mask.start[row + 1]) continue;
        auto* const own = marks[omp_get_thread_num()].data();
        if (transposed)
            reached.by_dots(row, own);
        else
            reached.by_rows(row, own);
    }
    return result;
}

RowStructure selected(const RowPattern& mask, const std::vector<char>& marks, std::vector<std::int64_t>& kept) {
    kept.clear();
    kept.reserve(std::count(marks.begin(), marks.end(), 1));
    RowStructure result;
    result.start = Buffer<std::int64_t>(mask.rows() + 1);
    for (std::int64_t row = 0; row < mask.rows(); ++row) {
        result.start[row] = std::ssize(kept);
        for (auto k = mask.start[row]; k < mask.start[row + 1]; ++k)
            if (marks[k] != 0) kept.push_back(k);
    }
    result.start[mask.rows()] = std::ssize(kept);
    result.columns = Buffer<std::uint32_t>(std::ssize(kept));
    for (std::size_t i = 0; i < kept.size(); ++i) result.columns[static_cast<std::int64_t>(i)] = mask.columns[kept[i]];
    return result;
}

}  // namespace arges::sparse
