#include "execute/run_fused.hpp"

#include "base/element_at.hpp"

#include <algorithm>

namespace arges {

FusedRun::FusedRun(FusedPlan plan, const Communicator* comm)
    : plan_(std::move(plan)), comm_(comm), rank_(comm != nullptr ? comm->rank() : 0) {
    for (std::size_t i = 0; i <= plan_.inputs.size(); ++i) {
        exchange_.push_back(operand(i).in_place ? nullptr : std::make_unique<Exchange>(comm, plan_.movement(i), rank_));
        volume_.push_back(exchange_[i] ? exchange_[i]->volume() : Volume{});
        if (plan_.is_sliced(i)) exchange_[i].reset();  // the slices' lists are built as they come
        stay_.emplace_back();
        if (i >= plan_.stay.size() || !plan_.stay[i]) continue;
        auto movement = plan_.movement(i);
        movement.from = plan_.inputs[i].layout;
        movement.from_labels = plan_.inputs[i].labels;
        movement.to = *plan_.stay[i];
        movement.to_labels = plan_.spec.factors[i].labels;
        stay_.back() = std::make_unique<Exchange>(comm, movement, rank_);
    }
}

Volume FusedRun::volume() const {
    Volume total;
    for (const auto& v : volume_) {
        total.sent += v.sent;
        total.received += v.received;
    }
    return total;
}

std::int64_t FusedRun::list_bytes() const {
    std::int64_t sum = 0;
    for (const auto* exchanges : {&exchange_, &stay_})
        for (const auto& exchange : *exchanges)
            if (exchange) sum += exchange->list_bytes();
    return sum;
}

const WorkingOperand& FusedRun::operand(std::size_t i) const {
    return i < plan_.inputs.size() ? plan_.inputs[i] : plan_.result;
}

std::int64_t FusedRun::place(int label) const {
    return plan_.grid.place_of(plan_.label_mapping[static_cast<std::size_t>(label)].torus, rank_);
}

std::int64_t FusedRun::elements(const std::vector<int>& labels, std::int64_t slice) const {
    std::int64_t product = is_idle() ? 0 : 1;
    for (int l : labels) product *= plan_.local_extent(l, place(l), slice);
    return product;
}

/// Sizes of the buffers for intermediates.
std::vector<std::int64_t> FusedRun::buffer_elements(std::int64_t slice) const {
    std::vector<std::int64_t> result(static_cast<std::size_t>(plan_.buffers), 0);
    for (const auto& step : plan_.steps)
        if (step.buffer >= 0) {
            auto& size = result[static_cast<std::size_t>(step.buffer)];
            size = std::max(size, elements(step.labels, slice));
        }
    return result;
}

std::int64_t FusedRun::workspace_bytes() const {
    const auto bytes = [&](std::int64_t count) { return Workspace::padded(count * plan_.spec.element_bytes); };
    std::int64_t largest = 0, messages = 0;
    for (std::int64_t slice = 0; slice < plan_.slices; ++slice) {
        std::int64_t arrays = 0;
        for (std::size_t i = 0; i <= plan_.inputs.size(); ++i)
            if (!operand(i).in_place) arrays += bytes(elements(operand(i).labels, slice));
        for (auto size : buffer_elements(slice)) arrays += bytes(size);
        largest = std::max(largest, arrays);
    }
    for (std::size_t i = 0; i <= plan_.inputs.size(); ++i) {
        const auto needed = bytes(volume_[i].sent) + bytes(volume_[i].received);
        messages = std::max(messages, plan_.is_sliced(i) ? ceil_div(needed, plan_.slices) + 128 : needed);
    }
    return largest + messages;
}

/// Where the labels of an operand are: in its layout, or one after the other.
FusedRun::Block FusedRun::block_of(std::size_t i, std::int64_t slice) const {
    const auto& w = operand(i);
    const auto layout = w.in_place ? w.layout : plan_.slice_layout(i, slice);
    Block block{{}, layout.strides(rank_), 0};
    for (int s = 0; s < layout.slots(); ++s) {
        const int label = w.labels[static_cast<std::size_t>(layout.slot_dimensions(s)[0])];
        block.labels.push_back(label);
        if (w.in_place && label == plan_.sliced_label)
            for (std::int64_t before = 0; before < slice; ++before)
                block.offset += plan_.local_extent(label, place(label), before) * block.strides[static_cast<std::size_t>(s)];
    }
    return block;
}

FusedRun::Block FusedRun::packed_block(const std::vector<int>& labels, std::int64_t slice) const {
    Block block{labels, {}, 0};
    std::int64_t stride = 1;
    for (int l : labels) {
        block.strides.push_back(stride);
        stride *= plan_.local_extent(l, place(l), slice);
    }
    return block;
}

void FusedRun::multiply(const ElementKernels& kernels, const Piece& a, const Piece& b, const void* alpha, const void* beta, const Block& c, void* result,
                        std::int64_t slice) const {
    auto stride = [](const Block& block, int label) -> std::int64_t {
        const auto it = std::find(block.labels.begin(), block.labels.end(), label);
        return it == block.labels.end() ? -1 : block.strides[static_cast<std::size_t>(it - block.labels.begin())];
    };
    local::FoldedContraction fold;
    auto add = [&](int label) {
        const auto in_a = stride(a.block, label), in_b = stride(b.block, label), in_c = stride(c, label);
        const local::FoldAxis axis{plan_.local_extent(label, place(label), slice), std::max<std::int64_t>(in_a, 0),
                                   std::max<std::int64_t>(in_b, 0), std::max<std::int64_t>(in_c, 0)};
        auto& axes = in_c < 0 ? fold.k : in_a >= 0 && in_b >= 0 ? fold.batch : in_a >= 0 ? fold.m : fold.n;
        axes.push_back(axis);
    };
    for (int label : a.block.labels) add(label);
    for (int label : b.block.labels)
        if (stride(a.block, label) < 0) add(label);
    kernels.contract(fold, alpha, element_at(a.array, a.block.offset, kernels.size), element_at(b.array, b.block.offset, kernels.size), beta,
                     element_at(result, c.offset, kernels.size));
}

/// The movement of a slice; every rank throws if one cannot make its lists.
std::unique_ptr<Exchange> FusedRun::slice_exchange(std::size_t i, std::int64_t slice) const {
    std::unique_ptr<Exchange> exchange;
    agree(comm_, [&] { exchange = std::make_unique<Exchange>(comm_, plan_.movement(i, slice), rank_); });
    return exchange;
}

/// Copies an input, or its part in a slice, into the rank's block.
const void* FusedRun::bring_in(const ElementKernels& kernels, std::size_t i, std::int64_t slice, const void* tensor, Workspace& workspace,
                               FirstError& error) {
    if (operand(i).in_place) return tensor;
    std::byte* const copy = workspace.take(elements(operand(i).labels, slice), kernels.size);
    const bool conjugated = plan_.spec.factors[i].conjugated;
    error.run([&] {
        if (exchange_[i])
            exchange_[i]->run(kernels, tensor, copy, nullptr, kernels.zero, conjugated, workspace);
        else
            slice_exchange(i, slice)->run(kernels, tensor, copy, nullptr, kernels.zero, conjugated, workspace);
    });
    return copy;
}

void FusedRun::run(const ElementKernels& kernels, const std::vector<const void*>& inputs, void* c, const void* alpha, const void* beta,
                   const std::vector<void*>& stay, Workspace& workspace) {
    const Workspace::Scope scope(workspace);
    FirstError error;
    const auto output = inputs.size();
    const bool direct = plan_.result.in_place, sliced_output = plan_.is_sliced(output);
    std::vector<const void*> whole(inputs.size(), nullptr);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (plan_.is_sliced(i)) continue;
        whole[i] = bring_in(kernels, i, 0, inputs[i], workspace, error);
        if (i < stay.size() && stay[i] != nullptr && stay_[i])
            error.run([&] { stay_[i]->run(kernels, whole[i], stay[i], nullptr, kernels.zero, false, workspace); });
    }
    void* result = c;
    if (!direct && !sliced_output) result = workspace.take(plan_.result.layout.local_size(rank_), kernels.size);
    for (std::int64_t slice = 0; slice < plan_.slices; ++slice) {
        const Workspace::Scope slice_scope(workspace);
        auto arrays = whole;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (plan_.is_sliced(i)) arrays[i] = bring_in(kernels, i, slice, inputs[i], workspace, error);
        if (!direct && sliced_output) result = workspace.take(elements(plan_.result.labels, slice), kernels.size);
        const bool first = slice == 0 || sliced_output;
        if (!error.any())
            error.run([&] {
                multiply_chain(kernels, arrays, result, alpha, !first ? nullptr : direct ? beta : kernels.zero, slice, workspace);
            });
        if (!direct && sliced_output)
            error.run([&] {
                slice_exchange(output, slice)->run(kernels, result, c, nullptr, slice == 0 ? beta : nullptr, false, workspace);
            });
    }
    if (!direct && !sliced_output) error.run([&] { exchange_[output]->run(kernels, result, c, nullptr, beta, false, workspace); });
    error.rethrow();
}

/// The products of one slice: result = alpha * (...) + beta * result.
void FusedRun::multiply_chain(const ElementKernels& kernels, const std::vector<const void*>& inputs, void* result, const void* alpha, const void* beta,
                              std::int64_t slice, Workspace& workspace) const {
    if (is_idle()) return;
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < inputs.size(); ++i) pieces.push_back({block_of(i, slice), inputs[i]});
    std::vector<void*> buffers;
    for (auto size : buffer_elements(slice)) buffers.push_back(workspace.take(size, kernels.size));
    for (const auto& step : plan_.steps) {
        const bool last = step.buffer < 0;
        const auto block = last ? block_of(inputs.size(), slice) : packed_block(step.labels, slice);
        void* const out = last ? result : buffers[static_cast<std::size_t>(step.buffer)];
        multiply(kernels, pieces[static_cast<std::size_t>(step.first)], pieces[static_cast<std::size_t>(step.second)], last ? alpha : nullptr,
                 last ? beta : kernels.zero, block, out, slice);
        pieces.push_back({block, out});
    }
}

}  // namespace arges
