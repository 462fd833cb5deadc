// Figure 4 of the Cyclops paper (Solomonik, Hammond, Demmel 2012) by dry run: how much of the work of the model
// contraction is padding, and how many virtual blocks a rank holds, on 1 to 131,072 ranks. Planner only: no MPI, no data.
//
//     padding [--words N] [--svg FILE | --compare RANKS]
//
// With --compare: bytes, padding and predicted seconds of both ways, and of the planner's choice, on 8, 64, ... to RANKS ranks, of the
// model contraction and of two products that take a symmetric group apart.
//
// Model contraction in d dimensions, h = d/2: C[a1..ah k1..kh] = A[a1..ah i1..ih] * B[i1..ih k1..kh], the tensors
// symmetric in each half. Weak scaling: n is the smallest extent with which a tensor has N or more packed elements per rank.
#include "plan/report/plan_report.hpp"
#include "topology/unfold.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace arges;

namespace {

constexpr std::int64_t max_ranks = 131072;
constexpr int dimensions[] = {2, 4, 6, 8};

/// What one plan says.
struct Row {
    int d = 0;
    std::int64_t ranks = 0, extent = 0;
    double padding = 0;               ///< executed / useful - 1, on ranks that differ in what they do
    std::int64_t virtual_blocks = 1;  ///< products of blocks on each rank
    std::int64_t idle_factor = 1;     ///< ranks that do the same work
    std::string grid;                 ///< places of the groups (a.. k.. i..)
    double seconds = 0;               ///< of planning
};

double packed_pair(std::int64_t n, int half) {
    double size = 1;
    for (int i = 0; i < half; ++i) size = size * static_cast<double>(n + i) / (i + 1);
    return size * size;
}

std::int64_t extent_for(int d, std::int64_t ranks, double words) {
    std::int64_t n = 1;
    while (packed_pair(n, d / 2) < words * static_cast<double>(ranks)) ++n;
    return n;
}

/// A tensor whose first and second half of dimensions are symmetric.
Operand operand(const RankGrid& grid, std::int64_t n, std::vector<int> labels, GroupMapping mapping, std::string name) {
    const int half = static_cast<int>(labels.size()) / 2;
    std::vector<SymmetryNode> slots;
    for (int s = 0; s < 2; ++s) {
        std::vector<SymmetryNode> leaves;
        for (int i = 0; i < half; ++i) leaves.push_back(leaf(s * half + i));
        slots.push_back(half == 1 ? leaves[0] : symmetric(leaves));
    }
    const std::vector<std::int64_t> extents(labels.size(), n);
    const Symmetry symmetry(2 * half, product(slots));
    const auto make = mapping == GroupMapping::blocks ? block_layout : default_layout;
    return {make(grid, extents, symmetry), std::move(labels), false, std::move(name)};
}

Product model_contraction(int d, std::int64_t n, std::int64_t ranks, GroupMapping mapping) {
    const int half = d / 2;
    const auto grid = unfold(Torus({ranks}));
    const auto labels = [&](int first, int second) {
        std::vector<int> result;
        for (int start : {first, second})
            for (int i = 0; i < half; ++i) result.push_back(start * half + i);
        return result;
    };
    Product spec;
    spec.factors = {operand(grid, n, labels(0, 2), mapping, "A"), operand(grid, n, labels(2, 1), mapping, "B")};
    spec.output = operand(grid, n, labels(0, 1), mapping, "C");
    for (int l = 0; l < 3 * half; ++l) {
        spec.label_extents.push_back(n);
        spec.label_names.push_back("aki"[l / half] + std::to_string(l % half));
    }
    spec.terms = {identity_term(spec.label_extents.size())};
    return spec;
}

Row measure(int d, std::int64_t n, std::int64_t ranks, GroupMapping mapping) {
    const auto start = std::chrono::steady_clock::now();
    PlanOptions options;
    options.group_mapping = mapping;
    const auto plan = plan_on_grid(model_contraction(d, n, ranks, mapping), {{0, 1}}, options);
    Row row{d, ranks, n, 0, 1, ranks, "", 0};
    std::int64_t used = 1;
    for (std::size_t a = 0; a < plan.axes.size(); ++a) {
        used *= plan.grid_lengths[a];
        row.grid += (a == 0 ? "" : "x") + std::to_string(plan.grid_lengths[a]);
        for (auto v : plan.mapping[a].virtual_factor) row.virtual_blocks *= v;
    }
    row.idle_factor = ranks / used;
    row.padding = plan.cost.flops * static_cast<double>(used) / plan.cost.useful_flops - 1;
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return row;
}

/// Executed over useful flops against the number of ranks: a line per dimension and way.
void write_svg(const std::string& path, const std::vector<Row>& blocks, const std::vector<Row>& packed) {
    constexpr double width = 720, height = 420, left = 60, right = 150, top = 40, bottom = 50;
    double most = 1.5;
    for (const auto& row : blocks) most = std::max(most, std::ceil(2 * (1 + row.padding)) / 2);
    const auto x = [&](std::int64_t ranks) {
        return left + (width - left - right) * static_cast<double>(std::countr_zero(static_cast<std::uint64_t>(ranks))) / 17;
    };
    const auto y = [&](double value) { return height - bottom - (height - top - bottom) * (value - 1) / (most - 1); };
    std::ofstream out(path);
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height
        << "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        << "<text x=\"" << left
        << "\" y=\"20\" font-size=\"14\">Executed / useful flops of the model contraction, weak "
           "scaling</text>\n";
    for (double value = 1; value <= most; value += 0.5)
        out << "<line x1=\"" << left << "\" x2=\"" << width - right << "\" y1=\"" << y(value) << "\" y2=\"" << y(value)
            << "\" stroke=\"#ddd\"/>\n<text x=\"" << left - 6 << "\" y=\"" << y(value) + 4 << "\" text-anchor=\"end\">" << value
            << "</text>\n";
    for (std::int64_t p = 1; p <= max_ranks; p *= 2)
        if (std::countr_zero(static_cast<std::uint64_t>(p)) % 2 == 1 || p == 1)
            out << "<text x=\"" << x(p) << "\" y=\"" << height - bottom + 18 << "\" text-anchor=\"middle\">" << p << "</text>\n";
    out << "<text x=\"" << (left + width - right) / 2 << "\" y=\"" << height - 10 << "\" text-anchor=\"middle\">ranks</text>\n";
    const char* const colours[] = {"#888888", "#1b9e77", "#d95f02", "#7570b3"};
    double legend = top;
    for (int way = 0; way < 2; ++way)
        for (std::size_t i = 0; i < std::size(dimensions); ++i) {
            out << "<polyline fill=\"none\" stroke=\"" << colours[i] << "\" stroke-width=\"2\""
                << (way == 1 ? " stroke-dasharray=\"4 3\"" : "") << " points=\"";
            for (const auto& row : way == 0 ? blocks : packed)
                if (row.d == dimensions[i]) out << x(row.ranks) << ',' << y(1 + row.padding) << ' ';
            out << "\"/>\n<line x1=\"" << width - right + 12 << "\" x2=\"" << width - right + 42 << "\" y1=\"" << legend << "\" y2=\""
                << legend << "\" stroke=\"" << colours[i] << "\" stroke-width=\"2\"" << (way == 1 ? " stroke-dasharray=\"4 3\"" : "")
                << "/>\n<text x=\"" << width - right + 48 << "\" y=\"" << legend + 4 << "\">" << dimensions[i] << "D "
                << (way == 0 ? "blocks" : "packed") << "</text>\n";
            legend += 20;
        }
    out << "</svg>\n";
}

/// A product of tensors that are given by labels and tree, the last one the result; every label has the extent n.
Product product_of(const std::vector<std::pair<std::string, std::string>>& operands, std::int64_t n, std::int64_t ranks,
                   GroupMapping mapping) {
    const auto grid = unfold(Torus({ranks}));
    const auto make = mapping == GroupMapping::blocks ? block_layout : default_layout;
    Product spec;
    std::string letters;
    for (const auto& [labels, tree] : operands) {
        Operand operand;
        for (const char letter : labels) {
            if (letters.find(letter) == std::string::npos) letters += letter;
            operand.labels.push_back(static_cast<int>(letters.find(letter)));
        }
        operand.layout = make(grid, std::vector<std::int64_t>(labels.size(), n), Symmetry::parse(labels, tree));
        operand.name = std::string(1, static_cast<char>('A' + spec.factors.size()));
        spec.factors.push_back(std::move(operand));
    }
    spec.output = std::move(spec.factors.back());
    spec.factors.pop_back();
    spec.label_extents.assign(letters.size(), n);
    for (const char letter : letters) spec.label_names.emplace_back(1, letter);
    spec.terms = {identity_term(spec.label_extents.size())};
    return spec;
}

PlanReport report_of(const Product& spec, GroupMapping mapping) {
    PlanOptions options;
    options.group_mapping = mapping;
    return plan_report(plan_product(spec, options), spec, options);
}

/// A line: each way with tensors that lie so, and the planner's choice with packed tensors.
void compare(const std::string& name, std::int64_t ranks, const std::function<Product(GroupMapping)>& make) {
    std::printf("%-8s %6lld", name.c_str(), static_cast<long long>(ranks));
    for (const auto mapping : {GroupMapping::packed, GroupMapping::blocks}) {
        const auto report = report_of(make(mapping), mapping);
        const double useful = report.useful_flops / static_cast<double>(ranks);
        std::printf(" | %9.3f %8.1f%% %8.1f%% %9.2e", static_cast<double>(report.bytes) * 1e-6, 100 * (report.flops / useful - 1),
                    100 * report.tensor_padding, report.seconds);
    }
    std::printf(" | %9.2e\n", report_of(make(GroupMapping::packed), GroupMapping::best).seconds);
    std::fflush(stdout);
}

void print_comparison(double words, std::int64_t most) {
    std::printf("%-15s | %-39s | %-39s | %s\n%-8s %6s", "", "packed", "blocks (cyclops-2012)", "best", "case", "ranks");
    for (int way = 0; way < 2; ++way) std::printf(" | %9s %9s %9s %9s", "MB moved", "products", "storage", "seconds");
    std::printf(" | %9s\n", "seconds");
    for (int d : dimensions)
        for (std::int64_t p = 8; p <= most; p *= 8)
            compare(std::to_string(d) + "D", p, [&](GroupMapping m) { return model_contraction(d, extent_for(d, p, words), p, m); });
    for (std::int64_t p = 8; p <= most; p *= 8)
        compare("ring", p, [&](GroupMapping m) {
            return product_of({{"aeim", "antisym(a,e) antisym(i,m)"}, {"mbej", ""}, {"abij", ""}}, extent_for(4, p, words), p, m);
        });
    for (std::int64_t p = 8; p <= most; p *= 8)
        compare("sym mm", p, [&](GroupMapping m) {
            return product_of({{"ik", "sym(i,k)"}, {"kj", ""}, {"ij", ""}}, extent_for(2, p, words), p, m);
        });
}

}  // namespace

int main(int argc, char** argv) {
    double words = 1 << 18;  // 2 MiB of each tensor
    std::int64_t most_compared = 0;
    std::string svg;
    bool understood = argc % 2 == 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        if (option == "--words")
            words = std::atof(argv[i + 1]);
        else if (option == "--svg")
            svg = argv[i + 1];
        else if (option == "--compare")
            most_compared = std::atoll(argv[i + 1]);
        else
            understood = false;
    }
    if (!understood || !(words >= 1)) return std::fputs("usage: padding [--words N] [--svg FILE | --compare RANKS]\n", stderr), 1;
    if (most_compared > 0) return print_comparison(words, most_compared), 0;
    std::printf("%-19s | %-33s | %-26s\n", "", "blocks (cyclops-2012)", "packed");
    std::printf("%3s %7s %7s | %9s %8s %-14s | %9s  %-14s\n", "d", "ranks", "n", "padding", "virtual", "grid a i k", "padding",
                "grid a i k");
    std::vector<Row> blocks, packed;
    double slowest = 0;
    for (int d : dimensions)
        for (std::int64_t p = 1; p <= max_ranks; p *= 2) {
            const auto n = extent_for(d, p, words);
            const auto b = measure(d, n, p, GroupMapping::blocks), k = measure(d, n, p, GroupMapping::packed);
            std::printf("%3d %7lld %7lld | %8.1f%% %8lld %-14s | %8.2f%%  %-14s%s\n", d, static_cast<long long>(p),
                        static_cast<long long>(n), 100 * b.padding, static_cast<long long>(b.virtual_blocks), b.grid.c_str(),
                        100 * k.padding, k.grid.c_str(), b.idle_factor > 1 || k.idle_factor > 1 ? " some ranks repeat work" : "");
            std::fflush(stdout);
            slowest = std::max({slowest, b.seconds, k.seconds});
            blocks.push_back(b);
            packed.push_back(k);
        }
    std::fprintf(stderr, "slowest plan: %.2f seconds\n", slowest);
    if (!svg.empty()) write_svg(svg, blocks, packed);
}
