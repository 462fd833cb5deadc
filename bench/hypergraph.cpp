// Cuts and times of the hypergraph partitioner, beside random parts and contiguous blocks.
//
//     hypergraph [--model fine|coarse|coarse-opt] [--parts 4,16,64] [--imbalance 0.03] [--cycles 1] [--direct VERTICES] [--seed 1]
//                FILE...
//
// FILE: a tensor (.tns, 1-based) or a hypergraph in hMETIS form (.hgr), which arges convert writes.
#include "arges/error.hpp"
#include "partition/hypergraph/hmetis.hpp"
#include "partition/hypergraph/hypergraph_models.hpp"
#include "partition/hypergraph/hypergraph_random.hpp"
#include "partition/hypergraph/initial_partition.hpp"
#include "partition/hypergraph/partition_hypergraph.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace arges::partition;

namespace {

/// What the command line says.
struct Settings {
    std::string model = "fine";
    std::vector<std::int64_t> parts{4, 16, 64};
    PartitionOptions options;
    std::vector<std::string> files;
};

/// Processor time so far: other programs do not count.
double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Settings parse(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument.rfind("--", 0) != 0) {
            settings.files.push_back(argument);
            continue;
        }
        const std::string value = ++i < argc ? argv[i] : "";
        if (argument == "--model")
            settings.model = value;
        else if (argument == "--imbalance")
            settings.options.imbalance = std::strtod(value.c_str(), nullptr);
        else if (argument == "--cycles")
            settings.options.cycles = std::atoi(value.c_str());
        else if (argument == "--direct")
            settings.options.direct = std::atoll(value.c_str());
        else if (argument == "--seed")
            settings.options.seed = std::strtoull(value.c_str(), nullptr, 10);
        else if (argument == "--parts") {
            settings.parts.clear();
            std::istringstream list(value);
            for (std::string part; std::getline(list, part, ',');) settings.parts.push_back(std::atoll(part.c_str()));
        } else {
            throw arges::InvalidArgument("option " + argument + " is not known");
        }
    }
    return settings;
}

/// The indices of a text file of nonzeros; the last number of a line is the value.
std::vector<std::vector<std::int64_t>> read_indices(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw arges::InvalidArgument(file + " cannot be read");
    std::vector<std::vector<std::int64_t>> indices;
    std::vector<double> numbers;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line.front() == '#') continue;
        numbers.clear();
        char* next = nullptr;
        for (const char* at = line.c_str();; at = next) {
            const double number = std::strtod(at, &next);
            if (next == at) break;
            numbers.push_back(number);
        }
        if (indices.empty()) indices.resize(numbers.size() - 1);
        for (std::size_t m = 0; m < indices.size(); ++m) indices[m].push_back(static_cast<std::int64_t>(numbers[m]) - 1);
    }
    return indices;
}

Hypergraph read(const std::string& file, const std::string& model) {
    if (file.ends_with(".hgr")) {
        std::ifstream in(file);
        return read_hmetis(in, file);
    }
    const auto indices = read_indices(file);
    IndexView tensor;
    for (const auto& mode : indices) {
        tensor.indices.emplace_back(mode);
        tensor.lengths.push_back(*std::max_element(mode.begin(), mode.end()) + 1);
    }
    const SliceTable table(tensor);
    if (model == "fine") return fine_grain_hypergraph(table);
    return coarse_grain_hypergraph(table, model == "coarse" ? CoarseWeights::by_mode : CoarseWeights::summed);
}

void measure(const std::string& name, const Settings& settings, const Hypergraph& hypergraph) {
    std::printf("%s, %s: %lld vertices, %lld nets, %lld pins\n", name.c_str(), settings.model.c_str(),
                static_cast<long long>(hypergraph.vertices()), static_cast<long long>(hypergraph.nets()),
                static_cast<long long>(hypergraph.pin_count()));
    std::printf("%6s %12s %12s %12s %10s %10s %9s\n", "parts", "random", "blocks", "multilevel", "imbalance", "of blocks", "seconds");
    for (auto parts : settings.parts) {
        RandomNumbers random(settings.options.seed);
        VertexParts any(static_cast<std::size_t>(hypergraph.vertices()));
        for (auto& part : any) part = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(parts)));
        const auto blocks = contiguous_parts(hypergraph, parts);
        const auto start = seconds();
        const auto ours = partition_hypergraph(hypergraph, parts, settings.options);
        const double taken = seconds() - start;
        std::printf("%6lld %12lld %12lld %12lld %10.4f %10.4f %9.2f\n", static_cast<long long>(parts),
                    static_cast<long long>(cut(hypergraph, any)), static_cast<long long>(cut(hypergraph, blocks)),
                    static_cast<long long>(cut(hypergraph, ours)), imbalance(hypergraph, ours, parts), imbalance(hypergraph, blocks, parts),
                    taken);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const auto settings = parse(argc, argv);
        for (const auto& file : settings.files) {
            const auto start = seconds();
            const auto hypergraph = read(file, settings.model);
            const auto name = file.substr(file.find_last_of('/') + 1);
            std::printf("read and built in %.2f s: ", seconds() - start);
            measure(name, settings, hypergraph);
        }
    } catch (const arges::Error& error) {
        std::cerr << "hypergraph: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
