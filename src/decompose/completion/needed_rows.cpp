#include "decompose/completion/needed_rows.hpp"

#include "base/splitmix.hpp"
#include "comm/values.hpp"
#include "partition/value_counts.hpp"

#include <algorithm>
#include <utility>

namespace arges::decompose {

namespace {

/// Ranks that own rows, or -1 where nobody does. Rows are looked up at a rank that a hash of their number names. Collective.
std::vector<std::int64_t> owners_of(const Communicator& comm, std::span<const std::int64_t> owned,
                                    const std::vector<std::int64_t>& wanted) {
    const std::uint64_t ranks = comm.size();
    const auto place = [&](std::int64_t row) { return splitmix(static_cast<std::uint64_t>(row)) % ranks; };
    std::vector<std::vector<std::int64_t>> known(ranks), asked(ranks);
    comm.agree([&] {
        for (auto row : owned) known[place(row)].push_back(row);
        for (auto row : wanted) asked[place(row)].push_back(row);
    });
    known = exchanged(comm, std::move(known));
    asked = exchanged(comm, std::move(asked));
    comm.agree([&] {
        std::vector<std::pair<std::int64_t, std::int64_t>> owner;
        for (std::size_t r = 0; r < known.size(); ++r)
            for (auto row : known[r]) owner.emplace_back(row, r);
        std::sort(owner.begin(), owner.end());
        for (auto& list : asked)
            for (auto& row : list) {
                const auto found = std::lower_bound(owner.begin(), owner.end(), std::pair(row, std::int64_t{0}));
                row = found != owner.end() && found->first == row ? found->second : -1;
            }
    });
    asked = exchanged(comm, std::move(asked));
    std::vector<std::int64_t> result;
    comm.agree([&] {
        std::vector<std::size_t> next(ranks, 0);
        for (auto row : wanted) result.push_back(asked[place(row)][next[place(row)]++]);
    });
    return result;
}

/// Local rows of indices, or `unmapped` where there is none.
std::vector<std::uint32_t> local_rows(const ModeRows& rows, const std::vector<std::int64_t>& indices) {
    std::vector<std::pair<std::int64_t, std::uint32_t>> sorted;
    for (std::size_t i = 0; i < rows.index.size(); ++i) sorted.emplace_back(rows.index[i], static_cast<std::uint32_t>(i));
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint32_t> result;
    result.reserve(indices.size());
    for (auto row : indices) {
        const auto found = std::lower_bound(sorted.begin(), sorted.end(), std::pair(row, std::uint32_t{0}));
        result.push_back(found != sorted.end() && found->first == row ? found->second : unmapped);
    }
    return result;
}

}  // namespace

NeededRows needed_rows(const Communicator& comm, std::span<const std::int64_t> owned, std::vector<std::int64_t>&& indices) {
    std::vector<std::int64_t> wanted, known;
    comm.agree([&] { wanted = partition::distinct(indices); });
    auto owner = owners_of(comm, owned, wanted);
    comm.agree([&] {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (owner[i] < 0) continue;
            known.push_back(wanted[i]);
            owner[kept++] = owner[i];
        }
        owner.resize(kept);
    });
    NeededRows result;
    result.rows = match_rows(comm, known, owner);
    comm.agree([&] {
        result.local = local_rows(result.rows, indices);
        indices = {};
        for (std::int64_t i = 0; i < result.rows.owned; ++i)
            result.position.push_back(std::lower_bound(owned.begin(), owned.end(), result.rows.index[i]) - owned.begin());
    });
    return result;
}

}  // namespace arges::decompose
