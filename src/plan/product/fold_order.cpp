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

FoldOrder::Choices FoldOrder::choices(const Candidate& candidate) const {
    static const AxisList none;
    Choices choices;
    for (const auto role : {m, n, k, batch})
        for (std::size_t o = 0; o < lists_.size(); ++o) {
            const auto roles = roles_of(o);
            if (role != batch && role != roles[0] && role != roles[1]) continue;
            const auto& list = (candidate.operands[o].as_stored ? lists_[o].by_storage : lists_[o].by_labels)[role];
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

FoldOrder::Choice FoldOrder::choose(const Candidate& candidate) const {
    unsigned as_stored = 0, in_place = 0;
    std::array<double, 3> elements{};  // of operands in place
    for (std::size_t o = 0; o < candidate.operands.size(); ++o) {
        as_stored |= static_cast<unsigned>(candidate.operands[o].as_stored) << o;
        if (!candidate.operands[o].in_place) continue;
        in_place |= 1U << o;
        elements[o] = 1;
        for (int a : storage_[o].axes) elements[o] *= static_cast<double>(unmapped_.axes[a].size) / candidate.grid_lengths[a];
    }
    const auto [known, is_new] = choices_.try_emplace(as_stored);
    if (is_new) known->second = choices(candidate);
    const auto& choices = known->second;
    Choice best{{choices[m][0], choices[n][0], choices[k][0], choices[batch][0]}, has_small_matrices(candidate.grid_lengths)};
    if (in_place == 0) return best;
    double least = -1;
    for (const auto* of_m : choices[m])
        for (const auto* of_k : choices[k])
            for (const auto* of_n : choices[n])
                for (const auto* of_batch : choices[batch]) {
                    const Choice choice{{of_m, of_n, of_k, of_batch}, best.batch_first};
                    double copied = 0;
                    for (std::size_t o = 0; o < candidate.operands.size(); ++o)
                        if (elements[o] > 0 && !folds(o, choice)) copied += elements[o];
                    if (least >= 0 && copied >= least) continue;
                    least = copied;
                    best = choice;
                }
    return best;
}

template <class F>
void FoldOrder::for_each_axis(std::size_t o, const Choice& choice, bool first_role_first, F&& f) const {
    const auto roles = roles_of(o);
    const auto first = roles[first_role_first ? 0 : 1], second = roles[first_role_first ? 1 : 0];
    for (const auto role : choice.batch_first ? std::array{batch, first, second} : std::array{first, second, batch})
        for (int a : *choice.lists[role])
            if (unmapped_.axes[a].in(o)) f(a);
}

bool FoldOrder::lies_so(std::size_t o, const Choice& choice, bool first_role_first) const {
    const auto& axes = storage_[o].axes;
    std::size_t same = 0, all = 0;
    for_each_axis(o, choice, first_role_first, [&](int a) {
        if (all < axes.size() && axes[all] == a) ++same;
        ++all;
    });
    return same == axes.size() && all == same;
}

/// The roles of an operand's axes form at most one run each in its own array.
bool FoldOrder::folds(std::size_t o, const Choice& choice) const { return lies_so(o, choice, true) || lies_so(o, choice, false); }

FoldOrder::AxisList FoldOrder::copy_axes(std::size_t o, const Choice& choice) const {
    AxisList result;
    for_each_axis(o, choice, lists_[o].first_role == roles_of(o)[0], [&](int a) { result.push_back(a); });
    return result;
}

}  // namespace arges
