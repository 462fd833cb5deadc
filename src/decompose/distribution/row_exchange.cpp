// Fold and expand of factor rows (SPLATT; hypertensor-sc15, section 3): parts of sums go to the owners, new rows to those who need them.
#include "decompose/distribution/row_exchange.hpp"

#include "base/element_at.hpp"
#include "comm/values.hpp"

#include <algorithm>

namespace arges::decompose {

std::int64_t ModeRows::rows_shared() const {
    std::int64_t sum = 0;
    for (const auto& s : shared) sum += std::ssize(s.rows);
    return sum;
}

ModeRows match_rows(const Communicator& comm, const std::vector<std::int64_t>& held, const std::vector<std::int64_t>& owner) {
    std::vector<std::vector<std::int64_t>> wanted(comm.size()), asked;
    comm.agree([&] {
        for (std::size_t i = 0; i < held.size(); ++i) wanted[owner[i]].push_back(held[i]);
        asked = wanted;
    });
    asked = exchanged(comm, std::move(asked));

    ModeRows rows;
    comm.agree([&] {
        std::size_t named = 0, others = 0;
        for (const auto& list : asked) named += list.size();
        rows.index.reserve(named);
        for (const auto& list : asked) rows.index.insert(rows.index.end(), list.begin(), list.end());
        std::sort(rows.index.begin(), rows.index.end());
        rows.index.erase(std::unique(rows.index.begin(), rows.index.end()), rows.index.end());
        rows.owned = rows.count();
        const auto owned_end = rows.index.begin() + rows.owned;
        for (std::int64_t r = 0; r < comm.size(); ++r) {
            const auto& list = asked[r];
            if (r == comm.rank() || list.empty()) continue;
            rows.shared.push_back({r, {}});
            rows.shared.back().rows.reserve(list.size());
            auto at = rows.index.begin();
            for (auto row : list) {
                at = std::lower_bound(at, owned_end, row);
                rows.shared.back().rows.push_back(at - rows.index.begin());
            }
        }
        for (std::int64_t r = 0; r < comm.size(); ++r)
            if (r != comm.rank()) others += wanted[r].size();
        std::vector<std::int64_t> index;  // of no more room than it needs
        index.reserve(static_cast<std::size_t>(rows.owned) + others);
        index.assign(rows.index.begin(), rows.index.end());
        rows.index.swap(index);
        for (std::int64_t r = 0; r < comm.size(); ++r) {
            const auto& list = wanted[r];
            if (r == comm.rank() || list.empty()) continue;
            const auto begin = rows.count();
            rows.index.insert(rows.index.end(), list.begin(), list.end());
            rows.needed.push_back({r, begin, rows.count()});
        }
    });
    return rows;
}

/// Rows of one other owner lie next to each other: they are sent and received where they are.
std::vector<Piece> RowMover::needed_pieces(void* matrix) const {
    std::vector<Piece> pieces;
    for (const auto& n : rows_.needed) pieces.push_back({n.owner, element_at(matrix, n.begin, row_bytes_), (n.end - n.begin) * row_bytes_});
    return pieces;
}

std::vector<Piece> RowMover::shared_pieces() {
    std::vector<Piece> pieces;
    auto* at = buffer_.data();
    for (const auto& s : rows_.shared) {
        pieces.push_back({s.rank, at, std::ssize(s.rows) * row_bytes_});
        at += pieces.back().bytes;
    }
    return pieces;
}

void RowMover::start_expand(void* matrix) {
    auto* out = buffer_.data();
    for (const auto& s : rows_.shared)
        for (auto row : s.rows) {
            copy_array(out, element_at(matrix, row, row_bytes_), row_bytes_, nullptr);
            out += row_bytes_;
        }
    pending_ = comm_.start(shared_pieces(), needed_pieces(matrix));
}

const std::byte* RowMover::bring_parts(void* matrix) {
    comm_.exchange(needed_pieces(matrix), shared_pieces());
    return buffer_.data();
}

}  // namespace arges::decompose
