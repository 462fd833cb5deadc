#include "decompose/distribution/sparse_share.hpp"

#include "base/math.hpp"

#include <algorithm>

namespace arges::decompose {

SparseShare expected_share(std::int64_t ranks, std::int64_t value_bytes, const std::vector<std::int64_t>& lengths, std::int64_t nonzeros,
                           bool is_coarse, int columns) {
    SparseShare share;
    share.ranks = ranks;
    share.value_bytes = value_bytes;
    share.lengths = lengths;
    share.before = ceil_div(nonzeros, ranks);
    share.columns = columns;
    const auto most = share.before + (ranks > 1 ? share.before / 10 : 0);
    share.nonzeros.assign(is_coarse ? lengths.size() : 1, most);
    for (auto length : lengths) {
        const auto rows = std::min(most, length);
        share.rows.push_back(rows);
        share.owned.push_back(ceil_div(rows, ranks));
        share.shared.push_back(ranks > 1 ? rows : 0);
    }
    return share;
}

}  // namespace arges::decompose
