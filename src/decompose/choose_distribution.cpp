#include "decompose/choose_distribution.hpp"

#include "arges/error.hpp"
#include "base/splitmix.hpp"
#include "decompose/slice_counts.hpp"
#include "partition/choose.hpp"
#include "partition/hmetis.hpp"
#include "partition/hypergraph_models.hpp"
#include "partition/partition_hypergraph.hpp"

#include <algorithm>
#include <fstream>

namespace arges::decompose {

namespace {

/// Nonzeros up to which rank 0 looks at all of them to choose.
constexpr std::int64_t max_counted = std::int64_t{1} << 25;
constexpr double hypergraph_imbalance = 0.05;

void broadcast(const Communicator& comm, std::string& text) {
    auto size = static_cast<std::int64_t>(text.size());
    comm.broadcast(&size, sizeof size, 0);
    text.resize(static_cast<std::size_t>(size));
    comm.broadcast(text.data(), size, 0);
}

template <class V>
void broadcast(const Communicator& comm, std::vector<V>& values) {
    auto size = static_cast<std::int64_t>(values.size());
    comm.broadcast(&size, sizeof size, 0);
    values.resize(static_cast<std::size_t>(size));
    comm.broadcast(values.data(), size * static_cast<std::int64_t>(sizeof(V)), 0);
}

partition::IndexView view_of(const std::vector<std::int64_t>& lengths, const std::vector<std::vector<std::int64_t>>& indices) {
    partition::IndexView view{lengths, {}};
    for (const auto& list : indices) view.indices.emplace_back(list);
    return view;
}

/// Chooses for one kind of distribution.
template <class T>
class Chooser {
public:
    Chooser(const Communicator& comm, const sparse::Nonzeros<T>& nonzeros, const DistributionRequest& request)
        : comm_(comm), nonzeros_(nonzeros), request_(request), count_(comm.sum(nonzeros.count())) {}

    ChosenDistribution choose() {
        comm_.agree([&] { check(); });
        chosen_.plan.row_rule = partition::parse_row_rule(request_.rows);
        chosen_.rows = partition::to_string(chosen_.plan.row_rule);
        const auto& kind = request_.distribution;
        chosen_.distribution = kind == "auto" ? "medium" : kind;
        if (kind.starts_with("coarse"))
            choose_coarse();
        else if (kind.starts_with("fine"))
            choose_fine();
        else
            choose_medium_grain();
        return std::move(chosen_);
    }

private:
    void check() const {
        constexpr std::array kinds{"auto", "medium", "coarse", "coarse-allgather", "coarse-hypergraph", "fine", "fine-hypergraph"};
        if (std::find(kinds.begin(), kinds.end(), request_.distribution) == kinds.end())
            throw InvalidArgument("there is no distribution \"" + request_.distribution +
                                  "\"; choose auto, medium, coarse, coarse-allgather, coarse-hypergraph, fine or fine-hypergraph");
        const bool medium = request_.distribution == "auto" || request_.distribution == "medium";
        if (!medium && !(request_.grid.empty() && request_.policy.empty()))
            throw InvalidArgument("a grid and a policy are for the medium distribution, not for " + request_.distribution);
        if (!request_.partition_file.empty() && request_.distribution != "fine")
            throw InvalidArgument("a partition file is for the fine distribution, not for " + request_.distribution);
        partition::parse_row_rule(request_.rows);
        if (!request_.policy.empty()) partition::parse_layer_rule(request_.policy);
        if (has_given_grid()) {
            const auto grid = partition::parse_grid(request_.grid, nonzeros_.order());
            if (partition::ranks(grid) != comm_.size())
                throw InvalidArgument("the grid " + request_.grid + " holds " + std::to_string(partition::ranks(grid)) + " ranks, but there are " +
                                      std::to_string(comm_.size()) + "; the numbers must multiply to that");
        }
    }

    bool has_given_grid() const {
        return !request_.grid.empty() && request_.grid != "best" && request_.grid != "greedy" && request_.grid != "predicted";
    }

    void choose_medium_grain() {
        auto grid = request_.grid, policy = request_.policy;
        if (grid == "greedy" || (count_ > max_counted && (grid.empty() || grid == "best")))
            grid = partition::to_string(partition::greedy_grid(comm_.size(), nonzeros_.lengths));
        else if (grid == "predicted")
            grid = partition::to_string(partition::predicted_grid(comm_.size(), nonzeros_.lengths, [&](int mode, std::int64_t layers) {
                const auto m = static_cast<std::size_t>(mode);
                return count_equal_layers(comm_, nonzeros_.lengths[m], layers, nonzeros_.indices[m]);
            }));
        if (grid == "best") grid.clear();
        if (policy.empty() && (count_ > max_counted || comm_.size() == 1)) policy = "nnz";
        if (grid.empty() && comm_.size() == 1) grid = partition::to_string(partition::Grid(nonzeros_.lengths.size(), 1));
        if (grid.empty() || policy.empty()) find_best(grid, policy);
        chosen_.grid = grid;
        chosen_.policy = policy;
        auto& plan = chosen_.plan;
        plan.grain = Grain::medium;
        plan.grid = partition::parse_grid(grid, nonzeros_.order());
        const auto rule = partition::parse_layer_rule(policy);
        for (std::size_t m = 0; m < nonzeros_.lengths.size(); ++m)
            plan.boundaries.push_back(cut_layers(comm_, rule, nonzeros_.lengths[m], plan.grid[m], nonzeros_.indices[m]));
    }

    /// The best grid and policy of those that agree with what is given.
    void find_best(std::string& grid, std::string& policy) {
        auto indices = gather_indices(comm_, nonzeros_);
        comm_.agree([&] {
            if (comm_.rank() != 0) return;
            const partition::SliceTable table(view_of(nonzeros_.lengths, indices));
            indices = {};  // the table has all that is counted
            partition::ChoiceOptions options;
            options.rows = chosen_.plan.row_rule;
            options.costs.bytes_per_element = sizeof(T);
            for (const auto& choice : partition::choose_medium(table, comm_.size(), request_.columns, options)) {
                const auto its_grid = partition::to_string(choice.distribution.grid), its_policy = partition::to_string(choice.distribution.layers);
                if ((!grid.empty() && grid != its_grid) || (!policy.empty() && policy != its_policy)) continue;
                grid = its_grid;
                policy = its_policy;
                break;
            }
            // What is given may be no candidate of its own, as a policy that cuts the same layers as another one.
            if (grid.empty()) grid = partition::to_string(partition::greedy_grid(comm_.size(), nonzeros_.lengths));
            if (policy.empty()) policy = "nnz";
        });
        broadcast(comm_, grid);
        broadcast(comm_, policy);
    }

    void choose_coarse() {
        auto& plan = chosen_.plan;
        plan.grain = Grain::coarse;
        plan.rows_everywhere = request_.distribution == "coarse-allgather";
        if (request_.distribution == "coarse-hypergraph") {
            find_slice_owners();
            return;
        }
        for (std::size_t m = 0; m < nonzeros_.lengths.size(); ++m)
            plan.boundaries.push_back(cut_layers(comm_, {}, nonzeros_.lengths[m], comm_.size(), nonzeros_.indices[m]));
    }

    void find_slice_owners() {
        const auto indices = gather_indices(comm_, nonzeros_);
        auto& owners = chosen_.plan.owners;
        owners.resize(nonzeros_.lengths.size());
        comm_.agree([&] {
            if (comm_.rank() != 0) return;
            const auto view = view_of(nonzeros_.lengths, indices);
            const auto rows = partition::nonempty_rows(view);
            const auto parts = partition::partition_hypergraph(partition::coarse_grain_hypergraph(view, rows), comm_.size(), partition_options());
            for (std::size_t m = 0; m < owners.size(); ++m)
                owners[m] = {rows.rows[m], {parts.begin() + rows.first[m], parts.begin() + rows.first[m + 1]}};
        });
        for (auto& mode : owners) {
            broadcast(comm_, mode.slices);
            broadcast(comm_, mode.owner);
        }
    }

    partition::PartitionOptions partition_options() const {
        partition::PartitionOptions options;
        options.imbalance = hypergraph_imbalance;
        options.seed = request_.seed;
        return options;
    }

    void choose_fine() {
        chosen_.plan.grain = Grain::fine;
        if (request_.distribution == "fine-hypergraph" || !request_.partition_file.empty())
            parts_from_rank_0();
        else
            random_parts();
    }

    /// A hash of the indices: the same on any number of ranks that have the nonzeros before.
    void random_parts() {
        for (std::size_t x = 0; x < nonzeros_.values.size(); ++x) {
            auto hash = splitmix(request_.seed);
            for (const auto& indices : nonzeros_.indices) hash = splitmix(hash ^ static_cast<std::uint64_t>(indices[x]));
            chosen_.plan.parts.push_back(static_cast<std::int32_t>(hash % static_cast<std::uint64_t>(comm_.size())));
        }
    }

    void parts_from_rank_0() {
        const bool from_file = !request_.partition_file.empty();
        const auto indices = from_file ? std::vector<std::vector<std::int64_t>>() : gather_indices(comm_, nonzeros_);
        std::vector<std::int32_t> parts;
        comm_.agree([&] {
            if (comm_.rank() != 0) return;
            if (from_file) {
                std::ifstream file(request_.partition_file);
                if (!file) throw InvalidArgument(request_.partition_file + " cannot be read; give the name of a partition file");
                parts = partition::read_partition(file, request_.partition_file, count_, comm_.size());
            } else {
                const auto view = view_of(nonzeros_.lengths, indices);
                parts = partition::partition_hypergraph(partition::fine_grain_hypergraph(view, partition::nonempty_rows(view)), comm_.size(),
                                                        partition_options());
            }
        });
        // Rank r's nonzeros follow those of the ranks before.
        const auto counts = from_bytes<std::int64_t>(comm_.all_gather(to_bytes(std::vector<std::int64_t>{nonzeros_.count()})));
        std::vector<std::vector<std::byte>> outgoing(static_cast<std::size_t>(comm_.size()));
        auto at = parts.begin();
        for (std::size_t r = 0; r < outgoing.size() && comm_.rank() == 0; ++r) {
            outgoing[r] = to_bytes(std::vector<std::int32_t>(at, at + counts[r]));
            at += counts[r];
        }
        chosen_.plan.parts = from_bytes<std::int32_t>(comm_.all_to_all(outgoing)[0]);
    }

    const Communicator& comm_;
    const sparse::Nonzeros<T>& nonzeros_;
    const DistributionRequest& request_;
    std::int64_t count_;
    ChosenDistribution chosen_;
};

}  // namespace

template <class T>
std::vector<std::vector<std::int64_t>> gather_indices(const Communicator& comm, const sparse::Nonzeros<T>& nonzeros) {
    std::vector<std::vector<std::int64_t>> result;
    for (const auto& indices : nonzeros.indices) result.push_back(from_bytes<std::int64_t>(comm.gather(to_bytes(indices), 0)));
    return result;
}

template <class T>
ChosenDistribution choose_distribution(const Communicator& comm, const sparse::Nonzeros<T>& nonzeros, const DistributionRequest& request) {
    return Chooser<T>(comm, nonzeros, request).choose();
}

#define ARGES_INSTANTIATE(T)                                                                                                   \
    template std::vector<std::vector<std::int64_t>> gather_indices(const Communicator&, const sparse::Nonzeros<T>&);           \
    template ChosenDistribution choose_distribution(const Communicator&, const sparse::Nonzeros<T>&, const DistributionRequest&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)

}  // namespace arges::decompose
