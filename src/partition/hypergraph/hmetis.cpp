#include "partition/hypergraph/hmetis.hpp"

#include "arges/error.hpp"

#include <algorithm>
#include <charconv>
#include <istream>
#include <limits>
#include <ostream>

namespace arges::partition {

namespace {

constexpr const char* blanks = " \t\r";

/// Lines of a file with their numbers.
class Lines {
public:
    /// @param cure what every message ends with
    Lines(std::istream& in, const std::string& name, std::string cure = "") : in_(in), name_(name), cure_(std::move(cure)) {}

    /// Goes to the next line. False at the end of the file.
    bool next() {
        if (!std::getline(in_, line_)) return false;
        ++number_;
        at_ = 0;
        return true;
    }
    bool next_without_comments() {
        while (next())
            if (line_.empty() || line_.front() != '%') return true;
        return false;
    }
    /// The next number of the line, or false at its end.
    bool number(std::int64_t& value) {
        at_ = line_.find_first_not_of(blanks, at_);
        if (at_ == std::string::npos) return false;
        const auto end = std::min(line_.find_first_of(blanks, at_), line_.size());
        const auto [last, error] = std::from_chars(line_.data() + at_, line_.data() + end, value);
        if (error != std::errc{} || last != line_.data() + end)
            fail("'" + line_.substr(at_, std::min<std::size_t>(end - at_, 40)) + "' is no whole number");
        at_ = end;
        return true;
    }
    /// A number that must be there.
    std::int64_t required(const std::string& what, std::int64_t low, std::int64_t high) {
        std::int64_t value = 0;
        if (!number(value)) fail(what + " is missing");
        if (value < low || value > high)
            fail(what + " is " + std::to_string(value) + ", it must be from " + std::to_string(low) + " to " + std::to_string(high));
        return value;
    }
    bool blank() const { return line_.find_first_not_of(blanks) == std::string::npos; }
    void end(const std::string& what) {
        if (line_.find_first_not_of(blanks, std::min(at_, line_.size())) != std::string::npos) fail("there is more than " + what);
    }
    [[noreturn]] void fail(const std::string& message) const {
        throw InvalidArgument(name_ + ", line " + std::to_string(number_) + ": " + message + cure_);
    }
    [[noreturn]] void fail_at_end(const std::string& message) const {
        throw InvalidArgument(name_ + " ends after line " + std::to_string(number_) + ": " + message + cure_);
    }

private:
    std::istream& in_;
    const std::string name_, cure_;
    std::string line_;
    std::int64_t number_ = 0;
    std::size_t at_ = 0;
};

constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t most_weight = std::numeric_limits<std::int64_t>::max();

bool all_one(const Hypergraph& hypergraph) {
    if (hypergraph.constraints() > 1) return false;
    for (std::int64_t v = 0; v < hypergraph.vertices(); ++v)
        if (hypergraph.weight(v) != 1) return false;
    return true;
}

/// The first line.
struct Header {
    std::int64_t nets, vertices, constraints = 1;
    bool costs = false, weights = false;
};

Header read_header(Lines& lines) {
    const std::string form = "the first line must be 'nets vertices [format]'";
    if (!lines.next_without_comments()) lines.fail_at_end(form);
    Header header{};
    header.nets = lines.required("the number of nets", 0, most);
    header.vertices = lines.required("the number of vertices", 0, most);
    header.constraints = 1;
    std::int64_t format = 0;
    if (lines.number(format)) {
        if (format != 0 && format != 1 && format != 10 && format != 11)
            lines.fail("format " + std::to_string(format) + " is not known; it is 1 (costs), 10 (weights) or 11 (both)");
        header.costs = format % 10 == 1;
        header.weights = format >= 10;
        if (lines.number(header.constraints) && (header.constraints < 1 || header.constraints > 1024))
            lines.fail("the number of weights of a vertex must be from 1 to 1024");
    }
    lines.end("'nets vertices [format [weights]]'");
    return header;
}

}  // namespace

void write_hmetis(std::ostream& out, const Hypergraph& hypergraph) {
    bool costs = false;
    for (std::int64_t net = 0; net < hypergraph.nets() && !costs; ++net) costs = hypergraph.cost(net) != 1;
    const bool weights = !all_one(hypergraph);
    out << hypergraph.nets() << ' ' << hypergraph.vertices();
    if (costs || weights) out << (weights ? costs ? " 11" : " 10" : " 1");
    if (hypergraph.constraints() > 1) out << ' ' << hypergraph.constraints();
    out << '\n';
    for (std::int64_t net = 0; net < hypergraph.nets(); ++net) {
        const char* between = "";
        if (costs) {
            out << hypergraph.cost(net);
            between = " ";
        }
        for (auto pin : hypergraph.pins(net)) {
            out << between << std::int64_t{pin} + 1;
            between = " ";
        }
        out << '\n';
    }
    for (std::int64_t v = 0; weights && v < hypergraph.vertices(); ++v) {
        const char* between = "";
        for (auto weight : hypergraph.weights(v)) {
            out << between << weight;
            between = " ";
        }
        out << '\n';
    }
}

Hypergraph read_hmetis(std::istream& in, const std::string& name) {
    Lines lines(in, name);
    const auto header = read_header(lines);
    HypergraphData data;
    data.vertices = header.vertices;
    data.constraints = header.constraints;
    for (std::int64_t net = 0; net < header.nets; ++net) {
        if (!lines.next_without_comments())
            lines.fail_at_end("the first line promises " + std::to_string(header.nets) + " nets, there are " + std::to_string(net));
        if (header.costs) data.costs.push_back(lines.required("the cost of the net", 0, most_weight));
        std::int64_t pin = 0;
        while (lines.number(pin)) {
            if (pin < 1 || pin > header.vertices)
                lines.fail("vertex " + std::to_string(pin) + " is not from 1 to " + std::to_string(header.vertices));
            data.pins.push_back(pin - 1);
        }
        data.net_begin.push_back(std::ssize(data.pins));
    }
    if (!header.weights && header.constraints > 1) lines.fail("several weights were promised, but format has no weights");
    for (std::int64_t v = 0; header.weights && v < header.vertices; ++v) {
        if (!lines.next_without_comments())
            lines.fail_at_end("weights of " + std::to_string(header.vertices) + " vertices were promised, there are " + std::to_string(v));
        for (std::int64_t c = 0; c < header.constraints; ++c)
            data.weights.push_back(lines.required("a weight of vertex " + std::to_string(v + 1), 0, most_weight));
        lines.end("the weights of a vertex");
    }
    while (lines.next_without_comments())
        if (!lines.blank()) lines.fail("the file goes on after its last net or weight; the numbers in its first line are too low");
    return Hypergraph(std::move(data));
}

VertexParts read_partition(std::istream& in, const std::string& name, std::int64_t vertices, std::int64_t parts, const std::string& what) {
    const auto expected = std::to_string(vertices) + " " + what;
    Lines lines(in, name,
                "; a partition file has one line for each of the " + expected + ", with a part from 0 to " + std::to_string(parts - 1) +
                    " and nothing else");
    VertexParts result;
    while (lines.next_without_comments()) {
        if (lines.blank()) lines.fail("the line is empty");
        if (std::ssize(result) == vertices) lines.fail("the partition is of more than " + expected);
        result.push_back(lines.required("the part", 0, parts - 1));
        lines.end("one number");
    }
    if (std::ssize(result) < vertices) lines.fail_at_end("the partition is of " + std::to_string(result.size()) + " " + what + " only");
    return result;
}

}  // namespace arges::partition
