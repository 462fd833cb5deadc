/// Order of the axes in the working arrays of a product of two factors (or a sum of one), chosen so that as few operands as possible are
/// copied. Pure.
#pragma once

#include "plan/product/estimate_cost.hpp"
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

    using AxisList = std::vector<int>;
    /// An order of the axes of each role, of which it points to the lists that this has.
    struct Choice {
        std::array<const AxisList*, 4> lists{};
        bool batch_first = false;
    };
    /// Chooses the order for a candidate, whose operands say which are used in place.
    Choice choose(const Candidate& candidate) const;
    /// Is an operand in place an array of matrices in that order?
    bool folds(std::size_t o, const Choice& choice) const;
    /// The axes of an operand's working copy in that order. A copy keeps the tensor's fastest index in front where it can, which makes
    /// copying cheaper.
    AxisList copy_axes(std::size_t o, const Choice& choice) const;

private:
    /// Role of an axis in the folded product: C[m n b] = A[m k b] B[k n b].
    enum Role : std::size_t { m, n, k, batch };
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
    Choices choices(const Candidate& candidate) const;
    bool has_small_matrices(const std::vector<std::int64_t>& grid_lengths) const;
    /// Calls f for the axes of an operand by role, batch axes first or last.
    template <class F>
    void for_each_axis(std::size_t o, const Choice& choice, bool first_role_first, F&& f) const;
    bool lies_so(std::size_t o, const Choice& choice, bool first_role_first) const;

    const ProductPlan& unmapped_;
    const std::vector<TensorStorage>& storage_;
    std::vector<Role> role_;
    std::vector<Lists> lists_;
    mutable std::map<unsigned, Choices> choices_;  // by a bit for each operand that lies as stored
};

}  // namespace arges
