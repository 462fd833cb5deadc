// Owners of factor rows in a layer: in equal numbers (irregularity-aware-cpd-2023, section 2.3), by SPLATT's greedy claims, or to the least
// loaded holder with a cap (HyperTensor's rule: hypertensor-sc15).
#include "partition/rows.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <span>

namespace arges::partition {

namespace {

void check(const LayerRows& layer, double excess) {
    if (layer.held.empty()) throw InvalidArgument("a layer without ranks cannot own rows; give at least one rank");
    if (!(excess >= 0)) throw InvalidArgument("the excess of rows " + std::to_string(excess) + " is not a number of at least 0");
    for (const auto& held : layer.held)
        for (std::size_t i = 0; i < held.size(); ++i)
            if (held[i] < (i == 0 ? layer.begin : held[i - 1] + 1) || held[i] >= layer.end)
                throw InvalidArgument("held row " + std::to_string(held[i]) + " is not above the one before in the layer of rows " +
                                      std::to_string(layer.begin) + " to " + std::to_string(layer.end - 1));
}

/// Merges the ascending lists of the ranks.
RowHolders merged(const LayerRows& layer) {
    using Next = std::pair<std::int64_t, int>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> heads;
    std::vector<std::size_t> at(layer.held.size(), 0);
    RowHolders result{layer.begin, layer.end, std::ssize(layer.held), {}, {0}, {}};
    for (std::size_t q = 0; q < layer.held.size(); ++q)
        if (!layer.held[q].empty()) heads.emplace(layer.held[q][0], static_cast<int>(q));
    while (!heads.empty()) {
        const auto row = heads.top().first;
        result.rows.push_back(row);
        while (!heads.empty() && heads.top().first == row) {
            const auto rank = heads.top().second;
            heads.pop();
            result.holders.push_back(rank);
            const std::size_t q = rank;
            if (++at[q] < layer.held[q].size()) heads.emplace(layer.held[q][at[q]], rank);
        }
        result.start.push_back(std::ssize(result.holders));
    }
    return result;
}

std::span<const int> holders_of(const RowHolders& layer, std::size_t row) {
    return std::span(layer.holders).subspan(layer.start[row], layer.connectivity(row));
}

/// Numbers by rank; finds the first least one of a prefix in logarithmic time.
class LeastLoaded {
public:
    explicit LeastLoaded(const std::vector<std::int64_t>& loads) : ranks_(loads.size()), tree_(2 * loads.size()) {
        for (std::size_t q = 0; q < ranks_; ++q) tree_[ranks_ + q] = {loads[q], static_cast<int>(q)};
        for (auto node = ranks_; node-- > 1;) tree_[node] = std::min(tree_[2 * node], tree_[2 * node + 1]);
    }
    std::int64_t operator[](int rank) const { return tree_[ranks_ + static_cast<std::size_t>(rank)].first; }
    void add(int rank, std::int64_t amount) {
        auto node = ranks_ + static_cast<std::size_t>(rank);
        tree_[node].first += amount;
        for (node /= 2; node >= 1; node /= 2) tree_[node] = std::min(tree_[2 * node], tree_[2 * node + 1]);
    }
    /// The first of the ranks below `end` with the least number, for end >= 1.
    int first_least(int end) const {
        auto least = tree_[ranks_];
        for (auto low = ranks_, high = ranks_ + static_cast<std::size_t>(end); low < high; low /= 2, high /= 2) {
            if (low % 2 == 1) least = std::min(least, tree_[low++]);
            if (high % 2 == 1) least = std::min(least, tree_[--high]);
        }
        return least.second;
    }
    int first_least() const { return first_least(ranks_); }

private:
    std::size_t ranks_;
    std::vector<std::pair<std::int64_t, int>> tree_;  // node's children: 2 node, 2 node + 1
};

std::vector<int> even_owners(const RowHolders& layer) {
    const auto length = layer.end - layer.begin;
    std::vector<int> owner;
    owner.reserve(layer.rows.size());
    std::int64_t q = 0;
    for (auto row : layer.rows) {
        while (static_cast<std::int64_t>(Wide{q + 1} * length / layer.ranks) <= row - layer.begin) ++q;
        owner.push_back(q);
    }
    return owner;
}

constexpr int unclaimed = -1;

/// SPLATT's claims (mpi_mat_distribute.c), one job after the other.
class Claims {
public:
    explicit Claims(const RowHolders& layer)
        : ranks_(layer.ranks), owner_(layer.rows.size(), unclaimed), held_(shared_rows(layer)), next_(held_.size(), 0),
          shared_(sizes(held_)) {
        for (std::size_t row = 0; row < owner_.size(); ++row) {
            if (layer.connectivity(row) == 1)
                owner_[row] = holders_of(layer, row)[0];
            else
                ++left_;
        }
    }

    std::vector<int> owners() {
        bool must_claim = false;
        for (int last = 0; left_ > 0;) {
            const auto [rank, size] = job_after(last);
            auto claimed = claim_held(rank, size);
            if (must_claim) claimed += claim_any(rank, size - claimed);
            shared_.add(rank, claimed);
            left_ -= claimed;
            must_claim = claimed == 0;
            last = rank;
        }
        return std::move(owner_);
    }

private:
    using Lists = std::vector<std::vector<std::size_t>>;

    /// By rank, the rows that it shares with others.
    static Lists shared_rows(const RowHolders& layer) {
        Lists lists(layer.ranks);
        for (std::size_t row = 0; row < layer.rows.size(); ++row)
            if (layer.connectivity(row) > 1)
                for (int rank : holders_of(layer, row)) lists[rank].push_back(row);
        return lists;
    }
    static std::vector<std::int64_t> sizes(const Lists& lists) {
        std::vector<std::int64_t> result;
        for (const auto& list : lists) result.push_back(std::ssize(list));
        return result;
    }

    /// The rank with the least shared rows, and how many more the next one has. SPLATT finds both in one scan over the ranks that
    /// starts from the two after the last: the next one is the least of those in front of the rank.
    std::pair<int, std::int64_t> job_after(int last) const {
        const int start = (last + 1) % ranks_;
        int rank = shared_.first_least(), next = start;
        if (shared_[rank] == shared_[start]) {
            rank = start;
            next = (last + 2) % ranks_;
        } else if (rank > 0) {
            const int before = shared_.first_least(rank);
            if (shared_[before] < shared_[start]) next = before;
        }
        const auto size = std::min(shared_[next] - shared_[rank], left_);
        return {rank, size > 0 ? size : std::max<std::int64_t>(left_ / ranks_, 1)};
    }

    std::int64_t claim_held(int rank, std::int64_t size) {
        const auto& rows = held_[rank];
        auto& at = next_[rank];
        std::int64_t claimed = 0;
        for (; claimed < size && at < rows.size(); ++at) claimed += claim(rank, rows[at]);
        return claimed;
    }
    std::int64_t claim_any(int rank, std::int64_t size) {
        std::int64_t claimed = 0;
        for (; claimed < size && next_of_all_ < owner_.size(); ++next_of_all_) claimed += claim(rank, next_of_all_);
        return claimed;
    }
    int claim(int rank, std::size_t row) {
        if (owner_[row] != unclaimed) return 0;
        owner_[row] = rank;
        return 1;
    }

    int ranks_;
    std::vector<int> owner_;
    Lists held_;
    std::vector<std::size_t> next_;  // by rank: rows in its list before are claimed
    std::size_t next_of_all_ = 0;    // rows before are claimed
    std::int64_t left_ = 0;
    LeastLoaded shared_;
};

/// Rows by increasing number of holders, then ascending.
std::vector<std::size_t> by_connectivity(const RowHolders& layer) {
    std::vector<std::size_t> next(static_cast<std::size_t>(layer.ranks) + 2, 0), order(layer.rows.size());
    const auto holders = [&](std::size_t row) { return static_cast<std::size_t>(layer.connectivity(row)); };
    for (std::size_t row = 0; row < order.size(); ++row) ++next[holders(row) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t row = 0; row < order.size(); ++row) order[next[holders(row)]++] = row;
    return order;
}

std::vector<int> holder_owners(const RowHolders& layer, double excess) {
    const auto rows = layer.rows.size();
    const double mean = static_cast<double>(rows) / layer.ranks;
    const auto cap = static_cast<std::int64_t>(std::min(std::ceil((1 + excess) * mean), static_cast<double>(rows)));
    LeastLoaded load(std::vector<std::int64_t>(layer.ranks, 0));
    std::vector<int> owner(rows, unclaimed);
    const auto give = [&](std::size_t row, int rank) {
        owner[row] = rank;
        load.add(rank, 1);
    };
    std::vector<std::size_t> spilled;
    for (auto row : by_connectivity(layer)) {
        const auto holders = holders_of(layer, row);
        const auto emptier = [&](int a, int b) { return std::pair(load[a], a) < std::pair(load[b], b); };
        const int rank = *std::min_element(holders.begin(), holders.end(), emptier);
        if (load[rank] < cap)
            give(row, rank);
        else
            spilled.push_back(row);
    }
    for (auto row : spilled) give(row, load.first_least());
    return owner;
}

}  // namespace

std::string to_string(RowRule rule) {
    switch (rule) {
    case RowRule::even: return "even";
    case RowRule::claim: return "claim";
    case RowRule::holders: break;
    }
    return "holders";
}

RowRule parse_row_rule(const std::string& text) {
    for (auto rule : {RowRule::even, RowRule::claim, RowRule::holders})
        if (text == to_string(rule)) return rule;
    throw InvalidArgument("row rule '" + text + "' is not known; there are even, claim and holders");
}

std::vector<int> owners_of_rows(const RowHolders& layer, RowRule rule, double excess) {
    switch (rule) {
    case RowRule::even: return even_owners(layer);
    case RowRule::claim: return Claims(layer).owners();
    case RowRule::holders: break;
    }
    return holder_owners(layer, excess);
}

RowOwners assign_rows(const LayerRows& layer, RowRule rule, double excess) {
    check(layer, excess);
    auto held = merged(layer);
    auto owner = owners_of_rows(held, rule, excess);
    return {std::move(held.rows), std::move(owner)};
}

}  // namespace arges::partition
