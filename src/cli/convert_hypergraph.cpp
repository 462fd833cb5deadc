#include "cli/conversions.hpp"

#include "arges/sparse_statistics.hpp"
#include "base/memory_tally.hpp"
#include "base/stopwatch.hpp"
#include "base/text.hpp"
#include "cli/forecast.hpp"
#include "cli/world_options.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <map>

namespace arges::cli {

namespace {

/// The same on every rank.
struct Written {
    HypergraphReport graph{};
    double read_seconds = 0, write_seconds = 0;
    std::int64_t nonzeros = 0, duplicates = 0, peak_memory_bytes = 0;
};

/// What a line of a partition of the hypergraph stands for.
std::string vertex_text(const HypergraphConversion& conversion) {
    return conversion.model == "fine" ? "nonzeros, in their order" : "nonempty slices, ascending, mode after mode";
}

void print_table(std::ostream& out, const HypergraphConversion& conversion, const Written& done) {
    const auto row = [&out](const char* name, const std::string& text) { out << fmt::format("{:<12} {}\n", name, text); };
    row("read", fmt::format("{}, {} nonzeros, {:.3f} s", conversion.input, with_commas(done.nonzeros), done.read_seconds));
    row("duplicates", with_commas(done.duplicates));
    row("model", conversion.model);
    row("vertices", with_commas(done.graph.vertices) + " " + vertex_text(conversion));
    row("weights", std::to_string(done.graph.weights) + " of a vertex");
    row("nets", with_commas(done.graph.nets));
    row("pins", with_commas(done.graph.pins));
    row("written", fmt::format("{}, {}, {:.3f} s", conversion.output, format_bytes(done.graph.bytes), done.write_seconds));
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
    object["vertices"] = done.graph.vertices;
    object["nets"] = done.graph.nets;
    object["pins"] = done.graph.pins;
    object["weights"] = done.graph.weights;
    object["bytes_written"] = done.graph.bytes;
    object["read_seconds"] = done.read_seconds;
    object["write_seconds"] = done.write_seconds;
    object["peak_memory_bytes"] = done.peak_memory_bytes;
    out << object.dump(2) << std::endl;
}

}  // namespace

bool is_hypergraph_name(const std::string& path) { return path.ends_with(".hgr"); }

void convert_to_hypergraph(const World& world, const HypergraphConversion& conversion, bool json, std::ostream& out) {
    Stopwatch watch;
    const auto file = read_sparse<float>(world, conversion.input, conversion.options);
    Written done;
    done.nonzeros = file.tensor.nonzeros();
    done.duplicates = file.report.duplicates;
    done.read_seconds = watch.lap();
    require_on_first_rank(file.tensor, conversion.input, "makes the hypergraph of", hypergraph_memory(done.nonzeros, file.tensor.order()));
    static const std::map<std::string, HypergraphModel> models{
        {"fine", HypergraphModel::fine}, {"coarse", HypergraphModel::coarse}, {"coarse-opt", HypergraphModel::coarse_summed}};
    done.graph = write_hypergraph(file.tensor, conversion.output, models.at(conversion.model));
    done.write_seconds = watch.lap();
    done.peak_memory_bytes = world.maximum(peak_process_memory());
    json ? print_json(out, conversion, done) : print_table(out, conversion, done);
}

}  // namespace arges::cli
