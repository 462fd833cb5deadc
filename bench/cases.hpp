/// Products that the benchmarks time, by name and size.
#pragma once

#include "arges/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

using Extents = std::vector<std::int64_t>;

inline double choose(double n, int k) {
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
inline Case model(std::int64_t n, const std::string& left, const std::string& middle, const std::string& right, const std::string& kind) {
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

inline Case coupled_cluster(const std::string& name, std::int64_t v) {
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
inline std::map<char, std::int64_t> dense(std::int64_t n, std::int64_t rank) {
    std::map<char, std::int64_t> extents;
    for (char l = 'i'; l <= 'm'; ++l) extents[l] = n;
    for (char l = 'a'; l <= 'e'; ++l) extents[l] = rank;
    return extents;
}

/// A product without symmetry, as "ijk,ja,ka->ia".
inline Case network(const std::string& text, const std::map<char, std::int64_t>& extents) {
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

/// MTTKRP in a mode, and TTMc, of tensors of order 3 and 5 with equal extents.
inline const std::map<std::string, std::string>& decompositions() {
    static const std::map<std::string, std::string> known{{"mttkrp3", "ijk,ja,ka->ia"},           {"mttkrp3m1", "ijk,ia,ka->ja"},
                                                          {"mttkrp3m2", "ijk,ia,ja->ka"},         {"mttkrp5", "ijklm,ja,ka,la,ma->ia"},
                                                          {"mttkrp5m2", "ijklm,ia,ja,la,ma->ka"}, {"mttkrp5m4", "ijklm,ia,ja,ka,la->ma"},
                                                          {"ttmc5", "ijklm,jb,kc,ld,me->ibcde"}};
    return known;
}

inline bool is_decomposition(const std::string& name) { return decompositions().count(name) > 0; }

inline Case decomposition(const std::string& name, std::int64_t n, std::int64_t rank) {
    auto c = network(decompositions().at(name), dense(n, rank));
    const auto size = static_cast<double>(n), r = static_cast<double>(rank) / size;
    const auto order = static_cast<double>(c.factors[0].labels.size());
    c.flops = 2 * std::pow(size, order) * static_cast<double>(rank) * (name == "ttmc5" ? 1 + r + r * r + r * r * r : 1);
    return c;
}

/// Cyclops' model contractions, terms of coupled cluster, and Deinsum's networks; n is the extent of every label that the case does not
/// fix.
/// @throws InvalidArgument for an unknown name, with the known ones
inline Case make_case(const std::string& name, std::int64_t n) {
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
    if (is_decomposition(name)) return decomposition(name, n, name == "ttmc5" ? std::min<std::int64_t>(24, n) : 24);
    throw arges::InvalidArgument(
        "unknown case " + name +
        "; known: mm model4ns model4as model4sy model6as model8as ladder ring t3t2 2mm 3mm hadamard reverse2 reverse4 ttmc5 "
        "mttkrp3 mttkrp3m1 mttkrp3m2 mttkrp5 mttkrp5m2 mttkrp5m4");
}

}  // namespace bench
