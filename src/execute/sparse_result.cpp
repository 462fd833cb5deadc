#include "execute/sparse_result.hpp"

namespace arges {

SparseResult::SparseResult(const SparseStep& step, const LabelGrid& grid, IndexColumns indices, InspectionMemory& memory)
    : made_(std::ssize(indices[0])), layout_(grid.layout_of(step.kept)) {
    if (grid.copies_of(step.kept).size() == 1) {
        indices_ = std::move(indices);
        return;
    }
    layout_ = grid.result_layout(step.label_extents, step.kept);
    memory.pass(memory.most(made_) * SparseMove::listing_bytes);
    merge_ = std::make_unique<SparseMove>(memory.comm(), spans_of(indices), nullptr, layout_, std::vector<std::int64_t>{0});
    // Indices, their order, and values of what comes.
    const std::int64_t width = step.kept.size() * sizeof(std::int64_t);
    const auto lists = memory.most(merge_->list_bytes());
    memory.take(merge_->most() * (width + std::int64_t{2 * sizeof(std::int64_t)} + step.element_bytes) + lists);
    memory.pass(lists);  // a column, packed
    const auto all = merge_->indices(spans_of(indices));
    inspected_bytes_ = merge_->sent() * width;
    memory.take(merge_->most() * width);
    agree(memory.comm(), [&] {
        auto labels = step.kept;
        std::reverse(labels.begin(), labels.end());
        const sparse::Columns columns(all.rbegin(), all.rend());
        merged_ = sparse::sorted_runs(merge_->count(), columns, {}, step.extents(labels));
        if (merge_->count() == 0) merged_.start = {0};
        for (const auto& column : all) {
            auto& to = indices_.emplace_back();
            to.reserve(merged_.count());
            for (std::int64_t run = 0; run < merged_.count(); ++run) to.push_back(column[merged_.first(run)]);
        }
    });
}

Buffer<std::byte> SparseResult::added_up(const Communicator* comm, const ElementKernels& kernels, Buffer<std::byte> sums) const {
    if (!merge_) return sums;
    const auto parts = merge_->values(sums.data(), kernels.size);
    agree(comm, [&] {
        sums = Buffer<std::byte>(merged_.count() * kernels.size);
        kernels.sparse->add_runs(merged_.count(), merged_.start.data(), merged_.order.data(), parts.data(), sums.data());
    });
    return sums;
}

}  // namespace arges
