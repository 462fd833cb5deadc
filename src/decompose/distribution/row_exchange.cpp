// Fold and expand of factor rows (SPLATT; hypertensor-sc15, section 3): parts of sums go to the owners, new rows to those who need them.
#include "decompose/distribution/row_exchange.hpp"

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

template <class T>
RowExchange<T>::RowExchange(const Communicator& comm, const ModeRows& rows, int columns)
    : comm_(comm), rows_(rows), columns_(columns), buffer_(rows.rows_shared() * columns) {}

/// Rows of one other owner lie next to each other: they are sent and received where they are.
template <class T>
std::vector<Piece> RowExchange<T>::needed_pieces(sparse::RowMatrix<T> matrix) const {
    std::vector<Piece> pieces;
    for (const auto& n : rows_.needed)
        pieces.push_back(
            {n.owner, reinterpret_cast<std::byte*>(matrix.row(n.begin)), (n.end - n.begin) * columns_ * std::int64_t{sizeof(T)}});
    return pieces;
}

template <class T>
std::vector<Piece> RowExchange<T>::shared_pieces() {
    std::vector<Piece> pieces;
    auto* at = reinterpret_cast<std::byte*>(buffer_.data());
    for (const auto& s : rows_.shared) {
        const auto bytes = std::ssize(s.rows) * columns_ * std::int64_t{sizeof(T)};
        pieces.push_back({s.rank, at, bytes});
        at += bytes;
    }
    return pieces;
}

template <class T>
void RowExchange<T>::start_expand(sparse::RowMatrix<T> matrix) {
    auto* out = buffer_.data();
    for (const auto& s : rows_.shared)
        for (auto row : s.rows) out = std::copy_n(matrix.row(row), columns_, out);
    pending_ = comm_.start(shared_pieces(), needed_pieces(matrix));
}

template <class T>
void RowExchange<T>::finish_expand() {
    comm_.finish(pending_);
}

template <class T>
void RowExchange<T>::fold(sparse::RowMatrix<T> matrix) {
    comm_.exchange(needed_pieces(matrix), shared_pieces());
    const T* in = buffer_.data();
    for (const auto& s : rows_.shared)
        for (auto row : s.rows) {
            T* const to = matrix.row(row);
            for (int c = 0; c < columns_; ++c) to[c] += in[c];
            in += columns_;
        }
}

template class RowExchange<float>;
template class RowExchange<double>;

}  // namespace arges::decompose
