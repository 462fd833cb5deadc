#include "execute/sparse_by_dense.hpp"

#include "base/first_error.hpp"
#include "base/large_vector.hpp"
#include "base/memory_tally.hpp"
#include "layout/layout.hpp"

#include <numeric>

namespace arges {

namespace {

std::int64_t coordinate(const LabelGrid& grid, std::int64_t rank, int label) { return rank / grid.strides()[label] % grid.parts[label]; }

/// Where the elements of an array begin that belong to nonzeros. @param positions  of nonzeros; empty: the first ones
std::vector<std::int64_t> offsets_in(const std::vector<int>& labels, const std::vector<std::int64_t>& strides, const LabelGrid& grid,
                                     const ArrivedNonzeros& nonzeros, std::int64_t count, std::span<const std::int64_t> positions) {
    std::vector<std::int64_t> result(count, 0);
    for (std::size_t d = 0; d < strides.size(); ++d) {
        if (!SparseStep::has(nonzeros.labels(), labels[d])) continue;
        const auto* const index = nonzeros.column(labels[d]).data();
        const auto parts = grid.parts[labels[d]], stride = strides[d];
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < count; ++k) result[k] += index[positions.empty() ? k : positions[k]] / parts * stride;
    }
    return result;
}

/// Steps along labels that the nonzeros lack in rows that have no other labels, the first fastest; 0 along the others.
std::vector<std::int64_t> row_strides(const SparseStep& step, const std::vector<int>& labels) {
    std::vector<std::int64_t> result;
    std::int64_t next = 1;
    for (int label : labels) {
        const bool is_free = !SparseStep::has(step.sparse()[0].labels, label);
        result.push_back(is_free ? next : 0);
        if (is_free) next *= step.extent(label);
    }
    return result;
}

/// Strides of an array on a rank; none where that has no part of it.
std::vector<std::int64_t> strides_of(const Layout& layout, std::int64_t rank, const LabelGrid& grid) {
    return rank < grid.ranks() ? layout.strides(rank) : std::vector<std::int64_t>();
}

/// The step along a label; 0 without it.
std::int64_t stride_along(const std::vector<int>& labels, const std::vector<std::int64_t>& strides, int label) {
    const auto place = std::find(labels.begin(), labels.end(), label) - labels.begin();
    return place < std::ssize(strides) ? strides[place] : 0;
}

}  // namespace

DenseFactor::DenseFactor(const SparseStep& step, const LabelGrid& grid, std::size_t factor, const ArrivedNonzeros& nonzeros,
                         InspectionMemory& memory)
    : comm_(memory.comm()), rank_(comm_ == nullptr ? 0 : comm_->rank()) {
    const auto& operand = step.dense()[factor];
    from_bytes_ = SparseStep::converted_bytes_of(operand);
    agree(comm_, [&] {
        const auto labels = SparseStep::distinct(operand.labels);
        labels_ = chosen(labels, nonzeros.labels(), false);
        const auto rest = chosen(labels, nonzeros.labels(), true);
        labels_.insert(labels_.end(), rest.begin(), rest.end());
        if (grid.by_hash && !rest.empty()) return;  // rows are brought
        layout_ = grid.array(step.label_extents, labels_, Spread::replicated);
        const bool lies_right = operand.layout == layout_ || (comm_ == nullptr && is_plain(operand.layout));
        if (operand.labels == labels_ && lies_right && from_bytes_ == 0) {
            layout_ = operand.layout;
            return;
        }
        Movement spec;
        spec.from = operand.layout;
        spec.to = layout_;
        spec.from_labels = operand.labels;
        spec.to_labels = labels_;
        spec.label_extents = step.label_extents;
        spec.terms = {spec.identity()};
        spec.from_bytes = from_bytes_;
        move_ = std::make_unique<MovementRun>(comm_, spec, rank_);
    });
    if (comm_ != nullptr) choose_rows(step, grid, operand, nonzeros, memory);
    strides_ = rows_ ? row_strides(step, labels_) : strides_of(layout_, rank_, grid);
}

/// A factor of which the nonzeros need few rows is brought row by row.
void DenseFactor::choose_rows(const SparseStep& step, const LabelGrid& grid, const Operand& from, const ArrivedNonzeros& nonzeros,
                              InspectionMemory& memory) {
    std::vector<int> row_dimensions, free_dimensions, row_labels;
    bool is_divided = false;
    for (int label : labels_) {  // in the order of the array
        const int dimension = std::find(from.labels.begin(), from.labels.end(), label) - from.labels.begin();
        const bool in_row = SparseStep::has(nonzeros.labels(), label);
        (in_row ? row_dimensions : free_dimensions).push_back(dimension);
        if (in_row) row_labels.push_back(label);
        is_divided = is_divided || (!in_row && grid.parts[label] > 1);
    }
    const bool is_needed = grid.by_hash && !row_labels.empty();
    const bool is_possible = move_ && !row_labels.empty() && !is_divided && labels_.size() == from.labels.size() &&
                             DenseRows::is_possible(from.layout, free_dimensions);
    if (!is_needed && !is_possible) return;
    sparse::Numbering rows;
    std::int64_t elements[] = {0, 0};
    agree(comm_, [&] {
        rows = sparse::numbered(nonzeros.count(), nonzeros.columns(row_labels), step.extents(row_labels));
        elements[0] = rows.count;
        for (int d : free_dimensions) elements[0] *= from.layout.extents()[d];
        elements[1] = is_needed ? 0 : move_->volume().received;
    });
    comm_->sum(elements, 2);
    if (!is_needed && elements[0] >= elements[1]) return;
    memory.pass(memory.most(rows.count) * 4 * std::int64_t{sizeof(std::int64_t)});
    rows_ = std::make_unique<DenseRows>(*comm_, from.layout, row_dimensions, free_dimensions, rows.tuples);
    move_.reset();
    agree(comm_, [&] {
        const auto places = rows_->take_places();
        row_of_.reserve(rows.numbers.size());
        for (auto number : rows.numbers) row_of_.push_back(places[number] * rows_->row_size());
    });
}

void DenseFactor::set_offsets(const LabelGrid& grid, const ArrivedNonzeros& nonzeros, const sparse::Runs& runs) {
    if (chosen(labels_, nonzeros.labels(), true).empty()) return;
    if (!rows_) {
        offsets_ = NumberList(offsets_in(labels_, strides_, grid, nonzeros, nonzeros.count(), runs.order));
        return;
    }
    std::vector<std::int64_t> offsets(row_of_.size());
    for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = row_of_[runs.at(k)];
    offsets_ = NumberList(std::move(offsets));
    release(row_of_);
}

std::int64_t DenseFactor::stride(int label) const { return stride_along(labels_, strides_, label); }

const void* DenseFactor::brought(const ElementKernels& kernels, const SourceArray& from, bool conjugate, Workspace& workspace,
                                 FirstError& error) const {
    if (lies_there(kernels, from, conjugate)) return from.elements;
    void* array = nullptr;
    agree(comm_, [&] { array = workspace.take(size(), kernels.size, kernels.space); });
    error.run([&] {
        if (rows_)
            rows_->run(kernels, from, array, conjugate, workspace);
        else if (move_)
            move_->run(kernels, from, array, nullptr, kernels.zero, conjugate, workspace);
        else if (conjugate)
            kernels.transfer_listed({.count = size()}, from.elements, array, nullptr, {.conjugate = true});
        else
            copy_array(array, from.elements, size() * kernels.size, kernels.space);
    });
    return array;
}

void DenseFactor::add_need(WorkspaceNeed& need, std::int64_t element_bytes, bool conjugated) const {
    if (!move_ && !rows_ && !conjugated) return;
    need.add(size(), element_bytes);
    if (move_) need.add_movement(move_->workspace_bytes(element_bytes));
    const auto from_bytes = from_bytes_ == 0 && need.on_device() ? element_bytes : from_bytes_;
    if (rows_) need.add_movement(rows_->workspace_bytes(element_bytes, from_bytes));
}

SparseByDense::SparseByDense(const SparseStep& step, const SparseStepPlan& plan, const std::vector<ArrivedNonzeros>& operands,
                             InspectionMemory& memory, SparseResult& result)
    : comm_(memory.comm()), rank_(comm_ == nullptr ? 0 : comm_->rank()), step_(step), is_idle_(rank_ >= plan.grid.ranks()) {
    const auto& nonzeros = operands[0];
    const auto& grid = plan.grid;
    for (std::size_t f = 0; f < step.dense().size(); ++f) factors_.emplace_back(step, grid, f, nonzeros, memory);
    if (!step.output.is_sparse()) {
        agree(comm_, [&] { out_.emplace(comm_, step, grid, nonzeros.labels()); });
        step_.kept = out_->labels();
    }
    const auto in_rows = chosen(step_.kept, nonzeros.labels(), true);
    const bool in_own_order = !out_ && in_rows.size() == nonzeros.labels().size();  // every nonzero is a row of the result
    memory.take(nonzeros.most() * std::int64_t{sizeof(std::int64_t)} * (3 + std::ssize(step.dense())));
    IndexColumns rows;
    agree(comm_, [&] {
        set_runs(nonzeros, grid, in_rows, in_own_order);
        set_axes(nonzeros, grid);
        if (!out_) return;
        if (out_->is_by_rows())
            rows = firsts_of(nonzeros, in_rows);
        else
            targets_ = offsets_in(step_.kept, strides_of(out_->layout(), rank_, grid), grid, nonzeros, std::ssize(firsts_), firsts_);
    });
    if (out_) {
        if (out_->is_by_rows()) targets_ = out_->set_rows(step, in_rows, rows, memory);
    } else if (in_own_order && step_.dense_labels().empty() && SparseResult::may_have_pattern(step, grid, nonzeros)) {
        result = SparseResult(step, grid, std::ssize(firsts_));
    } else {
        memory.take(memory.most(std::ssize(firsts_) * loops_) * SparseResult::nonzero_bytes(step));
        IndexColumns all;
        agree(comm_, [&] { all = indices(nonzeros, grid); });
        result = SparseResult(step, grid, std::move(all), memory);
    }
    release(firsts_);
}

/// Orders the nonzeros by the target of their sums.
void SparseByDense::set_runs(const ArrivedNonzeros& nonzeros, const LabelGrid& grid, const std::vector<int>& in_rows, bool in_own_order) {
    const auto count = nonzeros.count();
    sparse::Runs runs;
    if (in_own_order) {
        runs.start.resize(count + 1);
        std::iota(runs.start.begin(), runs.start.end(), std::int64_t{0});
    } else {
        // The result's last label is slowest, as in its array.
        std::vector<int> labels(in_rows.rbegin(), in_rows.rend());
        const auto others = chosen(nonzeros.labels(), in_rows, false);
        const auto by_row = nonzeros.columns(labels), also = nonzeros.columns(others);
        labels.insert(labels.end(), others.begin(), others.end());
        const auto lengths = step_.extents(labels);
        auto in_order = sparse::runs_if_sorted(count, by_row, also, lengths);
        runs = in_order ? *std::move(in_order) : sparse::sorted_runs(count, by_row, also, lengths);
    }
    places_ = NumberList::unless_identity(runs.order);
    for (auto& factor : factors_) factor.set_offsets(grid, nonzeros, runs);
    firsts_ = large_vector<std::int64_t>(count > 0 ? static_cast<std::size_t>(runs.count()) : 0);
    for (std::size_t run = 0; run < firsts_.size(); ++run) firsts_[run] = runs.first(run);
    start_ = count > 0 ? std::move(runs.start) : std::vector<std::int64_t>{0};
}

/// Loops over labels that the nonzeros lack.
void SparseByDense::set_axes(const ArrivedNonzeros& nonzeros, const LabelGrid& grid) {
    std::vector<std::int64_t> result_strides;
    if (out_) result_strides = out_->is_by_rows() ? row_strides(step_, step_.kept) : strides_of(out_->layout(), rank_, grid);
    products_ = nonzeros.count();
    for (int label : step_.dense_labels()) {
        auto& axis = axes_.emplace_back();
        axis.size = local_extent(grid, label);
        products_ *= axis.size;
        if (out_) {
            axis.result = stride_along(step_.kept, result_strides, label);
        } else if (step_.has_output(label)) {
            axis.result = loops_;
            loops_ *= axis.size;
        }
        for (const auto& factor : factors_) axis.factors.push_back(is_idle_ ? 0 : factor.stride(label));
    }
    // The innermost loop runs along what lies next to each other.
    std::stable_sort(axes_.begin(), axes_.end(), [](const auto& a, const auto& b) {
        const auto contiguous = [](const auto& axis) {
            return (axis.result == 1 ? 2 : 0) + std::count(axis.factors.begin(), axis.factors.end(), 1);
        };
        return contiguous(a) < contiguous(b);
    });
}

std::int64_t SparseByDense::local_extent(const LabelGrid& grid, int label) const {
    const auto left = step_.extent(label) - coordinate(grid, rank_, label);
    return left <= 0 ? 0 : (left + grid.parts[label] - 1) / grid.parts[label];
}

/// Indices of the first nonzero of each run.
IndexColumns SparseByDense::firsts_of(const ArrivedNonzeros& nonzeros, const std::vector<int>& labels) const {
    IndexColumns result;
    for (int label : labels) {
        const auto& from = nonzeros.column(label);
        auto& to = result.emplace_back();
        to.reserve(firsts_.size());
        for (auto k : firsts_) to.push_back(from[k]);
    }
    return result;
}

/// Indices of a sparse result: in each run its elements along the loops.
IndexColumns SparseByDense::indices(const ArrivedNonzeros& nonzeros, const LabelGrid& grid) const {
    IndexColumns result;
    const auto in_loops = step_.dense_labels();
    const auto runs = std::ssize(firsts_);
    for (int label : step_.kept) {
        auto& to = result.emplace_back(large_vector<std::int64_t>(runs * loops_));
        const auto loop = std::find(in_loops.begin(), in_loops.end(), label);
        std::vector<std::int64_t> along(loops_, 0);  // the label's indices in the elements of a run
        if (loop != in_loops.end()) {
            std::int64_t before = 1;
            for (auto other = in_loops.begin(); other != loop; ++other)
                if (step_.has_output(*other)) before *= local_extent(grid, *other);
            const auto first = coordinate(grid, rank_, label), extent = local_extent(grid, label), step = grid.parts[label];
            for (std::int64_t l = 0; l < loops_; ++l) along[l] = first + l / before % extent * step;
        }
        const std::int64_t* const from = loop == in_loops.end() ? nonzeros.column(label).data() : nullptr;
#pragma omp parallel for schedule(static)
        for (std::int64_t run = 0; run < runs; ++run) {
            auto* const own = to.data() + run * loops_;
            if (from != nullptr)
                std::fill_n(own, loops_, from[firsts_[run]]);
            else
                std::copy(along.begin(), along.end(), own);
        }
    }
    return result;
}

local::SparseLoop SparseByDense::loop() const {
    local::SparseLoop loop;
    loop.runs = std::ssize(start_) - 1;
    loop.start = start_.data();
    loop.target = out_ ? targets_.data() : nullptr;
    loop.result_step = loops_;
    loop.places = places_.numbers();
    for (const auto& factor : factors_) loop.offsets.push_back(factor.offsets());
    loop.axes = axes_;
    loop.acting = step_.acting();
    return loop;
}

void SparseByDense::multiply(const ElementKernels& kernels, const std::vector<const std::byte*>& values, const StepElements& elements,
                             const void* alpha, void* result, Workspace& workspace) const {
    auto loop = this->loop();
    loop.values = values[0];
    loop.alpha = alpha;
    loop.result = result;
    FirstError error;
    for (std::size_t f = 0; f < factors_.size(); ++f) {
        const auto& source = elements.operands[f + 1];
        const auto& multiplied = step_.factors[f + 1].role == Role::actor ? source.kernels_or(kernels) : kernels;
        const bool conjugate = elements.conjugated[f + 1] && multiplied.is_complex;
        loop.factors.push_back(factors_[f].brought(multiplied, source, conjugate, workspace, error));
    }
    if (kernels.space != nullptr) return multiply_there(kernels, std::move(loop), error);
    agree(comm_, [&] { error.rethrow(); });
    if (!is_idle_) kernels.sparse->multiply(loop);
}

/// @param kernels  of a device, where factors and result are
void SparseByDense::multiply_there(const ElementKernels& kernels, local::SparseLoop loop, FirstError& error) const {
    agree(comm_, [&] {
        error.rethrow();
        const auto* const space = kernels.space;
        const auto count = start_.back();
        Buffer<std::byte> values(count * kernels.size, space), kept(there_->kept_elements() * kernels.size, space);
        copy_array(values.data(), loop.values, values.size(), space);
        there_->copy_lists(loop, space);
        loop.values = values.data();
        if (!is_idle_) there_->multiply(kernels, loop, kept.data());
    });
}

std::optional<DeviceNeed> SparseByDense::device_need(const StepElements& elements) const {
    const auto loop = this->loop();
    if (!sparse::DeviceLoop::is_possible(loop)) return {};
    if (!there_) there_.emplace(loop);
    std::int64_t brought = out_ ? out_->apart() : 0;
    for (std::size_t f = 0; f < factors_.size(); ++f)
        brought += factors_[f].brought_there(*elements.device, elements.operands[f + 1], elements.conjugated[f + 1]);
    return DeviceNeed{.lists = there_->list_bytes(),
                      .working = (brought + there_->kept_elements()) * step_.element_bytes,
                      .on_host = there_->has_lists() ? 0 : there_->copying_bytes()};
}

void SparseByDense::drop_device_lists() const {
    if (there_) there_->drop_lists();
}

std::int64_t SparseByDense::inspected_bytes() const {
    auto bytes = out_ ? out_->inspected_bytes() : 0;
    for (const auto& factor : factors_) bytes += factor.inspected_bytes();
    return bytes;
}

std::int64_t SparseByDense::sent_bytes() const {
    auto bytes = out_ ? out_->sent() * step_.element_bytes : 0;
    for (std::size_t f = 0; f < factors_.size(); ++f) bytes += factors_[f].sent() * step_.bytes_of(step_.factors[f + 1]);
    return bytes;
}

std::int64_t SparseByDense::list_bytes() const {
    auto bytes = bytes_of_list(start_) + bytes_of_list(targets_) + places_.bytes() + (out_ ? out_->list_bytes() : 0);
    for (const auto& factor : factors_) bytes += factor.list_bytes();
    return bytes;
}

void SparseByDense::add_need(WorkspaceNeed& need, const std::vector<bool>& conjugated) const {
    for (std::size_t f = 0; f < factors_.size(); ++f)
        factors_[f].add_need(need, step_.multiplied_bytes_of(step_.factors[f + 1]), conjugated[f + 1]);
    if (out_) out_->add_need(need, step_.element_bytes);
}

}  // namespace arges
