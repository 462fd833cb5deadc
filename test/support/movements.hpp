/// Random movements between layouts, and what they mean element by element.
#pragma once

#include "interface/dense/tensor_state.hpp"
#include "plan/movement/lists.hpp"
#include "plan/product/structure.hpp"
#include "support/layouts.hpp"
#include "support/random_statement.hpp"

#include <optional>

namespace arges::test {

/// A movement with the dense values of its source.
struct RandomMovement {
    Movement spec;
    Dense source;
    std::string text;
};

/// The movement of a random statement C = projection(A), between random layouts on two grids; nothing if the statement is not of that form.
inline std::optional<RandomMovement> random_movement(std::uint64_t seed, const RankGrid& grid, const RankGrid& to_grid) {
    RandomStatement statement(seed, true);
    const auto& first = statement.terms[0];
    if (statement.terms.size() != 1 || first.factors.size() != 1) return std::nullopt;
    const auto& a = statement.tensors[first.factors[0].tensor].symmetry;
    const auto& from_labels = first.factors[0].labels;
    const auto& c = statement.symmetry();
    for (int l : from_labels)
        if (std::count(statement.output.begin(), statement.output.end(), l) == 0) return std::nullopt;
    StructuralSum sum;
    sum.products = {{{{a, from_labels}}}};
    sum.output = {c, statement.output};
    sum.labels = static_cast<int>(statement.label_extents.size());
    sum.complex = true;
    sum.label_names.resize(statement.label_extents.size());
    RandomMovement m;
    try {
        if (first.projection == Projection::none) require_symmetry(sum);
        m.spec.terms = projection_terms(sum, first.projection);
    } catch (const Error&) {
        return std::nullopt;
    }
    auto& random = statement.random();
    std::vector<int> partial;
    for (int t = 0; t < grid.dimensions(); ++t)
        if (random() % 4 == 0) partial.push_back(t);
    m.spec.from = random_layout(grid, statement.extents_of(from_labels), a, random, random() % 2 == 0, partial);
    m.spec.to = random_layout(to_grid, statement.extents_of(statement.output), c, random, random() % 2 == 0);
    m.spec.from_labels = from_labels;
    m.spec.to_labels = statement.output;
    m.spec.label_extents = statement.label_extents;
    m.source = random_dense(m.spec.from.extents(), a, true, random);
    m.text = statement.text() + "  from " + m.spec.from.to_string() + "  to " + m.spec.to.to_string();
    return m;
}

/// A rank's array of a layout with the values of a dense tensor; parts of a sum add up to them.
inline std::vector<Value> local_array(const Layout& layout, const Dense& dense, std::int64_t rank) {
    std::int64_t part = 0, parts = 1;
    for (int t = 0; t < layout.grid().dimensions(); ++t)
        if (layout.is_partial(t)) {
            part += parts * layout.grid().coordinate(rank, t);
            parts *= layout.grid().lengths[static_cast<std::size_t>(t)];
        }
    const auto extra = static_cast<double>(part == 0 ? -parts * (parts - 1) / 2 : part);
    std::vector<Value> array(static_cast<std::size_t>(layout.local_size(rank)), 0);
    for_each_element(layout, rank, [&](std::int64_t offset, const std::vector<std::int64_t>& x) {
        array[static_cast<std::size_t>(offset)] = (part == 0 ? dense.at(x) : 0.0) + extra;
    });
    return array;
}

/// The value that the movement gives to a target element; nothing where its labels do not name the element.
inline std::optional<Value> moved_value(const RandomMovement& m, const std::vector<std::int64_t>& x) {
    const auto& spec = m.spec;
    std::vector<std::int64_t> v(spec.label_extents.size(), -1);
    for (std::size_t d = 0; d < x.size(); ++d) {
        auto& value = v[static_cast<std::size_t>(spec.to_labels[d])];
        if (value >= 0 && value != x[d]) return std::nullopt;
        value = x[d];
    }
    Value sum = 0;
    for (const auto& term : spec.terms) {
        std::vector<std::int64_t> from;
        for (std::size_t d = 0; d < spec.from_labels.size(); ++d) {
            const auto l = static_cast<std::size_t>(spec.from_labels[d]);
            from.push_back(v[static_cast<std::size_t>(term.image[l])] + (spec.from_offset.empty() ? 0 : spec.from_offset[d]));
        }
        auto value = m.source.at(from);
        if (term.conjugate) value = std::conj(value);
        sum += term.negative ? -value : value;
    }
    return sum;
}

}  // namespace arges::test
