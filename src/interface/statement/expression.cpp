#include "arges/expression.hpp"

#include "arges/error.hpp"
#include "base/element_at.hpp"
#include "interface/statement/check_labels.hpp"
#include "interface/statement/dense_plan.hpp"
#include "interface/statement/sparse_statement.hpp"
#include "interface/statement/statement.hpp"

#include <string>

namespace arges {

namespace {

const char* checked(const char* text) {
    if (text == nullptr) throw InvalidArgument("labels: a null pointer in place of a text");
    return text;
}

/// A factor that was put together by hand may lack its tensor.
void check_tensor(const Factor& factor) {
    if (!factor.tensor && !factor.sparse)
        throw InvalidArgument("[\"" + factor.labels.to_string() + "\"]: labels without a tensor; label one by Tensor::operator[]");
}

void check_tensors(const Factor& left, const std::vector<Term>& right) {
    check_tensor(left);
    for (const auto& term : right)
        for (const auto& factor : term.factors) check_tensor(factor);
}

}  // namespace

Labels::Labels(const char* letters) : Labels(std::string(checked(letters))) {}

Labels::Labels(const std::string& letters) {
    for (char c : letters) names_.emplace_back(1, c);
}

Labels::Labels(std::initializer_list<const char*> names) {
    for (const char* name : names) names_.emplace_back(checked(name));
}

std::string Labels::to_string() const {
    std::string text;
    bool single = true;
    for (const auto& name : names_) single = single && name.size() == 1;
    for (const auto& name : names_) text += (single || text.empty() ? "" : ",") + name;
    return text;
}

namespace statements {

Term multiplied(const Term& a, const Term& b, const ElementKernels& kernels) {
    Term term = a;
    if (a.coefficient.size() == 0) {
        term.coefficient = b.coefficient;
    } else if (b.coefficient.size() > 0) {
        term.coefficient = ElementValue(kernels.size);
        kernels.product(a.coefficient.data(), b.coefficient.data(), term.coefficient.data());
    }
    term.factors.insert(term.factors.end(), b.factors.begin(), b.factors.end());
    term.repeated.insert(term.repeated.end(), b.repeated.begin(), b.repeated.end());
    term.summed.insert(term.summed.end(), b.summed.begin(), b.summed.end());
    for (const auto* side : {&a, &b}) {
        const auto* other = side == &a ? &b : &a;
        if (side->projection == Projection::none) continue;
        if (!other->factors.empty())
            throw InvalidArgument("antisymmetrized(...), symmetrized(...) and canonical(...) fit a right-hand side to the output; they can "
                                  "be multiplied by a number only, so put the whole product inside");
        term.projection = side->projection;
    }
    return term;
}

void total(const std::vector<Term>& terms, const ElementKernels& kernels, void* result) {
    for (const auto& term : terms)
        for (const auto& factor : term.factors) {
            check_tensor(factor);
            const auto& world = world_of(factor);
            const auto layout = [&] { return new_layout(*world.state(), {}, Symmetry::none(0)); };
            const Factor sum{TensorState::make(world.state()->kernels(kernels), world, layout, ""), Labels(""), false};
            assign(sum, terms, kernels.zero, kernels);
            copy_element(result, sum.tensor->count() > 0 ? HostElements(*sum.tensor).data() : kernels.zero, kernels.size);
            return;
        }
    copy_element(result, kernels.zero, kernels.size);
    for (const auto& term : terms)
        kernels.transfer_listed({.count = 1}, term.coefficient.size() > 0 ? term.coefficient.data() : kernels.one, result, nullptr,
                                {.accumulate = true});
}

void assign(const Factor& left, const std::vector<Term>& right, const void* beta, const ElementKernels& algebra) {
    check_tensors(left, right);
    const UnchangedOperands operands(left, right);
    run_statement({left, right, beta, algebra});
    operands.check();
}

std::string explain(const Factor& left, const std::vector<Term>& right, const void* beta, const ElementKernels& algebra) {
    check_tensors(left, right);
    if (is_sparse_statement(left, right)) return explain_sparse_statement({left, right, beta, algebra}, {});
    return DensePlan({left, right, beta, world_of(left).state()->kernels(algebra)}).explain();
}

std::string explain_on(std::int64_t ranks, const Factor& left, const std::vector<Term>& right, const ElementKernels& algebra) {
    check_tensors(left, right);
    if (!is_sparse_statement(left, right))
        throw InvalidArgument(text_of(left) +
                              ": a statement without sparse tensors is planned for other ranks in a dry run (World::dry_run)");
    if (ranks < 1) throw InvalidArgument(text_of(left) + ": a plan for " + std::to_string(ranks) + " ranks; give at least one");
    return explain_sparse_statement({left, right, algebra.zero, algebra}, ranks);
}

}  // namespace statements

}  // namespace arges
