// Times fixed contractions: contraction CASE SIZE [REPETITIONS] [--explain]
// Prints  case=... n=... ranks=... first=<seconds of the first run> seconds=<best of the repetitions> gflops=<useful flops per second>
// planned=<seconds that the last run's plan predicts> bytes=... messages=<sent by the busiest rank in the last run> bound=<lower bound of
// bytes> flops=<useful ones> and zeroes the counts of an MPI profiling library (MPI_Pcontrol) before the last repetition.
#include <arges/arges.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

using arges::Tensor;
using arges::World;
using Extents = std::vector<std::int64_t>;

double choose(double n, int k) {
    double result = 1;
    for (int i = 0; i < k; ++i) result *= (n - i) / (i + 1);
    return result;
}

struct Operand {
    std::string labels;
    Extents extents;
    std::string symmetry = "";
};

/// One product C (+)= factor * A * B * ..., with the flops that it needs.
struct Case {
    double flops = 0, factor = 1;
    Operand c;
    std::vector<Operand> factors;
    bool accumulate = false, antisymmetrize = false;
    bool starts_anew = false;  ///< each run takes new tensors, which lie as new tensors do
};

/// C[left right] (+)= factor * A[left middle] * B[middle right], each half of the labels one symmetric group.
Case model(std::int64_t n, const std::string& left, const std::string& middle, const std::string& right, const std::string& kind) {
    auto tree = [&](const std::string& first, const std::string& second) {
        if (kind.empty()) return std::string();
        auto group = [&](const std::string& labels) {
            std::string text;
            for (char c : labels) text += (text.empty() ? "" : ",") + std::string(1, c);
            return kind + "(" + text + ")";
        };
        return group(first) + " " + group(second);
    };
    const int k = static_cast<int>(left.size());
    const auto size = static_cast<double>(n);
    const double m = kind.empty() ? std::pow(size, k) : kind == "sym" ? choose(size + k - 1, k) : choose(size, k);
    Case c;
    c.flops = 2 * m * m * m;
    const Extents extents(2 * left.size(), n);
    c.factors = {{left + middle, extents, tree(left, middle)}, {middle + right, extents, tree(middle, right)}};
    c.c = {left + right, extents, tree(left, right)};
    return c;
}

Case coupled_cluster(const std::string& name, std::int64_t v) {
    const std::int64_t o = std::max<std::int64_t>(2, v / 4);
    const auto dv = static_cast<double>(v), dn = static_cast<double>(o);
    Case c;
    c.accumulate = true;
    c.c = {"abij", {v, v, o, o}, "antisym(a,b) antisym(i,j)"};
    if (name == "ladder") {
        c.flops = 2 * choose(dv, 2) * choose(dv, 2) * choose(dn, 2);
        c.factor = 0.5;
        c.factors = {{"abef", {v, v, v, v}, "antisym(a,b) antisym(e,f)"}, {"efij", {v, v, o, o}, "antisym(e,f) antisym(i,j)"}};
    } else if (name == "ring") {
        c.flops = 2 * dv * dv * dv * dn * dn * dn;
        c.antisymmetrize = true;
        c.factors = {{"mbej", {o, v, v, o}}, {"aeim", {v, v, o, o}, "antisym(a,e) antisym(i,m)"}};
    } else {
        c.flops = 2 * choose(dv, 2) * dv * dn * dn * choose(dn, 2);
        c.factor = 0.5;
        c.antisymmetrize = true;
        c.factors = {{"mnje", {o, o, o, v}, "antisym(m,n)"}, {"abeimn", {v, v, v, o, o, o}, "antisym(a,b,e) antisym(i,m,n)"}};
    }
    return c;
}

/// Extents of the labels of a decomposition: i to m of the tensor, a to e of the rank.
std::map<char, std::int64_t> dense(std::int64_t n, std::int64_t rank) {
    std::map<char, std::int64_t> extents;
    for (char l = 'i'; l <= 'm'; ++l) extents[l] = n;
    for (char l = 'a'; l <= 'e'; ++l) extents[l] = rank;
    return extents;
}

/// A product without symmetry, as "ijk,ja,ka->ia".
Case network(const std::string& text, const std::map<char, std::int64_t>& extents) {
    Case c;
    auto operand = [&](const std::string& labels) {
        Operand o{labels, {}};
        for (char l : labels) o.extents.push_back(extents.at(l));
        return o;
    };
    const auto arrow = text.find("->");
    for (std::size_t begin = 0; begin < arrow;) {
        const auto end = std::min(text.find(',', begin), arrow);
        c.factors.push_back(operand(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    c.c = operand(text.substr(arrow + 2));
    return c;
}

Case make_case(const std::string& name, std::int64_t n) {
    if (name == "mm") return model(n, "i", "j", "k", "");
    if (name == "model4ns") return model(n, "ab", "ij", "kl", "");
    if (name == "model4as") {
        auto c = model(n, "ab", "ij", "kl", "antisym");
        c.factor = 0.5;
        c.accumulate = true;
        return c;
    }
    if (name == "model4sy") return model(n, "ab", "ij", "kl", "sym");
    if (name == "model6as" || name == "model8as") {
        auto c = name == "model6as" ? model(n, "abc", "ijk", "xyz", "antisym") : model(n, "abcd", "ijkl", "wxyz", "antisym");
        c.accumulate = true;
        return c;
    }
    if (name == "ladder" || name == "ring" || name == "t3t2") return coupled_cluster(name, n);
    if (name == "hadamard") {
        auto c = network("ik,ik,ikl,jl->ijkl", {{'i', n}, {'k', 8 * n}, {'l', 3}, {'j', 16}});
        c.flops = 2.0 * static_cast<double>(n) * static_cast<double>(8 * n) * 48;
        return c;
    }
    if (name == "reverse2" || name == "reverse4") {  // nothing lies right, and neither tensor may stay where the other one is
        auto c = network(name == "reverse2" ? "ji->ij" : "lkji->ijkl", dense(n, 1));
        c.accumulate = c.starts_anew = true;
        return c;
    }
    if (name == "2mm" || name == "3mm") {
        auto c = network(name == "2mm" ? "ij,jk,kl->il" : "ij,jk,kl,lm->im", dense(n, 24));
        c.flops = 2.0 * std::pow(static_cast<double>(n), 3) * static_cast<double>(c.factors.size() - 1);
        return c;
    }
    const std::map<std::string, std::string> decompositions{{"mttkrp3", "ijk,ja,ka->ia"},           {"mttkrp3m1", "ijk,ia,ka->ja"},
                                                            {"mttkrp3m2", "ijk,ia,ja->ka"},         {"mttkrp5", "ijklm,ja,ka,la,ma->ia"},
                                                            {"mttkrp5m2", "ijklm,ia,ja,la,ma->ka"}, {"mttkrp5m4", "ijklm,ia,ja,ka,la->ma"},
                                                            {"ttmc5", "ijklm,jb,kc,ld,me->ibcde"}};
    if (const auto it = decompositions.find(name); it != decompositions.end()) {
        const std::int64_t rank = name == "ttmc5" ? std::min<std::int64_t>(24, n) : 24;
        auto c = network(it->second, dense(n, rank));
        const auto size = static_cast<double>(n), r = static_cast<double>(rank) / size;
        const auto order = static_cast<double>(c.factors[0].labels.size());
        c.flops = 2 * std::pow(size, order) * static_cast<double>(rank) * (name == "ttmc5" ? 1 + r + r * r + r * r * r : 1);
        return c;
    }
    throw arges::InvalidArgument(
        "unknown case " + name +
        "; known: mm model4ns model4as model4sy model6as model8as ladder ring t3t2 2mm 3mm hadamard reverse2 reverse4 ttmc5 "
        "mttkrp3 mttkrp3m1 mttkrp3m2 mttkrp5 mttkrp5m2 mttkrp5m4");
}

Tensor<double> tensor(const World& world, const Operand& o, std::uint64_t seed) {
    Tensor<double> t(world, o.extents, o.labels, o.symmetry, "tensor " + o.labels);
    t.fill_random(seed);
    return t;
}

/// Stops (0), goes on with (1) or zeroes (2) the counts of a profiling library.
void count_bytes([[maybe_unused]] int level) {
#ifndef ARGES_SIMULATED  // SimGrid has no MPI_Pcontrol
    MPI_Pcontrol(level);
#endif
}

/// The tensors of a case and its right-hand side.
struct Operands {
    Tensor<double> output;
    arges::Expression<double> right;
};

Operands operands(const World& world, const Case& c) {
    arges::Expression<double> product(c.factor);
    for (std::size_t f = 0; f < c.factors.size(); ++f) product = product * tensor(world, c.factors[f], f + 4)[c.factors[f].labels];
    return {tensor(world, c.c, 3), c.antisymmetrize ? antisymmetrized(product) : product};
}

/// The number that follows the last of some words in a text that people read, as 1,024; 0 without them.
double number_after(const std::string& text, const std::string& words) {
    const auto found = text.rfind(words);
    if (found == std::string::npos) return 0;
    auto digits = text.substr(found + words.size(), 40);
    std::erase(digits, ',');
    return std::atof(digits.c_str());
}

void run(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "mm";
    const std::int64_t n = argc > 2 ? std::atoll(argv[2]) : 512;
    const int repetitions = argc > 3 ? std::atoi(argv[3]) : 5;
    const World world;
    const auto c = make_case(name, n);
    auto now = operands(world, c);
    const double beta = c.accumulate ? 1 : 0;
    if (argc > 4 && std::string(argv[4]) == "--explain" && world.rank() == 0)
        std::fputs(now.output[c.c.labels].explain(now.right, beta).c_str(), stdout);
    count_bytes(0);
    double best = 1e300, first = 0;
    for (int r = -1; r < repetitions; ++r) {
        if (c.starts_anew) now = operands(world, c);
        MPI_Barrier(world.communicator());
        if (r == repetitions - 1) {
            count_bytes(2);
            count_bytes(1);
        }
        const double start = MPI_Wtime();
        now.output[c.c.labels].assign(now.right, beta);
        double seconds = MPI_Wtime() - start;
        count_bytes(0);
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, world.communicator());
        if (r < 0)
            first = seconds;
        else
            best = std::min(best, seconds);
    }
    long long sent[] = {world.last_report().bytes_sent, world.last_report().messages_sent};
    MPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_LONG_LONG, MPI_MAX, world.communicator());
    if (c.starts_anew) now = operands(world, c);
    if (world.rank() != 0) return;
    const auto plan = now.output[c.c.labels].explain(now.right, beta);
    const auto bound = number_after(plan, "(largest of a step) ");
    std::printf(
        "case=%s n=%lld ranks=%lld first=%.7f seconds=%.7f gflops=%.3f planned=%.7f bytes=%lld messages=%lld bound=%.0f flops=%.4g\n",
        name.c_str(), static_cast<long long>(n), static_cast<long long>(world.size()), first, best, c.flops / best * 1e-9,
        number_after(plan, "predicted seconds "), sent[0], sent[1], bound > 0 ? bound : number_after(plan, "(memory-independent) "),
        c.flops);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    try {
        run(argc, argv);
    } catch (const arges::Error& error) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) std::fprintf(stderr, "contraction: error: %s\n", error.what());
        status = 1;
    }
    MPI_Finalize();
    return status;
}
