// Biases of rows, as in Koren, Bell, Volinsky, *Matrix factorization techniques for recommender systems*, IEEE Computer 42, 2009, for any
// number of modes. They are fitted before the factors, which then get what is left.
#include "decompose/completion/biases.hpp"

#include "comm/values.hpp"
#include "decompose/completion/completion_method.hpp"
#include "decompose/factor_tensor.hpp"
#include "sparse/blocked_sum.hpp"
#include "sparse/thread_rows.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace arges::decompose {

namespace {

constexpr int bias_sweeps = 8;

/// Mean and biases of an element, but for those of one mode; -1: of all.
template <class T>
double baseline(const Biases<T>& biases, const sparse::LocalNonzeros<T>& elements, std::int64_t x, int but) {
    double sum = biases.mean;
    for (int m = 0; m < std::ssize(biases.rows); ++m)
        if (m != but) sum += static_cast<double>(biases.rows[m][elements.indices[m][x]]);
    return sum;
}

/// The biases of one mode, those of the others given.
template <class T>
class BiasesOfMode {
public:
    BiasesOfMode(const Communicator& comm, const Distributed<T>& nonzeros, int mode)
        : rows_(nonzeros.rows[mode]), elements_(set_of(nonzeros, mode)), mode_(mode), folds_(nonzeros.folds && comm.size() > 1) {
        comm.agree([&] {
            fold_ = std::make_unique<RowExchange<double>>(comm, rows_, 1);
            expand_ = std::make_unique<RowExchange<T>>(comm, rows_, 1);
            threads_ = std::make_unique<sparse::ThreadRows<double>>(parts_, rows_.count(), [&](int part, const auto& add) {
                add(elements_.indices[mode_].data() + first_of(part), first_of(part + 1) - first_of(part));
            });
        });
    }

    /// Collective.
    void fit(Biases<T>& biases, const Buffer<double>& counts, Buffer<double>& sum) {
        const sparse::RowMatrix<double> sums{sum.data(), rows_.count(), 1, 1};
        threads_->run(sums, [&](int part, const sparse::RowTarget<double>& target) {
            for (auto x = first_of(part); x < first_of(part + 1); ++x)
                *target.row(elements_.indices[mode_][x]) +=
                    elements_.weight(x) * (static_cast<double>(elements_.values[x]) - baseline(biases, elements_, x, mode_));
        });
        if (folds_) fold_->fold(sums);
        auto& mine = biases.rows[mode_];
        for (std::int64_t i = 0; i < rows_.owned; ++i) mine[i] = static_cast<T>(sum[i] / (counts[i] + bias_shrinkage));
        expand_->expand({mine.data(), rows_.count(), 1, 1});
    }

private:
    std::int64_t first_of(int part) const { return std::ssize(elements_.values) * part / parts_; }

    const ModeRows& rows_;
    const sparse::LocalNonzeros<T>& elements_;
    int mode_;
    bool folds_;
    const int parts_ = omp_get_max_threads();
    std::unique_ptr<RowExchange<double>> fold_;
    std::unique_ptr<RowExchange<T>> expand_;
    std::unique_ptr<sparse::ThreadRows<double>> threads_;
};

}  // namespace

template <class T>
std::vector<Buffer<double>> count_elements(const Communicator& comm, const Distributed<T>& nonzeros) {
    std::vector<Buffer<double>> counts;
    for (int m = 0; m < std::ssize(nonzeros.rows); ++m) {
        const auto& rows = nonzeros.rows[m];
        std::unique_ptr<RowExchange<double>> exchange;
        comm.agree([&] {
            auto& count = counts.emplace_back(Buffer<double>::zeros(rows.count()));
            const auto& elements = set_of(nonzeros, m);
            for (std::int64_t x = 0; x < elements.count(); ++x) count[elements.indices[m][x]] += elements.weight(x);
            exchange = std::make_unique<RowExchange<double>>(comm, rows, 1);
        });
        if (nonzeros.folds && comm.size() > 1) exchange->fold({counts.back().data(), rows.count(), 1, 1});
        for (auto i = rows.owned; i < rows.count(); ++i) counts.back()[i] = 0;
    }
    return counts;
}

template <class T>
Biases<T> fit_biases(const Communicator& comm, const Distributed<T>& nonzeros, const std::vector<Buffer<double>>& counts, double mean) {
    Biases<T> biases{mean};
    std::vector<std::unique_ptr<BiasesOfMode<T>>> modes;
    Buffer<double> sums;
    for (int m = 0; m < std::ssize(nonzeros.rows); ++m) modes.push_back(std::make_unique<BiasesOfMode<T>>(comm, nonzeros, m));
    comm.agree([&] {
        std::int64_t most = 0;
        for (const auto& rows : nonzeros.rows) {
            biases.rows.push_back(Buffer<T>::zeros(rows.count()));
            most = std::max(most, rows.count());
        }
        sums = Buffer<double>(most);
    });
    for (int sweep = 0; sweep < bias_sweeps; ++sweep)
        for (std::size_t m = 0; m < modes.size(); ++m) modes[m]->fit(biases, counts[m], sums);
    return biases;
}

template <class T>
Biases<T> biases_of(const Communicator& comm, const std::vector<ModeRows>& rows, const CpModel<T>& model) {
    Biases<T> biases{model.mean()};
    for (int m = 0; m < std::ssize(rows); ++m) {
        const auto places = places_of_rows(comm, model.rows(m), rows[m].index);
        const auto values = gathered(comm, model.bias(m));
        comm.agree([&] {
            auto& mine = biases.rows.emplace_back(Buffer<T>::zeros(rows[m].count()));
            for (std::size_t i = 0; i < places.size(); ++i)
                if (places[i] >= 0) mine[i] = values[places[i]];
        });
    }
    return biases;
}

double free_numbers(const Communicator& comm, const std::vector<Buffer<double>>& counts) {
    double sum = 0;
    for (const auto& mode : counts)
        for (std::int64_t i = 0; i < mode.size(); ++i) sum += 1 - std::pow(bias_shrinkage / (mode[i] + bias_shrinkage), 2);
    comm.sum(&sum, 1);
    return sum;
}

template <class T>
double squares_beyond(const Communicator& comm, const Distributed<T>& nonzeros, const Biases<T>& biases) {
    const auto& elements = set_of(nonzeros, 0);
    double squares = sparse::blocked_sum(std::ssize(elements.values), [&](std::int64_t x) {
        const double e = static_cast<double>(elements.values[x]) - baseline(biases, elements, x, -1);
        return elements.weight(x) * e * e;
    });
    comm.sum(&squares, 1);
    return squares;
}

template <class T>
void subtract_biases(Distributed<T>& nonzeros, const Biases<T>& biases) {
    for (auto& set : nonzeros.sets) {
        auto& elements = set.nonzeros;
        const auto count = std::ssize(elements.values);
#pragma omp parallel for schedule(static)
        for (std::int64_t x = 0; x < count; ++x)
            elements.values[x] = static_cast<T>(static_cast<double>(elements.values[x]) - baseline(biases, elements, x, -1));
    }
}

MemoryTally biases_memory(const SparseShare& share, int threads) {
    constexpr std::int64_t number = sizeof(double);
    MemoryTally tally;
    std::int64_t work = 0, most = 0;
    for (std::size_t m = 0; m < share.rows.size(); ++m) {
        const auto count = share.nonzeros[share.nonzeros.size() == 1 ? 0 : m];
        tally.hold(array_memory(share.rows[m] * number) + array_memory(share.rows[m] * share.value_bytes));
        work += share.shared[m] * (number + share.value_bytes) + sparse::thread_rows_memory(number, threads, share.rows[m], count, 1);
        most = std::max(most, share.rows[m]);
    }
    tally.pass(work + array_memory(most * number));
    return tally;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template std::vector<Buffer<double>> count_elements(const Communicator&, const Distributed<T>&);                                       \
    template Biases<T> fit_biases(const Communicator&, const Distributed<T>&, const std::vector<Buffer<double>>&, double);                 \
    template Biases<T> biases_of(const Communicator&, const std::vector<ModeRows>&, const CpModel<T>&);                                    \
    template double squares_beyond(const Communicator&, const Distributed<T>&, const Biases<T>&);                                          \
    template void subtract_biases(Distributed<T>&, const Biases<T>&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
