/// Products of two sparse factors as matrices by rows, of all their nonzeros or beside those of a mask.
#pragma once

#include "execute/sparse_product.hpp"
#include "execute/sparse_result.hpp"
#include "sparse/row_structure.hpp"

#include <functional>
#include <optional>

namespace arges {

/// Nonzeros by rows, with the places of their values.
struct NonzeroRows {
    std::vector<std::int64_t> start{0};
    std::vector<std::uint32_t> columns;
    NumberList places;

    sparse::RowPattern pattern() const { return {start, columns}; }
    local::SparseRows of(const void* values) const {
        return {std::ssize(start) - 1, start.data(), columns.data(), values, places.numbers()};
    }
    std::int64_t list_bytes() const { return bytes_of_list(start) + bytes_of_list(columns) + places.bytes(); }
};

/// The factors of a step as matrices. Rows and columns of the result, and what is summed, are tuples of indices, which are numbered.
struct RowFactors {
    std::vector<int> row_labels, column_labels;
    sparse::Numbering rows, columns, inner;
    std::vector<std::uint32_t> inner_of_b, column_of_b;  // numbers of the nonzeros of b that a meets
    std::optional<std::vector<std::int64_t>> met;        // which these are; none: all
    NonzeroRows a;

    /// Local. Tuples that a mask lacks are left out. @param operands  two factors and, if there is one, the mask
    RowFactors(const SparseStep& step, const std::vector<ArrivedNonzeros>& operands);
    /// b by its rows, or by its columns.
    NonzeroRows rows_of_b(std::int64_t count, bool transposed) const;
    /// Indices of the result's nonzeros. Local.
    IndexColumns indices(const SparseStep& step, const sparse::RowStructure& structure) const;
};

/// Sums of rows of b.
class SparseBySparse : public SparseProduct {
public:
    /// Collective. @param result  gets the nonzeros
    SparseBySparse(const SparseStep& step, const SparseStepPlan& plan, const std::vector<ArrivedNonzeros>& operands,
                   InspectionMemory& memory, SparseResult& result);

    void multiply(const ElementKernels& kernels, const std::vector<const std::byte*>& values, const StepElements& elements,
                  const void* alpha, void* result, Workspace& workspace) const override;
    std::int64_t products() const override { return products_; }
    std::int64_t list_bytes() const override;
    void add_need(WorkspaceNeed& need, const std::vector<bool>& conjugated) const override;

protected:
    SparseBySparse(const Communicator* comm, const SparseStep& step)
        : comm_(comm), acting_(step.acting()), element_bytes_(step.element_bytes) {}
    /// The factors as matrices, of which `use` takes what it needs beside the first. Collective.
    RowFactors numbered(const SparseStep& step, const std::vector<ArrivedNonzeros>& operands, const InspectionMemory& memory,
                        const std::function<void(const RowFactors&)>& use);
    /// What a kind of product tells the kernel beside its factors.
    virtual void complete(local::SparseRowProduct& product, const std::vector<const std::byte*>& values, Workspace& workspace) const;

    const Communicator* comm_;
    local::Acting acting_;
    std::int64_t element_bytes_;
    NonzeroRows a_, b_;
    std::int64_t width_ = 0, products_ = 0;  // columns of b as it is given; multiplications
    sparse::RowStructure structure_;         // of the result
};

/// Nothing is computed beside the nonzeros of a mask: sums of rows under it, or inner products of rows of a and columns of b. Of the mask
/// those stay that a multiplication reaches: so the pattern does not depend on which factor is the mask.
class MaskedSparseBySparse : public SparseBySparse {
public:
    /// Collective. @param result  gets the nonzeros
    MaskedSparseBySparse(const SparseStep& step, const SparseStepPlan& plan, const std::vector<ArrivedNonzeros>& operands,
                         InspectionMemory& memory, SparseResult& result);

    std::int64_t list_bytes() const override { return SparseBySparse::list_bytes() + bytes_of_list(order_) + places_.bytes(); }
    void add_need(WorkspaceNeed& need, const std::vector<bool>& conjugated) const override;
    const std::vector<std::int64_t>* wanted(std::size_t operand) const override {
        return operand == 2 && !shares_pattern_ ? &order_ : nullptr;
    }

private:
    void take_mask(const RowFactors& factors);
    void choose_way(const RowFactors& factors);
    void complete(local::SparseRowProduct& product, const std::vector<const std::byte*>& values, Workspace& workspace) const override;

    bool by_dots_ = false;  // inner products; b is transposed
    bool shares_pattern_ = false;
    std::vector<std::int64_t> order_;  // of the mask's nonzeros that are reached, among those that came
    NumberList places_;                // likewise, where the result has all of them in their order
};

}  // namespace arges
