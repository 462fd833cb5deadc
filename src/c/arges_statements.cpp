// The functions of arges.h for statements.
#include "c/arges_c.hpp"

#include <algorithm>

using namespace arges::c;
using arges::AnyExpression;
using arges::AnyTensor;

namespace {

/// A product of tensors with a number in front, in the type of the left-hand side.
AnyExpression scaled(const AnyExpression& product, arges::ElementType type, const void* alpha) {
    auto own = product.as(type);
    if (alpha != nullptr) own.scale(element_at(type, alpha).data());
    return own;
}

void add_names(std::vector<std::string>& names, const char* labels, const char* name) {
    if (labels == nullptr) return;
    const auto more = labels_of(labels, name).names();
    names.insert(names.end(), more.begin(), more.end());
}

/// The terms with what holds for all of them.
AnyExpression right_side(const arges_statement& statement) {
    auto right = statement.right;
    for (const auto& mask : statement.masks) right = arges::masked(mask.tensor, mask.is_complement, std::move(right));
    for (auto& term : right.terms()) {
        term.repeated = statement.repeated;
        term.summed = statement.summed;
    }
    return right;
}

/// Likewise for an assignment: without terms and beta, zeros are assigned.
AnyExpression assigned(const arges_statement& statement, const void* beta) {
    if (statement.right.terms().empty() && beta == nullptr) return {std::int64_t{0}, statement.left.element()};
    return right_side(statement);
}

}  // namespace

arges_status arges_contract(const void* alpha, const arges_tensor* a, const char* a_labels, const arges_tensor* b, const char* b_labels,
                            const void* beta, arges_tensor* c, const char* c_labels) {
    return guarded(__func__, [&] {
        std::optional<AnyExpression> right;
        std::optional<arges::AnyIndexedTensor> left;
        meeting({c, a, b}).agree([&] {
            left.emplace(given(c, "c").tensor[labels_of(c_labels, "c_labels")]);
            AnyExpression product = given(a, "a").tensor[labels_of(a_labels, "a_labels")];
            if (b != nullptr) product = product * b->tensor[labels_of(b_labels, "b_labels")];
            right = scaled(product, left->element(), alpha);
        });
        left->assign(*right, number_at(left->element(), beta, 0));
    });
}

arges_status arges_einsum(const char* text, int count, const arges_tensor* const* operands, arges_tensor** result) {
    return guarded(__func__, [&] {
        require_array(operands, count, "operands");
        TensorResult room;
        std::vector<const AnyTensor*> tensors;
        std::string own_text;
        const auto known = std::find_if(operands, operands + count, [](const auto* tensor) { return tensor != nullptr; });
        meeting({known == operands + count ? nullptr : *known}).agree([&] {
            room = TensorResult(result, "result");
            own_text = text_of(text, "text");
            for (int o = 0; o < count; ++o) tensors.push_back(&given(operands[o], ("operand " + std::to_string(o + 1)).c_str()).tensor);
        });
        room.give(arges::einsum(own_text, tensors));
    });
}

arges_status arges_statement_create(arges_tensor* left, const char* labels, arges_statement** statement) {
    return guarded(__func__, [&] {
        const auto& own = given(left, "left").tensor;
        given(statement, "statement");
        *statement =
            std::make_unique<arges_statement>(arges_statement{own[labels_of(labels, "labels")], AnyExpression(own.element())}).release();
    });
}

arges_status arges_statement_destroy(arges_statement* statement) {
    delete statement;
    return ARGES_OK;
}

arges_status arges_statement_add(arges_statement* statement, const void* alpha, int count, const arges_tensor* const* factors,
                                 const char* const* labels, const int* conjugated, arges_projection projection) {
    return guarded(__func__, [&] {
        auto& own = given(statement, "statement");
        const auto type = own.left.element();
        require_array(factors, count, "factors");
        require_array(labels, count, "labels");
        const auto fitted = choice<arges::Projection>(projection, ARGES_CANONICAL, "projection");
        std::optional<AnyExpression> product;
        for (int f = 0; f < count; ++f) {
            const auto place = "of factor " + std::to_string(f + 1);
            AnyExpression factor =
                given(factors[f], ("the tensor " + place).c_str()).tensor[labels_of(labels[f], ("labels " + place).c_str())];
            if (conjugated != nullptr && conjugated[f] != 0) factor = conj(factor);
            product = product ? *product * factor : factor;
        }
        if (!product) product = AnyExpression(std::int64_t{1}, type);
        auto term = scaled(*product, type, alpha);
        for (auto& part : term.terms()) part.projection = fitted;
        own.right = own.right + term;
    });
}

arges_status arges_statement_where(arges_statement* statement, const arges_tensor* mask, const char* labels, int complement) {
    return guarded(__func__, [&] {
        auto& own = given(statement, "statement");
        const auto& tensor = given(mask, "mask").tensor;
        if (!tensor.is_sparse()) refuse("the mask " + tensor.title() + " is dense; give a sparse tensor, see arges_tensor_to_sparse()");
        own.masks.push_back({tensor[labels_of(labels, "labels")], complement != 0});
    });
}

arges_status arges_statement_vouch(arges_statement* statement, const char* repeated, const char* summed) {
    return guarded(__func__, [&] {
        auto& own = given(statement, "statement");
        auto more_repeated = own.repeated, more_summed = own.summed;
        add_names(more_repeated, repeated, "repeated");
        add_names(more_summed, summed, "summed");
        own.repeated = std::move(more_repeated);
        own.summed = std::move(more_summed);
    });
}

arges_status arges_statement_run(const arges_statement* statement, const void* beta) {
    return guarded(__func__, [&] {
        auto own = given(statement, "statement");
        own.left.assign(assigned(own, beta), number_at(own.left.element(), beta, 0));
    });
}

arges_status arges_statement_explain(const arges_statement* statement, const void* beta, char** text) {
    return guarded(__func__, [&] {
        const auto& own = given(statement, "statement");
        given(text, "text");
        const auto plan = own.left.explain(assigned(own, beta), number_at(own.left.element(), beta, 0));
        auto copy = free_array<char>(std::ssize(plan) + 1);
        std::copy_n(plan.c_str(), plan.size() + 1, copy.get());
        *text = copy.release();
    });
}

arges_status arges_statement_divide(const arges_statement* statement) {
    return guarded(__func__, [&] {
        auto own = given(statement, "statement");
        own.left /= right_side(own);
    });
}
