/// Contractions for tests of the planner, written as text.
#pragma once

#include "arges/error.hpp"
#include "layout/layout.hpp"
#include "plan/product/product_plan.hpp"
#include "plan/product/step_memory.hpp"
#include "plan/product/structure.hpp"

#include <map>
#include <string>
#include <vector>

namespace arges::test {

/// Labels of one letter each, and the symmetry over them (over `names` where labels are repeated).
struct OperandText {
    std::string labels, tree, names = {};
};

/// C = A * B (or C = A), with the extent of each label.
struct ContractionText {
    OperandText c, a, b;
    std::map<char, std::int64_t> extents;
    Projection projection = Projection::none;
    bool unary = false;
};

inline std::string label_letters(const ContractionText& text) {
    std::string letters;
    for (const auto* o : {&text.a, &text.b, &text.c})
        for (char l : o->labels)
            if (letters.find(l) == std::string::npos) letters += l;
    return letters;
}

/// The spec on a grid, tensors in the layouts that new ones get.
inline Product pairwise_product(const ContractionText& text, const RankGrid& grid, GroupMapping mapping = GroupMapping::packed) {
    const auto letters = label_letters(text);
    auto operand = [&](const OperandText& o, const char* name) {
        std::vector<std::int64_t> extents;
        Operand spec;
        for (char l : o.labels) {
            extents.push_back(text.extents.at(l));
            spec.labels.push_back(static_cast<int>(letters.find(l)));
        }
        const auto symmetry = Symmetry::parse(o.names.empty() ? o.labels : o.names, o.tree);
        spec.layout = mapping == GroupMapping::packed ? default_layout(grid, extents, symmetry) : block_layout(grid, extents, symmetry);
        spec.name = name;
        return spec;
    };
    Product spec;
    spec.factors.push_back(operand(text.a, "A"));
    if (!text.unary) spec.factors.push_back(operand(text.b, "B"));
    spec.output = operand(text.c, "C");
    StructuralSum sum;
    auto& product = sum.products.emplace_back();
    for (char l : letters) {
        spec.label_extents.push_back(text.extents.at(l));
        spec.label_names.emplace_back(1, l);
    }
    for (const auto& input : spec.factors) product.factors.push_back({input.layout.symmetry(), input.labels, product.factors.size()});
    sum.output = {spec.output.layout.symmetry(), spec.output.labels};
    sum.output.name = "C";
    sum.labels = static_cast<int>(letters.size());
    sum.label_names = spec.label_names;
    if (text.projection == Projection::none) require_symmetry(sum);
    spec.terms = projection_terms(sum, text.projection);
    return spec;
}

/// The plan of a product of one or two factors. @throws OutOfMemory
inline ProductPlan plan_contraction(const Product& spec, const PlanOptions& options) {
    auto plan = plan_on_grid(spec, spec.factors.size() > 1 ? PairOrder{{0, 1}} : PairOrder{}, options);
    if (const auto least = workspace_bound(plan, options); least > options.memory_limit)
        throw OutOfMemory("needs at least " + std::to_string(least));
    return plan;
}

/// The cases that coupled-cluster codes are made of, v virtual and o occupied orbitals, n for models.
inline std::map<std::string, ContractionText> contraction_cases(std::int64_t v, std::int64_t o, std::int64_t n) {
    const std::map<char, std::int64_t> cc{{'a', v}, {'b', v}, {'c', v}, {'e', v}, {'f', v}, {'i', o}, {'j', o}, {'m', o}, {'n', o}};
    std::map<char, std::int64_t> same;
    for (char l = 'a'; l <= 'z'; ++l) same[l] = n;
    const auto anti = Projection::antisymmetrized;
    return {
        {"mm", {{"ik", ""}, {"ij", ""}, {"jk", ""}, same}},
        {"ladder",
         {{"abij", "antisym(a,b) antisym(i,j)"}, {"abef", "antisym(a,b) antisym(e,f)"}, {"efij", "antisym(e,f) antisym(i,j)"}, cc}},
        {"ring", {{"abij", "antisym(a,b) antisym(i,j)"}, {"mbej", ""}, {"aeim", "antisym(a,e) antisym(i,m)"}, cc, anti}},
        {"t3t2", {{"abij", "antisym(a,b) antisym(i,j)"}, {"mnje", "antisym(m,n)"}, {"abeimn", "antisym(a,b,e) antisym(i,m,n)"}, cc, anti}},
        {"fock", {{"abij", "antisym(a,b) antisym(i,j)"}, {"be", ""}, {"aeij", "antisym(a,e) antisym(i,j)"}, cc, anti}},
        {"model6as",
         {{"abcxyz", "antisym(a,b,c) antisym(x,y,z)"},
          {"abcijk", "antisym(a,b,c) antisym(i,j,k)"},
          {"ijkxyz", "antisym(i,j,k) antisym(x,y,z)"},
          same}},
        {"sy", {{"abkl", "sym(a,b) sym(k,l)"}, {"abij", "sym(a,b) sym(i,j)"}, {"ijkl", "sym(i,j) sym(k,l)"}, same}},
        {"composite", {{"pq", ""}, {"pqrs", "sym(sym(p,q),sym(r,s))"}, {"rs", "sym(r,s)"}, same}},
        {"spin adapted", {{"abij", ""}, {"acik", "sym(product(a,i),product(c,k))"}, {"cbkj", "sym(product(c,k),product(b,j))"}, same}},
        {"batch", {{"aij", ""}, {"aik", "antisym(a,i)"}, {"akj", ""}, same}},
        {"hadamard", {{"ij", "hollow(i,j)"}, {"ij", "antisym(i,j)"}, {"ij", "antisym(i,j)"}, same}},
        {"dot", {{"", ""}, {"abij", "antisym(a,b) antisym(i,j)"}, {"abij", "antisym(a,b) antisym(i,j)"}, same}},
        {"sum", {{"i", ""}, {"ijk", "sym(i,j,k)"}, {"", ""}, same, Projection::none, true}},
    };
}

}  // namespace arges::test
