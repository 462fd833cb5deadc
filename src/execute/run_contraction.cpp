#include "execute/run_contraction.hpp"

#include "base/element_at.hpp"
#include "base/first_error.hpp"
#include "layout/orbit_sizes.hpp"

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

void ContractionRun::bring_in(const ElementKernels& kernels, Operand o, std::int64_t panel, const void* tensor, Workspace& workspace, Working& w) {
    w.layout = plan_.panels.empty() ? plan_.operand[o].layout : panel_layout(plan_, o, panel);
    if (!plan_.operand[o].in_place) {
        w.copy = workspace.take(w.layout.local_size(rank_), kernels.size);
        const bool conjugated = plan_.spec.factors[o].conjugated;
        if (exchange_[o]) {
            exchange_[o]->run(kernels, tensor, w.copy, nullptr, kernels.zero, conjugated, workspace);
        } else {
            std::optional<Exchange> exchange;
            agree(comm_, [&] {
                auto movement = plan_.movement(o);
                movement.to = w.layout;
                exchange.emplace(comm_, movement, rank_);
            });
            exchange->run(kernels, tensor, w.copy, nullptr, kernels.zero, conjugated, workspace);
        }
        w.array = w.copy;
        w.strides = w.layout.strides(rank_);
        return;
    }
    // The panel is a range of each slot of the tensor's own array.
    w.strides = plan_.operand[o].layout.strides(rank_);
    std::int64_t first = 0;
    for (int s = 0; s < w.layout.slots(); ++s) {
        const auto& slot = w.layout.slot(s);
        if (!slot.is_blocks())
            first += count_residues(slot.begin(), w.layout.place(rank_, s), slot.places()) * w.strides[static_cast<std::size_t>(s)];
    }
    w.array = element_at(tensor, first, kernels.size);
}

/// Multiplies the working copy by the orbit size of each element of summed symmetric groups.
void ContractionRun::apply_weights(const ElementKernels& kernels, Operand o, Working& w) const {
    const auto sizes = w.layout.local_sizes(rank_);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (!groups_[g].needs_weights()) continue;
        const int s = slot_of(o, g);
        kernels.scale_along(sizes, w.strides, s, orbit_sizes(w.layout.slot(s), w.layout.place(rank_, s)), w.copy);
    }
}

void ContractionRun::multiply(const ElementKernels& kernels, const std::array<Working, 2>& inputs, const void* alpha, const void* beta, void* c) const {
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
        kernels.reduce(fold, alpha, inputs[0].array, beta, c);
    else
        kernels.contract(fold, alpha, inputs[0].array, inputs[1].array, beta, c);
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

void ContractionRun::multiply_by_rows(const ElementKernels& kernels, const std::array<Working, 2>& inputs, const void* alpha, void* c,
                                      Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    const auto result = plan_.operand[operand_c].layout.local_size(rank_);
    const auto product = row_product();
    const auto copies = row_copies(product);
    std::byte* const room = workspace.take(copies * result, kernels.size);
    const auto stays = static_cast<std::size_t>(plan_.rows->operand);
    kernels.fill(c, result, kernels.zero);
    kernels.multiply_rows(product, alpha, inputs[stays].array, inputs[1 - stays].array, c, result, room, copies + 1);
}

void ContractionRun::run(const ElementKernels& kernels, const OperandData& data, const void* alpha, const void* beta, Workspace& workspace) {
    const Workspace::Scope scope(workspace);
    FirstError error;
    const bool direct = plan_.operand[operand_c].in_place;
    void* const result = direct ? data.c : workspace.take(plan_.operand[operand_c].layout.local_size(rank_), kernels.size);
    const void* const first_beta = direct ? beta : kernels.zero;
    ElementValue weighted;
    if (plan_.weight != 1) {
        weighted = ElementValue(kernels.size);
        kernels.multiple(plan_.weight, alpha != nullptr ? alpha : kernels.one, weighted.data());
        alpha = weighted.data();
    }
    const auto panels = panel_count(plan_);
    for (std::int64_t panel = 0; panel < panels; ++panel) {
        const Workspace::Scope panel_scope(workspace);
        std::array<Working, 2> inputs;
        error.run([&] { bring_in(kernels, operand_a, panel, data.a, workspace, inputs[0]); });
        if (!plan_.unary()) error.run([&] { bring_in(kernels, operand_b, panel, data.b, workspace, inputs[1]); });
        if (error.any()) continue;
        error.run([&] {
            if (plan_.weighted_operand >= 0)
                apply_weights(kernels, static_cast<Operand>(plan_.weighted_operand),
                              inputs[static_cast<std::size_t>(plan_.weighted_operand)]);
            if (plan_.rows)
                multiply_by_rows(kernels, inputs, alpha, result, workspace);
            else
                multiply(kernels, inputs, alpha, panel == 0 ? first_beta : nullptr, result);
        });
    }
    if (!direct) error.run([&] { exchange_[operand_c]->run(kernels, result, data.c, nullptr, beta, false, workspace); });
    error.rethrow();
}

}  // namespace arges
