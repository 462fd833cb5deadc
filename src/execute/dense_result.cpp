#include "execute/dense_result.hpp"

#include "layout/layout.hpp"

namespace arges {

DenseResult::DenseResult(const Communicator* comm, const SparseStep& step, const LabelGrid& grid, const std::vector<int>& labels)
    : comm_(comm), rank_(comm == nullptr ? 0 : comm->rank()), result_(step.output.layout) {
    // Labels that no factor has: the result is repeated along them when it moves out.
    auto there = step.kept;
    std::erase_if(there, [&](int label) { return !step.in_factors(label); });
    labels_ = chosen(there, labels, false);
    const auto rest = chosen(there, labels, true);
    labels_.insert(labels_.end(), rest.begin(), rest.end());
    is_by_rows_ = grid.by_hash && !rest.empty();
    if (is_by_rows_) return;
    sums_ = grid.array(step.label_extents, labels_, Spread::partial);
    const bool in_place =
        step.output.labels == labels_ && sums_.copies() == 1 && (result_ == sums_ || (comm == nullptr && is_plain(result_)));
    if (in_place) {
        sums_ = result_;
        return;
    }
    Movement spec;
    spec.from = sums_;
    spec.to = result_;
    spec.from_labels = labels_;
    spec.to_labels = step.output.labels;
    spec.label_extents = step.label_extents;
    spec.terms = {spec.identity()};
    move_ = std::make_unique<MovementRun>(comm, spec, rank_);
}

std::vector<std::int64_t> DenseResult::set_rows(const SparseStep& step, const std::vector<int>& in_row, const IndexColumns& rows,
                                                InspectionMemory& memory) {
    const auto& labels = step.output.labels;
    std::vector<int> row_dimensions, free_dimensions;
    for (int label : labels_) {
        const int dimension = std::find(labels.begin(), labels.end(), label) - labels.begin();
        (SparseStep::has(in_row, label) ? row_dimensions : free_dimensions).push_back(dimension);
    }
    memory.take(memory.most(std::ssize(rows[0])) * (std::ssize(rows) + 3) * std::int64_t{sizeof(std::int64_t)});
    rows_ = std::make_unique<DenseRows>(*comm_, result_, row_dimensions, free_dimensions, rows);
    auto places = rows_->take_places();
    for (auto& place : places) place *= rows_->row_size();
    return places;
}

void* DenseResult::begin(const ElementKernels& kernels, const void* beta, void* result, Workspace& workspace) const {
    if (!move_) {
        const auto count = rows_ ? result_.local_size(rank_) : sums();
        if (kernels.is_zero(beta))
            kernels.fill(result, count, kernels.zero);
        else if (beta != nullptr && !kernels.is_one(beta))
            kernels.scale(result, count, beta);
        if (!rows_) return result;
    }
    void* const sums_here = workspace.take(sums(), kernels.size, kernels.space);
    kernels.fill(sums_here, sums(), kernels.zero);
    return sums_here;
}

void DenseResult::finish(const ElementKernels& kernels, const void* beta, void* sums, void* result, Workspace& workspace) const {
    if (move_) agree(comm_, [&] { move_->run(kernels, sums, result, nullptr, beta, false, workspace); });
    if (rows_) rows_->add(kernels, sums, result, workspace);
}

void DenseResult::add_need(WorkspaceNeed& need, std::int64_t element_bytes) const {
    if (!move_ && !rows_) return;
    need.add(sums(), element_bytes);
    need.add_movement(move_ ? move_->workspace_bytes(element_bytes)
                            : rows_->workspace_bytes(element_bytes, need.on_device() ? element_bytes : 0));
}

}  // namespace arges
