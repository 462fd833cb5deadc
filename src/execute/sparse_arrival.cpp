#include "execute/sparse_arrival.hpp"

namespace arges {

ArrivedNonzeros::ArrivedNonzeros(const SparseStep& step, const LabelGrid& grid, std::size_t operand, const IndexSpans& indices,
                                 InspectionMemory& memory)
    : labels_(SparseStep::distinct(step.sparse()[operand].labels)), element_bytes_(step.bytes_of(step.factors[operand])),
      converted_bytes_(SparseStep::converted_bytes_of(step.factors[operand])) {
    const auto& modes = step.sparse()[operand].labels;
    const auto mode_of = [&](int label) { return std::find(modes.begin(), modes.end(), label) - modes.begin(); };
    const bool is_divided = SparseStep::has(labels_, step.phase.label), picks = labels_.size() < modes.size() || is_divided;
    std::vector<std::int64_t> wanted;
    IndexSpans columns;
    const auto here = indices.empty() ? std::int64_t{0} : std::ssize(indices[0]);
    memory.pass(memory.most(here * (SparseMove::listing_bytes + (picks ? std::int64_t{sizeof(std::int64_t)} + 1 : 0))));
    agree(memory.comm(), [&] {
        for (int label : labels_) columns.push_back(indices[mode_of(label)]);
        if (!picks) return;
        const auto is_wanted = [&](std::int64_t k) {
            for (std::size_t m = 0; m < indices.size(); ++m)
                if (indices[m][k] != indices[mode_of(modes[m])][k]) return false;
            return !is_divided || step.phase.has(indices[mode_of(step.phase.label)][k]);
        };
        std::vector<char> marks(here);
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < here; ++k) marks[k] = is_wanted(k) ? 1 : 0;
        wanted.reserve(std::count(marks.begin(), marks.end(), 1));
        for (std::int64_t k = 0; k < here; ++k)
            if (marks[k] != 0) wanted.push_back(k);
    });
    move_ =
        std::make_unique<SparseMove>(memory.comm(), columns, picks ? &wanted : nullptr, grid.layout_of(labels_), grid.copies_of(labels_));
    if (stays()) {
        columns_ = columns;
        return;
    }
    const std::int64_t width = labels_.size() * sizeof(std::int64_t);
    const auto lists = memory.most(move_->list_bytes());
    memory.take(most() * (width + element_bytes_) + lists);
    memory.pass(lists);  // a column, packed
    moved_ = move_->indices(columns);
    inspected_bytes_ = move_->sent() * width;
    columns_ = spans_of(moved_);
}

const std::byte* ArrivedNonzeros::values(const std::byte* from, std::vector<Buffer<std::byte>>& room) const {
    if (stays()) return from;
    room.push_back(move_->values(from, element_bytes_));
    return room.back().data();
}

std::int64_t ArrivedNonzeros::list_bytes() const {
    auto bytes = move_->list_bytes();
    for (const auto& column : moved_) bytes += bytes_of_list(column);
    return bytes;
}

}  // namespace arges
