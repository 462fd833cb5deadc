// An evaluation of the closed-shell CCSD residuals, and sweeps of CP-ALS.
#include "base/splitmix.hpp"
#include "decompose/distribution/choose_distribution.hpp"
#include "decompose/distribution/slice_counts.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/world/world_state.hpp"
#include "partition/choose.hpp"
#include "partition/tensor_part.hpp"
#include "random_hamiltonian.hpp"
#include "scaling_case.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace bench {

namespace {

using arges::World;

constexpr int components = 16, sweeps = 3;

/// Three virtual orbitals for each occupied one; the integrals over virtual orbitals are the largest tensor.
Outcome run_rccsd(const World& world, const Setting& setting) {
    using namespace arges::chemistry;
    const auto integrals_of = [](std::int64_t o) {
        const double pairs = static_cast<double>(4 * o) * static_cast<double>(4 * o + 1) / 2;
        return pairs * (pairs + 1) / 2;
    };
    const auto occupied = extent_for(setting, 2, integrals_of), virtuals = 3 * occupied;
    const auto data = random_hamiltonian(world, occupied, virtuals);
    const auto integrals = build_spatial_integrals(data, build_reference(data, "random numbers"), IntegralSet::coupled_cluster);
    const auto t = random_amplitudes(integrals);
    auto outcome = timed(world, setting, [&] { rccsd_residuals(integrals, t); });
    outcome.size = "o=" + std::to_string(occupied) + " v=" + std::to_string(virtuals);
    outcome.work = ladder_flops(occupied, virtuals) / 2 + 9 * ring_flops(occupied, virtuals);
    return outcome;
}

struct Sweeps {
    Outcome outcome;
    std::optional<arges::CpResult<double>> last;
};

/// The median over several decompositions; the first one is the warm-up. Bytes are those of the last sweep.
template <class TensorType>
Sweeps timed_sweeps(const World& world, const Setting& setting, const TensorType& X) {
    arges::CpOptions options;
    options.rank = components;
    options.max_iterations = sweeps;
    options.tolerance = 0;
    Sweeps timed;
    auto& outcome = timed.outcome;
    std::vector<double> seconds;
    for (int run = 0; run <= setting.repetitions; ++run) {
        auto before = world.state()->communicator().traffic(), after = before;
        auto result = cp_decompose(X, options, [&](const arges::CpIteration&, const std::function<arges::CpModel<double>()>&) {
            before = after;
            after = world.state()->communicator().traffic();
        });
        (run == 0 ? outcome.first : seconds.emplace_back()) = largest(world, result.seconds_per_iteration);
        outcome.sent = sum(world, static_cast<double>(after.bytes_sent - before.bytes_sent));
        outcome.messages = sum(world, static_cast<double>(after.messages_sent - before.messages_sent));
        timed.last = std::move(result);
    }
    std::sort(seconds.begin(), seconds.end());
    outcome.seconds = seconds[seconds.size() / 2];
    return timed;
}

/// A sweep is two products of the tensor with a Khatri-Rao product.
Outcome run_dense_cp(const World& world, const Setting& setting) {
    const auto n = extent_for(setting, 2, [](std::int64_t extent) { return std::pow(static_cast<double>(extent), 3); });
    arges::Tensor<double> X(world, {n, n, n}, "X");
    X.fill_random(3, 0, 1);
    auto [outcome, last] = timed_sweeps(world, setting, X);
    const auto ranks = static_cast<double>(world.size()), size = static_cast<double>(n);
    const auto& machine = world.state()->machine();
    const double products = size * size * size * components, read = size * size * size + 2 * size * size * components;
    const auto busiest = static_cast<double>(last->planned_bytes_max);
    outcome.size = "n=" + std::to_string(n) + " R=" + std::to_string(components);
    outcome.work = 4 * products;
    outcome.predicted = 2 * machine.product_seconds(products / ranks, read / ranks, 2) + busiest / machine.bytes_per_second;
    outcome.sent = static_cast<double>(last->sent_bytes_max) * ranks;
    outcome.planned = busiest * ranks;
    outcome.ranks_not_as_planned = last->sent_bytes_max == last->planned_bytes_max ? 0 : world.size();
    return outcome;
}

/// Nonzeros whose indices are more often small, as those of data are; the same tensor on any number of ranks.
arges::SparseTensor<double> random_nonzeros(const World& world, std::int64_t count, std::int64_t length) {
    arges::SparseEntries<double> mine;
    mine.indices.resize(3);
    for (auto i = world.rank(); i < count; i += world.size()) {
        for (std::size_t m = 0; m < mine.indices.size(); ++m) {
            const double u = arges::unit_interval(arges::splitmix(3 * static_cast<std::uint64_t>(i) + m));
            mine.indices[m].push_back(static_cast<std::int64_t>(u * u * static_cast<double>(length)));
        }
        mine.values.push_back(arges::unit_interval(arges::splitmix(~static_cast<std::uint64_t>(i))));
    }
    return arges::SparseTensor<double>::from_entries(world, {length, length, length}, mine);
}

/// Work is counted in nonzeros times components times modes.
Outcome run_sparse_cp(const World& world, const Setting& setting) {
    const auto wanted = static_cast<std::int64_t>(setting.total_words()), length = std::max<std::int64_t>(2, wanted / 16);
    const auto X = random_nonzeros(world, wanted, length);
    auto [outcome, last] = timed_sweeps(world, setting, X);
    outcome.size = "nnz=" + std::to_string(X.nonzeros()) + " R=" + std::to_string(components);
    outcome.unit = "nonzero";
    outcome.work = 3.0 * components * static_cast<double>(X.nonzeros());
    outcome.planned = static_cast<double>(last->volume_rows_total) * components * sizeof(double);
    const auto& comm = world.state()->communicator();
    const arges::decompose::RankTeam team(comm);
    const auto slices = arges::partition::counted_tensor(team, arges::decompose::view_of(*arges::state_of(X, "run_sparse_cp").pattern()));
    arges::partition::ChoiceOptions options;
    options.costs = arges::decompose::iteration_costs(world.state()->machine());
    outcome.predicted = arges::partition::choose_medium(team, slices, world.size(), components, options).front().seconds;
    return outcome;
}

}  // namespace

std::vector<ScalingCase> method_cases() {
    return {{"rccsd", "residuals of closed-shell CCSD", run_rccsd},
            {"cp-dense", "a sweep of CP-ALS, dense tensor of order 3", run_dense_cp},
            {"cp-sparse", "a sweep of CP-ALS, sparse tensor of order 3", run_sparse_cp}};
}

}  // namespace bench
