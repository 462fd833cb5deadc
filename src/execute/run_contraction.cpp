#include "execute/run_contraction.hpp"

#include "arges/scalar.hpp"
#include "base/first_error.hpp"
#include "base/instantiate.hpp"
#include "layout/orbit_sizes.hpp"
#include "local/contract.hpp"

#include <omp.h>

#include <algorithm>

namespace arges {

ContractionRun::ContractionRun(ContractionPlan plan, const Communicator* comm)
    : plan_(std::move(plan)), comm_(comm), rank_(comm != nullptr ? comm->rank() : 0), groups_(plan_.groups()) {
    for (auto o : {operand_a, operand_b, operand_c}) {
        if (plan_.operand[o].in_place || (o == operand_b && plan_.unary())) continue;
        exchange_[o].emplace(comm_, plan_.movement(o), rank_);
        volume_[o] = exchange_[o]->volume();
        if (o != operand_c && !plan_.panels.empty()) exchange_[o].reset();
    }
}

Volume ContractionRun::volume() const {
    Volume total;
    for (const auto& v : volume_) {
        total.sent += v.sent;
        total.received += v.received;
    }
    return total;
}

std::int64_t ContractionRun::list_bytes() const {
    std::int64_t sum = 0;
    for (const auto& exchange : exchange_)
        if (exchange) sum += exchange->list_bytes();
    return sum;
}

std::int64_t ContractionRun::workspace_bytes() const {
    const auto bytes = [&](std::int64_t elements) { return Workspace::padded(elements * plan_.spec.element_bytes); };
    std::int64_t arrays = 0, buffers = 0;
    for (auto o : {operand_a, operand_b, operand_c}) {
        if (plan_.operand[o].in_place || (o == operand_b && plan_.unary())) continue;
        const bool cut = o != operand_c && !plan_.panels.empty();
        const auto& layout = plan_.operand[o].layout;
        arrays += bytes(cut ? panel_layout(plan_, o, panel_count(plan_) - 1).local_size(rank_) + 1 : layout.local_size(rank_));
        buffers = std::max(buffers, bytes(volume_[o].sent) + bytes(volume_[o].received));
    }
    if (plan_.rows) arrays += bytes(row_copies(row_product()) * plan_.operand[operand_c].layout.local_size(rank_));
    return arrays + (plan_.panels.empty() ? buffers : ceil_div(buffers, panel_count(plan_)) + 128);
}

int ContractionRun::slot_of(Operand o, std::size_t group) const {
    const auto& list = plan_.operand[o].groups;
    return static_cast<int>(std::find(list.begin(), list.end(), static_cast<int>(group)) - list.begin());
}

template <class T>
void ContractionRun::bring_in(Operand o, std::int64_t panel, const T* tensor, Workspace& workspace, Working<T>& w) {
    w.layout = plan_.panels.empty() ? plan_.operand[o].layout : panel_layout(plan_, o, panel);
    if (!plan_.operand[o].in_place) {
        w.copy = workspace.take<T>(w.layout.local_size(rank_));
        const bool conjugated = plan_.spec.factors[o].conjugated;
        if (exchange_[o]) {
            exchange_[o]->run(tensor, w.copy, T(1), T(0), conjugated, workspace);
        } else {
            std::optional<Exchange> exchange;
            agree(comm_, [&] {
                auto movement = plan_.movement(o);
                movement.to = w.layout;
                exchange.emplace(comm_, movement, rank_);
            });
            exchange->run(tensor, w.copy, T(1), T(0), conjugated, workspace);
        }
        w.array = w.copy;
        w.strides = w.layout.strides(rank_);
        return;
    }
    // The panel is a range of each slot of the tensor's own array.
    w.strides = plan_.operand[o].layout.strides(rank_);
    w.array = tensor;
    for (int s = 0; s < w.layout.slots(); ++s) {
        const auto& slot = w.layout.slot(s);
        if (!slot.is_blocks())
            w.array += count_residues(slot.begin(), w.layout.place(rank_, s), slot.places()) *
                       w.strides[static_cast<std::size_t>(s)];
    }
}

/// Multiplies the working copy by the orbit size of each element of summed symmetric groups.
template <class T>
void ContractionRun::apply_weights(Operand o, Working<T>& w) const {
    const auto sizes = w.layout.local_sizes(rank_);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (!groups_[g].needs_weights()) continue;
        const int s = slot_of(o, g);
        const auto all = orbit_sizes(w.layout.slot(s), w.layout.place(rank_, s));
        const std::vector<real_of<T>> weights(all.begin(), all.end());
        local::scale_along<T>(sizes, w.strides, s, weights, w.copy);
    }
}

template <class T>
void ContractionRun::multiply(const std::array<Working<T>, 2>& inputs, T alpha, T beta, T* c) const {
    local::FoldedContraction fold;
    const auto& c_layout = plan_.operand[operand_c].layout;
    const auto c_strides = c_layout.strides(rank_);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const auto& group = groups_[g];
        local::FoldAxis axis;
        auto stride = [&](Operand o, const std::vector<std::int64_t>& strides, const Layout& layout) {
            const int s = slot_of(o, g);
            axis.size = layout.slot(s).local_size(layout.place(rank_, s));
            return strides[static_cast<std::size_t>(s)];
        };
        if (group.in(operand_c)) axis.stride_c = stride(operand_c, c_strides, c_layout);
        if (group.in(operand_a)) axis.stride_a = stride(operand_a, inputs[0].strides, inputs[0].layout);
        if (group.in(operand_b)) axis.stride_b = stride(operand_b, inputs[1].strides, inputs[1].layout);
        auto& axes = group.is_batch()        ? fold.batch
                     : group.is_contracted() ? fold.k
                     : group.in(operand_a)   ? fold.m
                                             : fold.n;
        axes.push_back(axis);
    }
    if (plan_.unary())
        local::reduce<T>(fold, alpha, inputs[0].array, beta, c);
    else
        local::contract<T>(fold, alpha, inputs[0].array, inputs[1].array, beta, c);
}

local::RowProduct ContractionRun::row_product() const {
    const auto& pair = *plan_.rows;
    const auto other = pair.operand == operand_a ? operand_b : operand_a;
    const auto& layout = plan_.operand[pair.operand].layout;
    const auto& slot = layout.slot(0);
    local::RowProduct product;
    if (layout.grid().is_idle(rank_)) return product;  // no rows
    product.first_row = layout.place(rank_, 0);
    product.row_step = slot.places();
    product.rows = count_residues(slot.node().children()[0].size(), product.first_row, product.row_step);
    product.strict = slot.node().strict();
    product.once = pair.once;
    product.swapped = slot.node().kind() == NodeKind::antisymmetric ? -1 : 1;
    const auto b_strides = plan_.operand[other].layout.strides(rank_);
    const auto c_strides = plan_.operand[operand_c].layout.strides(rank_);
    for (std::size_t g = 0; g < groups_.size(); ++g)
        if (!groups_[g].in(pair.operand)) product.columns *= groups_[g].size;
    for (std::size_t c = 0; c < 2; ++c) {
        const auto& factors = pair.factors[c];
        for (std::size_t f = 0; f < factors.size(); ++f) {
            const auto g = static_cast<std::size_t>(factors[f]);
            auto& axis = product.child[c][f];
            axis.count = groups_[g].size;
            axis.summed = groups_[g].is_contracted();
            axis.stride = axis.summed ? b_strides[static_cast<std::size_t>(slot_of(other, g))]
                                      : c_strides[static_cast<std::size_t>(slot_of(operand_c, g))];
        }
        // Two factors that are both free, or both summed, follow each other in their array: they are one.
        if (factors.size() == 2 && product.child[c][0].summed == product.child[c][1].summed) {
            product.child[c][0].count *= product.child[c][1].count;
            product.child[c][1] = {};
        }
    }
    return product;
}

/// Copies of the result that the local product takes.
std::int64_t ContractionRun::row_copies(const local::RowProduct& product) const {
    const auto result = plan_.operand[operand_c].layout.local_size(rank_);
    return local::row_product_threads(product, result, omp_get_max_threads()) - 1;
}

template <class T>
void ContractionRun::multiply_by_rows(const std::array<Working<T>, 2>& inputs, T alpha, T* c, Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    const auto result = plan_.operand[operand_c].layout.local_size(rank_);
    const auto product = row_product();
    const auto copies = row_copies(product);
    T* const room = workspace.take<T>(copies * result);
    const auto stays = static_cast<std::size_t>(plan_.rows->operand);
    std::fill(c, c + result, T(0));
    local::multiply_rows<T>(product, alpha, inputs[stays].array, inputs[1 - stays].array, c, result, room, copies + 1);
}

template <class T>
void ContractionRun::run(const OperandData<T>& data, T alpha, T beta, Workspace& workspace) {
    const Workspace::Scope scope(workspace);
    FirstError error;
    const bool direct = plan_.operand[operand_c].in_place;
    T* const result = direct ? data.c : workspace.take<T>(plan_.operand[operand_c].layout.local_size(rank_));
    const T first_beta = direct ? beta : T(0);
    const auto panels = panel_count(plan_);
    for (std::int64_t panel = 0; panel < panels; ++panel) {
        const Workspace::Scope panel_scope(workspace);
        std::array<Working<T>, 2> inputs;
        error.run([&] { bring_in(operand_a, panel, data.a, workspace, inputs[0]); });
        if (!plan_.unary()) error.run([&] { bring_in(operand_b, panel, data.b, workspace, inputs[1]); });
        if (error.any()) continue;
        error.run([&] {
            if (plan_.weighted_operand >= 0)
                apply_weights(static_cast<Operand>(plan_.weighted_operand),
                              inputs[static_cast<std::size_t>(plan_.weighted_operand)]);
            const T weighted = alpha * static_cast<real_of<T>>(plan_.weight);
            if (plan_.rows)
                multiply_by_rows(inputs, weighted, result, workspace);
            else
                multiply(inputs, weighted, panel == 0 ? first_beta : T(1), result);
        });
    }
    if (!direct) error.run([&] { exchange_[operand_c]->run(result, data.c, T(1), beta, false, workspace); });
    error.rethrow();
}

#define ARGES_INSTANTIATE(T) template void ContractionRun::run(const OperandData<T>&, T, T, Workspace&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges
