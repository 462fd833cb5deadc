// MTTKRP of a dense tensor that stays in its blocks: each rank multiplies its own by a dimension tree, and rows of factors
// are folded to their owners and expanded.
#include "decompose/cp/dense_cp_operator.hpp"

#include "base/stopwatch.hpp"
#include "interface/dense/tensor_state.hpp"

#include <numeric>

namespace arges::decompose {

namespace {

template <class T>
ModeArray<T> whole_block(const T* data, const BlockPosition& position) {
    ModeArray<T> block{data, std::vector<int>(position.sizes.size()), position.sizes, false};
    std::iota(block.modes.begin(), block.modes.end(), 0);
    return block;
}

/// Sum of the squares of the elements of a block, and which local indices of each mode have an element that is not zero.
template <class T>
double sum_squares(const ModeArray<T>& block, std::vector<std::vector<char>>& used) {
    const auto order = block.sizes.size();
    const auto rows = block.sizes[0], runs = rows > 0 ? block.count() / rows : 0;
    std::vector<double> sums(runs);
    std::vector<char> any(runs);
    auto& first = used[0];
#pragma omp parallel for schedule(static)
    for (std::int64_t run = 0; run < runs; ++run) {
        const T* const x = block.data + run * rows;
        double sum = 0;
        bool found = false;
#pragma omp simd reduction(+ : sum) reduction(|| : found)
        for (std::int64_t i = 0; i < rows; ++i) {
            sum += static_cast<double>(x[i]) * x[i];
            found = found || x[i] != T(0);
        }
        sums[run] = sum;
        any[run] = found;
    }
    std::int64_t missing = rows;  // rows of the first mode that were not seen yet
    for (std::int64_t run = 0; run < runs && missing > 0; ++run) {
        if (!any[run]) continue;
        for (std::int64_t i = 0; i < rows; ++i)
            if (!first[i] && block.data[run * rows + i] != T(0)) first[i] = 1, --missing;
    }
    for (std::int64_t run = 0; run < runs; ++run) {
        if (!any[run]) continue;
        auto rest = run;
        for (std::size_t m = 1; m < order; ++m) {
            used[m][rest % block.sizes[m]] = 1;
            rest /= block.sizes[m];
        }
    }
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// Turns `used` from what this rank found in its block to what is in the tensor; all slices, if no rank has found an empty one.
/// Collective.
void agree_on_slices(const Communicator& comm, const BlockPosition& position, const std::vector<std::int64_t>& lengths,
                     std::vector<std::vector<char>>& used) {
    bool complete = true;
    for (const auto& flags : used) complete = complete && std::all_of(flags.begin(), flags.end(), [](char f) { return f != 0; });
    if (comm.minimum(complete ? 1 : 0) == 1) return;
    for (std::size_t m = 0; m < used.size(); ++m) {
        std::vector<std::int64_t> counts(lengths[m], 0);
        for (std::size_t x = 0; x < used[m].size(); ++x)
            counts[position.coordinate[m] + static_cast<std::int64_t>(x) * position.grid_length[m]] = used[m][x];
        comm.sum(counts.data(), lengths[m]);
        for (std::size_t x = 0; x < used[m].size(); ++x)
            used[m][x] = counts[position.coordinate[m] + static_cast<std::int64_t>(x) * position.grid_length[m]] > 0;
    }
}

}  // namespace

template <class T>
DenseCpOperator<T>::DenseCpOperator(const Communicator& comm, const Layout& layout, const T* elements, int columns, double threshold)
    : CpOperator<T>(comm, columns, true), position_(block_position(layout, comm.rank())), block_(whole_block<T>(elements, position_)),
      local_(position_.sizes.size()), is_old_(position_.sizes.size(), true), tree_(block_, columns) {
    std::vector<std::vector<char>> used;
    for (auto size : position_.sizes) used.emplace_back(static_cast<std::size_t>(size), 0);
    double squares = 0;
    comm.agree([&] { squares = sum_squares(block_, used); });
    comm.sum(&squares, 1);
    this->norm_squared_ = squares;
    agree_on_slices(comm, position_, layout.extents(), used);
    find_rows(layout, used);
    comm.agree([&] {
        std::int64_t most = 0;
        for (auto size : position_.sizes) {
            factors_.push_back(Buffer<T>::zeros(size * columns));
            most = std::max(most, size);
        }
        product_ = Buffer<T>(most * columns);
        this->set_modes(rows_.size());
        if (threshold > 0) pairs_ = std::make_unique<PairwisePerturbation<T>>(comm, block_, columns, threshold);
    });
}

template <class T>
void DenseCpOperator<T>::find_rows(const Layout& layout, const std::vector<std::vector<char>>& used) {
    for (std::size_t m = 0; m < position_.sizes.size(); ++m) {
        const auto group = owners_of_rows(layout, m, this->comm_.rank());
        std::vector<std::int64_t> held, owner;
        for (std::int64_t x = 0; x < position_.sizes[m]; ++x) {
            if (!used[m][x]) continue;
            held.push_back(position_.coordinate[m] + x * position_.grid_length[m]);
            owner.push_back(group[static_cast<std::size_t>(x) % group.size()]);
        }
        rows_.push_back(match_rows(this->comm_, held, owner));
        for (auto index : rows_.back().index) local_[m].push_back((index - position_.coordinate[m]) / position_.grid_length[m]);
    }
}

template <class T>
void DenseCpOperator<T>::begin_iteration(CpState<T>& state, bool exact) {
    if (!pairs_ || !pairs_->begin_iteration(state, exact)) return;
    Stopwatch watch;
    this->comm_.agree([&] {
        if (position_.count() == 0) return;
        pairs_->make(factor_columns(state.factors.views()));
    });
    this->seconds().mttkrp += watch.lap();
}

/// Copies those that have changed into the order of the block.
template <class T>
std::vector<const T*> DenseCpOperator<T>::factor_columns(std::span<const sparse::RowMatrix<const T>> factors) {
    std::vector<const T*> result;
    for (std::size_t m = 0; m < factors_.size(); ++m) {
        result.push_back(factors_[m].data());
        if (!is_old_[m]) continue;
        is_old_[m] = false;
        const auto size = position_.sizes[m];
        for (std::size_t i = 0; i < local_[m].size(); ++i) {
            const T* const row = factors[m].row(i);
            for (int r = 0; r < this->columns_; ++r) factors_[m][local_[m][i] + r * size] = row[r];
        }
    }
    return result;
}

template <class T>
void DenseCpOperator<T>::multiply(int mode, std::span<const sparse::RowMatrix<const T>> factors, sparse::RowMatrix<T> out) {
    if (position_.count() == 0) return;
    const auto columns = factor_columns(factors);
    if (step() != CpStep::exact)
        pairs_->multiply(mode, columns, product_.data());
    else
        tree_.multiply(mode, columns, product_.data());
    const std::size_t place = mode;
    for (std::size_t i = 0; i < local_[place].size(); ++i) {
        T* const row = out.row(i);
        for (int r = 0; r < this->columns_; ++r) row[r] = product_[local_[place][i] + r * position_.sizes[place]];
    }
}

template <class T>
void DenseCpOperator<T>::correct(int mode, sparse::RowMatrix<T> owned) {
    if (step() == CpStep::exact) return;
    const auto matrix = pairs_->second_order(mode);
    const std::size_t m = mode, n = owned.columns;
    for (std::int64_t i = 0; i < owned.rows; ++i)
        for (std::size_t r = 0; r < n; ++r) {
            const T* const row = factors_[m].data() + local_[m][i];
            double sum = 0;
            for (std::size_t s = 0; s < n; ++s)
                sum += static_cast<double>(row[static_cast<std::int64_t>(s) * position_.sizes[m]]) * matrix[s + r * n];
            owned.row(i)[r] += static_cast<T>(sum);
        }
}

template <class T>
void DenseCpOperator<T>::factor_changes(int mode) {
    is_old_[mode] = true;
    if (pairs_) pairs_->factor_changes(mode);
    tree_.factor_changes(mode);
}

template <class T>
std::int64_t DenseCpOperator<T>::bytes() const {
    std::int64_t sum = tree_.bytes() + static_cast<std::int64_t>(product_.bytes()) + (pairs_ ? pairs_->bytes() : 0);
    for (const auto& factor : factors_) sum += static_cast<std::int64_t>(factor.bytes());
    return sum;
}

MemoryTally dense_operator_memory(std::int64_t element, const Layout& layout, std::int64_t rank, int columns, bool perturbs) {
    constexpr std::int64_t number = sizeof(std::int64_t);
    const auto sizes = block_position(layout, rank).sizes;
    const auto count = block_position(layout, rank).count();
    MemoryTally tally;
    tally.pass(sizes[0] > 0 ? count / sizes[0] * std::int64_t{sizeof(double) + 1} : 0);
    std::int64_t most = 0, owned = 0;
    for (std::size_t m = 0; m < sizes.size(); ++m) {
        const auto traffic = row_traffic(layout, m, rank);
        tally.hold(array_memory(sizes[m] * columns * element) + traffic.shared * columns * element);
        tally.hold(10 * number * sizes[m]);  // lists of rows while they are compared with those of others
        most = std::max(most, sizes[m]);
        owned += traffic.owned;
    }
    tally.hold(array_memory(most * columns * element));
    tally.add(DimensionTree<double>::memory(element, sizes, columns));
    if (perturbs) tally.add(perturbation_memory(element, sizes, owned, columns));
    return tally;
}

template class DenseCpOperator<float>;
template class DenseCpOperator<double>;

}  // namespace arges::decompose
