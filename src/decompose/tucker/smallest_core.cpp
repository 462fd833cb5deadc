#include "decompose/tucker/smallest_core.hpp"

#include "decompose/distribution/dense_block.hpp"
#include "interface/dense/tensor_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace arges::decompose {

namespace {

constexpr std::int64_t max_cells = 1 << 13;

/// How many ranks of each mode are looked at in a grid.
std::int64_t ranks_in_a_grid(std::size_t order) {
    return static_cast<std::int64_t>(std::pow(static_cast<double>(max_cells), 1.0 / static_cast<double>(order)) + 1e-9);
}

/// Numbers from first to last, at most `count`, each about as many times larger than the one before; both ends are among them.
std::vector<std::int64_t> spaced(std::int64_t first, std::int64_t last, std::int64_t count) {
    std::vector<std::int64_t> result;
    auto next = first;
    for (auto left = count; next < last && left > 1; --left) {
        result.push_back(next);
        const double ratio = std::pow(static_cast<double>(last) / static_cast<double>(next), 1.0 / static_cast<double>(left - 1));
        next = std::max(next + 1, static_cast<std::int64_t>(std::lround(static_cast<double>(next) * ratio)));
    }
    result.push_back(last);
    return result;
}

/// Sums along a dimension of an array with the first dimension fastest: of the elements up to each one, or of those behind it.
void sum_along(std::vector<double>& values, std::size_t stride, std::size_t length, bool behind) {
    for (std::size_t block = 0; block < values.size(); block += stride * length)
        for (std::size_t s = 0; s < stride; ++s) {
            double sum = 0;
            for (std::size_t k = 0; k < length; ++k) {
                auto& value = values[block + s + stride * (behind ? length - 1 - k : k)];
                const double here = value;
                value = behind ? sum : sum + here;
                sum += here;
            }
        }
}

/// By mode, for each leading part of cells: what is beyond it in this mode, within it in the modes before, anywhere in those behind; an
/// array over the cells of the modes up to this one.
std::vector<std::vector<double>> cut_by_mode(const CoreCells& cells) {
    const auto order = cells.ends.size();
    std::vector<std::vector<double>> result(order);
    auto sums = cells.squares;
    for (std::size_t m = order; m-- > 0;) {
        auto& cut = result[m] = sums;
        std::size_t stride = 1;
        for (std::size_t k = 0; k <= m; ++k) {
            sum_along(cut, stride, cells.ends[k].size(), k == m);
            stride *= cells.ends[k].size();
        }
        const auto below = sums.size() / cells.ends[m].size();
        for (std::size_t i = below; i < sums.size(); ++i) sums[i % below] += sums[i];
        sums.resize(below);
    }
    return result;
}

/// The cell of each index that a rank has.
std::vector<std::int64_t> cells_of(const std::vector<std::int64_t>& ends, std::int64_t first, std::int64_t step, std::int64_t count) {
    std::vector<std::int64_t> result;
    for (std::int64_t x = 0; x < count; ++x) result.push_back(std::upper_bound(ends.begin(), ends.end(), first + x * step) - ends.begin());
    return result;
}

template <class T>
CoreCells squares_in_cells(const Tensor<T>& core, std::vector<std::vector<std::int64_t>> ends) {
    const auto& state = *core.state();
    const auto& comm = state.world->communicator();
    const auto place = block_position(state.shape(), state.rank());
    CoreCells cells{std::move(ends), {}};
    comm.agree([&] {
        std::size_t size = 1;
        for (const auto& e : cells.ends) size *= e.size();
        cells.squares.assign(size, 0);
        if (place.count() == 0) return;
        const auto order = cells.ends.size();
        std::vector<std::vector<std::int64_t>> cell_of(order);
        std::int64_t stride = 1;
        for (std::size_t m = 0; m < order; ++m) {
            cell_of[m] = cells_of(cells.ends[m], place.coordinate[m], place.grid_length[m], place.sizes[m]);
            for (auto& cell : cell_of[m]) cell *= stride;
            stride *= std::ssize(cells.ends[m]);
        }
        const HostElements here(state);
        const T* value = here.of<T>();
        std::vector<std::int64_t> index(order, 0);
        for (std::int64_t done = 0; done < place.count(); done += place.sizes[0]) {
            std::int64_t base = 0;
            for (std::size_t m = 1; m < order; ++m) base += cell_of[m][index[m]];
            for (auto cell : cell_of[0]) {
                cells.squares[base + cell] += static_cast<double>(*value) * static_cast<double>(*value);
                ++value;
            }
            for (std::size_t m = 1; m < order && ++index[m] == place.sizes[m]; ++m) index[m] = 0;
        }
    });
    comm.sum(cells.squares.data(), std::ssize(cells.squares));
    return cells;
}

/// The least ranks that leave at most `allowed` behind them in their own mode.
std::vector<std::int64_t> least_ranks(const std::vector<std::vector<double>>& slices, double allowed) {
    std::vector<std::int64_t> result;
    for (const auto& mode : slices) {
        auto rank = std::ssize(mode);
        for (double behind = 0; rank > 1; --rank) {
            behind += mode[rank - 1];
            if (behind > allowed) break;
        }
        result.push_back(rank);
    }
    return result;
}

/// Whether the neighbours of a found rank are among those that were looked at.
bool is_fine(const std::vector<std::int64_t>& ends, std::int64_t found) {
    const auto at = std::lower_bound(ends.begin(), ends.end(), found);
    return (at == ends.begin() || *(at - 1) == found - 1) && (at + 1 == ends.end() || *(at + 1) == found + 1);
}

/// The ranks between the neighbours of a found one.
std::vector<std::int64_t> finer(const std::vector<std::int64_t>& ends, std::int64_t found, std::int64_t count) {
    const auto at = std::lower_bound(ends.begin(), ends.end(), found);
    const auto first = at == ends.begin() ? found : *(at - 1) + 1, last = at + 1 == ends.end() ? found : *(at + 1);
    auto result = spaced(first, last, count - 2);
    for (auto extra : {found, ends.back()})
        if (!std::binary_search(result.begin(), result.end(), extra))
            result.insert(std::lower_bound(result.begin(), result.end(), extra), extra);
    return result;
}

}  // namespace

double LeadingCore::outside() const { return std::accumulate(cut.begin(), cut.end(), 0.0); }

LeadingCore smallest_leading_core(const CoreCells& cells, double allowed) {
    const auto order = cells.ends.size();
    const auto cut = cut_by_mode(cells);
    std::size_t best = cells.squares.size() - 1;
    auto least = std::numeric_limits<double>::infinity(), least_outside = least;
    for (std::size_t c = 0; c < cells.squares.size(); ++c) {
        double outside = 0, elements = 1;
        std::size_t rest = c;
        for (std::size_t m = 0; m < order; ++m) {
            elements *= static_cast<double>(cells.ends[m][rest % cells.ends[m].size()]);
            rest /= cells.ends[m].size();
            outside += cut[m][c % cut[m].size()];
        }
        constexpr double rounding = 1e-9;  // what is equal up to rounding does not depend on how sums were made
        if (outside > allowed || elements > least || (elements == least && outside >= least_outside * (1 - rounding))) continue;
        best = c;
        least = elements;
        least_outside = outside;
    }
    LeadingCore result;
    std::size_t rest = best;
    for (std::size_t m = 0; m < order; ++m) {
        result.ranks.push_back(cells.ends[m][rest % cells.ends[m].size()]);
        rest /= cells.ends[m].size();
        result.cut.push_back(cut[m][best % cut[m].size()]);
    }
    return result;
}

template <class T>
std::vector<std::vector<double>> slice_squares(const Tensor<T>& core) {
    const auto& state = *core.state();
    const auto place = block_position(state.shape(), state.rank());
    std::vector<std::int64_t> begin{0};
    for (auto n : core.extents()) begin.push_back(begin.back() + n);
    std::vector<double> sums(begin.back(), 0);
    const HostElements here(state);
    const T* value = here.of<T>();
    std::vector<std::int64_t> index(place.sizes.size(), 0);
    for (std::int64_t done = 0; done < place.count(); ++done, ++value) {
        const double square = static_cast<double>(*value) * static_cast<double>(*value);
        for (std::size_t m = 0; m < index.size(); ++m) sums[begin[m] + place.coordinate[m] + index[m] * place.grid_length[m]] += square;
        for (std::size_t m = 0; m < index.size() && ++index[m] == place.sizes[m]; ++m) index[m] = 0;
    }
    state.world->communicator().sum(sums.data(), std::ssize(sums));
    std::vector<std::vector<double>> result;
    for (std::size_t m = 0; m + 1 < begin.size(); ++m) result.emplace_back(sums.begin() + begin[m], sums.begin() + begin[m + 1]);
    return result;
}

std::int64_t slice_squares_bytes(std::int64_t ranks, std::int64_t rank, const std::vector<std::int64_t>& lengths) {
    return sum_bytes(ranks, rank, std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
}

template <class T>
LeadingCore smallest_leading_core(const Tensor<T>& core, double allowed) {
    const auto& lengths = core.extents();
    const auto count = ranks_in_a_grid(lengths.size());
    const auto& comm = core.state()->world->communicator();
    auto planned = slice_squares_bytes(comm.size(), comm.rank(), lengths);
    const auto least = least_ranks(slice_squares(core), allowed);
    std::vector<std::vector<std::int64_t>> ends;
    for (std::size_t m = 0; m < lengths.size(); ++m) ends.push_back(spaced(least[m], lengths[m], count));
    for (;;) {
        const auto cells = squares_in_cells(core, ends);
        planned += sum_bytes(comm.size(), comm.rank(), std::ssize(cells.squares));
        auto found = smallest_leading_core(cells, allowed);
        bool fine = true;
        for (std::size_t m = 0; m < lengths.size(); ++m) {
            fine = fine && is_fine(ends[m], found.ranks[m]);
            ends[m] = finer(ends[m], found.ranks[m], count);
        }
        found.planned_bytes = planned;
        if (fine) return found;
    }
}

template <class T>
Tensor<T> leading_part(const Tensor<T>& core, const std::vector<std::int64_t>& ranks) {
    const auto& from = *core.state();
    const auto& shape = from.shape();
    std::vector<SlotMapping> mapping(shape.slots());
    for (int s = 0; s < shape.slots(); ++s) mapping[s].torus = shape.mapping(s).all();
    Layout layout(shape.grid(), ranks, Symmetry::none(shape.order()), std::move(mapping));
    auto to = TensorState::make(
        *from.kernels, from.world_handle, [&] { return from.world->intern(std::move(layout)); }, from.name);
    const auto sizes = to->shape().local_sizes(to->rank()), all = shape.local_sizes(from.rank());
    if (to->count() == 0) return Tensor<T>(std::move(to));
    std::vector<std::int64_t> index(ranks.size(), 0);
    auto* out = to->bytes.data();
    const auto row = static_cast<std::int64_t>(sizes[0]) * from.kernels->size;
    for (std::int64_t done = 0; done < to->count(); done += sizes[0], out += row) {
        std::int64_t offset = 0, stride = all[0];
        for (std::size_t m = 1; m < ranks.size(); ++m) {
            offset += index[m] * stride;
            stride *= all[m];
        }
        copy_array(out, from.bytes.data() + offset * from.kernels->size, row, from.kernels->space);
        for (std::size_t m = 1; m < ranks.size() && ++index[m] == sizes[m]; ++m) index[m] = 0;
    }
    return Tensor<T>(std::move(to));
}

std::int64_t smallest_core_memory(const std::vector<std::int64_t>& lengths) {
    // Sums over cells, those beyond each leading part of as many modes, and a copy.
    constexpr std::int64_t arrays = 5;
    std::int64_t sum = arrays * max_cells;
    for (auto n : lengths) sum += 3 * n;
    return sum * std::int64_t{sizeof(double)};
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template std::vector<std::vector<double>> slice_squares(const Tensor<T>&);                                                             \
    template LeadingCore smallest_leading_core(const Tensor<T>&, double);                                                                  \
    template Tensor<T> leading_part(const Tensor<T>&, const std::vector<std::int64_t>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
