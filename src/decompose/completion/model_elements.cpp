// Elements of models: rows of the factors are brought to the ranks whose elements need them.
#include "decompose/completion/model_elements.hpp"

#include "base/buffer.hpp"
#include "comm/values.hpp"
#include "decompose/completion/needed_rows.hpp"
#include "io/file/element_text.hpp"
#include "io/sparse/tns_writer.hpp"
#include "sparse/blocked_sum.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace arges::decompose {

namespace {

/// Rows of the factors of a model, and their biases, that a rank's elements need.
template <class T>
struct ModelRows {
    std::vector<NeededRows> needed{};
    std::vector<Buffer<T>> factors{}, biases{};
};

template <class T>
ModelRows<T> bring_rows(const Communicator& comm, const CpModel<T>& model, const std::vector<std::vector<std::int64_t>>& indices) {
    ModelRows<T> result;
    for (int m = 0; m < model.order(); ++m) {
        std::vector<std::int64_t> wanted;
        comm.agree([&] { wanted = indices[m]; });
        const auto needed = needed_rows(comm, model.rows(m), std::move(wanted));
        const auto bring = [&](std::vector<Buffer<T>>& to, const std::vector<T>& from, int columns) {
            std::unique_ptr<RowExchange<T>> exchange;
            comm.agree([&] {
                to.emplace_back(needed.rows.count() * columns);
                exchange = std::make_unique<RowExchange<T>>(comm, needed.rows, columns);
            });
            needed.template bring<T>(*exchange, {from.data(), std::ssize(from) / columns, columns, columns},
                                     {to.back().data(), needed.rows.count(), columns, columns});
        };
        bring(result.factors, model.factor(m), model.rank());
        if (model.has_biases()) bring(result.biases, model.bias(m), 1);
        comm.agree([&] { result.needed.push_back(needed); });
    }
    return result;
}

/// The element `x` of a model with these rows. @param is_known gets whether the model has all of its rows
template <class T>
double element_of(const CpModel<T>& model, const ModelRows<T>& rows, std::size_t x, std::vector<double>& product, bool& is_known) {
    double sum = model.mean();
    is_known = true;
    std::copy(model.lambda().begin(), model.lambda().end(), product.begin());
    for (std::size_t m = 0; m < rows.needed.size(); ++m) {
        const auto row = rows.needed[m].local[x];
        if (row == unmapped) {
            is_known = false;
            continue;
        }
        if (!rows.biases.empty()) sum += static_cast<double>(rows.biases[m][row]);
        const T* const factor = rows.factors[m].data() + static_cast<std::int64_t>(row) * model.rank();
        for (std::size_t r = 0; r < product.size(); ++r) product[r] *= static_cast<double>(factor[r]);
    }
    if (is_known)
        for (double p : product) sum += p;
    return sum;
}

}  // namespace

template <class T>
std::vector<double> elements_at(const Communicator& comm, const CpModel<T>& model, const std::vector<std::vector<std::int64_t>>& indices,
                                std::int64_t& unknown) {
    const auto rows = bring_rows(comm, model, indices);
    std::vector<double> result;
    comm.agree([&] {
        result.resize(indices[0].size());
        std::int64_t missing = 0;
#pragma omp parallel reduction(+ : missing)
        {
            std::vector<double> product(model.lambda().size());
#pragma omp for schedule(static)
            for (std::size_t x = 0; x < result.size(); ++x) {
                bool is_known = true;
                result[x] = element_of(model, rows, x, product, is_known);
                missing += is_known ? 0 : 1;
            }
        }
        unknown += missing;
    });
    return result;
}

double root_mean_square(const Communicator& comm, const double* values, const std::vector<double>& found) {
    double squares = sparse::blocked_sum(std::ssize(found), [&](std::int64_t x) {
        const double e = values[x] - found[x];
        return e * e;
    });
    comm.sum(&squares, 1);
    return std::sqrt(squares / static_cast<double>(comm.sum(std::ssize(found))));
}

void append_element(std::string& text, double element) { io::element_text(ElementType::float64).append(text, &element); }

void write_predictions(const Communicator& comm, const std::string& output, const std::string& heading, std::int64_t count,
                       const std::function<void(std::string& text, std::int64_t x)>& append, PredictionReport& report) {
    const auto produce = [&](const std::function<void(std::string_view)>& take) {
        constexpr std::size_t piece_bytes = std::size_t{1} << 18;
        std::string text = comm.rank() == 0 ? heading : "";
        for (std::int64_t x = 0; x < count; ++x) {
            append(text, x);
            text += '\n';
            if (text.size() < piece_bytes) continue;
            take(text);
            text.clear();
        }
        take(text);
    };
    if (!output.empty()) {
        io::prepare_text(comm, output, output.ends_with(".gz"), produce)->publish();
        return;
    }
    std::vector<char> mine;
    comm.agree([&] { produce([&](std::string_view text) { mine.insert(mine.end(), text.begin(), text.end()); }); });
    const auto all = gathered_on(comm, 0, mine);
    comm.agree([&] { report.text.assign(all.begin(), all.end()); });
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template std::vector<double> elements_at(const Communicator&, const CpModel<T>&, const std::vector<std::vector<std::int64_t>>&,        \
                                             std::int64_t&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges::decompose
