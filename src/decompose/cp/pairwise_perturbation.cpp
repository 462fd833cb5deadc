// Pairwise perturbation: MTTKRP from operators for all pairs of modes while factors change little (Ma and Solomonik, Numer. Linear Algebra
// Appl. 29, 2022, algorithm 3.2).
#include "decompose/cp/pairwise_perturbation.hpp"

#include "local/contract.hpp"

#include <algorithm>
#include <cmath>

namespace arges::decompose {

namespace {

/// Those of `modes` that are not in `others`.
std::vector<int> without(const std::vector<int>& modes, const std::vector<int>& others) {
    std::vector<int> result;
    for (int m : modes)
        if (std::find(others.begin(), others.end(), m) == others.end()) result.push_back(m);
    return result;
}

}  // namespace

template <class T>
PairwisePerturbation<T>::PairwisePerturbation(const Communicator& comm, ModeArray<T> block, int columns, double threshold)
    : comm_(comm), block_(std::move(block)), columns_(columns), threshold_(threshold), cross_(block_.sizes.size()),
      is_old_(block_.sizes.size(), true) {
    std::int64_t most = 0;
    for (auto size : block_.sizes) {
        points_.emplace_back(size * columns);
        first_order_.emplace_back(size * columns);
        most = std::max(most, size);
    }
    part_ = Buffer<T>(2 * most * columns);
}

/// The largest |A - reference| / |A| of all modes. Collective.
template <class T>
double PairwisePerturbation<T>::distance(CpState<T>& state) const {
    const auto order = reference_.size();
    std::vector<double> squares(2 * order, 0);
    for (std::size_t m = 0; m < order; ++m) {
        const auto rows = state.factors.owned(m);
        for (std::int64_t x = 0; x < rows.rows * rows.columns; ++x) {
            const auto value = static_cast<double>(rows.data[x]), change = value - static_cast<double>(reference_[m][x]);
            squares[2 * m] += change * change;
            squares[2 * m + 1] += value * value;
        }
    }
    comm_.sum(squares.data(), std::ssize(squares));
    double most = 0;
    for (std::size_t m = 0; m < order; ++m) most = std::max(most, squares[2 * m + 1] > 0 ? squares[2 * m] / squares[2 * m + 1] : 0);
    return std::sqrt(most);
}

template <class T>
void PairwisePerturbation<T>::take_reference(CpState<T>& state) {
    reference_.clear();
    for (int m = 0; m < state.factors.order(); ++m) {
        const auto rows = state.factors.owned(m);
        reference_.emplace_back(rows.data, rows.data + rows.rows * rows.columns);
    }
    is_old_.assign(is_old_.size(), true);
}

template <class T>
bool PairwisePerturbation<T>::begin_iteration(CpState<T>& state, bool exact) {
    state_ = &state;
    const bool first = reference_.empty(), possible = block_.sizes.size() > 2;
    const bool near = !first && possible && distance(state) <= threshold_;
    const bool was_exact = step_ == CpStep::exact;
    if (exact || !near) {
        step_ = CpStep::exact;
        take_reference(state);
        return false;
    }
    step_ = was_exact ? CpStep::pairs : CpStep::perturbed;
    if (was_exact) take_reference(state);
    return was_exact;
}

template <class T>
typename PairwisePerturbation<T>::Operator PairwisePerturbation<T>::reduced(const ModeArray<T>& array, const std::vector<int>& kept,
                                                                            std::span<const T* const> factors) {
    Operator result{{}, {nullptr, kept, array.sizes, true}};
    result.values = Buffer<T>(result.array.count() * columns_);
    result.array.data = result.values.data();
    contract_modes<T>(array, without(array.modes, kept), factors, columns_, weights_, result.values.data());
    return result;
}

/// Operators for all pairs of a mode in `first` and a later one in `second`; `array` has just these modes, or more.
template <class T>
void PairwisePerturbation<T>::make_pairs(const ModeArray<T>& array, const std::vector<int>& first, const std::vector<int>& second,
                                         std::span<const T* const> factors) {
    for (int i : first)
        for (int j : second)
            if (i < j) pairs_.push_back(reduced(array, {i, j}, factors));
}

/// The tensor itself is read for both halves of the modes, and once for each mode of the first half, which serves the pairs of
/// that mode with those of the second half.
template <class T>
void PairwisePerturbation<T>::make(std::span<const T* const> factors) {
    pairs_.clear();
    const int order = block_.sizes.size();
    for (int m = 0; m < order; ++m) std::copy_n(factors[m], block_.sizes[m] * columns_, points_[m].data());
    const int middle = order / 2;
    const std::vector<int> lower(block_.modes.begin(), block_.modes.begin() + middle),
        upper(block_.modes.begin() + middle, block_.modes.end());
    for (const auto& half : {lower, upper}) {
        if (half.size() == 2) pairs_.push_back(reduced(block_, half, factors));
        if (half.size() <= 2) continue;
        const auto whole = reduced(block_, half, factors);
        make_pairs(whole.array, half, half, factors);
    }
    for (int i : lower) {
        if (lower.size() == 1 || upper.size() == 1) {
            make_pairs(block_, {i}, upper, factors);
            continue;
        }
        auto kept = upper;
        kept.insert(kept.begin(), i);
        const auto whole = reduced(block_, kept, factors);
        make_pairs(whole.array, {i}, upper, factors);
    }
    for (int m = 0; m < order; ++m) {
        const auto pair =
            std::find_if(pairs_.begin(), pairs_.end(), [&](const Operator& p) { return p.array.modes[0] == m || p.array.modes[1] == m; });
        const int other = pair->array.modes[0] == m ? pair->array.modes[1] : pair->array.modes[0];
        contract_modes<T>(pair->array, std::vector<int>{other}, factors, columns_, weights_, first_order_[m].data());
    }
}

template <class T>
void PairwisePerturbation<T>::multiply(int mode, std::span<const T* const> factors, T* result) {
    const std::size_t m = mode;
    const auto size = block_.sizes[m] * columns_;
    std::copy_n(first_order_[m].data(), size, result);
    T* const change = part_.data() + part_.size() / 2;
    std::vector<const T*> changes(factors.size());
    for (const auto& pair : pairs_) {
        const auto& modes = pair.array.modes;
        if (modes[0] != mode && modes[1] != mode) continue;
        const int other = modes[0] == mode ? modes[1] : modes[0];
        const std::size_t o = other;
        for (std::int64_t x = 0; x < block_.sizes[o] * columns_; ++x) change[x] = factors[o][x] - points_[o][x];
        changes[o] = change;
        contract_modes<T>(pair.array, std::vector<int>{other}, changes, columns_, weights_, part_.data());
        for (std::int64_t x = 0; x < size; ++x) result[x] += part_[x];
    }
}

/// A^T D of the owned rows.
template <class T>
Gram PairwisePerturbation<T>::cross_product(int mode) const {
    const auto rows = state_->factors.owned(mode);
    const std::size_t n = columns_;
    Gram result(n * n, 0);
    for (std::int64_t x = 0; x < rows.rows; ++x) {
        const T* const a = rows.row(x);
        const T* const before = reference_[mode].data() + x * columns_;
        for (std::size_t c = 0; c < n; ++c) {
            const double change = static_cast<double>(a[c]) - static_cast<double>(before[c]);
            for (std::size_t s = 0; s < n; ++s) result[s + c * n] += static_cast<double>(a[s]) * change;
        }
    }
    return result;
}

template <class T>
Gram PairwisePerturbation<T>::second_order(int mode) {
    const auto n = static_cast<std::size_t>(columns_), order = block_.sizes.size();
    const std::size_t self = mode;
    for (std::size_t m = 0; m < order; ++m) {
        if (m == self || !is_old_[m]) continue;
        cross_[m] = cross_product(m);
        sum_over_ranks(comm_, cross_[m]);
        is_old_[m] = false;
    }
    Gram result(n * n, 0);
    for (std::size_t i = 0; i < order; ++i)
        for (std::size_t j = i + 1; j < order; ++j) {
            if (i == self || j == self) continue;
            Gram term = cross_[i];
            multiply_into(term, cross_[j]);
            for (std::size_t k = 0; k < order; ++k)
                if (k != i && k != j && k != self) multiply_into(term, state_->factors.gram(k));
            for (std::size_t x = 0; x < term.size(); ++x) result[x] += term[x];
        }
    for (std::size_t x = 0; x < result.size(); ++x) result[x] *= state_->lambda[x % n];
    return result;
}

template <class T>
std::int64_t PairwisePerturbation<T>::bytes() const {
    std::int64_t sum = weights_.bytes() + part_.bytes();
    for (const auto& pair : pairs_) sum += static_cast<std::int64_t>(pair.values.bytes());
    for (std::size_t m = 0; m < points_.size(); ++m) sum += points_[m].bytes() + first_order_[m].bytes() + reference_.size() * sizeof(T);
    return sum;
}

MemoryTally perturbation_memory(std::int64_t element_bytes, const std::vector<std::int64_t>& sizes, std::int64_t owned, int columns) {
    const auto order = sizes.size(), middle = order / 2;
    const auto bytes = [&](std::int64_t rows) { return array_memory(rows * columns * element_bytes); };
    const auto product = [&](std::size_t begin, std::size_t end) {
        std::int64_t result = 1;
        for (auto m = begin; m < end; ++m) result *= sizes[m];
        return result;
    };
    const auto all = product(0, order);
    MemoryTally tally;
    std::int64_t most = 0, weights = 0, whole = 0;
    for (std::size_t i = 0; i < order; ++i) {
        most = std::max(most, sizes[i]);
        tally.hold(2 * bytes(sizes[i]));
        for (std::size_t j = i + 1; j < order; ++j) {
            tally.hold(bytes(sizes[i] * sizes[j]));
            if (order > 3) weights = std::max(weights, all / std::max<std::int64_t>(1, sizes[i] * sizes[j]));
        }
    }
    for (const auto& half : {product(0, middle), product(middle, order)})
        if (order > 4) whole = std::max(whole, half), weights = std::max(weights, all / std::max<std::int64_t>(1, half));
    if (middle > 1)
        for (std::size_t i = 0; i < middle; ++i) whole = std::max(whole, sizes[i] * product(middle, order));
    tally.hold(bytes(2 * most) + (order > 3 ? bytes(weights) : 0));
    tally.hold(owned * columns * element_bytes);
    tally.pass(bytes(whole) + local::max_workspace_bytes);
    return tally;
}

template class PairwisePerturbation<float>;
template class PairwisePerturbation<double>;

}  // namespace arges::decompose
