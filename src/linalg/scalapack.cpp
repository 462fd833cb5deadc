#include "linalg/scalapack.hpp"

#include "linalg/fortran.hpp"

#include <algorithm>

namespace arges::linalg {

namespace {

/// Calls f(operation, scope, place in the list) for each setting.
template <class F>
void for_each_topology(F&& f) {
    std::size_t i = 0;
    for (const char* operation : {"Broadcast", "Combine"})
        for (const char* scope : {"Rowwise", "Columnwise", "All"}) f(operation, scope, i++);
}

constexpr int any_context = 0;  // the setting does not depend on it

}  // namespace

DefaultTopologies::DefaultTopologies() {
    for_each_topology([&](const char* operation, const char* scope, std::size_t i) {
        pb_topget_(&any_context, operation, scope, &before_[i], 1, 1, 1);
        pb_topset_(&any_context, operation, scope, " ", 1, 1, 1);
    });
}

DefaultTopologies::~DefaultTopologies() {
    for_each_topology(
        [&](const char* operation, const char* scope, std::size_t i) { pb_topset_(&any_context, operation, scope, &before_[i], 1, 1, 1); });
}

BlacsGrid::BlacsGrid(const Communicator& all, const MatrixLayout& layout) : members_(subset(all, layout.position(all.rank()) >= 0)) {
    if (!members_) return;
    auto sorted = layout.ranks;
    std::sort(sorted.begin(), sorted.end());
    for (auto rank : layout.ranks) order_.push_back(std::lower_bound(sorted.begin(), sorted.end(), rank) - sorted.begin());
    system_ = context_ = Csys2blacs_handle(members_->raw());
    const int rows = layout.rows.grid_length, columns = layout.columns.grid_length;
    Cblacs_gridmap(&context_, order_.data(), rows, rows, columns);
    // Sums in the same order each time; this also keeps the BLACS from user-defined MPI reductions, which some MPICH releases do
    // not survive.
    constexpr int repeatable_topologies = 15;
    int yes = 1;
    Cblacs_set(context_, repeatable_topologies, &yes);
}

BlacsGrid::~BlacsGrid() {
    if (first_context_ >= 0) Cblacs_gridexit(first_context_);
    if (context_ >= 0) Cblacs_gridexit(context_);
    if (system_ >= 0) Cfree_blacs_system_handle(system_);
}

int BlacsGrid::first_rank_context() {
    if (!has_first_) {
        first_context_ = system_;
        Cblacs_gridmap(&first_context_, order_.data(), 1, 1, 1);
        has_first_ = true;
    }
    return first_context_;
}

Descriptor BlacsGrid::describe(const MatrixLayout& layout, std::int64_t leading_dimension) const {
    return {1,
            context_,
            to_int(layout.rows.extent),
            to_int(layout.columns.extent),
            to_int(layout.rows.block),
            to_int(layout.columns.block),
            to_int(layout.rows.source),
            to_int(layout.columns.source),
            to_int(std::max<std::int64_t>(1, leading_dimension))};
}

Descriptor BlacsGrid::describe_on_first(std::int64_t rows, std::int64_t columns) {
    const auto m = to_int(std::max<std::int64_t>(1, rows)), n = to_int(std::max<std::int64_t>(1, columns));
    return {1, first_rank_context(), to_int(rows), to_int(columns), m, n, 0, 0, m};
}

std::unique_ptr<BlacsGrid> make_grid(const WorldState& world, const MatrixLayout& layout) {
    return layout.single() ? nullptr : std::make_unique<BlacsGrid>(world.communicator(), layout);
}

std::vector<std::complex<double>> diagonal_values(const DistributedMatrix& matrix, std::int64_t count, std::int64_t shift) {
    std::vector<std::complex<double>> values(std::max<std::int64_t>(0, count));
    const auto as_number = matrix.kernels().elements().as_number;
    const bool here = matrix.takes_part();
    for (std::int64_t l = 0; here && l < matrix.local_columns(); ++l) {
        const auto i = matrix.column_index(l) - shift;
        if (i < 0 || i >= count) continue;
        const auto row = matrix.rows_below(i);
        if (row < matrix.local_rows() && matrix.row(row) == i) values[i] = as_number(matrix.at(row, l));
    }
    const auto& comm = matrix.world().communicator();
    auto* const parts = reinterpret_cast<double*>(values.data());
    if (matrix.layout().single())
        comm.broadcast(parts, 2 * std::ssize(values) * std::int64_t{sizeof(double)}, matrix.layout().ranks[0]);
    else
        comm.sum(parts, 2 * std::ssize(values));
    return values;
}

}  // namespace arges::linalg
