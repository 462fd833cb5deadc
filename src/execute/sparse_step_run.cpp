#include "execute/sparse_step_run.hpp"

#include "base/large_vector.hpp"
#include "execute/sparse_step_lists.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <omp.h>
#include <optional>

namespace arges {

namespace {

/// A factor has so many times more nonzeros than another that those are picked out which the other meets.
constexpr std::int64_t much_larger = 8;

}  // namespace

SparseStepRun::SparseStepRun(const Communicator* comm, const SparseStep& step, const SparseStepPlan& plan,
                             const std::vector<IndexSpans>& indices, const RequireBytes& require)
    : comm_(comm), require_(require), rank_(comm == nullptr ? 0 : comm->rank()), step_(step), plan_(plan) {
    for (std::size_t o = 0; o < step_.sparse.size(); ++o) sparse_.push_back(arrived(step_.sparse[o], indices[o]));
    if (step_.sparse.size() > 1)
        prepare_rows();
    else
        prepare_with_dense();
    require_ = nullptr;
}

/// Asks for memory that is kept until the inspection ends.
void SparseStepRun::take(std::int64_t bytes) {
    taken_ += bytes;
    require_(taken_);
}

std::int64_t SparseStepRun::coordinate(int label) const { return rank_ / plan_.grid.strides()[label] % part(label); }

std::int64_t SparseStepRun::local_extent(int label) const {
    const auto left = step_.extent(label) - coordinate(label);
    return left <= 0 ? 0 : (left + part(label) - 1) / part(label);
}

SparseStepRun::Arrived SparseStepRun::arrived(const SparseOperand& operand, const IndexSpans& indices) {
    Arrived result;
    result.labels = SparseStep::distinct(operand.labels);
    const auto mode_of = [&](int label) {
        return static_cast<std::size_t>(std::find(operand.labels.begin(), operand.labels.end(), label) - operand.labels.begin());
    };
    const bool has_diagonal = result.labels.size() < operand.labels.size(), is_divided = SparseStep::has(result.labels, step_.phase.label);
    const bool picks = has_diagonal || is_divided;
    std::vector<std::int64_t> wanted;
    IndexSpans columns;
    const auto here = indices.empty() ? std::int64_t{0} : std::ssize(indices[0]);
    pass(most(here * (SparseMove::listing_bytes + (picks ? static_cast<std::int64_t>(sizeof wanted[0]) + 1 : 0))));
    agree(comm_, [&] {
        for (int label : result.labels) columns.push_back(indices[mode_of(label)]);
        if (!picks) return;
        const auto count = indices[0].size();
        const auto is_wanted = [&](std::size_t k) {
            for (std::size_t m = 0; m < indices.size(); ++m)
                if (indices[m][k] != indices[mode_of(operand.labels[m])][k]) return false;
            return !is_divided || step_.phase.has(indices[mode_of(step_.phase.label)][k]);
        };
        std::vector<char> chosen(count);
#pragma omp parallel for schedule(static)
        for (std::size_t k = 0; k < count; ++k) chosen[k] = is_wanted(k) ? 1 : 0;
        wanted.reserve(std::count(chosen.begin(), chosen.end(), 1));
        for (std::size_t k = 0; k < count; ++k)
            if (chosen[k] != 0) wanted.push_back(k);
    });
    result.move = std::make_unique<SparseMove>(comm_, columns, picks ? &wanted : nullptr, plan_.grid.layout_of(result.labels),
                                               plan_.grid.copies_of(result.labels));
    result.count = result.move->count();
    if (result.move->stays()) {
        result.columns = columns;
        return result;
    }
    const std::int64_t width = result.labels.size() * sizeof(std::int64_t);
    const auto lists = most(result.move->list_bytes());
    take(result.move->most() * (width + step_.bytes_of(sparse_.size())) + lists);
    pass(lists);  // a column, packed
    result.moved = result.move->indices(columns);
    inspected_bytes_ += result.move->sent() * width;
    result.columns = spans_of(result.moved);
    return result;
}

const std::span<const std::int64_t>& SparseStepRun::column(const Arrived& operand, int label) const {
    return operand.columns[std::find(operand.labels.begin(), operand.labels.end(), label) - operand.labels.begin()];
}

/// Nothing of the last sparse operand moves or is repeated, so that the result may have its nonzeros in its order.
bool SparseStepRun::may_share_pattern() const {
    return sparse_.back().move->stays() && step_.output == step_.sparse.back().labels && plan_.grid.copies_of(step_.output).size() == 1;
}

void SparseStepRun::prepare_rows() {
    const auto &a = sparse_[0], &b = sparse_[1];
    const auto shared = chosen(a.labels, b.labels, true);
    const auto rows = chosen(step_.output, a.labels, true), columns = chosen(chosen(step_.output, a.labels, false), b.labels, true);
    const auto factors = a.move->most() + b.move->most() + (step_.has_mask() ? sparse_[2].move->most() : 0);
    pass(factors * std::int64_t{6 * sizeof(std::int64_t)});  // numbers, places, columns
    sparse::Numbering row_numbers, column_numbers;
    const auto spans = [&](const Arrived& operand, const std::vector<int>& labels) {
        sparse::Columns result;
        for (int label : labels) result.push_back(column(operand, label));
        return result;
    };
    agree(comm_, [&] {
        // The mask says which rows and columns are needed at all.
        const auto& of_rows = step_.has_mask() ? sparse_[2] : a;
        // Of a second factor that is much larger only the nonzeros that the first one meets are looked at.
        std::optional<std::vector<std::int64_t>> met;
        if (shared.size() == 1 && a.count < b.count / much_larger)
            met = sparse::positions_among(column(a, shared[0]), column(b, shared[0]));
        std::deque<std::vector<std::int64_t>> met_columns;
        const auto spans_of_b = [&](const std::vector<int>& labels) {
            auto result = spans(b, labels);
            for (auto& span : result) {
                if (!met) break;
                auto& some = met_columns.emplace_back();
                some.reserve(met->size());
                for (auto k : *met) some.push_back(span[k]);
                span = some;
            }
            return result;
        };
        const auto count_of_b = met ? std::ssize(*met) : b.count;
        const auto inner = sparse::numbered(count_of_b, spans_of_b(shared), lengths_of(step_, shared));
        column_numbers = step_.has_mask() ? sparse::numbered(sparse_[2].count, spans(sparse_[2], columns), lengths_of(step_, columns))
                                          : sparse::numbered(count_of_b, spans_of_b(columns), lengths_of(step_, columns));
        row_numbers = sparse::numbered(of_rows.count, spans(of_rows, rows), lengths_of(step_, rows));
        const auto inner_of_a = sparse::looked_up(inner, a.count, spans(a, shared), lengths_of(step_, shared));
        const auto row_of_a =
            step_.has_mask() ? sparse::looked_up(row_numbers, a.count, spans(a, rows), lengths_of(step_, rows)) : row_numbers.numbers;
        const auto column_of_b = step_.has_mask()
                                     ? sparse::looked_up(column_numbers, count_of_b, spans_of_b(columns), lengths_of(step_, columns))
                                     : column_numbers.numbers;
        // Matrices by rows: a counting sort by row. `origin`: of the nonzeros, where not all of them are there.
        const auto by_rows = [](std::int64_t count, const std::vector<std::int64_t>* origin, const std::vector<std::uint32_t>& row,
                                const std::vector<std::uint32_t>& column, std::int64_t rows_count, std::vector<std::int64_t>& start,
                                std::vector<std::uint32_t>& list, Places& places) {
            const auto counts = [&](std::size_t k) { return row[k] != sparse::none && column[k] != sparse::none; };
            start.assign(static_cast<std::size_t>(rows_count) + 1, 0);
            for (std::size_t k = 0; k < row.size(); ++k)
                if (counts(k)) ++start[row[k] + 1];
            std::partial_sum(start.begin(), start.end(), start.begin());
            std::vector<std::int64_t> order(start.back());
            auto next = start;
            for (std::size_t k = 0; k < row.size(); ++k)
                if (counts(k)) order[next[row[k]]++] = k;
            list.resize(order.size());
            for (std::size_t k = 0; k < order.size(); ++k) list[k] = column[order[k]];
            if (origin != nullptr)
                for (auto& k : order) k = (*origin)[k];
            if (std::ssize(order) != count || !is_identity(order)) store(std::move(order), places);
        };
        const auto* const origin = met ? &*met : nullptr;
        by_rows(a.count, nullptr, row_of_a, inner_of_a, row_numbers.count, a_start_, a_columns_, a_places_);
        if (step_.has_mask()) {
            take_mask(row_numbers, column_numbers);
            by_dots_ = dots_are_fewer(inner.numbers, column_of_b, inner.count);
        }
        if (by_dots_)
            by_rows(b.count, origin, column_of_b, inner.numbers, column_numbers.count, b_start_, b_columns_, b_places_);
        else
            by_rows(b.count, origin, inner.numbers, column_of_b, inner.count, b_start_, b_columns_, b_places_);
        width_ = by_dots_ ? inner.count : column_numbers.count;
    });
    if (step_.has_mask()) return prepare_under_mask(rows, columns, row_numbers, column_numbers);
    take(factors * std::int64_t{2 * sizeof(std::int64_t)});
    products_ = sparse::products_of({a_start_, a_columns_}, {b_start_, b_columns_});
    const auto columns_at_most = std::min(most(products_), static_cast<std::int64_t>(plan_.result_nonzeros * 2) + (std::int64_t{1} << 20));
    pass(columns_at_most * std::int64_t{2 * sizeof(std::uint32_t)});  // of groups of rows, then side by side
    IndexColumns indices;
    agree(comm_, [&] {
        structure_ = sparse::structure_of_product({a_start_, a_columns_}, {b_start_, b_columns_}, width_);
        result_count_ = structure_.columns.size();
    });
    take(most(result_count_) *
         (static_cast<std::int64_t>(step_.output.size() * sizeof(std::int64_t) + sizeof(std::uint32_t)) + step_.element_bytes));
    agree(comm_, [&] {
        indices = indices_of_result(rows, columns, row_numbers, column_numbers);
        result_layout_ = plan_.grid.layout_of(step_.output);
    });
    add_up(std::move(indices));
}

/// Of a mask the nonzeros stay that a multiplication reaches: so the pattern does not depend on which factor is the mask.
void SparseStepRun::prepare_under_mask(const std::vector<int>& rows, const std::vector<int>& columns, const sparse::Numbering& row_numbers,
                                       const sparse::Numbering& column_numbers) {
    pass(sparse_[2].move->most() + most(width_ * omp_get_max_threads()));
    const sparse::RowPattern mask{{structure_.start.data(), static_cast<std::size_t>(structure_.start.size())},
                                  {structure_.columns.data(), static_cast<std::size_t>(structure_.columns.size())}};
    std::vector<char> reached;
    std::int64_t missed = 0;
    agree(comm_, [&] {
        reached = sparse::reached_by_product(mask, {a_start_, a_columns_}, {b_start_, b_columns_}, width_, by_dots_);
        missed = std::count(reached.begin(), reached.end(), 0);
    });
    has_pattern_of_operand_ = most(missed) == 0 && may_share_pattern();
    result_count_ = structure_.columns.size() - missed;
    result_layout_ = plan_.grid.layout_of(step_.output);
    if (has_pattern_of_operand_) {
        if (!is_identity(mask_order_)) store(std::move(mask_order_), mask_places_);
        mask_order_ = {};
        return;
    }
    take(most(result_count_) * (static_cast<std::int64_t>((step_.output.size() + 1) * sizeof(std::int64_t)) + step_.element_bytes));
    IndexColumns indices;
    agree(comm_, [&] {
        if (missed > 0) {
            std::vector<std::int64_t> kept;
            structure_ = sparse::selected(mask, reached, kept);
            for (auto& k : kept) k = mask_order_[k];
            mask_order_ = std::move(kept);
        }
        indices = indices_of_result(rows, columns, row_numbers, column_numbers);
    });
    add_up(std::move(indices));
}

/// Under a mask: does it take fewer steps to go through a row of b's transpose for each nonzero of the mask than through a row of b for
/// each of a?
bool SparseStepRun::dots_are_fewer(const std::vector<std::uint32_t>& inner_of_b, const std::vector<std::uint32_t>& column_of_b,
                                   std::int64_t inner) {
    std::vector<std::int64_t> in_row(inner, 0), in_column;
    for (std::size_t k = 0; k < inner_of_b.size(); ++k) {
        if (column_of_b[k] == sparse::none) continue;
        ++in_row[inner_of_b[k]];
        if (column_of_b[k] >= in_column.size()) in_column.resize(column_of_b[k] + 1, 0);
        ++in_column[column_of_b[k]];
    }
    std::int64_t by_rows = 0, by_dots = 0;
    for (auto k : a_columns_) by_rows += in_row[k];
    for (std::int64_t k = 0; k < structure_.columns.size(); ++k) {
        const auto column = structure_.columns[k];
        by_dots += column < in_column.size() ? in_column[column] : 0;
    }
    const bool is_fewer = step_.actor < 0 && by_dots < by_rows;  // sums of what acts are not defined
    products_ = is_fewer ? by_dots : by_rows;
    return is_fewer;
}

/// The mask by rows, its columns ascending.
void SparseStepRun::take_mask(const sparse::Numbering& rows, const sparse::Numbering& columns) {
    const auto count = sparse_[2].count;
    std::vector<std::int64_t> row(rows.numbers.begin(), rows.numbers.end()), column_of(columns.numbers.begin(), columns.numbers.end());
    const std::vector<std::int64_t> lengths{rows.count, columns.count};
    auto runs = sparse::sorted_runs(count, {}, {row, column_of}, lengths);
    structure_.start = Buffer<std::int64_t>::zeros(rows.count + 1);
    structure_.columns = Buffer<std::uint32_t>(count);
    for (auto r : rows.numbers) ++structure_.start[r + 1];
    for (std::int64_t r = 0; r < rows.count; ++r) structure_.start[r + 1] += structure_.start[r];
    for (std::int64_t k = 0; k < count; ++k) structure_.columns[k] = columns.numbers[runs.order[k]];
    mask_order_ = std::move(runs.order);
}

IndexColumns SparseStepRun::indices_of_result(const std::vector<int>& rows, const std::vector<int>& columns,
                                              const sparse::Numbering& row_numbers, const sparse::Numbering& column_numbers) const {
    IndexColumns indices;
    for (int label : step_.output) {
        auto& to = indices.emplace_back(large_vector<std::int64_t>(static_cast<std::size_t>(result_count_)));
        const auto in_row = std::find(rows.begin(), rows.end(), label);
        const bool is_row = in_row != rows.end();
        const auto& tuples = is_row ? row_numbers.tuples[in_row - rows.begin()]
                                    : column_numbers.tuples[std::find(columns.begin(), columns.end(), label) - columns.begin()];
        const auto count = row_numbers.count;
#pragma omp parallel for schedule(dynamic, 64)
        for (std::int64_t row = 0; row < count; ++row)
            for (auto k = structure_.start[row]; k < structure_.start[row + 1]; ++k)
                to[k] = is_row ? tuples[row] : tuples[structure_.columns[k]];
    }
    return indices;
}

/// Finds out how parts of sums are added up where ranks have such.
void SparseStepRun::add_up(IndexColumns indices) {
    if (plan_.grid.copies_of(step_.output).size() == 1) {
        result_indices_ = std::move(indices);
        return;
    }
    result_layout_ = plan_.grid.result_layout(step_.label_extents, step_.output);
    pass(most(std::ssize(indices[0])) * SparseMove::listing_bytes);
    merge_ = std::make_unique<SparseMove>(comm_, spans_of(indices), nullptr, result_layout_, std::vector<std::int64_t>{0});
    // Indices, their order, and values of what comes.
    const auto width = static_cast<std::int64_t>(step_.output.size() * sizeof(std::int64_t)), lists = most(merge_->list_bytes());
    take(merge_->most() * (width + std::int64_t{2 * sizeof(std::int64_t)} + step_.element_bytes) + lists);
    pass(lists);  // a column, packed
    const auto all = merge_->indices(spans_of(indices));
    inspected_bytes_ += merge_->sent() * width;
    take(merge_->most() * width);
    agree(comm_, [&] {
        auto labels = step_.output;
        std::reverse(labels.begin(), labels.end());
        const sparse::Columns columns(all.rbegin(), all.rend());
        merged_ = sparse::sorted_runs(merge_->count(), columns, {}, lengths_of(step_, labels));
        if (merge_->count() == 0) merged_.start = {0};
        for (const auto& column : all) {
            auto& to = result_indices_.emplace_back();
            to.reserve(merged_.count());
            for (std::int64_t run = 0; run < merged_.count(); ++run) to.push_back(column[merged_.first(run)]);
        }
    });
}

std::int64_t SparseStepRun::sent_bytes() const {
    std::int64_t bytes = 0, results = 0;
    for (std::size_t o = 0; o < sparse_.size(); ++o)
        if (!sparse_[o].move->stays()) bytes += sparse_[o].move->sent() * step_.bytes_of(o);
    for (std::size_t f = 0; f < dense_.size(); ++f) {
        const auto& block = dense_[f];
        const auto size = step_.bytes_of(sparse_.size() + f);
        if (block.move) bytes += block.move->volume().sent * size;
        if (block.rows) bytes += block.rows->sent() * size;
    }
    if (move_out_) results += move_out_->volume().sent;
    if (rows_out_) results += rows_out_->received();
    if (merge_) results += merge_->sent();
    return bytes + results * step_.element_bytes;
}

std::int64_t SparseStepRun::list_bytes() const {
    std::int64_t bytes = 0;
    const auto add = [&](const auto& list) { bytes += static_cast<std::int64_t>(list.size() * sizeof(list[0])); };
    for (const auto& operand : sparse_) {
        bytes += operand.move->list_bytes();
        for (const auto& column : operand.moved) add(column);
    }
    for (const auto& block : dense_) {
        add(block.narrow);
        add(block.wide);
        if (block.move) bytes += block.move->list_bytes();
        if (block.rows) bytes += block.rows->list_bytes();
    }
    for (const auto* places : {&places_, &a_places_, &b_places_, &mask_places_}) {
        add(places->narrow);
        add(places->wide);
    }
    for (const auto* list : {&run_start_, &run_target_, &a_start_, &b_start_, &mask_order_, &merged_.order, &merged_.start}) add(*list);
    add(a_columns_);
    add(b_columns_);
    bytes += static_cast<std::int64_t>(structure_.start.bytes() + structure_.columns.bytes());
    if (merge_) bytes += merge_->list_bytes();
    if (move_out_) bytes += move_out_->list_bytes();
    if (rows_out_) bytes += rows_out_->list_bytes();
    return bytes;
}

std::int64_t SparseStepRun::workspace_bytes(const std::vector<bool>& conjugated) const {
    std::int64_t bytes = 0, messages = 0;
    const auto add = [&](std::int64_t count, std::int64_t size) { bytes += Workspace::padded(count * size); };
    for (std::size_t f = 0; f < dense_.size(); ++f) {
        const auto& block = dense_[f];
        const auto size = step_.bytes_of(sparse_.size() + f);
        if (!block.move && !block.rows && !conjugated[sparse_.size() + f]) continue;
        add(block_size(block), size);
        if (!block.move && !block.rows) continue;
        messages = std::max(messages, (block.move ? block.move->workspace_elements() : block.rows->workspace_elements()) * size);
    }
    if (move_out_) {
        add(sums_.local_size(rank_), step_.element_bytes);
        messages = std::max(messages, move_out_->workspace_elements() * step_.element_bytes);
    }
    if (rows_out_) {
        add(rows_out_->size(), step_.element_bytes);
        messages = std::max(messages, rows_out_->workspace_elements() * step_.element_bytes);
    }
    add(messages, 1);
    if (sparse_.size() > 1) add(width_ * omp_get_max_threads(), step_.element_bytes);
    if (step_.has_mask()) add(width_ * omp_get_max_threads(), sizeof(std::uint32_t));
    return bytes;
}

std::int64_t SparseStepRun::working_bytes(const std::vector<bool>& conjugated) const {
    std::int64_t bytes = 0, packed = 0;
    for (std::size_t o = 0; o < sparse_.size(); ++o) {
        const auto& operand = sparse_[o];
        const auto moved = operand.move->packed() * step_.bytes_of(o);
        if (!operand.move->stays()) bytes += operand.count * step_.bytes_of(o);
        if (!operand.move->stays()) packed = std::max(packed, moved);
        const bool picks = o == 2 && !has_pattern_of_operand_;
        if (picks || conjugated[o]) bytes += (picks ? std::ssize(mask_order_) : operand.count) * step_.element_bytes;
    }
    auto results = step_.result ? 0 : result_count_;
    if (merge_) results += std::max(merge_->packed(), merged_.count()) + merge_->count();
    return bytes + packed + results * step_.element_bytes + workspace_bytes(conjugated);
}

/// Values of the sparse operands where they are multiplied.
std::vector<Buffer<std::byte>> SparseStepRun::brought(const ElementKernels& kernels, const StepElements& elements,
                                                      std::vector<const std::byte*>& values) const {
    std::vector<Buffer<std::byte>> result;
    for (std::size_t o = 0; o < sparse_.size(); ++o) {
        const auto& operand = sparse_[o];
        if (!operand.move->stays()) {
            result.push_back(operand.move->values(elements.sparse[o], step_.bytes_of(o)));
            values.push_back(result.back().data());
        } else {
            values.push_back(elements.sparse[o]);
        }
        const bool conjugates = elements.conjugated[o] && kernels.is_complex, picks = o == 2 && !has_pattern_of_operand_;
        if (!conjugates && !picks) continue;
        agree(comm_, [&] {
            local::ListedTransfer list;
            list.count = picks ? std::ssize(mask_order_) : operand.count;
            list.from = picks ? mask_order_.data() : nullptr;
            Buffer<std::byte> copy(list.count * kernels.size);
            kernels.transfer_listed(list, values.back(), copy.data(), nullptr, {.conjugate = conjugates});
            result.push_back(std::move(copy));
            values.back() = result.back().data();
        });
    }
    return result;
}

void SparseStepRun::multiply(const ElementKernels& kernels, const std::vector<const std::byte*>& values, const StepElements& elements,
                             const void* alpha, void* result, Workspace& workspace) const {
    if (alpha != nullptr && kernels.is_one(alpha)) alpha = nullptr;
    if (sparse_.size() > 1) {
        agree(comm_, [&] {
            local::SparseRowProduct product;
            const auto rows = std::ssize(a_start_) - 1;
            product.a = {rows, a_start_.data(), a_columns_.data(), values[0], a_places_.numbers()};
            product.b = {std::ssize(b_start_) - 1, b_start_.data(), b_columns_.data(), values[1], b_places_.numbers()};
            product.width = width_;
            product.by_dots = by_dots_;
            product.acting = step_.acting();
            product.start = structure_.start.data();
            product.column = structure_.columns.data();
            product.alpha = alpha;
            product.result = result;
            product.threads = omp_get_max_threads();
            product.sums = workspace.take(width_ * product.threads, kernels.size);
            if (step_.has_mask()) {
                product.mask = values[2];
                product.mask_places = mask_places_.numbers();
                product.marks = workspace.take<std::uint32_t>(width_ * product.threads);
                std::fill_n(product.marks, width_ * product.threads, 0);
            }
            kernels.sparse->multiply_rows(product);
        });
        return;
    }
    local::SparseLoop loop;
    loop.runs = std::ssize(run_start_) - 1;
    loop.start = run_start_.data();
    loop.target = step_.result ? run_target_.data() : nullptr;
    loop.result_step = result_step_;
    loop.values = values[0];
    loop.places = places_.numbers();
    loop.axes = axes_;
    loop.alpha = alpha;
    loop.result = result;
    loop.acting = step_.acting();
    FirstError error;
    for (std::size_t f = 0; f < dense_.size(); ++f) {
        const auto& block = dense_[f];
        const auto operand = sparse_.size() + f;
        const auto& own = static_cast<int>(operand) == step_.actor && elements.actor != nullptr ? *elements.actor : kernels;
        const bool conjugate = elements.conjugated[operand] && own.is_complex;
        const void* const from = elements.dense[f];
        void* array = nullptr;
        if (block.move || block.rows || conjugate) agree(comm_, [&] { array = workspace.take(block_size(block), own.size); });
        if (block.rows) {
            error.run([&] { block.rows->run(own, from, array, conjugate, workspace); });
        } else if (block.move) {
            error.run([&] { block.move->run(own, from, array, nullptr, own.zero, conjugate, workspace); });
        } else if (array != nullptr) {
            local::ListedTransfer list;
            list.count = block.layout.local_size(rank_);
            own.transfer_listed(list, from, array, nullptr, {.conjugate = true});
        }
        loop.factors.push_back(array != nullptr ? array : from);
        loop.offsets.push_back({block.narrow.empty() ? nullptr : block.narrow.data(), block.wide.empty() ? nullptr : block.wide.data()});
    }
    agree(comm_, [&] { error.rethrow(); });
    if (!is_idle()) kernels.sparse->multiply(loop);
}

Buffer<std::byte> SparseStepRun::run(const ElementKernels& kernels, const StepElements& elements, const void* alpha,
                                     Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    std::vector<const std::byte*> values;
    const auto arrays = brought(kernels, elements, values);
    Buffer<std::byte> sums;
    agree(comm_, [&] {
        sums = Buffer<std::byte>(result_count_ * kernels.size);
        if (sparse_.size() == 1) kernels.fill(sums.data(), result_count_, kernels.zero);
    });
    multiply(kernels, values, elements, alpha, sums.data(), workspace);
    if (!merge_) return sums;
    const auto parts = merge_->values(sums.data(), kernels.size);
    agree(comm_, [&] {
        sums = Buffer<std::byte>(merged_.count() * kernels.size);
        kernels.sparse->add_runs(merged_.count(), merged_.start.data(), merged_.order.data(), parts.data(), sums.data());
    });
    return sums;
}

void SparseStepRun::run(const ElementKernels& kernels, const StepElements& elements, const void* alpha, const void* beta, void* result,
                        Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    std::vector<const std::byte*> values;
    const auto arrays = brought(kernels, elements, values);
    void* sums = result;
    const auto count = rows_out_ ? rows_out_->size() : sums_.local_size(rank_);
    const auto scale_result = [&](void* to, std::int64_t number) {
        if (kernels.is_zero(beta))
            kernels.fill(to, number, kernels.zero);
        else if (beta != nullptr && !kernels.is_one(beta))
            kernels.scale(to, number, beta);
    };
    agree(comm_, [&] {
        if (move_out_ || rows_out_) {
            sums = workspace.take(count, kernels.size);
            kernels.fill(sums, count, kernels.zero);
        }
        if (!move_out_) scale_result(result, rows_out_ ? step_.result->layout.local_size(rank_) : count);
    });
    multiply(kernels, values, elements, alpha, sums, workspace);
    if (move_out_) agree(comm_, [&] { move_out_->run(kernels, sums, result, nullptr, beta, false, workspace); });
    if (rows_out_) rows_out_->add(kernels, sums, result, workspace);
}

}  // namespace arges
