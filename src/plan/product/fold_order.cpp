// The order of axes in working arrays, C[m n b] = A[m k b] B[k n b], for which the fewest operands have to be copied.
#include "plan/product/fold_order.hpp"

#include <algorithm>

namespace arges {

FoldOrder::FoldOrder(const ProductPlan& unmapped, const std::vector<TensorStorage>& storage) : unmapped_(unmapped), storage_(storage) {
    for (const auto& axis : unmapped.axes) role_.push_back(role_of(axis));
    for (std::size_t o = 0; o < unmapped.operands.size(); ++o) lists_.push_back(lists_of(o));
}

FoldOrder::Role FoldOrder::role_of(const Axis& axis) const {
    if (axis.is_contracted()) return k;
    if (!axis.in(0)) return n;
    return unmapped_.result() > 1 && axis.in(1) ? batch : m;
}

std::array<FoldOrder::Role, 2> FoldOrder::roles_of(std::size_t o) const {
    if (o == unmapped_.result()) return {m, n};
    return o == 0 ? std::array{m, k} : std::array{k, n};
}

FoldOrder::Lists FoldOrder::lists_of(std::size_t o) const {
    Lists lists;
    lists.first_role = roles_of(o)[0];
    const auto& tensor = unmapped_.tensor(o);
    for (int a : storage_[o].axes) lists.by_storage[role_[a]].push_back(a);
    for (int a : unmapped_.operands[o].axes) lists.by_labels[role_[a]].push_back(a);
    if (tensor.labels.empty()) return lists;
    const int fastest = tensor.labels[tensor.layout.slot_dimensions(0)[0]];
    for (std::size_t a = unmapped_.axes.size(); a-- > 0;)
        if (contains(unmapped_.axes[a].labels, fastest)) lists.first_role = role_[a];
    return lists;
}

FoldOrder::Choices FoldOrder::choices(const std::vector<bool>& as_stored) const {
    static const AxisList none;
    Choices choices;
    for (const auto role : {m, n, k, batch})
        for (std::size_t o = 0; o < lists_.size(); ++o) {
            const auto roles = roles_of(o);
            if (role != batch && role != roles[0] && role != roles[1]) continue;
            const auto& list = (as_stored[o] ? lists_[o].by_storage : lists_[o].by_labels)[role];
            if (std::none_of(choices[role].begin(), choices[role].end(), [&](const auto* known) { return *known == list; }))
                choices[role].push_back(&list);
        }
    for (auto& lists : choices)
        if (lists.empty()) lists.push_back(&none);
    return choices;
}

/// Batches of tiny products run fastest along the batch.
bool FoldOrder::has_small_matrices(const std::vector<std::int64_t>& grid_lengths) const {
    double product = 1;
    bool has_batch = false;
    for (std::size_t a = 0; a < grid_lengths.size(); ++a) {
        if (role_[a] == batch)
            has_batch = true;
        else
            product *= static_cast<double>(unmapped_.axes[a].size) / grid_lengths[a];
    }
    return has_batch && product <= 64;
}

FoldOrder::Choice FoldOrder::choose(const Candidate& candidate, const std::vector<bool>& as_stored) const {
    const auto& grid_lengths = candidate.grid_lengths;
    const auto [known, is_new] = choices_.try_emplace(as_stored);
    if (is_new) known->second = choices(as_stored);
    const auto& choices = known->second;
    Choice best{{choices[m][0], choices[n][0], choices[k][0], choices[batch][0]}, has_small_matrices(grid_lengths)};
    std::vector<std::size_t> in_place;
    std::vector<double> elements;
    for (std::size_t o = 0; o < candidate.operands.size(); ++o) {
        if (!candidate.operands[o].in_place) continue;
        in_place.push_back(o);
        elements.push_back(1);
        for (int a : storage_[o].axes) elements.back() *= static_cast<double>(unmapped_.axes[a].size) / grid_lengths[a];
    }
    if (in_place.empty()) return best;
    double least = -1;
    for (const auto* of_m : choices[m])
        for (const auto* of_k : choices[k])
            for (const auto* of_n : choices[n])
                for (const auto* of_batch : choices[batch]) {
                    const Choice choice{{of_m, of_n, of_k, of_batch}, best.batch_first};
                    double copied = 0;
                    for (std::size_t i = 0; i < in_place.size(); ++i)
                        if (elements[i] > 0 && !folds(in_place[i], choice)) copied += elements[i];
                    if (least >= 0 && copied >= least) continue;
                    least = copied;
                    best = choice;
                }
    return best;
}

/// The axes of an operand by role, batch axes first or last.
FoldOrder::AxisList FoldOrder::arranged(std::size_t o, const Choice& choice, bool first_role_first) const {
    AxisList result;
    const auto add = [&](Role role) {
        for (int a : *choice.lists[role])
            if (unmapped_.axes[a].in(o)) result.push_back(a);
    };
    const auto roles = roles_of(o);
    if (choice.batch_first) add(batch);
    add(roles[first_role_first ? 0 : 1]);
    add(roles[first_role_first ? 1 : 0]);
    if (!choice.batch_first) add(batch);
    return result;
}

/// The roles of an operand's axes form at most one run each in its own array.
bool FoldOrder::folds(std::size_t o, const Choice& choice) const {
    return arranged(o, choice, true) == storage_[o].axes || arranged(o, choice, false) == storage_[o].axes;
}

FoldOrder::AxisList FoldOrder::copy_axes(std::size_t o, const Choice& choice) const {
    return arranged(o, choice, lists_[o].first_role == roles_of(o)[0]);
}

}  // namespace arges
