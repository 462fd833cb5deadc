#include "interface/statement/sparse_terms.hpp"

#include "base/text.hpp"
#include "comm/values.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/statement/right_hand_side.hpp"
#include "plan/product/structure.hpp"

#include <algorithm>

namespace arges {

namespace {

/// One factor acts on one other, beside masks.
void check_action(const StatementArguments& statement, const Term& term) {
    const auto refuse = [&](const std::string& why) { throw InvalidArgument(title_of(statement.left) + " = act(...): " + why); };
    const auto& kernels = statement.kernels;
    if (kernels.actor == nullptr)
        refuse("no elements of another type act on those of " + readable_type(kernels.name) +
               "; name an algebra with actor_type and act() in over<...>()");
    std::int64_t actors = 0, others = 0;
    bool any_sparse = false;
    for (const auto& factor : term.factors) {
        if (factor.is_mask) continue;
        ++(factor.is_actor ? actors : others);
        any_sparse = any_sparse || factor.sparse;
        if (!factor.is_actor) continue;
        const auto& own = element_kernels(factor);
        if (*own.type != *kernels.actor)
            refuse("elements of " + title_of(factor) + " are of type " + readable_type(own.name) + ", and those that act are of type " +
                   readable_type(kernels.actor->name()) + "; convert it first");
        if (factor.conjugated) refuse("conj() of " + title_of(factor) + ", which acts; let the algebra's act() do that");
    }
    if (actors != 1 || others != 1)
        refuse("a term has " + std::to_string(actors) + " factors that act and " + std::to_string(others) +
               " on which they do; it must have one of each, so make several statements");
    if (!any_sparse) refuse("both factors are dense; SparseTensor::from_dense() makes a sparse tensor of one of them");
    if (!symmetry_of(statement.left).trivial()) refuse("the left-hand side has a symmetry; use a tensor without");
}

/// Refuses masks and actors that have no meaning.
void check_roles(const StatementArguments& statement, const Term& term) {
    const auto& left = statement.left.labels.names();
    for (const auto& factor : term.factors) {
        if (factor.is_mask && !factor.sparse)
            throw InvalidArgument(std::string(factor.is_complement ? "where_not(" : "where(") + text_of(factor) +
                                  ", ...): the mask is dense; it must be a sparse tensor");
        for (const auto& label : factor.labels.names())
            if (factor.is_complement && std::find(left.begin(), left.end(), label) == left.end())
                throw InvalidArgument("where_not(" + text_of(factor) + ", ...): the output has no label '" + label +
                                      "'; sum over it in a statement before");
    }
    if (std::any_of(term.factors.begin(), term.factors.end(), [](const Factor& factor) { return factor.is_actor; }))
        check_action(statement, term);
}

SparseTerm labelled(const StatementArguments& statement, const Term& term) {
    SparseTerm result{.product = labelled_product(statement.left, term), .coefficient = term.coefficient.data(), .is_dense = true};
    auto& product = result.product;
    product.element_bytes = statement.kernels.size;
    for (std::size_t f = 0; f < term.factors.size(); ++f) {
        const auto& factor = term.factors[f];
        SparseFactor operand{product.factors[f], factor.sparse, factor.tensor};
        operand.name = text_of(factor);
        (factor.is_complement ? result.excluded : result.factors).push_back(std::move(operand));
        result.is_dense = result.is_dense && (!factor.sparse || factor.is_complement);
    }
    if (!result.excluded.empty()) product.output.stored.emplace();
    result.is_nothing = term.factors.empty() && statement.kernels.is_zero(term.coefficient.data());
    result.is_all = statement.right.size() == 1 && statement.beta != nullptr && statement.kernels.is_zero(statement.beta) &&
                    symmetry_of(statement.left).trivial() && result.excluded.empty() &&
                    SparseStep::distinct(result.left()).size() == result.left().size();
    return result;
}

void check_stored(const StatementArguments& statement, const SparseTerm& term) {
    if (term.is_dense && !term.excluded.empty())
        throw InvalidArgument(text_of(statement.left) +
                              ": a term under where_not(...) has no sparse factor: nearly all of its elements would be stored; multiply "
                              "by a sparse tensor that says which are meant");
    if (statement.left.sparse && term.is_dense && !term.is_nothing)
        throw InvalidArgument(text_of(statement.left) +
                              " is sparse, but no factor of a term is: all of its elements would be stored; use a dense tensor, "
                              "SparseTensor::from_dense(), or multiply by a sparse tensor that says which elements are meant");
}

/// The permutations by which a term without symmetry, computed as it is, gives the left-hand side.
std::vector<SignedPermutation> counted_permutations(const StatementArguments& statement, const Term& term) {
    const auto sum = structural_sum(statement.left, {term}, term.projection, statement.kernels);
    const auto& own = sum.output.labels;
    std::vector<SignedPermutation> result;
    for (const auto& one : projection_terms(sum, term.projection)) {
        auto& permutation = result.emplace_back();
        permutation.negative = one.negative;
        permutation.conjugate = one.conjugate;
        for (std::size_t d = 0; d < own.size(); ++d) {
            const auto other = one.image[own[d]];
            const auto place = std::find(own.begin(), own.end(), other);
            permutation.image.push_back(other == own[d] ? static_cast<int>(d) : static_cast<int>(place - own.begin()));
        }
    }
    return result;
}

/// Terms without projection must have the symmetry of the left-hand side together; the others are projected.
void check_symmetry(const StatementArguments& statement, std::vector<SparseTerm>& terms) {
    if (symmetry_of(statement.left).trivial()) {
        for (const auto& term : statement.right)
            if (term.projection == Projection::antisymmetrized || term.projection == Projection::symmetrized)
                throw InvalidArgument(text_of(statement.left) + " has no symmetry; leave antisymmetrized() and symmetrized() out");
        return;
    }
    statement.check_beta();
    const auto sum = structural_sum(statement.left, statement.right, Projection::none, statement.kernels);
    if (!sum.products.empty()) require_symmetry(sum);
    for (std::size_t t = 0; t < terms.size(); ++t)
        if (!terms[t].is_nothing) terms[t].counted = counted_permutations(statement, statement.right[t]);
}

/// Everything that must be the same on all ranks.
Digest digest_of(const StatementArguments& statement, const std::vector<SparseTerm>& terms) {
    Digest digest;
    const auto add = [&](const Factor& factor) {
        digest.add(std::string(element_kernels(factor).type->name()));
        if (factor.sparse)
            digest.add(*factor.sparse);
        else
            digest.add(*factor.tensor).add(world_of(factor).state()->digest(factor.tensor->shape()));
        digest.add(factor.conjugated).add(factor.is_mask).add(factor.is_complement).add(factor.is_actor);
    };
    digest.add(std::string(statement.kernels.name));
    statement.add_element(digest, statement.beta);
    add(statement.left);
    for (std::size_t t = 0; t < terms.size(); ++t) {
        statement.add_element(digest, terms[t].coefficient);
        digest.add(static_cast<int>(statement.right[t].projection)).add(terms[t].left());
        for (const auto& factor : statement.right[t].factors) add(factor);
        for (const auto* factors : {&terms[t].factors, &terms[t].excluded})
            for (const auto& factor : *factors) digest.add(factor.labels);
    }
    return digest;
}

}  // namespace

const ElementKernels& SparseFactor::kernels() const { return *(sparse ? sparse->kernels : dense->kernels); }

void SparseFactor::read(const ElementKernels& elements) {
    if (sparse) {
        const auto& pattern_now = *sparse->pattern();
        const bool is_whole = sparse->symmetry.trivial();
        stored = {static_cast<double>(pattern_now.total)};
        for (const auto& slot : sparse->symmetry.slots()) stored->count *= static_cast<double>(group_size(slot));
        if (is_whole) stored = {stored->count, pattern_now.layout, pattern_now.identity};
    }
    if (dense) layout = dense->layout;
    const bool is_other = role != Role::mask && (sparse || dense) && *kernels().type != *elements.type;  // masks count as ones
    element_bytes = is_other ? kernels().size : 0;
}

std::vector<SparseTerm> checked_terms(const StatementArguments& statement) {
    std::vector<SparseTerm> terms;
    const bool is_named = &statement.kernels.on_host() != &element_kernels(statement.left).on_host();
    for (const auto& term : statement.right) {
        check_roles(statement, term);
        statement.check(term, is_named);
        check_stored(statement, terms.emplace_back(labelled(statement, term)));
    }
    check_symmetry(statement, terms);
    if (terms.empty()) labelled_output(statement.left);
    return terms;
}

std::vector<SparseTerm> agreed_terms(const StatementArguments& statement) {
    const auto& world = *world_of(statement.left).state();
    std::vector<SparseTerm> terms;
    std::int64_t values[2] = {};
    world.agree(
        [&] {
            terms = checked_terms(statement);
            const std::int64_t own = digest_of(statement, terms).value();
            values[0] = own;
            values[1] = ~own;
        },
        values);
    if (values[0] == ~values[1]) return terms;
    const auto first = from_first_rank(world.communicator(), [&] { return sparse_statement_text(statement); });
    throw InvalidArgument("a statement with sparse tensors differs between ranks: on rank 0 it is " + first +
                          "; make the same statements with the same tensors and numbers on every rank");
}

std::string sparse_statement_text(const StatementArguments& statement) {
    auto text = described(statement.left) + " =";
    for (std::size_t i = 0; i < statement.right.size(); ++i) {
        const auto& factors = statement.right[i].factors;
        text += i > 0 ? " +" : "";
        for (std::size_t f = 0; f < factors.size(); ++f) text += (f > 0 ? " * " : " ") + described(factors[f]);
    }
    return text;
}

}  // namespace arges
