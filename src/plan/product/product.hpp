/// What a product of tensors computes: output = (projection of) sum over labels of the product of the factors. Pure description.
#pragma once

#include "layout/layout.hpp"
#include "plan/movement/movement.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace arges {

/// A tensor with a label for each dimension.
struct OperandSpec {
    Layout layout;
    std::vector<int> labels;
    bool conjugated = false;
    std::string name;
    bool is_lasting = false;  ///< the tensor keeps the layout that a product gives it, and later runs find it there
    bool is_real = false;     ///< its elements are their own conjugates
    bool operator==(const OperandSpec&) const = default;
};

/// One or more factors and an output; labels that are not in the output are summed. A pairwise step is a product of one or two factors,
/// where a label of two factors is in the output or in both of them.
struct Product {
    std::vector<OperandSpec> factors;
    OperandSpec output;
    std::vector<std::int64_t> label_extents;
    std::vector<std::string> label_names;
    Projection projection = Projection::none;  ///< none: the sum that the product is part of has the output's symmetry
    bool is_zero = false;                      ///< the coefficient
    bool is_real = true;                       ///< the coefficient
    bool is_number = false;                    ///< the only factor is a scalar that stands for the number 1
    std::vector<LabelTerm> terms;              ///< what the projection does, see projected(); the identity comes first
    bool output_is_free = false;               ///< the output may take any layout: all of it is replaced
    bool complex = false;
    bool is_field = true;             ///< elements have halves and negatives: parts of operands may be formed
    bool has_product = true;          ///< of elements; else what is counted several times is added up several times
    bool may_pad = true;              ///< what the tensors call zero adds nothing to sums over their padding
    bool coefficient_inside = false;  ///< terms conjugate and the coefficient is complex: it must be applied before the movement
    std::int64_t element_bytes = 8;

    double flops_per_product() const { return complex ? 8 : 2; }
    bool operator==(const Product&) const = default;
};

/// A product of other operands over the same labels, for elements of the same type; nothing is projected.
inline Product product_over_labels_of(const Product& product, std::vector<OperandSpec> factors, OperandSpec output) {
    Product part;
    part.factors = std::move(factors);
    part.output = std::move(output);
    part.label_extents = product.label_extents;
    part.label_names = product.label_names;
    part.terms = {identity_term(product.label_extents.size())};
    part.complex = product.complex;
    part.is_field = product.is_field;
    part.has_product = product.has_product;
    part.may_pad = product.may_pad;
    part.element_bytes = product.element_bytes;
    return part;
}

}  // namespace arges
