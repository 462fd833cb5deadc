#include "cli/conversions.hpp"

#include "arges/error.hpp"
#include "base/memory_tally.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "cli/world_options.hpp"
#include "decompose/distribution/given_parts.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "io/file/parallel_file.hpp"
#include "partition/hypergraph/hmetis.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <array>
#include <fstream>

namespace arges::cli {

namespace {

/// The same on every rank.
struct Written {
    std::array<std::int64_t, 5> numbers{};  ///< vertices, nets, pins, weights of a vertex, bytes
    double read_seconds = 0, write_seconds = 0;
    std::int64_t nonzeros = 0, duplicates = 0, peak_memory_bytes = 0;
};

/// What a line of a partition of the hypergraph stands for.
std::string vertex_text(const HypergraphConversion& conversion) {
    return conversion.model == "fine" ? "nonzeros, in their order" : "nonempty slices, ascending, mode after mode";
}

void check_room(const World& world, const std::string& file, std::int64_t nonzeros, std::int64_t order) {
    const auto bytes = current_process_memory() + nonzeros * order * (std::int64_t{sizeof(std::int64_t)} * 2) +
                       nonzeros * order * partition::hypergraph_bytes;
    if (bytes > world.memory_limit())
        throw OutOfMemory(fmt::format("{}: rank 0 makes the hypergraph of all {} nonzeros, for which it takes up to {}, but the limit is "
                                      "{}; raise --memory",
                                      file, with_commas(nonzeros), format_bytes(bytes), format_bytes(world.memory_limit())));
}

partition::Hypergraph hypergraph_of(const HypergraphConversion& conversion, const partition::IndexView& view) {
    const auto rows = partition::nonempty_rows(view);
    if (conversion.model == "fine") return partition::fine_grain_hypergraph(view, rows);
    return partition::coarse_grain_hypergraph(
        view, rows, conversion.model == "coarse" ? partition::CoarseWeights::by_mode : partition::CoarseWeights::summed);
}

/// Local; on rank 0.
std::array<std::int64_t, 5> write_hypergraph(const HypergraphConversion& conversion, const partition::IndexView& view,
                                             const std::string& path) {
    const auto hypergraph = hypergraph_of(conversion, view);
    std::ofstream file(path);
    write_hmetis(file, hypergraph);
    const std::int64_t bytes = file.tellp();
    file.close();
    if (!file) throw InvalidArgument(conversion.output + ": cannot be written; make room on the disk, or write elsewhere");
    return {hypergraph.vertices(), hypergraph.nets(), hypergraph.pin_count(), hypergraph.constraints(), bytes};
}

void print_table(std::ostream& out, const HypergraphConversion& conversion, const Written& done) {
    const auto row = [&out](const char* name, const std::string& text) { out << fmt::format("{:<12} {}\n", name, text); };
    row("read", fmt::format("{}, {} nonzeros, {:.3f} s", conversion.input, with_commas(done.nonzeros), done.read_seconds));
    row("duplicates", with_commas(done.duplicates));
    row("model", conversion.model);
    row("vertices", with_commas(done.numbers[0]) + " " + vertex_text(conversion));
    row("weights", std::to_string(done.numbers[3]) + " of a vertex");
    row("nets", with_commas(done.numbers[1]));
    row("pins", with_commas(done.numbers[2]));
    row("written", fmt::format("{}, {}, {:.3f} s", conversion.output, format_bytes(done.numbers[4]), done.write_seconds));
    row("memory", format_bytes(done.peak_memory_bytes) + ", largest process");
    out << std::flush;
}

void print_json(std::ostream& out, const HypergraphConversion& conversion, const Written& done) {
    nlohmann::ordered_json object;
    object["input"] = conversion.input;
    object["output"] = conversion.output;
    object["model"] = conversion.model;
    object["nonzeros"] = done.nonzeros;
    object["duplicates"] = done.duplicates;
    object["vertices"] = done.numbers[0];
    object["nets"] = done.numbers[1];
    object["pins"] = done.numbers[2];
    object["weights"] = done.numbers[3];
    object["bytes_written"] = done.numbers[4];
    object["read_seconds"] = done.read_seconds;
    object["write_seconds"] = done.write_seconds;
    object["peak_memory_bytes"] = done.peak_memory_bytes;
    out << object.dump(2) << std::endl;
}

}  // namespace

bool is_hypergraph_name(const std::string& path) { return path.ends_with(".hgr"); }

void convert_to_hypergraph(const World& world, const HypergraphConversion& conversion, bool json, std::ostream& out) {
    const auto& comm = world.state()->communicator();
    Stopwatch watch;
    const auto file = read_sparse<float>(world, conversion.input, conversion.options);
    Written done;
    done.nonzeros = file.tensor.nonzeros();
    done.duplicates = file.report.duplicates;
    done.read_seconds = watch.lap();
    comm.agree([&] {
        if (comm.rank() == 0) check_room(world, conversion.input, done.nonzeros, file.tensor.order());
    });
    io::OutputFile output(comm, conversion.output);
    const auto indices = decompose::gather_indices(comm, *file.tensor.state()->pattern());
    comm.agree([&] {
        if (comm.rank() != 0) return;
        partition::IndexView view{file.tensor.lengths(), {}};
        for (const auto& list : indices) view.indices.emplace_back(list);
        done.numbers = write_hypergraph(conversion, view, output.temporary());
    });
    output.commit();
    comm.broadcast(done.numbers.data(), sizeof done.numbers, 0);
    done.write_seconds = watch.lap();
    done.peak_memory_bytes = comm.maximum(peak_process_memory());
    json ? print_json(out, conversion, done) : print_table(out, conversion, done);
}

}  // namespace arges::cli
