/// Sums over nonzeros with rows of matrices on a device, see sparse/nonzero_sums.hpp.
#pragma once

#include "device/losses.hpp"
#include "device/machine.hpp"
#include "device/reductions.hpp"
#include "sparse/nonzero_sums.hpp"

#include <algorithm>
#include <array>

namespace arges::device {

/// One element of one piece's sums.
/// @tparam fixed  number of matrices, which the compiler then knows; 0: any
template <class N, int fixed>
struct SumPiece {
    static constexpr int most = fixed > 0 ? fixed : sparse::most_matrices;
    std::array<sparse::NonzeroRows, most> by{};
    int matrices = fixed;
    sparse::NonzeroSums sums;

    ARGES_ON_DEVICE void operator()(std::int64_t piece) const {
        const auto offset = take_digit(piece, sums.count), c = sums.first + offset;
        const int last = fixed > 0 ? fixed : matrices;
        std::array<const N*, most> column{};
        for (int m = 0; m < last; ++m) {
            const auto* const take = by[m].take;
            column[m] = static_cast<const N*>(by[m].rows) + (take != nullptr ? take[c] : c);
        }
        const auto *const values = static_cast<const N*>(sums.values), *const weights = static_cast<const N*>(sums.weights);
        N sum(0);
        for (auto x = sums.begins[piece]; x < sums.begins[piece + 1]; ++x) {
            N product = values != nullptr ? values[x] : N(1);
            if (weights != nullptr) product = product * weights[x];
            for (int m = 0; m < last; ++m) product = product * column[m][by[m].index[x] * by[m].columns];
            sum = sum + product;
        }
        const auto target = sums.targets[piece];
        if (target < 0)
            static_cast<N*>(sums.kept)[~target * sums.count + offset] = sum;
        else
            static_cast<N*>(sums.out)[target * sums.distance + c] = sum;
    }
};

/// The sums of the pieces of a row.
template <class N>
struct JoinPieces {
    sparse::NonzeroSums sums;
    ARGES_ON_DEVICE void operator()(std::int64_t row) const {
        const auto offset = take_digit(row, sums.count);
        const auto* const kept = static_cast<const N*>(sums.kept);
        N sum(0);
        for (auto p = sums.parts[row]; p < sums.parts[row + 1]; ++p) sum = sum + kept[p * sums.count + offset];
        static_cast<N*>(sums.out)[sums.cut[row] * sums.distance + sums.first + offset] = sum;
    }
};

/// The table's function.
template <class M, class N>
void sum_nonzeros(const sparse::NonzeroSums& sums) {
    const auto run = [&]<int fixed>() {
        SumPiece<N, fixed> f{{}, static_cast<int>(sums.matrices.size()), sums};
        std::copy(sums.matrices.begin(), sums.matrices.end(), f.by.begin());
        f.sums.matrices = {};
        for_each<M>(sums.pieces * sums.count, f);
    };
    switch (sums.matrices.size()) {
    case 1: run.template operator()<1>(); break;
    case 2: run.template operator()<2>(); break;
    case 3: run.template operator()<3>(); break;
    case 4: run.template operator()<4>(); break;
    default: run.template operator()<0>();
    }
    for_each<M>(sums.cut_rows * sums.count, JoinPieces<N>{sums});
}

/// A model at nonzeros.
template <class N>
struct ModelAt {
    std::array<sparse::NonzeroRows, sparse::most_matrices> by{};
    int matrices;
    sparse::NonzeroFit fit;

    explicit ModelAt(const sparse::NonzeroFit& of) : matrices(static_cast<int>(of.matrices.size())), fit(of) {
        std::copy(of.matrices.begin(), of.matrices.end(), by.begin());
        fit.matrices = {};
    }
    ARGES_ON_DEVICE double model(std::int64_t x) const {
        double sum = 0;
        for (std::int64_t c = 0; c < fit.columns; ++c) {
            double product = 1;
            for (int m = 0; m < matrices; ++m)
                product *= static_cast<double>(static_cast<const N*>(by[m].rows)[by[m].index[x] * by[m].columns + c]);
            sum += product;
        }
        return sum;
    }
    ARGES_ON_DEVICE double value(std::int64_t x) const { return static_cast<double>(static_cast<const N*>(fit.values)[x]); }
    ARGES_ON_DEVICE double weight(std::int64_t x) const {
        return fit.weights != nullptr ? static_cast<double>(static_cast<const N*>(fit.weights)[x]) : 1;
    }
};

/// Squares of the residuals of nonzeros, and of a model.
template <class N>
struct SumFit {
    struct Value {
        double residual, model;
    };
    ModelAt<N> at;
    Value* result;

    ARGES_ON_DEVICE Value none() const { return {0, 0}; }
    ARGES_ON_DEVICE Value add(Value a, Value b) const { return {a.residual + b.residual, a.model + b.model}; }
    ARGES_ON_DEVICE Value partial(std::int64_t, std::int64_t first, std::int64_t step) const {
        Value sum{0, 0};
        for (auto x = first; x < at.fit.count; x += step) {
            const double model = at.model(x), weight = at.weight(x), e = at.value(x) - model;
            sum.residual += weight * e * e;
            sum.model += weight * model * model;
        }
        return sum;
    }
    ARGES_ON_DEVICE void store(std::int64_t, Value sum) const { *result = sum; }
};

/// The table's function.
template <class M, class N>
void fit_nonzeros(const sparse::NonzeroFit& fit, double* sums) {
    using Value = typename SumFit<N>::Value;
    Buffer<Value> room(1, &M::space());
    device::sums<M>(1, fit.count, SumFit<N>{ModelAt<N>(fit), room.data()});
    const auto sum = fetched<M>(room);
    sums[0] = sum.residual;
    sums[1] = sum.model;
}

/// Losses of nonzeros; each derivative is written where its loss is added.
template <class N>
struct SumLosses {
    using Value = double;
    ModelAt<N> at;
    Loss loss;
    bool to_zero;
    N* derivatives;
    double* result;

    ARGES_ON_DEVICE double none() const { return 0; }
    ARGES_ON_DEVICE double add(double a, double b) const { return a + b; }
    ARGES_ON_DEVICE double partial(std::int64_t, std::int64_t first, std::int64_t step) const {
        double sum = 0;
        for (auto x = first; x < at.fit.count; x += step) {
            const double weight = at.weight(x);
            const auto here = losses::loss_at(loss, to_zero, at.value(x), at.model(x));
            derivatives[x] = static_cast<N>(weight * here.derivative);
            sum += weight * here.value;
        }
        return sum;
    }
    ARGES_ON_DEVICE void store(std::int64_t, double sum) const { *result = sum; }
};

/// The table's function.
template <class M, class N>
double derive_nonzeros(const sparse::NonzeroLosses& losses) {
    Buffer<double> room(1, &M::space());
    device::sums<M>(1, losses.model.count,
                    SumLosses<N>{ModelAt<N>(losses.model), losses.loss, losses.to_zero, static_cast<N*>(losses.derivatives), room.data()});
    return fetched<M>(room);
}

}  // namespace arges::device
