#include "decompose/tucker/tucker_elements.hpp"

#include "base/buffer.hpp"
#include "decompose/completion/needed_rows.hpp"
#include "decompose/tucker/core_arrays.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace arges::decompose {

namespace {

/// Rows of all factors that a rank's elements need, row by row.
template <class T>
struct Rows {
    std::vector<std::vector<std::uint32_t>> local{};  ///< by mode, of each element
    std::vector<Buffer<T>> factors{};
};

template <class T>
Rows<T> bring_rows(const Communicator& comm, const TuckerModel<T>& model, const std::vector<std::vector<std::int64_t>>& indices) {
    Rows<T> result;
    for (int m = 0; m < model.order(); ++m) {
        const int columns = static_cast<int>(model.ranks()[m]);
        std::vector<std::int64_t> wanted;
        comm.agree([&] { wanted = indices[m]; });
        auto needed = needed_rows(comm, model.rows(m), std::move(wanted));
        std::unique_ptr<RowExchange<T>> exchange;
        comm.agree([&] {
            result.factors.emplace_back(needed.rows.count() * columns);
            exchange = std::make_unique<RowExchange<T>>(comm, needed.rows, columns);
        });
        const auto& own = model.factor(m);
        needed.template bring<T>(*exchange, {own.data(), std::ssize(own) / columns, columns, columns},
                                 {result.factors.back().data(), needed.rows.count(), columns, columns});
        result.local.push_back(std::move(needed.local));
    }
    return result;
}

/// The core times a row of each factor, the last mode first. @param work as long as the core
template <class T>
double element_of(const std::vector<T>& core, const std::vector<std::int64_t>& ranks, const Rows<T>& rows, std::size_t x,
                  std::vector<double>& work) {
    std::copy(core.begin(), core.end(), work.begin());
    auto size = std::ssize(core);
    for (auto m = ranks.size(); m-- > 0;) {
        if (rows.local[m][x] == unmapped) return 0;
        const T* const row = rows.factors[m].data() + static_cast<std::int64_t>(rows.local[m][x]) * ranks[m];
        size /= ranks[m];
        for (std::int64_t k = 0; k < size; ++k) work[k] *= static_cast<double>(row[0]);
        for (std::int64_t c = 1; c < ranks[m]; ++c)
            for (std::int64_t k = 0; k < size; ++k) work[k] += static_cast<double>(row[c]) * work[k + c * size];
    }
    return work[0];
}

}  // namespace

template <class T>
std::vector<double> elements_at(const Communicator& comm, const TuckerModel<T>& model,
                                const std::vector<std::vector<std::int64_t>>& indices) {
    const auto core = model.core().gather();
    const auto rows = bring_rows(comm, model, indices);
    std::vector<double> result;
    comm.agree([&] {
        result.resize(indices[0].size());
#pragma omp parallel
        {
            std::vector<double> work(core.size());
#pragma omp for schedule(static)
            for (std::size_t x = 0; x < result.size(); ++x) result[x] = element_of(core, model.ranks(), rows, x, work);
        }
    });
    return result;
}

template <class T>
std::vector<double> slice_gram(const Communicator& comm, const TuckerModel<T>& model, int mode) {
    const std::vector<int> ranks(model.ranks().begin(), model.ranks().end());
    const auto core = core_array(model.core());
    auto other = core;
    for (int m = 0; m < model.order(); ++m)
        if (m != mode) other = times_in_mode(other, ranks, m, factor_gram(comm, model, m, ranks[m]));
    return slice_products(core, other, ranks, mode);
}

template <class T>
std::vector<double> factor_gram(const Communicator& comm, const ModelFactors<T>& model, int mode, std::int64_t columns) {
    const auto& factor = model.factor(mode);
    std::vector<double> gram(columns * columns, 0);
    for (std::int64_t begin = 0; begin < std::ssize(factor); begin += columns)
        for (std::int64_t r = 0; r < columns; ++r)
            for (std::int64_t s = 0; s < columns; ++s)
                gram[r * columns + s] += static_cast<double>(factor[begin + r]) * static_cast<double>(factor[begin + s]);
    comm.sum(gram.data(), std::ssize(gram));
    return gram;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template std::vector<double> elements_at(const Communicator&, const TuckerModel<T>&, const std::vector<std::vector<std::int64_t>>&);   \
    template std::vector<double> slice_gram(const Communicator&, const TuckerModel<T>&, int);                                              \
    template std::vector<double> factor_gram(const Communicator&, const ModelFactors<T>&, int, std::int64_t);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
