#include "execute/sparse_by_sparse.hpp"

#include "base/large_vector.hpp"

#include <deque>
#include <numeric>
#include <omp.h>

namespace arges {

namespace {

/// A factor has so many times more nonzeros than another that those are picked out which the other meets.
constexpr std::int64_t much_larger = 8;

/// Numbers, places and columns that are made for a nonzero, and those that stay until the result's are known.
constexpr std::int64_t numbering_bytes = 6 * sizeof(std::int64_t), numbered_bytes = 2 * sizeof(std::int64_t);

/// Matrices by rows: a counting sort by row. @param origin  of the nonzeros, where not all of the `count` are there
NonzeroRows by_rows(std::int64_t count, const std::vector<std::int64_t>* origin, const std::vector<std::uint32_t>& row,
                    const std::vector<std::uint32_t>& column, std::int64_t rows) {
    NonzeroRows result;
    const auto counts = [&](std::size_t k) { return row[k] != sparse::none && column[k] != sparse::none; };
    auto& start = result.start;
    start.assign(rows + 1, 0);
    for (std::size_t k = 0; k < row.size(); ++k)
        if (counts(k)) ++start[row[k] + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<std::int64_t> order(start.back());
    auto next = start;
    for (std::size_t k = 0; k < row.size(); ++k)
        if (counts(k)) order[next[row[k]]++] = k;
    result.columns.resize(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) result.columns[k] = column[order[k]];
    if (origin != nullptr)
        for (auto& k : order) k = (*origin)[k];
    result.places = std::ssize(order) == count ? NumberList::unless_identity(std::move(order)) : NumberList(std::move(order));
    return result;
}

sparse::RowPattern pattern_of(const sparse::RowStructure& structure) {
    return {{structure.start.data(), static_cast<std::size_t>(structure.start.size())},
            {structure.columns.data(), static_cast<std::size_t>(structure.columns.size())}};
}

/// Nonzeros of all operands on the rank that has most of each.
std::int64_t most_of(const std::vector<ArrivedNonzeros>& operands) {
    std::int64_t sum = 0;
    for (const auto& operand : operands) sum += operand.most();
    return sum;
}

}  // namespace

RowFactors::RowFactors(const SparseStep& step, const std::vector<ArrivedNonzeros>& operands) {
    const auto &first = operands[0], &second = operands[1];
    const auto* const mask = step.has_mask() ? &operands[2] : nullptr;
    const auto shared = chosen(first.labels(), second.labels(), true);
    row_labels = chosen(step.kept, first.labels(), true);
    column_labels = chosen(chosen(step.kept, first.labels(), false), second.labels(), true);
    // Of a second factor that is much larger only the nonzeros that the first one meets are looked at.
    if (shared.size() == 1 && first.count() < second.count() / much_larger)
        met = sparse::positions_among(first.column(shared[0]), second.column(shared[0]));
    std::deque<std::vector<std::int64_t>> met_columns;
    const auto columns_of_b = [&](const std::vector<int>& labels) {
        auto result = second.columns(labels);
        for (auto& span : result) {
            if (!met) break;
            auto& some = met_columns.emplace_back();
            some.reserve(met->size());
            for (auto k : *met) some.push_back(span[k]);
            span = some;
        }
        return result;
    };
    const auto numbered = [&](std::int64_t count, const IndexSpans& of, const std::vector<int>& labels) {
        return sparse::numbered(count, of, step.extents(labels));
    };
    const auto looked_up = [&](const sparse::Numbering& known, std::int64_t count, const IndexSpans& of, const std::vector<int>& labels) {
        return sparse::looked_up(known, count, of, step.extents(labels));
    };
    const auto count_of_b = met ? std::ssize(*met) : second.count();
    inner = numbered(count_of_b, columns_of_b(shared), shared);
    inner_of_b = std::move(inner.numbers);
    // The mask says which rows and columns are needed at all.
    columns = mask != nullptr ? numbered(mask->count(), mask->columns(column_labels), column_labels)
                              : numbered(count_of_b, columns_of_b(column_labels), column_labels);
    const auto& of_rows = mask != nullptr ? *mask : first;
    rows = numbered(of_rows.count(), of_rows.columns(row_labels), row_labels);
    const auto inner_of_a = looked_up(inner, first.count(), first.columns(shared), shared);
    column_of_b = mask != nullptr ? looked_up(columns, count_of_b, columns_of_b(column_labels), column_labels) : columns.numbers;
    const auto row_of_a = mask != nullptr ? looked_up(rows, first.count(), first.columns(row_labels), row_labels) : rows.numbers;
    a = by_rows(first.count(), nullptr, row_of_a, inner_of_a, rows.count);
}

NonzeroRows RowFactors::rows_of_b(std::int64_t count, bool transposed) const {
    const auto* const origin = met ? &*met : nullptr;
    return transposed ? by_rows(count, origin, column_of_b, inner_of_b, columns.count)
                      : by_rows(count, origin, inner_of_b, column_of_b, inner.count);
}

IndexColumns RowFactors::indices(const SparseStep& step, const sparse::RowStructure& structure) const {
    IndexColumns result;
    for (int label : step.kept) {
        auto& to = result.emplace_back(large_vector<std::int64_t>(structure.columns.size()));
        const auto in_row = std::find(row_labels.begin(), row_labels.end(), label);
        const bool is_row = in_row != row_labels.end();
        const auto& tuples = is_row ? rows.tuples[in_row - row_labels.begin()]
                                    : columns.tuples[std::find(column_labels.begin(), column_labels.end(), label) - column_labels.begin()];
#pragma omp parallel for schedule(dynamic, 64)
        for (std::int64_t row = 0; row < rows.count; ++row)
            for (auto k = structure.start[row]; k < structure.start[row + 1]; ++k)
                to[k] = is_row ? tuples[row] : tuples[structure.columns[k]];
    }
    return result;
}

RowFactors SparseBySparse::numbered(const SparseStep& step, const std::vector<ArrivedNonzeros>& operands, const InspectionMemory& memory,
                                    const std::function<void(const RowFactors&)>& use) {
    memory.pass(most_of(operands) * numbering_bytes);
    std::optional<RowFactors> factors;
    agree(comm_, [&] {
        factors.emplace(step, operands);
        a_ = std::move(factors->a);
        use(*factors);
    });
    return *std::move(factors);
}

SparseBySparse::SparseBySparse(const SparseStep& step, const SparseStepPlan& plan, const std::vector<ArrivedNonzeros>& operands,
                               InspectionMemory& memory, SparseResult& result)
    : SparseBySparse(memory.comm(), step) {
    const auto factors = numbered(step, operands, memory, [&](const RowFactors& own) {
        b_ = own.rows_of_b(operands[1].count(), false);
        width_ = own.columns.count;
    });
    memory.take(most_of(operands) * numbered_bytes);
    products_ = sparse::products_of(a_.pattern(), b_.pattern());
    const auto columns_at_most =
        std::min(memory.most(products_), static_cast<std::int64_t>(plan.result_nonzeros * 2) + (std::int64_t{1} << 20));
    memory.pass(columns_at_most * std::int64_t{2 * sizeof(std::uint32_t)});  // of groups of rows, then side by side
    agree(comm_, [&] { structure_ = sparse::structure_of_product(a_.pattern(), b_.pattern(), width_); });
    memory.take(memory.most(structure_.columns.size()) * (SparseResult::nonzero_bytes(step) + std::int64_t{sizeof(std::uint32_t)}));
    IndexColumns indices;
    agree(comm_, [&] { indices = factors.indices(step, structure_); });
    result = SparseResult(step, plan.grid, std::move(indices), memory);
}

void SparseBySparse::multiply(const ElementKernels& kernels, const std::vector<const std::byte*>& values, const StepElements&,
                              const void* alpha, void* result, Workspace& workspace) const {
    agree(comm_, [&] {
        local::SparseRowProduct product;
        product.a = a_.of(values[0]);
        product.b = b_.of(values[1]);
        product.width = width_;
        product.acting = acting_;
        product.start = structure_.start.data();
        product.column = structure_.columns.data();
        product.alpha = alpha;
        product.result = result;
        product.threads = omp_get_max_threads();
        product.sums = workspace.take(width_ * product.threads, kernels.size);
        complete(product, values, workspace);
        kernels.sparse->multiply_rows(product);
    });
}

void SparseBySparse::complete(local::SparseRowProduct&, const std::vector<const std::byte*>&, Workspace&) const {}

std::int64_t SparseBySparse::list_bytes() const {
    return a_.list_bytes() + b_.list_bytes() + static_cast<std::int64_t>(structure_.start.bytes() + structure_.columns.bytes());
}

void SparseBySparse::add_need(WorkspaceNeed& need, const std::vector<bool>&) const {
    need.add(width_ * omp_get_max_threads(), element_bytes_);
}

MaskedSparseBySparse::MaskedSparseBySparse(const SparseStep& step, const SparseStepPlan& plan, const std::vector<ArrivedNonzeros>& operands,
                                           InspectionMemory& memory, SparseResult& result)
    : SparseBySparse(memory.comm(), step) {
    const auto factors = numbered(step, operands, memory, [&](const RowFactors& own) {
        take_mask(own);
        choose_way(own);
        b_ = own.rows_of_b(operands[1].count(), by_dots_);
        width_ = by_dots_ ? own.inner.count : own.columns.count;
    });
    memory.pass(operands[2].most() + memory.most(width_ * omp_get_max_threads()));
    const auto mask = pattern_of(structure_);
    std::vector<char> reached;
    std::int64_t missed = 0;
    agree(comm_, [&] {
        reached = sparse::reached_by_product(mask, a_.pattern(), b_.pattern(), width_, by_dots_);
        missed = std::count(reached.begin(), reached.end(), 0);
    });
    const auto count = structure_.columns.size() - missed;
    shares_pattern_ = memory.most(missed) == 0 && SparseResult::may_have_pattern(step, plan.grid, operands[2]);
    if (shares_pattern_) {
        places_ = NumberList::unless_identity(std::exchange(order_, {}));
        result = SparseResult(step, plan.grid, count);
        return;
    }
    memory.take(memory.most(count) * (SparseResult::nonzero_bytes(step) + std::int64_t{sizeof(std::int64_t)}));
    IndexColumns indices;
    agree(comm_, [&] {
        if (missed > 0) {
            std::vector<std::int64_t> kept;
            structure_ = sparse::selected(mask, reached, kept);
            for (auto& k : kept) k = order_[k];
            order_ = std::move(kept);
        }
        indices = factors.indices(step, structure_);
    });
    result = SparseResult(step, plan.grid, std::move(indices), memory);
}

/// The mask by rows, its columns ascending.
void MaskedSparseBySparse::take_mask(const RowFactors& factors) {
    const auto &row_of = factors.rows.numbers, &column_of = factors.columns.numbers;
    const std::vector<std::int64_t> rows(row_of.begin(), row_of.end()), columns(column_of.begin(), column_of.end());
    const auto count = std::ssize(rows);
    auto runs = sparse::sorted_runs(count, {}, {rows, columns}, std::vector{factors.rows.count, factors.columns.count});
    structure_.start = Buffer<std::int64_t>::zeros(factors.rows.count + 1);
    structure_.columns = Buffer<std::uint32_t>(count);
    for (auto r : row_of) ++structure_.start[r + 1];
    for (std::int64_t r = 0; r < factors.rows.count; ++r) structure_.start[r + 1] += structure_.start[r];
    for (std::int64_t k = 0; k < count; ++k) structure_.columns[k] = column_of[runs.order[k]];
    order_ = std::move(runs.order);
}

/// Does it take fewer steps to go through a row of b's transpose for each nonzero of the mask than through a row of b for each of a?
void MaskedSparseBySparse::choose_way(const RowFactors& factors) {
    std::vector<std::int64_t> in_row(factors.inner.count, 0), in_column(factors.columns.count, 0);
    for (std::size_t k = 0; k < factors.inner_of_b.size(); ++k) {
        if (factors.column_of_b[k] == sparse::none) continue;
        ++in_row[factors.inner_of_b[k]];
        ++in_column[factors.column_of_b[k]];
    }
    std::int64_t by_rows = 0, by_dots = 0;
    for (auto k : a_.columns) by_rows += in_row[k];
    for (std::int64_t k = 0; k < structure_.columns.size(); ++k) by_dots += in_column[structure_.columns[k]];
    by_dots_ = acting_ == local::Acting::none && by_dots < by_rows;  // sums of what acts are not defined
    products_ = by_dots_ ? by_dots : by_rows;
}

void MaskedSparseBySparse::complete(local::SparseRowProduct& product, const std::vector<const std::byte*>& values,
                                    Workspace& workspace) const {
    product.by_dots = by_dots_;
    product.mask = values[2];
    product.mask_places = places_.numbers();
    product.marks = workspace.take<std::uint32_t>(width_ * product.threads);
    std::fill_n(product.marks, width_ * product.threads, 0);
}

void MaskedSparseBySparse::add_need(WorkspaceNeed& need, const std::vector<bool>& conjugated) const {
    SparseBySparse::add_need(need, conjugated);
    need.add(width_ * omp_get_max_threads(), sizeof(std::uint32_t));
}

}  // namespace arges
