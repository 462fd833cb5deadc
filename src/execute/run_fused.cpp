#include "execute/run_fused.hpp"

#include "base/instantiate.hpp"
#include "local/contract.hpp"

#include <algorithm>

namespace arges {

FusedRun::FusedRun(FusedPlan plan, const Communicator* comm)
    : plan_(std::move(plan)), rank_(comm != nullptr ? comm->rank() : 0) {
    for (std::size_t i = 0; i <= plan_.inputs.size(); ++i) {
        const auto& w = i < plan_.inputs.size() ? plan_.inputs[i] : plan_.result;
        exchange_.push_back(w.in_place ? nullptr : std::make_unique<Exchange>(comm, plan_.movement(i), rank_));
    }
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
        stay_.emplace_back();
        if (i >= plan_.stay.size() || !plan_.stay[i]) continue;
        auto movement = plan_.movement(i);
        movement.from = plan_.inputs[i].layout;
        movement.from_labels = plan_.inputs[i].labels;
        movement.to = *plan_.stay[i];
        movement.to_labels = plan_.spec.inputs[i].labels;
        stay_.back() = std::make_unique<Exchange>(comm, movement, rank_);
    }
}

Volume FusedRun::volume() const {
    Volume total;
    for (const auto& exchange : exchange_)
        if (exchange) {
            total.sent += exchange->volume().sent;
            total.received += exchange->volume().received;
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

std::int64_t FusedRun::local_extent(int label) const {
    const auto& torus = plan_.label_mapping[static_cast<std::size_t>(label)].torus;
    const auto& grid = plan_.spec.output.layout.grid();
    std::int64_t place = 0, places = 1;
    for (int t : torus) {
        place += places * grid.coordinate(rank_, t);
        places *= grid.lengths[static_cast<std::size_t>(t)];
    }
    return count_residues(plan_.spec.label_extents[static_cast<std::size_t>(label)], place, places);
}

std::int64_t FusedRun::elements(const std::vector<int>& labels) const {
    std::int64_t product = 1;
    for (int l : labels) product *= local_extent(l);
    return product;
}

FusedRun::Block FusedRun::block_of(const WorkingOperand& operand) const {
    Block block{{}, operand.layout.strides(rank_)};
    for (int s = 0; s < operand.layout.slots(); ++s)
        block.labels.push_back(operand.labels[static_cast<std::size_t>(operand.layout.slot_dimensions(s)[0])]);
    return block;
}

FusedRun::Block FusedRun::packed_block(const std::vector<int>& labels) const {
    Block block{labels, {}};
    std::int64_t stride = 1;
    for (int l : labels) {
        block.strides.push_back(stride);
        stride *= local_extent(l);
    }
    return block;
}

std::vector<std::int64_t> FusedRun::buffer_elements() const {
    std::vector<std::int64_t> result(static_cast<std::size_t>(plan_.buffers), 0);
    for (const auto& step : plan_.steps)
        if (step.buffer >= 0) {
            auto& size = result[static_cast<std::size_t>(step.buffer)];
            size = std::max(size, elements(step.labels));
        }
    return result;
}

std::int64_t FusedRun::workspace_bytes() const {
    const auto bytes = [&](std::int64_t count) { return Workspace::padded(count * plan_.spec.element_bytes); };
    std::int64_t arrays = 0, messages = 0;
    for (std::size_t i = 0; i <= plan_.inputs.size(); ++i) {
        const auto& w = i < plan_.inputs.size() ? plan_.inputs[i] : plan_.result;
        if (w.in_place) continue;
        arrays += bytes(w.layout.local_size(rank_));
        messages = std::max(messages, bytes(exchange_[i]->volume().sent) + bytes(exchange_[i]->volume().received));
    }
    for (auto size : buffer_elements()) arrays += bytes(size);
    return arrays + messages;
}

template <class T>
void FusedRun::multiply(const Block& a, const T* x, const Block& b, const T* y, T alpha, T beta, const Block& c, T* z) const {
    auto stride = [](const Block& block, int label) -> std::int64_t {
        const auto it = std::find(block.labels.begin(), block.labels.end(), label);
        return it == block.labels.end() ? -1 : block.strides[static_cast<std::size_t>(it - block.labels.begin())];
    };
    local::FoldedContraction fold;
    auto add = [&](int label) {
        const auto in_a = stride(a, label), in_b = stride(b, label), in_c = stride(c, label);
        const local::FoldAxis axis{local_extent(label), std::max<std::int64_t>(in_a, 0), std::max<std::int64_t>(in_b, 0),
                                   std::max<std::int64_t>(in_c, 0)};
        auto& axes = in_c < 0 ? fold.k : in_a >= 0 && in_b >= 0 ? fold.batch : in_a >= 0 ? fold.m : fold.n;
        axes.push_back(axis);
    };
    for (int label : a.labels) add(label);
    for (int label : b.labels)
        if (stride(a, label) < 0) add(label);
    local::contract<T>(fold, alpha, x, y, beta, z);
}

template <class T>
void FusedRun::run(const std::vector<const T*>& inputs, T* c, T alpha, T beta, const std::vector<T*>& stay, Workspace& workspace) {
    const auto mark = workspace.mark();
    std::vector<Block> blocks;
    std::vector<const T*> arrays;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto& w = plan_.inputs[i];
        blocks.push_back(block_of(w));
        arrays.push_back(inputs[i]);
        if (w.in_place) continue;
        T* const copy = workspace.take<T>(w.layout.local_size(rank_));
        exchange_[i]->run(inputs[i], copy, T(1), T(0), plan_.spec.inputs[i].conjugated, workspace);
        arrays.back() = copy;
        if (i < stay.size() && stay[i] != nullptr && stay_[i]) stay_[i]->run(copy, stay[i], T(1), T(0), false, workspace);
    }
    std::vector<T*> buffers;
    for (auto size : buffer_elements()) buffers.push_back(workspace.take<T>(size));
    const bool direct = plan_.result.in_place;
    T* const result = direct ? c : workspace.take<T>(plan_.result.layout.local_size(rank_));
    for (const auto& step : plan_.steps) {
        const auto a = static_cast<std::size_t>(step.first), b = static_cast<std::size_t>(step.second);
        const bool last = step.buffer < 0;
        T* const out = last ? result : buffers[static_cast<std::size_t>(step.buffer)];
        blocks.push_back(last ? block_of(plan_.result) : packed_block(step.labels));
        multiply<T>(blocks[a], arrays[a], blocks[b], arrays[b], last ? alpha : T(1), last && direct ? beta : T(0), blocks.back(), out);
        arrays.push_back(out);
    }
    if (!direct) exchange_.back()->run(result, c, T(1), beta, false, workspace);
    workspace.release(mark);
}

#define ARGES_INSTANTIATE(T) template void FusedRun::run(const std::vector<const T*>&, T*, T, T, const std::vector<T*>&, Workspace&);
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)

}  // namespace arges
