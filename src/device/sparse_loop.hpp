/// Nonzeros times dense factors on a device, see local::SparseLoop.
#pragma once

#include "arges/sparse_loops.hpp"
#include "device/machine.hpp"
#include "sparse/device_loop.hpp"

#include <algorithm>
#include <array>

namespace arges::device {

/// A number of a nonzero; `otherwise` where there are none.
ARGES_ON_DEVICE inline std::int64_t number_at(const local::NonzeroNumbers& numbers, std::int64_t k, std::int64_t otherwise) {
    return numbers.narrow != nullptr ? numbers.narrow[k] : numbers.wide != nullptr ? numbers.wide[k] : otherwise;
}

/// An axis of a loop, and several of them, the innermost first.
template <int most>
struct LoopAxis {
    std::int64_t size = 1, result = 0;
    std::array<std::int64_t, most> factors{};
};
template <int most>
struct LoopAxes {
    std::array<LoopAxis<most>, sparse::most_loop_axes> axis{};
    int axes = 0;
    std::int64_t entries = 1;

    void add(const local::SparseLoopAxis& given) {
        auto& one = axis[axes++];
        one.size = given.size;
        one.result = given.result;
        std::copy(given.factors.begin(), given.factors.end(), one.factors.begin());
        entries *= given.size;
    }
    /// Moves to an entry. @param last  number of factors
    template <class N>
    ARGES_ON_DEVICE void move(std::int64_t entry, int last, std::array<const N*, most>& at, std::int64_t& result) const {
        for (int a = 0; a < axes; ++a) {
            const auto digit = a + 1 < axes ? take_digit(entry, axis[a].size) : entry;
            result += digit * axis[a].result;
            for (int f = 0; f < last; ++f) at[f] += digit * axis[a].factors[f];
        }
    }
};

/// One element of the result: the sum over a run's nonzeros, and over axes that the result lacks, in this order.
/// @tparam fixed  number of factors, which the compiler then knows; -1: any
template <class N, int fixed>
struct SumRun {
    static constexpr int most = fixed < 0 ? sparse::most_loop_factors : fixed == 0 ? 1 : fixed;
    std::array<const N*, most> factor{};
    std::array<local::NonzeroNumbers, most> offset{};
    int factors = 0;
    LoopAxes<most> kept, summed;
    const std::int64_t *start, *target;
    std::int64_t result_step;
    const N* values;  ///< null: ones
    local::NonzeroNumbers places;
    N alpha;
    N* result;

    ARGES_ON_DEVICE void operator()(std::int64_t run) const {
        const int last = fixed < 0 ? factors : fixed;
        const auto element = take_digit(run, kept.entries);
        auto to = target != nullptr ? target[run] : run * result_step;
        auto from = factor;
        kept.move(element, last, from, to);
        N sum(0);
        for (auto k = start[run]; k < start[run + 1]; ++k) {
            const N value = values != nullptr ? values[number_at(places, k, k)] : N(1);
            auto row = from;
            for (int f = 0; f < last; ++f) row[f] += number_at(offset[f], k, 0);
            for (std::int64_t t = 0; t < summed.entries; ++t) {
                auto at = row;
                summed.move(t, last, at, to);
                N product = value;
                for (int f = 0; f < last; ++f) product = product * *at[f];
                sum = sum + product;
            }
        }
        result[to] = result[to] + (alpha == N(1) ? sum : alpha * sum);
    }
};

/// The table's function. @param loop  for which sparse::DeviceLoop::is_possible(); values null: ones
template <class M, class N>
void multiply_nonzeros(const local::SparseLoop& loop) {
    const auto run = [&]<int fixed>() {
        SumRun<N, fixed> f;
        f.factors = static_cast<int>(loop.factors.size());
        for (int i = 0; i < f.factors; ++i) {
            f.factor[i] = static_cast<const N*>(loop.factors[i]);
            f.offset[i] = loop.offsets[i];
        }
        for (auto axis = loop.axes.rbegin(); axis != loop.axes.rend(); ++axis) (axis->result != 0 ? f.kept : f.summed).add(*axis);
        f.start = loop.start;
        f.target = loop.target;
        f.result_step = loop.result_step;
        f.values = static_cast<const N*>(loop.values);
        f.places = loop.places;
        f.alpha = loop.alpha == nullptr ? N(1) : *static_cast<const N*>(loop.alpha);
        f.result = static_cast<N*>(loop.result);
        for_each<M>(loop.runs * f.kept.entries, f);
    };
    switch (loop.factors.size()) {
    case 0: return run.template operator()<0>();
    case 1: return run.template operator()<1>();
    case 2: return run.template operator()<2>();
    case 3: return run.template operator()<3>();
    default: run.template operator()<-1>();
    }
}

}  // namespace arges::device
