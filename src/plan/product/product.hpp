/// What a product of tensors computes: output = (projection of) sum over labels of the product of the factors. Pure description.
#pragma once

#include "layout/layout.hpp"
#include "layout/sparse_layout.hpp"
#include "plan/movement/movement.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arges {

/// Nonzeros of a sparse tensor, as far as plans depend on them.
struct StoredNonzeros {
    double count = 0;                     ///< over all ranks; expected, where they are not computed yet
    std::optional<SparseLayout> place{};  ///< where they lie, if that follows from their indices
    std::uint64_t pattern = 0;            ///< tells them from all others; 0: they are not computed yet
    bool operator==(const StoredNonzeros&) const = default;
};

/// What a factor is there for: to be multiplied; to say where results count; or, of another type, to act on the other factor.
enum class Role { factor, mask, actor };

/// A tensor with a label for each dimension, or what steps have made of some factors.
struct Operand {
    Layout layout{};            ///< of a dense one
    std::vector<int> labels{};  ///< one that occurs twice is a diagonal
    bool conjugated = false;
    std::string name{};
    bool is_lasting = false;  ///< the tensor keeps the layout that a product gives it, and later runs find it there
    bool is_real = false;     ///< its elements are their own conjugates
    Role role = Role::factor;
    std::optional<StoredNonzeros> stored{};  ///< of a sparse one
    std::int64_t element_bytes = 0;          ///< of its own elements, where they have another type; 0: they are the product's
    bool on_device = false;                  ///< they lie in the memory of a device
    bool is_sparse() const { return stored.has_value(); }
    bool operator==(const Operand&) const = default;
};

/// One or more factors and an output; labels that are not in the output are summed. A pairwise step is a product of one or two factors,
/// where a label of two factors is in the output or in both of them.
struct Product {
    std::vector<Operand> factors;
    Operand output;
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
    bool on_device = false;  ///< where a step of it is computed: in the memory of a device

    /// Does an operand come from, or go to, another memory than that in which it is computed with?
    bool crosses(const Operand& operand) const { return operand.on_device != on_device; }
    /// Bytes of an element of an operand that is converted, or copied to another memory, a window at a time; 0: it is not.
    std::int64_t staged_bytes(const Operand& operand) const {
        return operand.element_bytes != 0 ? operand.element_bytes : crosses(operand) ? element_bytes : 0;
    }
    double flops_per_product() const { return complex ? 8 : 2; }
    /// Does a factor act on another one?
    bool acts() const {
        return std::any_of(factors.begin(), factors.end(), [](const Operand& factor) { return factor.role == Role::actor; });
    }
    bool operator==(const Product&) const = default;
};

/// A product of other operands over the same labels, for elements of the same type; nothing is projected.
inline Product product_over_labels_of(const Product& product, std::vector<Operand> factors, Operand output) {
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
