// Sums on the first rank by recursive halving and a gather, and a broadcast by halves (Thakur, Rabenseifner, Gropp, Int.
// J. High Perform. Comput. Appl. 19, 2005).
#include "decompose/distribution/dense_block.hpp"

#include <bit>
#include <vector>

namespace arges::decompose {

namespace {

/// Elements begin <= i < end, which go to another rank or come from there.
struct Part {
    std::int64_t peer = 0, begin = 0, end = 0;
};

/// Messages that a rank sends and receives at the same time.
struct Round {
    std::vector<Part> sends, receives;
};

/// A range of elements on each of the ranks below the largest power of two. All of them have the whole range; with each halving
/// they pair up, and the lower rank of a pair takes the lower half of what both have. Example: of 8 elements ranks 0 to 3 have
/// 0-7, then 0-3, 0-3, 4-7, 4-7, then 0-1, 2-3, 4-5, 6-7.
class Halves {
public:
    Halves(std::int64_t ranks, std::int64_t count)
        : paired_(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(ranks)))), count_(count) {}

    /// Ranks that take part. The others are guests, rank paired() + r with rank r.
    std::int64_t paired() const { return paired_; }
    /// What a rank has when pairs are `distance` apart, before they halve it; distance 0: in the end.
    Part range(std::int64_t rank, std::int64_t distance) const {
        Part part{rank, 0, count_};
        for (auto d = paired_ / 2; d > distance; d /= 2) {
            const auto middle = part.begin + (part.end - part.begin) / 2;
            ((rank & d) != 0 ? part.begin : part.end) = middle;
        }
        return part;
    }
    /// The half of a rank.
    Part half(std::int64_t rank, std::int64_t distance) const { return range(rank, distance / 2); }

private:
    std::int64_t paired_, count_;
};

Part with_peer(Part part, std::int64_t peer) { return {peer, part.begin, part.end}; }

/// What a rank sends and receives until sums are in parts on the ranks; what it receives is added.
std::vector<Round> summing_rounds(const Halves& halves, std::int64_t ranks, std::int64_t rank) {
    std::vector<Round> rounds;
    const auto paired = halves.paired();
    const auto whole = halves.range(0, paired / 2);
    if (rank >= paired) return {{{with_peer(whole, rank - paired)}, {}}};
    if (rank + paired < ranks) rounds.push_back({{}, {with_peer(whole, rank + paired)}});
    for (auto d = paired / 2; d > 0; d /= 2) {
        const auto peer = rank ^ d;
        rounds.push_back({{with_peer(halves.half(peer, d), peer)}, {with_peer(halves.half(rank, d), peer)}});
    }
    return rounds;
}

/// The first rank collects the parts.
Round collecting_round(const Halves& halves, std::int64_t rank) {
    if (rank >= halves.paired()) return {};
    if (rank > 0) return {{with_peer(halves.range(rank, 0), 0)}, {}};
    Round round;
    for (std::int64_t r = 1; r < halves.paired(); ++r) round.receives.push_back(halves.range(r, 0));
    return round;
}

/// The first rank distributes what it has, ranks tell each other their parts, and guests get all from their hosts.
std::vector<Round> sharing_rounds(const Halves& halves, std::int64_t ranks, std::int64_t rank) {
    std::vector<Round> rounds;
    const auto paired = halves.paired();
    const auto whole = halves.range(0, paired / 2);
    if (rank >= paired) return {{{}, {with_peer(whole, rank - paired)}}};
    for (auto d = paired / 2; d > 0; d /= 2) {
        if (rank % (2 * d) == 0) rounds.push_back({{with_peer(halves.half(rank + d, d), rank + d)}, {}});
        if (rank % (2 * d) == d) rounds.push_back({{}, {with_peer(halves.half(rank, d), rank - d)}});
    }
    for (std::int64_t d = 1; d < paired; d *= 2) {
        const auto peer = rank ^ d;
        Round round;
        if (peer != 0) round.sends = {with_peer(halves.half(rank, d), peer)};
        if (rank != 0) round.receives = {with_peer(halves.half(peer, d), peer)};
        rounds.push_back(std::move(round));
    }
    if (rank + paired < ranks) rounds.push_back({{with_peer(whole, rank + paired)}, {}});
    return rounds;
}

std::int64_t sent(const Round& round) {
    std::int64_t count = 0;
    for (const auto& part : round.sends) count += part.end - part.begin;
    return count;
}

std::int64_t sent(const std::vector<Round>& rounds) {
    std::int64_t count = 0;
    for (const auto& round : rounds) count += sent(round);
    return count;
}

/// Parts as pieces of an array that begins at `data`.
template <class V>
std::vector<Piece> pieces(const std::vector<Part>& parts, V* data, bool packed = false) {
    std::vector<Piece> result;
    for (const auto& part : parts)
        result.push_back(
            {part.peer, reinterpret_cast<std::byte*>(data + (packed ? 0 : part.begin)), (part.end - part.begin) * std::int64_t{sizeof(V)}});
    return result;
}

}  // namespace

void sum_to_first(const Communicator& comm, std::span<double> values) {
    const auto count = std::ssize(values);
    const Halves halves(comm.size(), count);
    std::vector<double> other(comm.size() > 1 ? values.size() : 0);
    for (const auto& round : summing_rounds(halves, comm.size(), comm.rank())) {
        comm.exchange(pieces(round.sends, values.data()), pieces(round.receives, other.data(), true));
        for (const auto& part : round.receives)
            for (auto i = part.begin; i < part.end; ++i) values[i] += other[i - part.begin];
    }
    const auto last = collecting_round(halves, comm.rank());
    comm.exchange(pieces(last.sends, values.data()), pieces(last.receives, values.data()));
}

std::int64_t sum_to_first_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t count) {
    const Halves halves(ranks, count);
    return (sent(summing_rounds(halves, ranks, rank)) + sent(collecting_round(halves, rank))) * std::int64_t{sizeof(double)};
}

void share_from_first(const Communicator& comm, std::span<std::byte> bytes) {
    const Halves halves(comm.size(), std::ssize(bytes));
    for (const auto& round : sharing_rounds(halves, comm.size(), comm.rank()))
        comm.exchange(pieces(round.sends, bytes.data()), pieces(round.receives, bytes.data()));
}

std::int64_t share_from_first_bytes(std::int64_t ranks, std::int64_t rank, std::int64_t bytes) {
    return sent(sharing_rounds(Halves(ranks, bytes), ranks, rank));
}

}  // namespace arges::decompose
