// Ids over all ranks: each rank sorts its own, samples give the bounds of parts, whose ranks drop what several have, and number the rest.
#include "io/table/id_table.hpp"

#include "arges/error.hpp"
#include "base/read_number.hpp"
#include "base/splitmix.hpp"
#include "comm/values.hpp"
#include "io/file/parallel_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

namespace arges::io {

namespace {

/// The first letters of a text as a number, zeros behind them.
std::uint64_t first_eight(std::string_view text) {
    std::uint64_t piece = 0;
    if (text.size() >= 8) {
        std::memcpy(&piece, text.data(), 8);
        return piece;
    }
    const char* at = text.data();
    unsigned shift = 0;
    const auto take = [&](auto part) {
        std::memcpy(&part, at, sizeof part);
        piece |= static_cast<std::uint64_t>(part) << shift;
        shift += 8 * sizeof part;
        at += sizeof part;
    };
    if ((text.size() & 4U) != 0) take(std::uint32_t{});
    if ((text.size() & 2U) != 0) take(std::uint16_t{});
    if ((text.size() & 1U) != 0) take(std::uint8_t{});
    return piece;
}

enum class IdKind : std::int64_t { text, number, whole };

IdKind kind_of(std::string_view id) {
    std::int64_t whole = 0;
    double number = 0;
    if (id.empty() || read_number(id, whole)) return IdKind::whole;
    return read_number(id, number) && std::isfinite(number) ? IdKind::number : IdKind::text;
}

/// An id with a number that orders as its value does.
struct SortedId {
    std::int64_t key;
    std::string_view text;

    SortedId(IdKind kind, std::string_view id) : key(INT64_MIN), text(id) {
        double number = 0;
        if (kind == IdKind::text || id.empty()) return;
        if (kind == IdKind::whole) {
            read_number(id, key);
        } else if (read_number(id, number)) {
            const auto bits = std::bit_cast<std::int64_t>(number == 0 ? 0.0 : number);
            key = bits < 0 ? ~bits ^ INT64_MIN : bits;
        }
    }
    bool operator<(const SortedId& other) const { return std::tie(key, text) < std::tie(other.key, other.text); }
};

/// Texts one after the other, to be sent.
struct PackedTexts {
    std::vector<char> text;
    std::vector<std::int64_t> lengths;

    void add(std::string_view one) {
        text.insert(text.end(), one.begin(), one.end());
        lengths.push_back(std::ssize(one));
    }
    template <class Take>
    void for_each(Take&& take) const {
        const char* at = text.data();
        for (auto length : lengths) {
            take(std::string_view(at, static_cast<std::size_t>(length)));
            at += length;
        }
    }
};

/// The first ids of the parts of all ranks but the first, from evenly spaced ids of all ranks. Collective.
std::vector<std::string> bounds_of_parts(const Communicator& comm, IdKind kind, const std::vector<SortedId>& sorted) {
    constexpr std::size_t most = 64;
    PackedTexts mine;
    comm.agree([&] {
        const auto count = std::min(most, sorted.size());
        for (std::size_t k = 0; k < count; ++k) mine.add(sorted[k * sorted.size() / count].text);
    });
    const PackedTexts all{gathered(comm, mine.text), gathered(comm, mine.lengths)};
    std::vector<std::string> bounds;
    comm.agree([&] {
        std::vector<SortedId> samples;
        all.for_each([&](std::string_view id) { samples.emplace_back(kind, id); });
        std::sort(samples.begin(), samples.end());
        for (std::size_t r = 1; r < static_cast<std::size_t>(comm.size()) && !samples.empty(); ++r)
            bounds.emplace_back(samples[r * samples.size() / static_cast<std::size_t>(comm.size())].text);
    });
    return bounds;
}

/// Ids that the ranks have sent to this one, each in ascending order, in the order of all; `numbers` get the places of those of each rank.
std::vector<std::string> merged(const std::vector<PackedTexts>& parts, IdKind kind, std::vector<std::vector<std::int64_t>>& numbers) {
    struct Arrived {
        SortedId id;
        std::size_t rank, place;
    };
    std::vector<Arrived> all;
    for (std::size_t r = 0; r < parts.size(); ++r) {
        numbers[r].resize(parts[r].lengths.size());
        parts[r].for_each([&, place = std::size_t{0}](std::string_view id) mutable { all.push_back({SortedId(kind, id), r, place++}); });
    }
    std::sort(all.begin(), all.end(), [](const Arrived& a, const Arrived& b) { return a.id < b.id; });
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == 0 || all[i - 1].id < all[i].id) ids.emplace_back(all[i].id.text);
        numbers[all[i].rank][all[i].place] = std::ssize(ids) - 1;
    }
    return ids;
}

}  // namespace

std::uint64_t IdTable::hash_of(std::string_view id) {
    std::uint64_t hash = id.size();
    for (; id.size() >= 8; id.remove_prefix(8)) hash = splitmix(hash ^ first_eight(id));
    return splitmix(hash ^ first_eight(id));
}

IdTable::Slot IdTable::slot_of(std::string_view id, std::uint64_t hash) {
    return {hash, 0, static_cast<std::uint32_t>(id.size()), {first_eight(id), id.size() > 8 ? first_eight(id.substr(8)) : 0}};
}

bool IdTable::has(const Slot& slot, const Slot& wanted, std::string_view id) const {
    if (slot.hash != wanted.hash || slot.bytes != wanted.bytes) return false;
    if (slot.head[0] != wanted.head[0] || slot.head[1] != wanted.head[1]) return false;  // by words, without a call of memcmp
    return id.size() <= head_bytes || this->id(std::int64_t{slot.number} - 1) == id;
}

std::int64_t IdTable::number(std::string_view id, std::uint64_t hash) {
    auto wanted = slot_of(id, hash);
    for (auto at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
        auto& slot = slots_[at];
        if (slot.number == 0) {
            if (count() >= std::int64_t{UINT32_MAX} - 1) throw OutOfMemory("a rank has more than 2^32 ids of a column; use more ranks");
            text_.append(id);
            ends_.push_back(text_.size());
            wanted.number = static_cast<std::uint32_t>(count());
            slot = wanted;
            if (2 * ends_.size() > slots_.size()) grow();
            return count() - 1;
        }
        if (has(slot, wanted, id)) return std::int64_t{slot.number} - 1;
    }
}

std::int64_t IdTable::find(std::string_view id) const {
    const auto wanted = slot_of(id, hash_of(id));
    for (auto at = wanted.hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
        if (slots_[at].number == 0) return -1;
        if (has(slots_[at], wanted, id)) return std::int64_t{slots_[at].number} - 1;
    }
}

std::string_view IdTable::id(std::int64_t number) const {
    const auto begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view(text_).substr(begin, ends_[number] - begin);
}

std::int64_t IdTable::bytes() const {
    return static_cast<std::int64_t>(slots_.capacity() * sizeof(Slot) + text_.capacity() + ends_.capacity() * sizeof(std::size_t));
}

std::int64_t IdTable::bytes(std::int64_t count, std::int64_t id_bytes) {
    const auto slots = std::max<std::uint64_t>(64, std::bit_ceil(2 * static_cast<std::uint64_t>(count)));
    return static_cast<std::int64_t>(slots * sizeof(Slot)) + 2 * count * (id_bytes + static_cast<std::int64_t>(sizeof(std::size_t)));
}

void IdTable::grow() {
    std::vector<Slot> larger(2 * slots_.size());
    for (const auto& slot : slots_) {
        if (slot.number == 0) continue;
        auto at = slot.hash & (larger.size() - 1);
        while (larger[at].number > 0) at = (at + 1) & (larger.size() - 1);
        larger[at] = slot;
    }
    slots_ = std::move(larger);
}

SharedIds shared_ids(const Communicator& comm, const IdTable& ids) {
    auto own = IdKind::whole;
    for (std::int64_t k = 0; k < ids.count(); ++k) own = std::min(own, kind_of(ids.id(k)));
    const auto kind = static_cast<IdKind>(comm.minimum(static_cast<std::int64_t>(own)));
    std::vector<SortedId> sorted;
    std::vector<std::int64_t> order;  // numbers on this rank, as sorted
    comm.agree([&] {
        for (std::int64_t k = 0; k < ids.count(); ++k) sorted.emplace_back(kind, ids.id(k));
        order.resize(sorted.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return sorted[a] < sorted[b]; });
        std::sort(sorted.begin(), sorted.end());
    });
    const auto bounds = bounds_of_parts(comm, kind, sorted);
    const auto ranks = static_cast<std::size_t>(comm.size());
    std::vector<std::vector<char>> text(ranks);
    std::vector<std::vector<std::int64_t>> lengths(ranks), numbers(ranks);
    comm.agree([&] {
        std::size_t to = 0;
        for (const auto& id : sorted) {
            while (to < bounds.size() && !(id < SortedId(kind, bounds[to]))) ++to;
            text[to].insert(text[to].end(), id.text.begin(), id.text.end());
            lengths[to].push_back(std::ssize(id.text));
        }
    });
    text = exchanged(comm, std::move(text));
    lengths = exchanged(comm, std::move(lengths));
    SharedIds result;
    comm.agree([&] {
        std::vector<PackedTexts> parts;
        for (std::size_t r = 0; r < ranks; ++r) parts.push_back({std::move(text[r]), std::move(lengths[r])});
        result.mine = merged(parts, kind, numbers);
    });
    const auto before = sum_before(comm, std::ssize(result.mine), &result.count);
    for (auto& list : numbers)
        for (auto& number : list) number += before;
    numbers = exchanged(comm, std::move(numbers));
    comm.agree([&] {
        result.numbers.resize(order.size());
        std::size_t at = 0;
        for (const auto& list : numbers)  // parts ascend by rank, as the ids that were sent
            for (auto number : list) result.numbers[order[at++]] = number;
    });
    return result;
}

std::vector<std::vector<std::int64_t>> indices_of_ids(const std::vector<std::vector<std::string>>& lists, const std::vector<IdTable>& ids) {
    std::vector<std::vector<std::int64_t>> indices;
    for (std::size_t m = 0; m < ids.size(); ++m) {
        auto& own = indices.emplace_back(ids[m].count(), -1);
        for (std::size_t i = 0; i < lists[m].size(); ++i)
            if (const auto number = ids[m].find(lists[m][i]); number >= 0) own[number] = static_cast<std::int64_t>(i);
    }
    return indices;
}

}  // namespace arges::io
