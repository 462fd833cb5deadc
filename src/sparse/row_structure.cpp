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
    explicit ColumnSet(std::int64_t width) : bits_(static_cast<std::size_t>(width / 64 + 1), 0) {}
    /// Makes room for all columns, so that nothing is allocated later.
    void reserve() { touched_.reserve(bits_.size()); }

    void add(const RowPattern& a, const RowPattern& b, std::int64_t row) {
        touched_.clear();
        count_ = 0;
        for (auto k = a.start[static_cast<std::size_t>(row)]; k < a.start[static_cast<std::size_t>(row) + 1]; ++k) {
            const auto other = static_cast<std::size_t>(a.columns[static_cast<std::size_t>(k)]);
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
                if (bits_[word] != 0) touched_.push_back(static_cast<std::uint32_t>(word));
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
    std::vector<ColumnSet> sets(static_cast<std::size_t>(threads), ColumnSet(width));
    for (auto& set : sets) set.reserve();
    // Rows together have an array of their own, until it is known where they begin.
    const auto groups = (a.rows() + rows_together - 1) / rows_together;
    std::vector<Buffer<std::uint32_t>> columns(static_cast<std::size_t>(groups));
    FirstError error;
#pragma omp parallel num_threads(threads)
    {
        auto& set = sets[static_cast<std::size_t>(omp_get_thread_num())];
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
                auto& own = columns[static_cast<std::size_t>(group)];
                own = Buffer<std::uint32_t>(static_cast<std::int64_t>(together.size()));
                std::copy(together.begin(), together.end(), own.data());
            });
    }
    error.rethrow();
    for (std::int64_t row = 0; row < a.rows(); ++row) result.start[row + 1] += result.start[row];
    result.columns = Buffer<std::uint32_t>(result.start[a.rows()]);
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t group = 0; group < groups; ++group) {
        auto& own = columns[static_cast<std::size_t>(group)];
        std::copy_n(own.data(), own.size(), result.columns.data() + result.start[group * rows_together]);
        own = {};
    }
    return result;
}

}  // namespace arges::sparse
