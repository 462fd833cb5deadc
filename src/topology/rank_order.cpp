// Plans take rank r for the process at place r of the torus (cyclops-2012, section 4.2, maps the dimensions of a torus); a launcher numbers
// processes as it likes. A permutation of ranks makes the two agree, as MPI_Cart_create with reordering may.
#include "topology/rank_order.hpp"

#include "arges/error.hpp"
#include "base/math.hpp"
#include "base/read_number.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

namespace arges {

namespace {

std::string text_of(const std::vector<std::int64_t>& numbers) {
    std::string text;
    for (const auto c : numbers) text += (text.empty() ? "" : " ") + std::to_string(c);
    return text;
}

constexpr const char* cure = "; write a line for each process in the order of MPI_COMM_WORLD, e.g. \"0 3 1\"";

std::vector<std::int64_t> numbers_of(const std::string& line, const std::string& where) {
    std::vector<std::int64_t> numbers;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        std::int64_t number = 0;
        if (!read_number(word, number)) throw InvalidArgument(where + "\"" + word + "\" is not a whole number" + cure);
        numbers.push_back(number);
    }
    return numbers;
}

}  // namespace

ProcessCoordinates parse_coordinates(const std::string& text, const std::string& file, std::optional<std::int64_t> processes) {
    ProcessCoordinates result;
    std::istringstream lines(text);
    int line_number = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto where = "coordinates in " + file + ", line " + std::to_string(++line_number) + ": ";
        auto numbers = numbers_of(line.substr(0, line.find('#')), where);
        if (numbers.empty()) continue;
        if (!result.empty() && numbers.size() != result.front().size())
            throw InvalidArgument(where + std::to_string(numbers.size()) + " coordinates, but " + std::to_string(result.front().size()) +
                                  " in the lines before" + cure);
        result.push_back(std::move(numbers));
    }
    if (std::ssize(result) != processes.value_or(std::max<std::int64_t>(1, std::ssize(result))))
        throw InvalidArgument("coordinates in " + file + ": there are " + std::to_string(result.size()) + " lines for " +
                              std::to_string(processes.value_or(1)) + " processes" + cure);
    return result;
}

PlacedProcesses place_on_torus(const ProcessCoordinates& coordinates, const Torus& given, const std::string& file) {
    const auto refuse = [&](const std::string& why) { throw InvalidArgument("coordinates in " + file + ": " + why); };
    std::map<std::vector<std::int64_t>, std::size_t> first;
    for (std::size_t p = 0; p < coordinates.size(); ++p)
        if (const auto [other, is_new] = first.emplace(coordinates[p], p); !is_new)
            refuse("processes " + std::to_string(other->second) + " and " + std::to_string(p) + " are both at " + text_of(coordinates[p]) +
                   "; where a node has several, add the number within the node as a coordinate");
    std::vector<std::map<std::int64_t, std::int64_t>> numbers(coordinates.front().size());  // by dimension, of a value that occurs
    std::vector<std::int64_t> lengths;
    std::int64_t places = 1;
    for (std::size_t d = 0; d < numbers.size(); ++d) {
        for (const auto& c : coordinates) numbers[d][c[d]] = 0;
        std::int64_t next = 0;
        for (auto& [value, number] : numbers[d]) number = next++;
        lengths.push_back(next);
        places = saturated_product(places, next);
    }
    if (places != std::ssize(coordinates))
        refuse("they do not fill a torus: " + std::to_string(coordinates.size()) + " processes are spread over " + text_of(lengths) +
               " places; ask for an allocation that is a block of the machine, or give no coordinates");
    PlacedProcesses placed{Torus(lengths), {}};
    if (!given.lengths().empty() && given != placed.torus)
        refuse("they are those of a torus " + placed.torus.to_string() + ", but " + given.to_string() +
               " is given; correct one of them, or give no torus");
    for (const auto& c : coordinates) {
        std::int64_t rank = 0;
        for (std::size_t d = numbers.size(); d-- > 0;) rank = rank * lengths[d] + numbers[d].at(c[d]);
        placed.rank.push_back(rank);
    }
    return placed;
}

std::vector<std::int64_t> order_by_nodes(const std::vector<std::int64_t>& node) {
    std::map<std::int64_t, std::size_t> first;  // rank of a node
    for (std::size_t r = 0; r < node.size(); ++r) first.emplace(node[r], r);
    std::vector<std::size_t> ranks(node.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::stable_sort(ranks.begin(), ranks.end(), [&](auto a, auto b) { return first.at(node[a]) < first.at(node[b]); });
    std::vector<std::int64_t> result(node.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) result[ranks[i]] = i;
    return result;
}

}  // namespace arges
