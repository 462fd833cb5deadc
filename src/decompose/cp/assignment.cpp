#include "decompose/cp/assignment.hpp"

#include <cstddef>
#include <limits>

namespace arges::decompose {

std::vector<int> best_assignment(const std::vector<double>& values, int rows, int columns) {
    constexpr auto infinity = std::numeric_limits<double>::infinity();
    const std::size_t n = rows, m = columns;
    // Rows and columns count from 1; row_of[0] is the row that is being placed.
    std::vector<double> row_potential(n + 1, 0), column_potential(m + 1, 0);
    std::vector<std::size_t> row_of(m + 1, 0), previous(m + 1, 0);
    for (std::size_t row = 1; row <= n; ++row) {
        std::vector<double> slack(m + 1, infinity);
        std::vector<bool> is_reached(m + 1, false);
        row_of[0] = row;
        std::size_t at = 0;
        while (row_of[at] != 0) {
            is_reached[at] = true;
            const auto here = row_of[at];
            double least = infinity;
            std::size_t next = 0;
            for (std::size_t c = 1; c <= m; ++c) {
                if (is_reached[c]) continue;
                const double reduced = -values[(here - 1) * m + c - 1] - row_potential[here] - column_potential[c];
                if (reduced < slack[c]) slack[c] = reduced, previous[c] = at;
                if (slack[c] < least) least = slack[c], next = c;
            }
            for (std::size_t c = 0; c <= m; ++c)
                if (is_reached[c])
                    row_potential[row_of[c]] += least, column_potential[c] -= least;
                else
                    slack[c] -= least;
            at = next;
        }
        for (; at != 0; at = previous[at]) row_of[at] = row_of[previous[at]];
    }
    std::vector<int> result(n, 0);
    for (std::size_t c = 1; c <= m; ++c)
        if (row_of[c] != 0) result[row_of[c] - 1] = static_cast<int>(c) - 1;
    return result;
}

}  // namespace arges::decompose
