/// Order of the axes in the working arrays of a product of two factors (or a sum of one), chosen so that as few operands as possible are
/// copied. Pure.
#pragma once

#include "plan/product/tensor_storage.hpp"

#include <array>
#include <map>
#include <vector>

namespace arges {

/// Finds the order of axes for plans of one product, of which a search looks at many.
class FoldOrder {
public:
    /// @param storage of each operand
    FoldOrder(const ProductPlan& unmapped, const std::vector<TensorStorage>& storage);

    /// Chooses the order for a mapped plan, whose operands say which are used in place.
    /// @param as_stored by operand: its own array is mapped as the axes are
    void choose(const ProductPlan& plan, const std::vector<bool>& as_stored);
    /// Is an operand in place an array of matrices in that order?
    bool folds(std::size_t o) const { return folds(o, order_); }
    /// The axes of an operand's working copy, by the order chosen last. A copy keeps the tensor's fastest index in front where it can,
    /// which makes copying cheaper.
    std::vector<int> copy_axes(std::size_t o) const;

private:
    /// Role of an axis in the folded product: C[m n b] = A[m k b] B[k n b].
    enum Role : std::size_t { m, n, k, batch };
    using AxisList = std::vector<int>;
    /// Order of the axes of each role.
    using Order = std::array<const AxisList*, 4>;
    /// The orders that operands have, by role.
    using Choices = std::array<std::vector<const AxisList*>, 4>;
    /// What does not depend on the mapping.
    struct Lists {
        Role first_role = m;                            ///< of the fastest index; where the axes lack it, the one that a copy begins with
        std::array<AxisList, 4> by_storage, by_labels;  ///< axes of a role, as the slots and as the labels follow each other
    };

    Role role_of(const Axis& axis) const;
    /// The roles of an operand's axes other than batch, that of the first factor first.
    std::array<Role, 2> roles_of(std::size_t o) const;
    Lists lists_of(std::size_t o) const;
    Choices choices(const std::vector<bool>& as_stored) const;
    bool has_small_matrices(const ProductPlan& plan) const;
    AxisList arranged(std::size_t o, const Order& order, bool first_role_first) const;
    bool folds(std::size_t o, const Order& order) const;

    const ProductPlan& unmapped_;
    const std::vector<TensorStorage>& storage_;
    std::vector<Role> role_;
    std::vector<Lists> lists_;
    std::map<std::vector<bool>, Choices> choices_;
    bool batch_first_ = false;
    Order order_{};
};

}  // namespace arges
