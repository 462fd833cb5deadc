// Finds and merges nonzeros with equal coordinates where they are: hashes go to home ranks in turns, and only
// nonzeros whose hash occurs twice are sent.
#include "interface/sparse/sparse_tensor_merge.hpp"

#include "base/splitmix.hpp"
#include "base/text.hpp"
#include "interface/sparse/sparse_tensor_exchange.hpp"
#include "interface/sparse/sparse_tensor_places.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace arges {

namespace {

/// The values of nonzeros while these change places.
class MovedValues {
public:
    explicit MovedValues(AnyNonzeros& nonzeros)
        : nonzeros_(nonzeros), data_(nonzeros.values.data()), bytes_(nonzeros.values.element_bytes()) {}
    std::byte* at(std::size_t i) const { return element_at(data_, i, bytes_); }
    void move(std::size_t from, std::size_t to) const {
        for (auto& column : nonzeros_.indices) column[to] = column[from];
        copy_element(at(to), at(from), bytes_);
    }
    /// Keeps the first nonzeros only.
    void shrink(std::size_t count) const {
        for (auto& column : nonzeros_.indices) column.resize(count);
        nonzeros_.values.resize(count);
    }

private:
    AnyNonzeros& nonzeros_;
    std::byte* data_;
    std::int64_t bytes_;
};

/// For each hash, 1 if another one of the list is equal.
std::vector<std::uint8_t> repeated(const std::vector<std::uint64_t>& hashes) {
    std::vector<std::uint8_t> flags(hashes.size(), 0);
    FirstPlaces table(hashes.size());
    visit_in_batches(
        hashes.size(), table, [&](std::size_t i) { return hashes[i]; },
        [&](std::size_t i, std::uint64_t hash) {
            const auto first = table.find(hash, i, [&](std::size_t j) { return hashes[j] == hash; });
            if (first != i) flags[first] = flags[i] = 1;
            return true;
        });
    return flags;
}

/// In so many turns hashes are looked at where a rank has so many nonzeros, so that not all hashes are in memory at once.
std::int64_t slices_for(std::int64_t count) { return count > 1 << 18 ? 4 : 1; }

/// Nonzeros of one turn, with some more for the differences between turns.
std::int64_t share_of_slice(std::int64_t count, std::int64_t slices) {
    return slices == 1 ? count : count / slices + count / (32 * slices) + 1024;
}

/// Appends the local places of those nonzeros whose hash occurs more than once over all ranks, among hashes that are equal to
/// `slice` modulo `slices`, a power of two. Collective.
void add_suspects(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, std::uint64_t slice, std::uint64_t slices,
                  std::vector<std::size_t>& result) {
    const std::size_t ranks = comm.size();
    std::vector<std::size_t> places;
    std::vector<std::int32_t> to;
    std::vector<std::uint64_t> hashes;
    std::vector<std::int32_t> from;
    comm.agree([&] {
        const std::size_t expected = share_of_slice(nonzeros.count(), slices);
        places.reserve(expected);
        to.reserve(expected);
        hashes.reserve(expected);
        for (std::int64_t i = 0; i < nonzeros.count(); ++i) {
            const auto hash = coordinate_hash(nonzeros.indices, i);
            if ((hash & (slices - 1)) != slice) continue;
            places.push_back(i);
            to.push_back(home_rank(hash, comm.size()));
            hashes.push_back(hash);
        }
        from.assign(to.size(), static_cast<std::int32_t>(comm.rank()));
    });
    hashes = route_column(comm, to, std::move(hashes));
    from = route_column(comm, to, std::move(from));
    std::vector<std::uint8_t> flags;
    comm.agree([&] { flags = repeated(hashes); });
    const auto answers = route_column(comm, from, std::move(flags));  // by home rank, each in the order of places
    comm.agree([&] {
        std::vector<std::size_t> next(ranks + 1, 0);
        for (auto r : to) ++next[r + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (std::size_t i = 0; i < places.size(); ++i)
            if (answers[next[to[i]]++] != 0) result.push_back(places[i]);
    });
}

/// The same for all hashes.
std::vector<std::size_t> suspects(const Communicator& comm, const sparse::NonzeroIndices& nonzeros) {
    const std::uint64_t slices = slices_for(comm.maximum(nonzeros.count()));
    std::vector<std::size_t> result;
    for (std::uint64_t slice = 0; slice < slices; ++slice) add_suspects(comm, nonzeros, slice, slices, result);
    return result;
}

/// Merges groups of equal coordinates by ascending number; gone[i] becomes 1 for a nonzero that is merged into another.
MergeReport judge(AnyNonzeros& x, const std::vector<std::int64_t>& numbers, const Join& join, std::vector<std::uint8_t>& gone) {
    std::vector<std::size_t> sequence(numbers.size());
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    std::sort(sequence.begin(), sequence.end(), [&](auto a, auto b) { return numbers[a] < numbers[b]; });
    gone.assign(numbers.size(), 0);
    const MovedValues values(x);
    MergeReport report;
    FirstPlaces table(sequence.size());
    const auto hash_of = [&](std::size_t k) { return coordinate_hash(x.indices, sequence[k]); };
    visit_in_batches(sequence.size(), table, hash_of, [&](std::size_t k, std::uint64_t hash) {
        const auto i = sequence[k];
        const auto keeper = table.find(hash, i, [&](std::size_t j) { return equal_coordinates(x, i, x, j); });
        if (keeper == i) return true;
        gone[i] = 1;
        ++report.duplicates;
        if (join) {
            join(values.at(keeper), values.at(i));
        } else if (report.second < 0) {
            report.first = numbers[keeper];
            report.second = numbers[i];
            report.where = coordinate(x, i);
        }
        return true;
    });
    return report;
}

/// The report with the lowest second number, and all duplicates, on every rank.
MergeReport combined(const Communicator& comm, MergeReport mine, std::size_t order) {
    const auto none = std::numeric_limits<std::int64_t>::max();
    const auto second = comm.minimum(mine.second < 0 ? none : mine.second);
    MergeReport report;
    report.duplicates = comm.sum(mine.duplicates);
    if (second == none) return report;
    const auto root = comm.minimum(mine.second == second ? comm.rank() : comm.size());
    mine.where.resize(order);
    mine.where.push_back(mine.first);
    comm.broadcast(mine.where.data(), static_cast<std::int64_t>(mine.where.size() * sizeof(std::int64_t)), root);
    report.second = second;
    report.first = mine.where.back();
    mine.where.pop_back();
    report.where = mine.where;
    return report;
}

/// Sets the values at places of this rank, and removes the nonzeros that are gone.
void execute(AnyNonzeros& nonzeros, const std::vector<std::int64_t>& places, AnyNonzeros& merged, const std::vector<std::uint8_t>& gone) {
    const MovedValues values(nonzeros), new_values(merged);
    std::vector<std::int64_t> removed;
    for (std::size_t i = 0; i < places.size(); ++i) {
        copy_element(values.at(places[i]), new_values.at(i), nonzeros.values.element_bytes());
        if (gone[i] != 0) removed.push_back(places[i]);
    }
    if (removed.empty()) return;
    std::sort(removed.begin(), removed.end());
    auto next = removed.begin();
    std::size_t kept = *next;
    for (auto i = kept, count = static_cast<std::size_t>(nonzeros.count()); i < count; ++i) {
        if (next != removed.end() && *next == static_cast<std::int64_t>(i))
            ++next;
        else
            values.move(i, kept++);
    }
    values.shrink(kept);
}

}  // namespace

std::vector<std::int64_t> coordinate(const sparse::NonzeroIndices& nonzeros, std::size_t i) {
    std::vector<std::int64_t> result;
    for (const auto& column : nonzeros.indices) result.push_back(column[i]);
    return result;
}

bool equal_coordinates(const sparse::NonzeroIndices& x, std::size_t i, const sparse::NonzeroIndices& y, std::size_t j) {
    for (std::size_t m = 0; m < x.indices.size(); ++m)
        if (x.indices[m][i] != y.indices[m][j]) return false;
    return true;
}

std::uint64_t coordinate_hash(const std::vector<std::vector<std::int64_t>>& indices, std::size_t nonzero) {
    std::uint64_t hash = 0;
    for (const auto& column : indices) hash = splitmix(hash + static_cast<std::uint64_t>(column[nonzero]));
    return hash;
}

std::vector<std::int32_t> home_ranks(const sparse::NonzeroIndices& nonzeros, std::int64_t ranks) {
    std::vector<std::int32_t> to(nonzeros.count(), 0);
    if (ranks > 1)
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = home_rank(coordinate_hash(nonzeros.indices, i), ranks);
    return to;
}

void check_policy(const ElementKernels& kernels, Duplicates duplicates, const std::string& title, bool in_file) {
    if (duplicates == Duplicates::mean && !in_file)
        throw InvalidArgument(title + ": Duplicates::mean is for files (read_sparse()), which are read at once; take the mean before");
    if (duplicates != Duplicates::refuse && duplicates != Duplicates::sum && duplicates != Duplicates::keep_first &&
        duplicates != Duplicates::keep_last && duplicates != Duplicates::mean)
        throw InvalidArgument(
            title + ": Duplicates(" + std::to_string(static_cast<int>(duplicates)) +
            ") is no policy; ask for Duplicates::refuse, Duplicates::sum, Duplicates::keep_first or Duplicates::keep_last");
    if (duplicates == Duplicates::sum && !kernels.has_sum)
        throw InvalidArgument(title + ": elements of type " + readable_type(kernels.name) +
                              " have no sum; ask for Duplicates::refuse, Duplicates::keep_first or Duplicates::keep_last");
}

Join join_for(const ElementKernels& kernels, Duplicates duplicates) {
    if (duplicates == Duplicates::refuse) return nullptr;
    if (duplicates == Duplicates::keep_first) return [](std::byte*, const std::byte*) {};
    if (duplicates == Duplicates::keep_last)
        return [&kernels](std::byte* kept, const std::byte* second) { copy_element(kept, second, kernels.size); };
    return [&kernels](std::byte* kept, const std::byte* second) {
        kernels.transfer_listed({.count = 1}, second, kept, nullptr, {.accumulate = true});
    };
}

MergeReport merge_local(AnyNonzeros& nonzeros, const Join& join) {
    MergeReport report;
    const std::size_t count = nonzeros.count();
    const MovedValues values(nonzeros);
    std::size_t kept = 0;
    FirstPlaces table(count);
    const auto hash_of = [&](std::size_t i) { return coordinate_hash(nonzeros.indices, i); };
    visit_in_batches(count, table, hash_of, [&](std::size_t i, std::uint64_t hash) {
        const auto first = table.find(hash, kept, [&](std::size_t j) { return equal_coordinates(nonzeros, i, nonzeros, j); });
        if (first == kept) {
            if (kept != i) values.move(i, kept);
            ++kept;
            return true;
        }
        ++report.duplicates;
        if (join) {
            join(values.at(first), values.at(i));
            return true;
        }
        ++kept;  // all stay where they are
        if (report.second >= 0) return true;
        report.first = first;
        report.second = i;
        report.where = coordinate(nonzeros, i);
        return true;
    });
    if (report.second < 0) values.shrink(kept);
    return report;
}

MergeReport merge_in_place(const Communicator& comm, AnyNonzeros& nonzeros, const Join& join, std::span<const std::int64_t> numbers) {
    if (comm.size() == 1) {
        auto report = merge_local(nonzeros, join);
        if (report.second < 0) return report;
        report.first = numbers[report.first];
        report.second = numbers[report.second];
        return report;
    }
    const auto places = suspects(comm, nonzeros);
    if (comm.sum(std::ssize(places)) == 0) return {};
    AnyNonzeros some;
    std::vector<std::int64_t> number, place;
    std::vector<std::int32_t> to, from;
    comm.agree([&] {
        some = selected(nonzeros, nonzeros.values, places);
        for (auto i : places) {
            number.push_back(numbers[i]);
            place.push_back(i);
        }
        to = home_ranks(some, comm.size());
        from.assign(to.size(), static_cast<std::int32_t>(comm.rank()));
    });
    some = route(comm, std::move(some), to);
    number = route_column(comm, to, std::move(number));
    place = route_column(comm, to, std::move(place));
    from = route_column(comm, to, std::move(from));
    std::vector<std::uint8_t> gone;
    MergeReport mine;
    comm.agree([&] { mine = judge(some, number, join, gone); });
    const auto report = combined(comm, std::move(mine), nonzeros.indices.size());
    if (report.second >= 0) return report;
    some.values = route_column(comm, from, std::move(some.values));
    place = route_column(comm, from, std::move(place));
    gone = route_column(comm, from, std::move(gone));
    comm.agree([&] { execute(nonzeros, place, some, gone); });
    return report;
}

MemoryTally merging_memory(std::int64_t ranks, int order, std::int64_t value_bytes, std::int64_t count, std::int64_t duplicates) {
    constexpr std::int64_t place = sizeof(std::size_t), rank = sizeof(std::int32_t), hash = sizeof(std::uint64_t), flag = 1;
    MemoryTally tally;
    if (ranks == 1) {
        tally.pass(FirstPlaces::bytes(count));
        return tally;
    }
    const auto share = share_of_slice(count, slices_for(count)), received = share + share / 32 + 1024;
    tally.hold(share * (place + 2 * rank + hash));
    tally.add(routing_memory(ranks, hash, share, received));
    tally.add(routing_memory(ranks, rank, share, received));
    tally.hold(received * flag);
    tally.pass(FirstPlaces::bytes(received));
    tally.add(routing_memory(ranks, flag, received, share));
    tally.hold(-tally.held());
    // What shares its coordinate, perhaps, is looked at once more, with its numbers, and in the worst case by one rank.
    const auto suspects = 2 * duplicates, nonzero = order * std::int64_t{sizeof(std::int64_t)} + value_bytes;
    tally.pass(suspects * (2 * place + 2 * (nonzero + 2 * place + 2 * rank) + 3 * place) + FirstPlaces::bytes(suspects));
    return tally;
}

std::string coordinate_text(const std::vector<std::int64_t>& coordinate, std::int64_t base) {
    std::string text;
    for (auto i : coordinate) text += (text.empty() ? "(" : ", ") + std::to_string(i + base);
    return text + ")";
}

}  // namespace arges
