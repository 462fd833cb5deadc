/// Coordinates of nonzeros on one rank, column by column: sorted into runs, and numbered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace arges::sparse {

/// The indices of nonzeros in some modes, one column for each mode.
using Columns = std::vector<std::span<const std::int64_t>>;

/// Lists of nonzeros, one behind the other without being copied: a position counts through all of them.
class JoinedLists {
public:
    JoinedLists() = default;
    /// @param lists  each has a column for every mode; what they point to stays  @param counts nonzeros of each
    JoinedLists(std::vector<Columns> lists, std::span<const std::int64_t> counts);

    std::int64_t count() const { return begin_.back(); }
    /// Where a list begins, and the end.
    std::int64_t begin(std::size_t list) const { return begin_[list]; }
    std::size_t lists() const { return lists_.size(); }
    const Columns& list(std::size_t number) const { return lists_[number]; }
    /// Which list a position is in.
    std::size_t list_of(std::int64_t position) const {
        std::size_t list = 0;
        for (std::size_t l = 1; l < lists_.size(); ++l) list += position >= begin_[l] ? 1 : 0;  // no branch, which would be a guess
        return list;
    }
    std::size_t modes() const { return lists_.empty() ? 0 : lists_[0].size(); }
    /// The index of a nonzero in a mode.
    std::int64_t index(std::size_t mode, std::int64_t position) const {
        const auto list = list_of(position);
        return lists_[list][mode][position - begin_[list]];
    }
    /// Forgets the indices, not how many there are.
    void forget() { lists_.clear(); }
    /// All indices in a mode.
    std::vector<std::int64_t> column(std::size_t mode) const;

private:
    std::vector<Columns> lists_;
    std::vector<std::int64_t> begin_{0};
};

/// Nonzeros in order, and where others begin.
struct Runs {
    std::vector<std::int64_t> order;     ///< positions of the nonzeros; equal ones keep their order; empty: as they come
    std::vector<std::int64_t> start{0};  ///< of each run in `order`, and their end

    std::int64_t count() const { return std::ssize(start) - 1; }
    /// The k-th nonzero.
    std::size_t at(std::size_t k) const { return order.empty() ? k : static_cast<std::size_t>(order[k]); }
    /// A nonzero of a run.
    std::size_t first(std::int64_t run) const { return at(start[run]); }
};

/// Nonzeros sorted by their indices in the columns, the first column slowest, and within that by `also`; those with equal indices in the
/// columns are a run. Without columns all are one run. @param lengths of the modes, of `columns` and then of `also`
Runs sorted_runs(std::int64_t count, const Columns& columns, const Columns& also, std::span<const std::int64_t> lengths);

/// Likewise of nonzeros that come in that order, which is then empty; of others none.
std::optional<Runs> runs_if_sorted(std::int64_t count, const Columns& columns, const Columns& also, std::span<const std::int64_t> lengths);

/// Likewise by all columns, for which it does not matter in which order runs are: the last column slowest, or the first, where the nonzeros
/// come in a few stretches that ascend so already, as those of a matrix by rows do.
Runs runs_of_equal(const JoinedLists& nonzeros, std::span<const std::int64_t> lengths);

/// The positions sorted by the columns, the first slowest; none where they are in that order.
std::optional<std::vector<std::int64_t>> order_unless_sorted(std::int64_t count, const Columns& columns,
                                                             std::span<const std::int64_t> lengths);

/// Distinct index tuples, numbered from 0 in ascending order.
struct Numbering {
    std::vector<std::vector<std::int64_t>> tuples;  ///< by column: the indices of each number
    std::vector<std::uint32_t> numbers;             ///< of the nonzeros
    std::int64_t count = 0;                         ///< distinct tuples
};

/// Numbers the tuples of nonzeros, below 2^32 of them.
Numbering numbered(std::int64_t count, const Columns& columns, std::span<const std::int64_t> lengths);

/// The numbers that tuples have in a numbering; those that it lacks get `none`.
inline constexpr std::uint32_t none = ~std::uint32_t{0};
std::vector<std::uint32_t> looked_up(const Numbering& known, std::int64_t count, const Columns& columns,
                                     std::span<const std::int64_t> lengths);

/// The positions of values that are among others, ascending; none where the others are too far apart for bits.
std::optional<std::vector<std::int64_t>> positions_among(std::span<const std::int64_t> others, std::span<const std::int64_t> values);

}  // namespace arges::sparse
