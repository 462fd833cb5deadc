#include "sparse/device_nonzeros.hpp"

#include "sparse/fiber_tree.hpp"
#include "sparse/index_sort.hpp"
#include "sparse/nonzero_sums.hpp"

#include <algorithm>
#include <utility>

namespace arges::sparse {

namespace {

constexpr std::int64_t most_kept_bytes = 256 << 20;

/// How slices are cut.
struct Pieces {
    std::vector<std::int64_t> begins, targets, cut, parts{0};

    /// @param index  of the slice of each nonzero, ascending
    Pieces(const std::vector<std::uint32_t>& index, std::int64_t rows) {
        std::int64_t x = 0, kept = 0;
        const auto count = std::ssize(index);
        for (std::int64_t i = 0; i < rows; ++i) {
            const auto begin = x;
            while (x < count && index[x] == i) ++x;
            const auto length = piece_length(x - begin);
            const bool is_cut = x - begin > length;
            for (auto at = begin; at == begin || at < x; at += length) {
                begins.push_back(at);
                targets.push_back(is_cut ? ~kept++ : i);
            }
            if (!is_cut) continue;
            cut.push_back(i);
            parts.push_back(kept);
        }
        begins.push_back(count);
    }
};

/// Columns of a pass over all pieces.
std::int64_t columns_at_once(std::int64_t most_kept, std::int64_t element_bytes, std::int64_t pieces, std::int64_t columns) {
    if (pieces == 0) return columns;
    return std::clamp<std::int64_t>(most_kept / (pieces * element_bytes), 1, std::max<std::int64_t>(1, columns));
}

/// Rows of a matrix to a device, where they are at a distance of `columns`.
template <class T>
void copy_there(RowMatrix<const T> from, T* to, const MemorySpace* space) {
    if (from.stride == from.columns) return copy_array(to, from.data, from.rows * from.columns * std::int64_t{sizeof(T)}, space);
    Buffer<T> packed(from.rows * from.columns);
    for (std::int64_t i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.columns, packed.data() + i * from.columns);
    copy_array(to, packed.data(), packed.bytes(), space);
}

/// And from there.
template <class T>
void copy_back(const T* from, RowMatrix<T> to, const MemorySpace* space) {
    if (to.stride == to.columns) return copy_array(to.data, from, to.rows * to.columns * std::int64_t{sizeof(T)}, space);
    Buffer<T> packed(to.rows * to.columns);
    copy_array(packed.data(), from, packed.bytes(), space);
    for (std::int64_t i = 0; i < to.rows; ++i) std::copy_n(packed.data() + i * to.columns, to.columns, to.row(i));
}

}  // namespace

/// The nonzeros for sums over the slices of a mode.
template <class T>
struct DeviceNonzeros<T>::Slices {
    NonzeroSums sums;
    std::vector<Buffer<std::uint32_t>> indices;  // by mode; of this one for fit() and derive()
    Buffer<std::int64_t> begins, targets, cut, parts;
    Buffer<T> values, weights;
    std::int64_t cut_pieces = 0;

    Slices(const LocalNonzeros<T>& nonzeros, int mode, bool fits, const MemorySpace* space) : indices(nonzeros.order()) {
        const auto order = lexicographic_positions(nonzeros.indices, nonzeros.rows, modes_from(mode, nonzeros.rows));
        for (int m = 0; m < nonzeros.order(); ++m)
            if (m != mode || fits) indices[m] = Buffer<std::uint32_t>::copy_of(reordered(nonzeros.indices[m], order), space);
        values = Buffer<T>::copy_of(reordered(nonzeros.values, order), space);
        if (!nonzeros.weights.empty()) weights = Buffer<T>::copy_of(reordered(nonzeros.weights, order), space);
        const Pieces pieces(reordered(nonzeros.indices[mode], order), nonzeros.rows[mode]);
        begins = Buffer<std::int64_t>::copy_of(pieces.begins, space);
        targets = Buffer<std::int64_t>::copy_of(pieces.targets, space);
        cut = Buffer<std::int64_t>::copy_of(pieces.cut, space);
        parts = Buffer<std::int64_t>::copy_of(pieces.parts, space);
        cut_pieces = pieces.parts.back();
        sums.pieces = std::ssize(pieces.targets);
        sums.begins = begins.data();
        sums.targets = targets.data();
        sums.cut_rows = std::ssize(pieces.cut);
        sums.cut = cut.data();
        sums.parts = parts.data();
    }

    std::size_t bytes() const {
        std::size_t sum = begins.bytes() + targets.bytes() + cut.bytes() + parts.bytes() + values.bytes() + weights.bytes();
        for (const auto& index : indices) sum += index.bytes();
        return sum;
    }
};

template <class T>
DeviceNonzeros<T>::DeviceNonzeros(const ElementKernels& kernels, std::vector<std::int64_t> rows)
    : kernels_(kernels), rows_(std::move(rows)), slices_(rows_.size()), copies_(rows_.size()), out_(0, kernels.space),
      kept_(0, kernels.space), derivatives_(0, kernels.space), most_kept_(most_kept_bytes) {
    for (auto& copy : copies_) copy.data = Buffer<T>(0, kernels.space);
}

template <class T>
DeviceNonzeros<T>::~DeviceNonzeros() = default;

template <class T>
void DeviceNonzeros<T>::add(const LocalNonzeros<T>& nonzeros, int mode, bool fits) {
    slices_[mode] = std::make_unique<Slices>(nonzeros, mode, fits, kernels_.space);
}

template <class T>
std::vector<FactorColumns> DeviceNonzeros<T>::all_but(int mode) const {
    std::vector<FactorColumns> product;
    for (int m = 0; m < std::ssize(rows_); ++m)
        if (m != mode) product.push_back({m});
    return product;
}

template <class T>
void DeviceNonzeros<T>::multiply(int mode, std::span<const RowMatrix<const T>> factors, RowMatrix<T> out) {
    multiply(mode, factors, all_but(mode), out);
}

template <class T>
void DeviceNonzeros<T>::multiply(int mode, std::span<const RowMatrix<const T>> factors, const std::vector<FactorColumns>& product,
                                 RowMatrix<T> out, bool by_weights) {
    const auto& slices = *slices_[mode];
    multiply(mode, factors, product, out, by_weights ? nullptr : slices.values.data(), slices.weights.data());
}

template <class T>
void DeviceNonzeros<T>::multiply(int mode, std::span<const RowMatrix<const T>> factors, const std::vector<FactorColumns>& product,
                                 RowMatrix<T> out, const T* values, const T* weights) {
    const auto& slices = *slices_[mode];
    std::vector<NonzeroRows> matrices;
    std::vector<Buffer<std::int32_t>> takes;
    for (const auto& [m, take] : product) {
        if (!take.empty()) takes.push_back(Buffer<std::int32_t>::copy_of(take, kernels_.space));
        matrices.push_back(
            {slices.indices[m].data(), copied(m, factors[m]), factors[m].columns, take.empty() ? nullptr : takes.back().data()});
    }
    out.rows = rows_[mode];
    auto sums = slices.sums;
    sums.distance = out.columns;
    sums.matrices = matrices;
    sums.values = values;
    sums.weights = weights;
    T* const result = out_.reserve(out.rows * out.columns);
    sums.out = result;
    const auto at_once = columns_at_once(most_kept_, sizeof(T), slices.cut_pieces, out.columns);
    sums.kept = kept_.reserve(slices.cut_pieces * at_once);
    for (; sums.first < out.columns; sums.first += at_once) {
        sums.count = std::min<std::int64_t>(at_once, out.columns - sums.first);
        kernels_.sum_nonzeros(sums);
    }
    copy_back<T>(result, out, kernels_.space);
}

template <class T>
typename DeviceNonzeros<T>::Fit DeviceNonzeros<T>::fit(int mode, std::span<const RowMatrix<const T>> factors) {
    std::vector<NonzeroRows> matrices;
    double sums[2] = {};
    kernels_.fit_nonzeros(model_at(*slices_[mode], factors, matrices), sums);
    return {sums[0], sums[1]};
}

template <class T>
double DeviceNonzeros<T>::derive(int mode, std::span<const RowMatrix<const T>> factors, const Loss& loss, bool to_zero, RowMatrix<T> out) {
    const auto& slices = *slices_[mode];
    std::vector<NonzeroRows> matrices;
    T* const derivatives = derivatives_.reserve(slices.values.size());
    const double sum = kernels_.derive_nonzeros({model_at(slices, factors, matrices), loss, to_zero, derivatives});
    multiply(mode, factors, all_but(mode), out, derivatives, nullptr);
    return sum;
}

template <class T>
NonzeroFit DeviceNonzeros<T>::model_at(const Slices& slices, std::span<const RowMatrix<const T>> factors,
                                       std::vector<NonzeroRows>& matrices) {
    for (int m = 0; m < std::ssize(rows_); ++m) matrices.push_back({slices.indices[m].data(), copied(m, factors[m]), factors[m].columns});
    return {slices.values.size(), factors[0].columns, slices.values.data(), slices.weights.data(), matrices};
}

template <class T>
const void* DeviceNonzeros<T>::copied(int mode, RowMatrix<const T> factor) {
    auto& [of, data] = copies_[mode];
    factor.rows = rows_[mode];
    if (of.data != factor.data || of.columns != factor.columns || of.stride != factor.stride) {
        copy_there(factor, data.reserve(factor.rows * factor.columns), kernels_.space);
        of = factor;
    }
    return data.data();
}

template <class T>
std::int64_t DeviceNonzeros<T>::bytes() const {
    std::size_t sum = 0;
    for (const auto& slices : slices_)
        if (slices) sum += slices->bytes();
    return static_cast<std::int64_t>(sum);
}

MemoryTally device_nonzeros_memory(std::int64_t element_bytes, std::int64_t rows, std::int64_t count) {
    // Lists of pieces grow by doubling: two of them at once, and the index of each nonzero.
    const auto pieces = rows + count / least_piece_length + 1;
    MemoryTally tally;
    tally.add(sorting_memory(count));
    const auto positions = tally.held();
    tally.pass(
        std::max(count * element_bytes, count * std::int64_t{sizeof(std::uint32_t)} + 5 * pieces * std::int64_t{sizeof(std::int64_t)}) +
        count * std::int64_t{sizeof(std::uint32_t)});
    tally.hold(-positions);
    return tally;
}

std::int64_t device_nonzeros_bytes(std::int64_t element_bytes, std::span<const std::int64_t> rows, std::int64_t count, int mode,
                                   std::int64_t columns) {
    constexpr std::int64_t number = sizeof(std::int64_t);
    const auto cut = count / least_piece_length;  // rows of several pieces have at least half as many nonzeros for each of them
    const auto pieces = rows[mode] + 2 * cut + 1, kept = std::min(2 * cut, count);
    const auto arrays = std::ssize(rows) + 6;
    return count * (element_bytes + std::ssize(rows) * std::int64_t{sizeof(std::uint32_t)}) + number * (2 * pieces + 2 * cut + 2) +
           kept * columns_at_once(most_kept_bytes, element_bytes, kept, columns) * element_bytes + arrays * 256;
}

template class DeviceNonzeros<float>;
template class DeviceNonzeros<double>;

}  // namespace arges::sparse
