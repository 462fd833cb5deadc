#include "decompose/distribution/saved_partition.hpp"

#include "arges/error.hpp"
#include "decompose/distribution/given_parts.hpp"
#include "io/file/parallel_file.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace arges::decompose {

namespace {

const std::string mark = "% arges partition";

/// The first line.
std::string identity(const Communicator& comm, const sparse::NonzeroIndices& nonzeros) {
    std::string lengths;
    for (auto length : nonzeros.lengths) lengths += (lengths.empty() ? "" : "x") + std::to_string(length);
    return mark + " of " + std::to_string(comm.sum(nonzeros.count())) + " nonzeros, " + lengths + ", for " + std::to_string(comm.size()) +
           " ranks";
}

std::string lines_in_front(const std::string& first, const ChosenDistribution& chosen) {
    std::string text = first + "\n% " + chosen.distribution;
    if (!chosen.grid.empty()) text += " " + chosen.grid + " " + chosen.policy;
    text += '\n';
    for (const auto& mode : chosen.plan.boundaries) {
        text += '%';
        for (auto boundary : mode) text += " " + std::to_string(boundary);
        text += '\n';
    }
    return text;
}

/// Layers from the first to the last slice of every mode.
bool are_cut(const std::vector<partition::Boundaries>& boundaries, const partition::Grid& grid, const std::vector<std::int64_t>& lengths) {
    if (boundaries.size() != lengths.size()) return false;
    for (std::size_t m = 0; m < lengths.size(); ++m) {
        const auto& mode = boundaries[m];
        if (std::ssize(mode) != grid[m] + 1 || mode.front() != 0 || mode.back() != lengths[m] || !std::is_sorted(mode.begin(), mode.end()))
            return false;
    }
    return true;
}

/// Reads the lines behind the first. False if they are not as save_partition() writes them.
bool read_lines(std::istream& lines, const std::vector<std::int64_t>& lengths, std::int64_t ranks, ChosenDistribution& chosen) {
    std::string line, mark_of_line;
    if (!std::getline(lines, line)) return false;
    std::istringstream words(line);
    words >> mark_of_line >> chosen.distribution >> chosen.grid >> chosen.policy;
    auto& plan = chosen.plan;
    while (std::getline(lines, line)) {
        std::istringstream numbers(line.substr(1));
        auto& mode = plan.boundaries.emplace_back();
        for (std::int64_t number = 0; numbers >> number;) mode.push_back(number);
        if (!numbers.eof()) return false;
    }
    if (chosen.distribution == "fine" || chosen.distribution == "fine-hypergraph") {
        plan.grain = Grain::fine;
        return plan.boundaries.empty();
    }
    if (chosen.distribution == "medium") {
        plan.grid = partition::parse_grid(chosen.grid, lengths.size());
        return partition::ranks(plan.grid) == ranks && are_cut(plan.boundaries, plan.grid, lengths);
    }
    plan.grain = Grain::coarse;
    plan.rows_everywhere = chosen.distribution == "coarse-allgather";
    const bool is_plain = chosen.distribution == "coarse";
    if (plan.boundaries.empty()) return is_plain || chosen.distribution == "coarse-hypergraph";
    return (is_plain || plan.rows_everywhere) && are_cut(plan.boundaries, partition::Grid(lengths.size(), ranks), lengths);
}

}  // namespace

void save_partition(const Communicator& comm, const sparse::NonzeroIndices& nonzeros, const ChosenDistribution& chosen,
                    const std::string& path) {
    const auto first = identity(comm, nonzeros);
    std::string text;
    comm.agree([&] {
        if (comm.rank() == 0) {
            text = lines_in_front(first, chosen);
            for (const auto& mode : chosen.plan.owners)
                for (auto owner : mode.owner) text += std::to_string(owner) + '\n';
        }
        for (auto part : chosen.plan.parts) text += std::to_string(part) + '\n';
    });
    io::OutputFile file(comm, path);
    const auto before = io::sum_before(comm, std::ssize(text));
    comm.agree([&] { file.write(before, text.data(), text.size()); });
    file.commit();
}

std::optional<ChosenDistribution> saved_partition(const Communicator& comm, const sparse::NonzeroIndices& nonzeros,
                                                  const std::string& path) {
    std::string text;
    bool more = false;  // lines, on rank 0
    comm.agree([&] {
        if (comm.rank() != 0) return;
        std::ifstream file(path);
        if (!file) throw InvalidArgument(path + " cannot be read; give the name of a partition file");
        std::string line;
        while (file.peek() == '%' && std::getline(file, line)) text += line + '\n';
        more = file.peek() != std::ifstream::traits_type::eof();
    });
    comm.broadcast(text, 0);
    if (!text.starts_with(mark)) return std::nullopt;
    const auto expected = identity(comm, nonzeros);
    ChosenDistribution chosen;
    comm.agree([&] {
        std::istringstream lines(text);
        std::string first;
        std::getline(lines, first);
        if (first != expected)
            throw InvalidArgument(path + " is an " + first.substr(2) + ", but an " + expected.substr(2) +
                                  " is needed; give the one that was saved for this tensor on so many ranks, or save it anew");
        if (!read_lines(lines, nonzeros.lengths, comm.size(), chosen) || (more && !chosen.plan.boundaries.empty()))
            throw InvalidArgument(path + " is damaged; save the partition anew");
    });
    auto& plan = chosen.plan;
    if (plan.grain == Grain::fine)
        plan.parts = nonzeros_from_file(comm, nonzeros, path);
    else if (plan.boundaries.empty())
        plan.owners = slices_from_file(comm, nonzeros, path);
    return chosen;
}

}  // namespace arges::decompose
