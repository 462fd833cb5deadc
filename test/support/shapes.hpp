/// Tensor shapes that tests run over: every kind of symmetry tree, extents 0 and 1, fewer elements than ranks.
#pragma once

#include "arges/symmetry.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges::test {

struct Shape {
    std::vector<std::int64_t> extents;
    std::string names, tree;
    bool complex = false;    ///< only meaningful for complex elements
    bool is_turned = false;  ///< the last slot comes first

    Symmetry symmetry() const {
        const auto parsed = Symmetry::parse(names, tree);
        return is_turned ? Symmetry(parsed.order(), product({parsed.slots().rbegin(), parsed.slots().rend()})) : parsed;
    }
    std::string text() const {
        std::string s;
        for (auto n : extents) s += (s.empty() ? "" : "x") + std::to_string(n);
        return s + " \"" + tree + "\" over \"" + names + "\"" + (is_turned ? ", the last slot first" : "");
    }
};

/// The table of DESIGN.md section 3 and more.
inline const std::vector<Shape>& shapes() {
    static const std::vector<Shape> all{
        {{}, "", ""},
        {{1}, "i", ""},
        {{0}, "i", ""},
        {{23}, "i", ""},
        {{3, 4}, "ij", ""},
        {{0, 3}, "ij", ""},
        {{2, 1, 5, 3}, "ijkl", ""},
        {{3, 4}, "ij", "", false, true},
        {{2, 5, 3}, "ijk", "", false, true},
        {{5, 5}, "ij", "sym(i,j)"},
        {{5, 5}, "ij", "antisym(i,j)"},
        {{6, 6}, "ij", "hollow(i,j)"},
        {{5, 5}, "ij", "hermitian(i,j)", true},
        {{1, 1}, "ij", "antisym(i,j)"},
        {{0, 0}, "ij", "sym(i,j)"},
        {{2, 2}, "ij", "antisym(j,i)"},
        {{4, 3, 4}, "iaj", "antisym(i,j)"},
        {{4, 3, 2, 4}, "iabj", "sym(j,i)", false, true},
        {{3, 3, 3}, "ijk", "sym(i,j,k)"},
        {{5, 5, 5}, "ijk", "antisym(i,j,k)"},
        {{4, 4, 4}, "ijk", "hollow(i,j,k)"},
        {{2, 2, 2}, "ijk", "antisym(i,j,k)"},
        {{4, 4, 4, 4}, "ijkl", "antisym(i,j,k,l)"},
        {{4, 4, 3, 3}, "abij", "antisym(a,b) antisym(i,j)"},
        {{3, 2, 3, 2}, "aibj", "sym(a,b) antisym(i,j)"},
        {{3, 3, 2, 2}, "abij", "sym(product(a,i),product(b,j))"},
        {{3, 3, 2, 2}, "abij", "antisym(product(a,i),product(b,j))"},
        {{2, 3, 3, 2}, "iabj", "hollow(product(a,i),product(b,j))"},
        {{3, 3, 2, 2}, "abij", "hermitian(product(a,i),product(b,j))", true},
        {{3, 3, 3, 3}, "pqrs", "sym(sym(p,q),sym(r,s))"},
        {{4, 4, 4, 4}, "pqrs", "sym(antisym(p,q),antisym(r,s))"},
        {{4, 4, 4, 4}, "prqs", "antisym(antisym(p,q),antisym(r,s))"},
        {{3, 3, 3, 3}, "pqrs", "hermitian(sym(p,q),sym(r,s))", true},
        {{3, 3, 3, 3}, "pqrs", "sym(hermitian(p,q),hermitian(r,s))", true},
        {{3, 3, 3, 3}, "prqs", "antisym(hermitian(p,q),hermitian(r,s))", true},
        {{3, 3, 3, 3}, "pqrs", "hermitian(hermitian(p,q),hermitian(r,s))", true},
        {{3, 3, 3, 3}, "pqrs", "hermitian(antisym(p,q),antisym(r,s))", true},
        {{3, 3, 3, 3}, "pqrs", "hermitian(p,q) hermitian(r,s)", true},
        {{3, 3, 3, 3}, "abij", "hollow(sym(a,b),sym(i,j))"},
        {{2, 2, 2, 2, 2, 2}, "abcijk", "sym(product(a,i),product(b,j),product(c,k))"},
        {{3, 3, 3, 3, 3, 3}, "abcijk", "antisym(a,b,c) antisym(i,j,k)"},
        {{2, 2, 2, 2, 2, 2, 2, 2}, "abcdefgh", "sym(sym(sym(a,b),sym(c,d)),sym(sym(e,f),sym(g,h)))"},
        {{2, 1, 2, 2, 1, 1, 2, 1, 1, 1, 2, 1, 1, 2, 1, 1}, "abcdefghijklmnop", "sym(a,c,d) antisym(g,k) sym(e,f)"},
    };
    return all;
}

/// Those that make sense for real (or complex) elements.
inline std::vector<Shape> shapes_for(bool complex) {
    std::vector<Shape> result;
    for (const auto& s : shapes())
        if (complex || !s.complex) result.push_back(s);
    return result;
}

}  // namespace arges::test
