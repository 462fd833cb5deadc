// Products of one sparse factor with dense ones: where their elements are brought, and where those of the result come from.
#include "base/large_vector.hpp"
#include "execute/sparse_step_lists.hpp"
#include "execute/sparse_step_run.hpp"
#include "layout/layout.hpp"

#include <numeric>

namespace arges {

/// Where the elements of an array begin that belong to nonzeros.
std::vector<std::int64_t> SparseStepRun::offsets_in(const Layout& layout, const std::vector<int>& labels, const Arrived& operand,
                                                    std::int64_t count, std::span<const std::int64_t> positions) const {
    std::vector<std::int64_t> result(count, 0);
    if (is_idle()) return result;
    const auto strides = layout.strides(rank_);
    for (std::size_t d = 0; d < labels.size(); ++d) {
        if (!SparseStep::has(operand.labels, labels[d])) continue;
        const auto* const index = column(operand, labels[d]).data();
        const auto parts = part(labels[d]), stride = strides[d];
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < count; ++k) result[k] += index[positions.empty() ? k : positions[k]] / parts * stride;
    }
    return result;
}

/// The arrays of dense factors: labels that the sparse one lacks come first, so that vectors run along them.
void SparseStepRun::prepare_dense_factors() {
    const auto& own = sparse_[0].labels;
    for (const auto& operand : step_.dense) {
        auto& block = dense_.emplace_back();
        const auto labels = SparseStep::distinct(operand.labels);
        block.labels = chosen(labels, own, false);
        const auto rest = chosen(labels, own, true);
        block.labels.insert(block.labels.end(), rest.begin(), rest.end());
        if (plan_.grid.by_hash && !rest.empty()) continue;  // rows are brought
        block.layout = plan_.grid.array(step_.label_extents, block.labels, Spread::replicated);
        const bool in_place =
            operand.labels == block.labels && (operand.layout == block.layout || (comm_ == nullptr && is_plain(operand.layout)));
        if (in_place) {
            block.layout = operand.layout;
            continue;
        }
        Movement spec;
        spec.from = operand.layout;
        spec.to = block.layout;
        spec.from_labels = operand.labels;
        spec.to_labels = block.labels;
        spec.label_extents = step_.label_extents;
        spec.terms = {spec.identity()};
        block.move = std::make_unique<MovementRun>(comm_, spec, rank_);
    }
}

/// Dense factors of which the nonzeros need few rows are brought row by row.
void SparseStepRun::choose_rows() {
    if (comm_ == nullptr) return;
    const auto& operand = sparse_[0];
    for (std::size_t f = 0; f < dense_.size(); ++f) {
        auto& block = dense_[f];
        const auto& from = step_.dense[f];
        std::vector<int> row_dimensions, free_dimensions, row_labels;
        bool is_divided = false;
        for (int label : block.labels) {  // in the order of the array
            const int dimension = std::find(from.labels.begin(), from.labels.end(), label) - from.labels.begin();
            const bool in_row = SparseStep::has(operand.labels, label);
            (in_row ? row_dimensions : free_dimensions).push_back(dimension);
            if (in_row) row_labels.push_back(label);
            is_divided = is_divided || (!in_row && part(label) > 1);
        }
        const bool is_needed = plan_.grid.by_hash && !row_labels.empty();
        const bool is_possible = block.move && !row_labels.empty() && !is_divided && block.labels.size() == from.labels.size() &&
                                 DenseRows::is_possible(from.layout, free_dimensions);
        if (!is_needed && !is_possible) continue;
        sparse::Numbering rows;
        std::int64_t elements[] = {0, 0};
        agree(comm_, [&] {
            sparse::Columns columns;
            for (int label : row_labels) columns.push_back(column(operand, label));
            rows = sparse::numbered(operand.count, columns, lengths_of(step_, row_labels));
            elements[0] = rows.count;
            for (int d : free_dimensions) elements[0] *= from.layout.extents()[d];
            elements[1] = is_needed ? 0 : block.move->volume().received;
        });
        comm_->sum(elements, 2);
        if (!is_needed && elements[0] >= elements[1]) continue;
        pass(comm_->maximum(rows.count) * 4 * std::int64_t{sizeof(std::int64_t)});
        block.rows = std::make_unique<DenseRows>(*comm_, from.layout, row_dimensions, free_dimensions, rows.tuples);
        block.move.reset();
        inspected_bytes_ += block.rows->inspected_bytes();
        agree(comm_, [&] {
            const auto places = block.rows->take_places();
            block.row_of.reserve(rows.numbers.size());
            for (auto number : rows.numbers) block.row_of.push_back(places[number] * block.rows->row_size());
        });
    }
}

/// Steps along the labels of a block that the nonzeros lack; of the others, where it is not made of rows.
std::vector<std::int64_t> SparseStepRun::block_strides(const Block& block) const {
    if (!block.rows) return block.layout.strides(rank_);
    std::vector<std::int64_t> result;
    std::int64_t step = 1;
    for (int label : block.labels) {
        const bool is_free = !SparseStep::has(sparse_[0].labels, label);
        result.push_back(is_free ? step : 0);
        if (is_free) step *= step_.extent(label);
    }
    return result;
}

void SparseStepRun::prepare_dense_result() {
    const auto& own = sparse_[0].labels;
    const auto& result = *step_.result;
    // Labels that no factor has: the result is repeated along them when it moves out.
    auto labels = step_.output;
    std::erase_if(labels, [&](int label) { return !step_.in_factors(label); });
    auto order = chosen(labels, own, false);
    const auto rest = chosen(labels, own, true);
    order.insert(order.end(), rest.begin(), rest.end());
    step_.output = order;
    if (plan_.grid.by_hash && !rest.empty()) return;  // prepare_rows_out()
    sums_ = plan_.grid.array(step_.label_extents, order, Spread::partial);
    const bool in_place =
        result.labels == order && sums_.copies() == 1 && (result.layout == sums_ || (comm_ == nullptr && is_plain(result.layout)));
    if (in_place) {
        sums_ = result.layout;
    } else {
        Movement spec;
        spec.from = sums_;
        spec.to = result.layout;
        spec.from_labels = order;
        spec.to_labels = result.labels;
        spec.label_extents = step_.label_extents;
        spec.terms = {spec.identity()};
        move_out_ = std::make_unique<MovementRun>(comm_, spec, rank_);
    }
}

/// Rows of sums, one for each run of nonzeros, and where they are added. @param firsts  nonzero of each run
void SparseStepRun::prepare_rows_out(const std::vector<std::int64_t>& firsts) {
    const auto& result = *step_.result;
    std::vector<int> row_dimensions, free_dimensions;
    IndexColumns rows;
    agree(comm_, [&] {
        for (int label : step_.output) {
            const int dimension = std::find(result.labels.begin(), result.labels.end(), label) - result.labels.begin();
            const bool in_row = SparseStep::has(sparse_[0].labels, label);
            (in_row ? row_dimensions : free_dimensions).push_back(dimension);
            if (!in_row) continue;
            auto& indices = rows.emplace_back();
            indices.reserve(firsts.size());
            for (auto k : firsts) indices.push_back(column(sparse_[0], label)[k]);
        }
    });
    take(comm_->maximum(std::ssize(firsts)) * static_cast<std::int64_t>((rows.size() + 3) * sizeof(std::int64_t)));
    rows_out_ = std::make_unique<DenseRows>(*comm_, result.layout, row_dimensions, free_dimensions, rows);
    inspected_bytes_ += rows_out_->inspected_bytes();
    agree(comm_, [&] {
        run_target_ = rows_out_->take_places();
        for (auto& place : run_target_) place *= rows_out_->row_size();
    });
}

void SparseStepRun::prepare_with_dense() {
    auto& operand = sparse_[0];
    agree(comm_, [&] {
        prepare_dense_factors();
        if (step_.result) prepare_dense_result();
    });
    choose_rows();
    const auto in_rows = chosen(step_.output, operand.labels, true), in_loops = step_.dense_labels();
    const bool adds_rows = step_.result && plan_.grid.by_hash && !in_rows.empty();
    const bool own_order = !step_.result && in_rows.size() == operand.labels.size();  // every nonzero is a row of the result
    const auto list = std::int64_t{sizeof(std::int64_t)} * (3 + std::ssize(step_.dense));
    take(operand.move->most() * list);
    std::int64_t loops = 1;
    std::vector<std::int64_t> firsts;  // of the runs
    agree(comm_, [&] {
        sparse::Runs runs;
        if (own_order) {
            runs.start.resize(static_cast<std::size_t>(operand.count) + 1);
            std::iota(runs.start.begin(), runs.start.end(), std::int64_t{0});
        } else {
            // The result's last label is slowest, as in its array.
            std::vector<int> rows(in_rows.rbegin(), in_rows.rend()), others = chosen(operand.labels, in_rows, false);
            sparse::Columns by_row, also;
            for (int label : rows) by_row.push_back(column(operand, label));
            for (int label : others) also.push_back(column(operand, label));
            rows.insert(rows.end(), others.begin(), others.end());
            const auto lengths = lengths_of(step_, rows);
            auto in_order = sparse::runs_if_sorted(operand.count, by_row, also, lengths);
            runs = in_order ? *std::move(in_order) : sparse::sorted_runs(operand.count, by_row, also, lengths);
        }
        if (!is_identity(runs.order)) store(runs.order, places_);
        for (auto& block : dense_) {
            block.has_offsets = !chosen(block.labels, operand.labels, true).empty();
            if (!block.has_offsets) continue;
            if (!block.rows) {
                store(offsets_in(block.layout, block.labels, operand, operand.count, runs.order), block);
                continue;
            }
            std::vector<std::int64_t> offsets(block.row_of.size());
            for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = block.row_of[runs.at(k)];
            store(std::move(offsets), block);
            block.row_of = {};
        }
        firsts = large_vector<std::int64_t>(operand.count > 0 ? static_cast<std::size_t>(runs.count()) : 0);
        for (std::size_t run = 0; run < firsts.size(); ++run) firsts[run] = runs.first(run);
        run_start_ = operand.count > 0 ? std::move(runs.start) : std::vector<std::int64_t>{0};
        std::vector<std::int64_t> result_strides(step_.output.size(), 0);
        if (adds_rows) {
            std::int64_t step = 1;
            for (std::size_t d = 0; d < step_.output.size(); ++d) {
                if (SparseStep::has(operand.labels, step_.output[d])) continue;
                result_strides[d] = step;
                step *= step_.extent(step_.output[d]);
            }
        } else if (step_.result && !is_idle()) {
            result_strides = sums_.strides(rank_);
        }
        for (int label : in_loops) {
            auto& axis = axes_.emplace_back();
            axis.size = local_extent(label);
            if (step_.result) {
                const auto place = std::find(step_.output.begin(), step_.output.end(), label);
                if (place != step_.output.end()) axis.result = result_strides[place - step_.output.begin()];
            } else if (step_.has_output(label)) {
                axis.result = loops;
                loops *= axis.size;
            }
            for (const auto& block : dense_) {
                const auto place = std::find(block.labels.begin(), block.labels.end(), label);
                axis.factors.push_back(place == block.labels.end() || is_idle() ? 0 : block_strides(block)[place - block.labels.begin()]);
            }
        }
        products_ = operand.count;
        for (const auto& axis : axes_) products_ *= axis.size;
        // The innermost loop runs along what lies next to each other.
        std::stable_sort(axes_.begin(), axes_.end(), [](const auto& a, const auto& b) {
            const auto contiguous = [](const auto& axis) {
                return (axis.result == 1 ? 2 : 0) + std::count(axis.factors.begin(), axis.factors.end(), 1);
            };
            return contiguous(a) < contiguous(b);
        });
        if (step_.result) {
            if (!adds_rows) run_target_ = offsets_in(sums_, step_.output, operand, std::ssize(firsts), firsts);
            return;
        }
        result_step_ = loops;
        result_count_ = std::ssize(firsts) * loops;
        result_layout_ = plan_.grid.layout_of(step_.output);
        has_pattern_of_operand_ = own_order && in_loops.empty() && may_share_pattern();
    });
    if (adds_rows) prepare_rows_out(firsts);
    if (step_.result || has_pattern_of_operand_) return;
    take(most(result_count_) * (static_cast<std::int64_t>(step_.output.size() * sizeof(std::int64_t)) + step_.element_bytes));
    IndexColumns indices;
    agree(comm_, [&] {
        const auto runs_here = std::ssize(firsts);
        for (int label : step_.output) {
            auto& to = indices.emplace_back(large_vector<std::int64_t>(static_cast<std::size_t>(result_count_)));
            const auto loop = std::find(in_loops.begin(), in_loops.end(), label);
            std::vector<std::int64_t> along(loops, 0);  // the label's indices in the elements of a run
            if (loop != in_loops.end()) {
                std::int64_t before = 1;
                for (auto other = in_loops.begin(); other != loop; ++other)
                    if (step_.has_output(*other)) before *= local_extent(*other);
                for (std::int64_t l = 0; l < loops; ++l) along[l] = coordinate(label) + l / before % local_extent(label) * part(label);
            }
            const std::int64_t* const from = loop == in_loops.end() ? column(operand, label).data() : nullptr;
#pragma omp parallel for schedule(static)
            for (std::int64_t run = 0; run < runs_here; ++run) {
                auto* const own = to.data() + run * loops;
                if (from != nullptr)
                    std::fill_n(own, loops, from[firsts[run]]);
                else
                    std::copy(along.begin(), along.end(), own);
            }
        }
    });
    add_up(std::move(indices));
}

}  // namespace arges
