// arges calibrate: measures the constants that plans and predicted seconds rest on.
#include "arges/error.hpp"
#include "base/options.hpp"
#include "cli/subcommand.hpp"
#include "comm/mpi_session.hpp"
#include "local/blas.hpp"
#include "local/transfer.hpp"
#include "plan/product/machine_model.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace arges::cli {

namespace {

struct CalibrateCommand {
    std::string output;
    bool json = false;
};

/// The fastest of some runs on the slowest rank. Collective.
double seconds_of(const Communicator& comm, const std::function<void()>& work) {
    constexpr int runs = 5;
    std::chrono::nanoseconds fastest = std::chrono::hours(1);
    for (int i = 0; i < runs; ++i) {
        comm.barrier();
        const auto start = std::chrono::steady_clock::now();
        work();
        fastest = std::min<std::chrono::nanoseconds>(fastest, std::chrono::steady_clock::now() - start);
    }
    return static_cast<double>(std::max<std::int64_t>(1, comm.maximum(fastest.count()))) * 1e-9;
}

/// Flops per second of a square matrix product.
double product_rate(const Communicator& comm) {
    constexpr std::int64_t n = 768;
    const std::vector<double> a(n * n, 1.0), b(n * n, 0.5);
    std::vector<double> c(n * n, 0.0);
    const double seconds = seconds_of(comm, [&] { local::gemm<double>({n, n, n}, 1.0, {a.data(), n}, {b.data(), n}, 0.0, {c.data(), n}); });
    return 2.0 * n * n * n / seconds;
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
    std::uint64_t state = 1;
    const auto step = [&state] {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return 1 + static_cast<std::int64_t>(state >> 63);
    };
    for (std::int64_t i = 0, s = 0, t = 0; i < count; ++i) {
        sources.push_back(s);
        targets.push_back(t);
        s += step();
        t += step();
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

/// Seconds in which ranks that are half of the machine apart swap `bytes`, all pairs at once.
double swap_seconds(const Communicator& comm, std::int64_t bytes) {
    const auto half = comm.size() / 2;
    const bool paired = comm.rank() < 2 * half;
    const auto partner = comm.rank() < half ? comm.rank() + half : comm.rank() - half;
    std::vector<std::byte> out(static_cast<std::size_t>(bytes)), in(out.size());
    std::vector<Piece> sends, receives;
    if (paired) {
        sends.push_back({partner, out.data(), bytes});
        receives.push_back({partner, in.data(), bytes});
    }
    constexpr int swaps = 8;
    const double seconds = seconds_of(comm, [&] {
        for (int i = 0; i < swaps; ++i) comm.exchange(sends, receives);
    });
    return seconds / swaps;
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

MachineModel measure(const Communicator& comm) {
    MachineModel machine;
    machine.flops_per_second = product_rate(comm);
    machine.copied_bytes_per_second = copy_rate(comm);
    machine.listed_element_seconds = list_seconds(comm);
    machine.cache_bytes = cache_share(comm);
    if (comm.size() == 1) return machine;
    constexpr std::int64_t large = std::int64_t{1} << 22;
    machine.message_seconds = swap_seconds(comm, 8);
    machine.bytes_per_second = static_cast<double>(large) / swap_seconds(comm, large);
    return machine;
}

void print_json(std::ostream& out, const MachineModel& machine, std::int64_t ranks, const std::string& file) {
    nlohmann::ordered_json object;
    object["flops_per_second"] = machine.flops_per_second;
    object["bytes_per_second"] = machine.bytes_per_second;
    object["copied_bytes_per_second"] = machine.copied_bytes_per_second;
    object["message_seconds"] = machine.message_seconds;
    object["listed_element_seconds"] = machine.listed_element_seconds;
    object["cache_bytes"] = machine.cache_bytes;
    object["network_measured"] = ranks > 1;
    object["ranks"] = ranks;
    object["file"] = file;
    out << object.dump(2) << std::endl;
}

void print_table(std::ostream& out, const MachineModel& machine, std::int64_t ranks, const std::string& file) {
    const auto row = [&out](const char* name, double value, const char* unit) {
        out << fmt::format("{:<32} {:>10.4g} {}\n", name, value, unit);
    };
    const bool network = ranks > 1;
    row("matrix products", machine.flops_per_second * 1e-9, "Gflop/s per rank");
    row("local copies", machine.copied_bytes_per_second * 1e-9, "GB/s per rank");
    row("copies along lists", machine.listed_element_seconds * 1e9, "ns per element");
    row("cache", machine.cache_bytes / (1 << 20), "MiB per rank");
    row(network ? "between ranks" : "between ranks (assumed)", machine.bytes_per_second * 1e-9, "GB/s per rank");
    row(network ? "a message" : "a message (assumed)", machine.message_seconds * 1e6, "microseconds");
    if (!network) out << "One rank measures no network: run it with mpiexec on two or more.\n";
    out << "stored in " << file << std::endl;
}

void run(const CalibrateCommand& command, const Console& console) {
    const auto comm = all_processes();
    const auto file = command.output.empty() ? machine_file_option() : command.output;
    comm.agree([&] {
        if (file.empty()) throw InvalidArgument("there is no home folder to store the constants in; name a file with --output");
    });
    const auto machine = measure(comm);
    comm.agree([&] {
        if (comm.rank() == 0) write_machine_model(file, machine);
    });
    (command.json ? print_json : print_table)(console.out, machine, comm.size(), file);
}

}  // namespace

Action declare_calibrate(CLI::App& app) {
    const auto command = std::make_shared<CalibrateCommand>();
    app.add_option("--output", command->output, "file to write; else the one that ARGES_MACHINE names");
    app.add_flag("--json", command->json, "print one JSON object instead of a table");
    return [command](const Console& console) { run(*command, console); };
}

}  // namespace arges::cli
