#include "execute/sparse_match.hpp"

#include "base/splitmix.hpp"
#include "comm/values.hpp"
#include "redistribute/movement_run.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace arges {

namespace {

constexpr std::int64_t sampled_nonzeros = 4096, sampled_rows = 96;
/// Buckets that the columns of a row are counted in.
constexpr std::uint32_t buckets = std::uint32_t{1} << 15U;
/// Nonzeros of the first factor in the rows that are compared, at most.
constexpr std::int64_t most_pairs = std::int64_t{1} << 18;

std::int64_t count_of(const SampledFactor& factor) {
    for (const auto* columns : {&factor.shared, &factor.output})
        if (!columns->empty()) return std::ssize(columns->front());
    return 0;
}

std::uint64_t hash_of(const IndexSpans& columns, std::size_t k, std::uint64_t hash = 0) {
    for (const auto& column : columns) hash = splitmix(hash ^ static_cast<std::uint64_t>(column[k]));
    return hash;
}

/// Says quickly that most hashes are not there.
class HashFilter {
public:
    void add(std::uint64_t hash) { words_[word(hash)] |= bit(hash); }
    bool may_have(std::uint64_t hash) const { return (words_[word(hash)] & bit(hash)) != 0; }

private:
    static constexpr std::size_t size = std::size_t{1} << 13U;
    static std::size_t word(std::uint64_t hash) { return static_cast<std::size_t>(hash >> 6U) % size; }
    static std::uint64_t bit(std::uint64_t hash) { return std::uint64_t{1} << (hash & 63U); }
    std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(size, 0);
};

template <class V>
std::vector<V> all(const Communicator* comm, const std::vector<V>& mine) {
    return comm == nullptr ? mine : gathered(*comm, mine);
}

/// Hashes of what `columns` say for about `wanted` evenly spaced nonzeros of all ranks.
std::vector<std::uint64_t> evenly_spaced(const Communicator* comm, const IndexSpans& columns, std::int64_t count, std::int64_t total,
                                         std::int64_t wanted) {
    std::vector<std::uint64_t> mine;
    agree(comm, [&] {
        // With a place of its own for each sample, so that parts of any size have their share.
        const double step = std::max(1.0, static_cast<double>(total) / wanted);
        const auto rank = comm == nullptr ? std::int64_t{0} : comm->rank();
        for (double at = step * unit_interval(splitmix(static_cast<std::uint64_t>(rank))); at < static_cast<double>(count); at += step)
            mine.push_back(hash_of(columns, static_cast<std::size_t>(at)));
    });
    return all(comm, mine);
}

struct Pair {
    std::uint64_t row, key;
};

/// Different (row, column) pairs of the rows of `a` that were drawn.
class RowCounter {
public:
    RowCounter(const Communicator* comm, const SampledFactor& a, const SampledFactor& b, const std::vector<std::uint64_t>& rows)
        : comm_(comm), b_(b), rows_(rows) {
        std::sort(rows_.begin(), rows_.end());
        rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
        is_possible_ = find_keys(a);
        if (is_possible_) count_columns();
    }
    /// False where rows are too long to be compared.
    bool is_possible() const { return is_possible_; }
    /// Nonzeros of the result for a nonzero of the first factor, in a row.
    double for_each_nonzero(std::uint64_t row) const { return columns_[place(row)] / std::max(1.0, lengths_[place(row)]); }

private:
    /// A key of the second factor's rows, and the drawn rows that have it.
    struct Key {
        std::vector<std::uint32_t> rows;
        std::int64_t count = 0;  ///< nonzeros of the second factor
    };
    std::size_t place(std::uint64_t row) const { return std::lower_bound(rows_.begin(), rows_.end(), row) - rows_.begin(); }
    bool find_keys(const SampledFactor& a) {
        std::vector<Pair> mine;
        agree(comm_, [&] {
            HashFilter filter;
            for (auto row : rows_) filter.add(row);
            for (std::int64_t k = 0; k < count_of(a); ++k) {
                const auto row = hash_of(a.output, k, hash_of(a.common, k));
                if (filter.may_have(row) && std::binary_search(rows_.begin(), rows_.end(), row))
                    mine.push_back({row, hash_of(a.shared, k)});
                if (std::ssize(mine) > most_pairs) return;
            }
        });
        auto total = std::ssize(mine);
        if (comm_ != nullptr) comm_->sum(&total, 1);
        if (total > most_pairs) return false;
        lengths_.assign(rows_.size(), 0);
        for (const auto& [row, key] : all(comm_, mine)) {
            const auto r = place(row);
            lengths_[r] += 1;
            const auto [known, is_new] = places_.emplace(key, keys_.size());
            if (is_new) keys_.emplace_back();
            keys_[known->second].rows.push_back(r);
            filter_.add(key);
        }
        return true;
    }
    template <class F>
    void for_each_nonzero_of_b(F&& f) {
        for (std::int64_t k = 0; k < count_of(b_); ++k) {
            const auto key = hash_of(b_.shared, k);
            if (!filter_.may_have(key)) continue;
            if (const auto known = places_.find(key); known != places_.end()) f(k, keys_[known->second]);
        }
    }
    /// Of each row those columns that a hash chooses, so that a row has few enough for its buckets.
    void count_columns() {
        for_each_nonzero_of_b([](std::size_t, Key& key) { ++key.count; });
        std::vector<std::int64_t> counts;
        for (const auto& key : keys_) counts.push_back(key.count);
        if (comm_ != nullptr) comm_->sum(counts.data(), std::ssize(counts));
        std::vector<double> part(rows_.size(), 0);  // first the multiplications of a row
        for (std::size_t n = 0; n < keys_.size(); ++n)
            for (auto r : keys_[n].rows) part[r] += static_cast<double>(counts[n]);
        for (auto& products : part) products = std::min(1.0, 0.5 * buckets / std::max(1.0, products));
        for (auto& key : keys_) std::sort(key.rows.begin(), key.rows.end(), [&](auto r, auto s) { return part[r] > part[s]; });
        std::vector<std::uint32_t> mine;
        agree(comm_, [&] {
            for_each_nonzero_of_b([&](std::size_t k, const Key& key) {
                const auto column = splitmix(hash_of(b_.output, k, hash_of(b_.common, k)) + 1);
                const auto chosen = unit_interval(splitmix(column));
                for (auto r : key.rows) {
                    if (chosen >= part[r]) break;
                    mine.push_back(r * buckets + static_cast<std::uint32_t>(column % buckets));
                }
            });
            std::sort(mine.begin(), mine.end());
            mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
        });
        auto found = all(comm_, mine);
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        columns_.assign(rows_.size(), 0);
        for (auto bucket : found) columns_[bucket / buckets] += 1;
        for (std::size_t r = 0; r < rows_.size(); ++r)  // several columns share a bucket
            columns_[r] = -static_cast<double>(buckets) * std::log1p(-std::min(columns_[r], buckets - 1.0) / buckets) / part[r];
    }

    const Communicator* comm_;
    const SampledFactor& b_;
    std::vector<std::uint64_t> rows_;  // hashes, ascending
    std::unordered_map<std::uint64_t, std::size_t> places_;
    std::vector<Key> keys_;
    HashFilter filter_;
    std::vector<double> lengths_, columns_;  // by row
    bool is_possible_ = false;
};

}  // namespace

std::int64_t sample_bytes(std::int64_t nonzeros_of_a, std::int64_t nonzeros_of_b) {
    // A sample and its place; a pair, again from all ranks, its key with the rows that have it, and the key's place.
    constexpr std::int64_t of_sample = 64, of_pair = 2 * sizeof(Pair) + 40 + 64 + 64;
    // Columns of drawn rows, of this rank and of all: half of the buckets at most are filled, each while it is sorted.
    const auto products = static_cast<double>(std::min(most_pairs, nonzeros_of_a)) * nonzeros_of_b;
    const auto columns = static_cast<std::int64_t>(std::min(products, 0.5 * static_cast<double>(buckets) * sampled_rows));
    return 4 * std::int64_t{sizeof(std::uint64_t)} * (std::int64_t{1} << 13U) + sampled_nonzeros * of_sample +
           std::min(most_pairs, nonzeros_of_a) * of_pair + columns * std::int64_t{4 * sizeof(std::uint32_t)};
}

ProductCounts sample_product(const Communicator* comm, const SampledFactor& a, const SampledFactor& b) {
    const auto of_a = count_of(a), of_b = count_of(b);
    std::int64_t totals[] = {of_a, of_b};
    if (comm != nullptr) comm->sum(totals, 2);
    ProductCounts result;
    if (totals[0] == 0 || totals[1] == 0) return result;
    const auto keys = evenly_spaced(comm, a.shared, of_a, totals[0], sampled_nonzeros);
    std::unordered_map<std::uint64_t, double> times;
    HashFilter filter;
    for (auto key : keys) {
        times[key] += 1;
        filter.add(key);
    }
    double met = 0;
    for (std::int64_t k = 0; k < of_b; ++k) {
        const auto key = hash_of(b.shared, k);
        if (!filter.may_have(key)) continue;
        if (const auto known = times.find(key); known != times.end()) met += known->second;
    }
    if (comm != nullptr) comm->sum(&met, 1);
    if (keys.empty()) return result;
    result.products = met * static_cast<double>(totals[0]) / keys.size();
    IndexSpans row = a.common;
    row.insert(row.end(), a.output.begin(), a.output.end());
    const auto rows = evenly_spaced(comm, row, of_a, totals[0], sampled_rows);
    const RowCounter counter(comm, a, b, rows);
    if (!counter.is_possible()) return result;
    double sum = 0;
    for (auto r : rows) sum += counter.for_each_nonzero(r);
    if (!rows.empty()) result.nonzeros = std::min(result.products, sum * static_cast<double>(totals[0]) / rows.size());
    return result;
}

}  // namespace arges
