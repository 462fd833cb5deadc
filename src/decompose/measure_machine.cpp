// Each constant is the fastest of some runs, on the slowest rank: what a machine does where nothing disturbs it.
#include "arges/machine.hpp"

#include "arges/element_kernels.hpp"
#include "arges/error.hpp"
#include "arges/sparse_loops.hpp"
#include "base/buffer.hpp"
#include "base/splitmix.hpp"
#include "base/stopwatch.hpp"
#include "comm/communicator.hpp"
#include "decompose/cp/gram_solver.hpp"
#include "interface/world/world_state.hpp"
#include "layout/layout.hpp"
#include "local/blas.hpp"
#include "local/contract_plan.hpp"
#include "local/transfer.hpp"
#include "plan/product/plan_product.hpp"
#include "sparse/coordinates.hpp"
#include "sparse/mttkrp.hpp"
#include "sparse/row_structure.hpp"
#include "topology/unfold.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string>

namespace arges {

namespace {

/// The fastest of some runs on the slowest rank. Collective.
double seconds_of(const Communicator& comm, const std::function<void()>& work) {
    constexpr int runs = 5;
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < runs; ++i) {
        comm.barrier();
        const Stopwatch watch;
        work();
        fastest = std::min(fastest, watch.seconds());
    }
    return static_cast<double>(std::max<std::int64_t>(1, comm.maximum(static_cast<std::int64_t>(fastest * 1e9)))) * 1e-9;
}

/// Small products are repeated, so that the clock sees them.
ProductRate product_rate(const Communicator& comm, std::int64_t n) {
    constexpr double flops_of_a_run = 4e8;
    const std::size_t elements = n * n;
    const std::vector<double> a(elements, 1.0), b(elements, 0.5);
    std::vector<double> c(elements, 0.0);
    const double flops = 2.0 * static_cast<double>(n) * n * static_cast<double>(n);
    const auto repetitions = std::max<std::int64_t>(1, static_cast<std::int64_t>(flops_of_a_run / flops));
    const double seconds = seconds_of(comm, [&] {
        for (std::int64_t i = 0; i < repetitions; ++i)
            local::gemm<double>({n, n, n}, 1.0, {a.data(), n}, {b.data(), n}, 0.0, {c.data(), n});
    });
    return {n, flops * static_cast<double>(repetitions) / seconds};
}

/// Bytes per second of copies that do not fit into a cache.
double copy_rate(const Communicator& comm) {
    constexpr std::int64_t count = std::int64_t{1} << 23;
    const std::vector<double> from(count, 1.0);
    std::vector<double> to(count, 0.0);
    const local::TransferAxis axis{count, 1, 1};
    const double seconds = seconds_of(comm, [&] { local::transfer<double>({&axis, 1}, from.data(), to.data(), 1.0, {}); });
    return static_cast<double>(count * sizeof(double)) / seconds;
}

/// Seconds to copy an element along lists without runs, in steps of one or two.
double list_seconds(const Communicator& comm) {
    constexpr std::int64_t count = std::int64_t{1} << 21;
    std::vector<std::int64_t> sources, targets;
    for (std::int64_t i = 0, s = 0, t = 0; i < count; ++i) {
        sources.push_back(s);
        targets.push_back(t);
        s += 1 + static_cast<std::int64_t>(splitmix(2 * static_cast<std::uint64_t>(i)) >> 63U);
        t += 1 + static_cast<std::int64_t>(splitmix(2 * static_cast<std::uint64_t>(i) + 1) >> 63U);
    }
    const std::vector<double> from(2 * count, 1.0);
    std::vector<double> to(2 * count, 0.0);
    local::TransferAxis axis;
    axis.count = count;
    axis.from = sources.data();
    axis.to = targets.data();
    const double seconds = seconds_of(comm, [&] { local::transfer<double>({&axis, 1}, from.data(), to.data(), 1.0, {}); });
    return seconds / static_cast<double>(count);
}

/// Runs on one thread, whatever a rank has.
class OneThread {
public:
    OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
    ~OneThread() { omp_set_num_threads(before_); }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

private:
    int before_;
};

/// What contractions on one thread choose by.
void measure_contractions(const Communicator& comm, MachineModel& machine) {
    constexpr std::int64_t large = 256, small = 64, side = 1024;
    const OneThread alone;
    machine.multiplication_seconds = 2 / product_rate(comm, large).flops_per_second;
    const std::vector<double> a(side * side, 1.0), b(side * side, 0.5);
    std::vector<double> c(side * side, 0.0);
    const local::FoldedContraction product{{{small, 1, 0, 1}}, {{small, 0, small, small}}, {{small, small, 1, 0}}};
    constexpr int repetitions = 20;
    const double loops = seconds_of(comm, [&] {
        local::Workspace<double> workspace;
        for (int i = 0; i < repetitions; ++i)
            local::contract_vectors<double>(local::plan_vector(product), {1.0, a.data(), b.data(), 0.0, c.data()}, workspace);
    });
    machine.vector_multiplication_seconds = loops / (repetitions * static_cast<double>(small * small * small));
    const std::array<local::TransferAxis, 2> turned{{{side, 1, side}, {side, side, 1}}};
    const double copies = seconds_of(comm, [&] { local::transfer<double>(turned, a.data(), c.data(), 1.0, {}); });
    machine.packed_element_seconds = copies / static_cast<double>(side * side);
}

/// A tensor without structure, whose factor rows a cache does not hold all of; columns as most decompositions have them.
constexpr std::int64_t drawn_nonzeros = std::int64_t{1} << 17, drawn_rows = 20'000;
constexpr int drawn_columns = 16, drawn_modes = 3;

/// Seconds of MTTKRP for a nonzero and a column.
double nonzero_seconds(const Communicator& comm) {
    sparse::LocalNonzeros<double> tensor;
    tensor.rows.assign(drawn_modes, drawn_rows);
    tensor.indices.resize(drawn_modes);
    tensor.values.assign(drawn_nonzeros, 1.0);
    for (std::size_t m = 0; m < drawn_modes; ++m)
        for (std::uint64_t i = 0; i < drawn_nonzeros; ++i)
            tensor.indices[m].push_back(splitmix(drawn_modes * i + m) % static_cast<std::uint64_t>(drawn_rows));
    const std::vector<int> all{0, 1, 2};
    const auto mttkrp = sparse::make_mttkrp(tensor, sparse::choose_format(sizeof(double), tensor.rows, drawn_nonzeros, all), all);
    std::vector<double> factor(drawn_rows * drawn_columns, 0.5), result(factor);
    const std::vector<sparse::RowMatrix<const double>> factors(drawn_modes, {factor.data(), drawn_rows, drawn_columns, drawn_columns});
    const double seconds = seconds_of(comm, [&] {
        for (const int m : all) mttkrp->multiply(m, factors, {result.data(), drawn_rows, drawn_columns, drawn_columns});
    });
    return seconds / (drawn_modes * static_cast<double>(drawn_nonzeros) * drawn_columns);
}

/// Seconds to solve for a row, with its part of the Gram matrix, for each column.
double row_seconds(const Communicator& comm) {
    std::vector<double> matrix(drawn_rows * drawn_columns, 0.5);
    decompose::Gram gram(drawn_columns * drawn_columns, 1.0);
    for (int c = 0; c < drawn_columns; ++c) gram[c * (drawn_columns + 1)] = 1.0 + drawn_columns;
    const decompose::GramSolver solver(gram, drawn_columns, std::numeric_limits<double>::epsilon());
    const double seconds = seconds_of(comm, [&] {
        decompose::solve_rows<double>(solver, {matrix.data(), drawn_rows, drawn_columns, drawn_columns});
    });
    return seconds / (static_cast<double>(drawn_rows) * drawn_columns);
}

/// Seconds of a multiplication of two nonzeros, in the square of a matrix that has them at random.
double sparse_product_seconds(const Communicator& comm) {
    constexpr std::int64_t edge = 1 << 13, in_row = 16;
    std::vector<std::int64_t> start(edge + 1);
    for (std::int64_t row = 0; row <= edge; ++row) start[row] = row * in_row;
    std::vector<std::uint32_t> column(edge * in_row);
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = splitmix(i) % edge;
    const sparse::RowPattern matrix{start, column};
    const auto structure = sparse::structure_of_product(matrix, matrix, edge);
    const std::vector<double> values(column.size(), 0.5);
    std::vector<double> result(structure.columns.size()), sums(edge * omp_get_max_threads());
    const local::SparseRows rows_of_nonzeros{edge, start.data(), column.data(), values.data(), {}};
    local::SparseRowProduct product;
    product.a = product.b = rows_of_nonzeros;
    product.width = edge;
    product.start = structure.start.data();
    product.column = structure.columns.data();
    product.result = result.data();
    product.sums = sums.data();
    product.threads = omp_get_max_threads();
    const double seconds = seconds_of(comm, [&] { element_kernels<double>().sparse->multiply_rows(product); });
    return seconds / static_cast<double>(sparse::products_of(matrix, matrix));
}

/// Seconds to sort a nonzero of two modes.
double sorted_nonzero_seconds(const Communicator& comm) {
    constexpr std::int64_t count = 1 << 18, length = 1 << 20;
    std::vector<std::int64_t> rows_of_nonzeros(count), columns_of_nonzeros(count);
    for (std::int64_t k = 0; k < count; ++k) {
        rows_of_nonzeros[k] = splitmix(2 * k) % length;
        columns_of_nonzeros[k] = splitmix(2 * k + 1) % length;
    }
    const std::vector<std::int64_t> lengths{length, length};
    const double seconds = seconds_of(comm, [&] { sparse::sorted_runs(count, {rows_of_nonzeros, columns_of_nonzeros}, {}, lengths); });
    return seconds / static_cast<double>(count);
}

/// Seconds to choose the plan of a product of two tensors of four dimensions on as many ranks.
double planning_seconds(const Communicator& comm, const MachineModel& machine) {
    const std::vector<std::int64_t> extents(4, 64);
    const auto grid = unfold(detected_torus(comm.size(), 1));
    const auto layout = default_layout(grid, extents, Symmetry::parse("abcd", ""));
    Product product;
    product.factors = {{layout, {0, 1, 4, 5}, false, "A"}, {layout, {4, 5, 2, 3}, false, "B"}};
    product.output = {layout, {0, 1, 2, 3}, false, "C"};
    product.label_extents.assign(6, 64);
    product.label_names = {"a", "b", "i", "j", "e", "f"};
    product.terms = {identity_term(6)};
    PlanOptions options;
    options.machine = machine;
    options.grids = {grid};
    return seconds_of(comm, [&] { plan_product(product, options); });
}

/// Ranks in pairs; the others wait.
struct Pairing {
    std::int64_t partner = -1;
    bool is_first = false;
};

/// Ranks that are half of their node apart.
Pairing on_node(std::int64_t rank, std::int64_t per_node) {
    const auto half = per_node / 2, place = rank % per_node;
    if (place >= 2 * half) return {};
    return place < half ? Pairing{rank + half, true} : Pairing{rank - half, false};
}

/// Ranks that are half of the machine apart: of each node the first `active`.
Pairing between_nodes(std::int64_t rank, std::int64_t ranks, std::int64_t per_node, std::int64_t active) {
    const auto half = ranks / per_node / 2 * per_node;
    if (rank >= 2 * half || rank % per_node >= active) return {};
    return rank < half ? Pairing{rank + half, true} : Pairing{rank - half, false};
}

/// Seconds in which the ranks of a pair swap `bytes`, all pairs at once.
double swap_seconds(const Communicator& comm, const Pairing& pair, std::int64_t bytes) {
    std::vector<std::byte> out(bytes), in(out.size());
    std::vector<Piece> sends, receives;
    if (pair.partner >= 0) {
        sends.push_back({pair.partner, out.data(), bytes});
        receives.push_back({pair.partner, in.data(), bytes});
    }
    constexpr int swaps = 8;
    const double seconds = seconds_of(comm, [&] {
        for (int i = 0; i < swaps; ++i) comm.exchange(sends, receives);
    });
    return seconds / swaps;
}

/// Half of the seconds in which a small message goes there and back.
double ping_seconds(const Communicator& comm, const Pairing& pair) {
    constexpr int rounds = 200;
    std::byte mail{};
    std::vector<Piece> pieces;
    if (pair.partner >= 0) pieces.push_back({pair.partner, &mail, 1});
    const double seconds = seconds_of(comm, [&] {
        for (int i = 0; i < rounds; ++i) {
            if (pair.is_first) comm.exchange(pieces, {});
            comm.exchange({}, pieces);
            if (!pair.is_first) comm.exchange(pieces, {});
        }
    });
    return seconds / (2 * rounds);
}

/// Messages between ranks that are equally far from each other, one each way at a time.
struct LinkRate {
    double message_seconds = 0;   ///< half of the time in which a small message goes there and back
    double bytes_per_second = 0;  ///< that a rank sends
};

LinkRate link_rate(const Communicator& comm, const Pairing& pair) {
    constexpr std::int64_t large = std::int64_t{1} << 22;
    return {ping_seconds(comm, pair), static_cast<double>(large) / swap_seconds(comm, pair, large)};
}

/// Between nodes a rank alone has the node's link for itself; all of them share it.
void measure_network(const Communicator& comm, MachineMeasurement& result) {
    auto& machine = result.machine;
    const auto per_node = result.ranks_per_node;
    const auto rank = comm.rank(), ranks = comm.size();
    if (!result.has_nodes) {
        const auto rate = link_rate(comm, on_node(rank, ranks));
        machine.message_seconds = rate.message_seconds;
        machine.bytes_per_second = rate.bytes_per_second;
        return;
    }
    const auto near = link_rate(comm, on_node(rank, per_node));
    const auto alone = link_rate(comm, between_nodes(rank, ranks, per_node, 1));
    const auto together = link_rate(comm, between_nodes(rank, ranks, per_node, per_node));
    machine.message_seconds = alone.message_seconds;
    machine.bytes_per_second = alone.bytes_per_second;
    machine.interconnect.on_node_message_seconds = near.message_seconds;
    machine.interconnect.on_node_bytes_per_second = near.bytes_per_second;
    machine.interconnect.node_bytes_per_second = together.bytes_per_second * static_cast<double>(per_node);
}

/// An array of numbers on a device, all of them the same.
Buffer<double> filled(const ElementKernels& kernels, std::int64_t count, double value) {
    Buffer<double> array(count, kernels.space);
    kernels.fill(array.data(), count, &value);
    return array;
}

/// Rates of the rank's device, which ranks that share it use at the same time.
DeviceRates device_rates(const Communicator& comm, const ElementKernels& kernels, std::int64_t ranks_on_node) {
    const auto& space = *kernels.space;
    const auto seconds = [&](std::int64_t repetitions, const std::function<void()>& work) {
        work();
        return seconds_of(comm,
                          [&] {
                              for (std::int64_t i = 0; i < repetitions; ++i) work();
                              if (space.finish != nullptr) space.finish();
                          }) /
               static_cast<double>(repetitions);
    };
    DeviceRates rates;
    const double one = 1, zero = 0;
    const auto memory = space.memory != nullptr ? space.memory() : DeviceMemory();
    rates.memory_bytes = static_cast<double>(memory.free_bytes / ((ranks_on_node + memory.devices - 1) / memory.devices));
    {
        auto number = filled(kernels, 1, 1);
        rates.call_seconds = seconds(1, [&] { kernels.fill(number.data(), 1, &one); });
    }
    std::vector<ProductRate> products;
    const std::int64_t large = rates.memory_bytes > 4e9 && space.wait != nullptr ? 8192 : 512;  // a device of tests is the host
    for (const std::int64_t edge : {large / 8, large}) {
        const auto a = filled(kernels, edge * edge, 1), b = filled(kernels, edge * edge, 0.5);
        auto c = filled(kernels, edge * edge, 0);
        const local::FoldedContraction product{{{edge, 1, 0, 1}}, {{edge, 0, edge, edge}}, {{edge, edge, 1, 0}}};
        const double each = seconds(edge < large ? 8 : 1, [&] { kernels.contract(product, &one, a.data(), b.data(), &zero, c.data()); });
        products.push_back({edge, 2.0 * static_cast<double>(edge) * static_cast<double>(edge) * static_cast<double>(edge) / each});
    }
    MachineModel fitted;
    set_product_rate(fitted, products.front(), products.back());
    rates.flops_per_second = fitted.flops_per_second;
    rates.half_rate_edge = fitted.half_rate_edge;
    const auto count = large * large;
    const auto bytes = static_cast<double>(count * std::int64_t{sizeof(double)});
    const auto from = filled(kernels, count, 1);
    auto to = filled(kernels, count, 0);
    const local::TransferAxis axis{count, 1, 1};
    rates.copied_bytes_per_second = bytes / seconds(4, [&] { kernels.transfer({&axis, 1}, from.data(), to.data(), nullptr, {}); });
    std::vector<double> here(count, 1.0);
    rates.link_bytes_per_second = bytes / seconds(1, [&] { space.copy(to.data(), here.data(), to.bytes()); });
    rates.link_bytes_per_second =
        std::min(rates.link_bytes_per_second, bytes / seconds(1, [&] { space.copy(here.data(), from.data(), from.bytes()); }));
    std::vector<std::int64_t> list(count / 4);
    for (std::size_t i = 0; i < list.size(); ++i)
        list[i] = 2 * static_cast<std::int64_t>(i) + static_cast<std::int64_t>(splitmix(i) >> 63U);
    local::TransferAxis listed;
    listed.count = std::ssize(list);
    listed.from = listed.to = list.data();
    rates.listed_element_seconds = seconds(1,
                                           [&] {
                                               kernels.transfer({&listed, 1}, from.data(), to.data(), nullptr, {});
                                           }) /
                                   static_cast<double>(list.size());
    return rates;
}

/// A rank's share of the last-level cache, as far as the system tells.
double cache_share(const Communicator& comm) {
    const auto ranks = comm.maximum(comm.ranks_on_my_node());
    std::int64_t bytes = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    bytes = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE) / ranks, sysconf(_SC_LEVEL2_CACHE_SIZE));
#endif
    bytes = comm.minimum(bytes);
    return bytes > 0 ? static_cast<double>(bytes) : MachineModel().cache_bytes;
}

}  // namespace

void set_product_rate(MachineModel& machine, const ProductRate& small, const ProductRate& large) {
    const double slow = 1 / small.flops_per_second, fast = 1 / large.flops_per_second;
    const double by_edge = (slow - fast) / (1 / static_cast<double>(small.edge) - 1 / static_cast<double>(large.edge));
    const double at_best = fast - by_edge / static_cast<double>(large.edge);
    if (by_edge <= 0 || at_best <= 0) {
        machine.flops_per_second = std::max(small.flops_per_second, large.flops_per_second);
        machine.half_rate_edge = 0;
        return;
    }
    machine.flops_per_second = 1 / at_best;
    machine.half_rate_edge = by_edge / at_best;
}

MachineMeasurement measure_machine(const World& world, std::int64_t ranks_per_node) {
    const auto& comm = communicator_of(world, "measure_machine");
    MachineMeasurement result;
    if (ranks_per_node > 0 && comm.size() % ranks_per_node != 0)
        throw InvalidArgument("--ranks-per-node says " + std::to_string(ranks_per_node) + ", but there are " + std::to_string(comm.size()) +
                              " ranks; their number must be a multiple of it");
    result.ranks_per_node = ranks_per_node > 0 ? ranks_per_node : comm.ranks_per_node();
    result.ranks = comm.size();
    result.has_network = comm.size() > 1;
    result.has_nodes = result.ranks_per_node > 1 && result.ranks_per_node < comm.size();
    auto& machine = result.machine;
    for (const std::int64_t edge : {32, 128, 768}) result.products.push_back(product_rate(comm, edge));
    set_product_rate(machine, result.products.front(), result.products.back());
    machine.copied_bytes_per_second = copy_rate(comm);
    machine.listed_element_seconds = list_seconds(comm);
    machine.cache_bytes = cache_share(comm);
    measure_contractions(comm, machine);
    machine.nonzero_column_seconds = nonzero_seconds(comm);
    machine.row_column_seconds = row_seconds(comm);
    machine.sparse_product_seconds = sparse_product_seconds(comm);
    machine.sorted_nonzero_seconds = sorted_nonzero_seconds(comm);
    if (result.has_network) measure_network(comm, result);
    if (const auto& kernels = world.state()->kernels(element_kernels<double>()); kernels.space != nullptr) {
        machine.device = device_rates(comm, kernels, comm.maximum(comm.ranks_on_my_node()));
        world.state()->settle(kernels.space);
    }
    if (ranks_per_node > 0) machine.interconnect.ranks_per_node = ranks_per_node;
    machine.planning_seconds = planning_seconds(comm, machine);
    return result;
}

}  // namespace arges
