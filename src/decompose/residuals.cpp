#include "arges/residuals.hpp"

#include "arges/error.hpp"
#include "arges/predict.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "decompose/distribution/dense_block.hpp"
#include "decompose/model_arguments.hpp"
#include "decompose/tucker/dense_unfolding.hpp"
#include "decompose/tucker/tucker_elements.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/world/world_state.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace arges {

namespace {

using Slices = std::vector<SliceResidual>;

/// Adds up those of the same slice.
void join(Slices& slices) {
    std::stable_sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) { return a.slice < b.slice; });
    std::size_t count = 0;
    for (std::size_t i = 0; i < slices.size(); ++i) {
        if (count == 0 || slices[count - 1].slice != slices[i].slice) {
            slices[count++] = slices[i];
            continue;
        }
        auto& sum = slices[count - 1];
        sum.elements += slices[i].elements;
        sum.squares += slices[i].squares;
        sum.residual += slices[i].residual;
    }
    slices.resize(count);
}

/// Numbered ones of so many.
Slices numbered(std::int64_t length) {
    Slices slices(length);
    for (std::int64_t i = 0; i < length; ++i) slices[i].slice = i;
    return slices;
}

/// What each of the elements on this rank adds to its slice. @param length  of the mode @param part  (x): of an element
template <class F>
Slices slices_of_elements(std::span<const std::int64_t> indices, std::int64_t length, F&& part) {
    const bool is_short = length <= std::ssize(indices);
    Slices slices = is_short ? numbered(length) : Slices(indices.size());
    for (std::size_t x = 0; x < indices.size(); ++x) {
        const SliceResidual more = part(x);
        auto& slice = slices[is_short ? static_cast<std::size_t>(indices[x]) : x];
        slice = {indices[x], slice.elements + more.elements, slice.squares + more.squares, slice.residual + more.residual};
    }
    if (is_short) std::erase_if(slices, [](const auto& slice) { return slice.elements == 0; });
    return slices;
}

/// Those with the largest residuals, largest first.
void keep_worst(Slices& slices, std::int64_t count) {
    for (auto& slice : slices) slice.residual = std::max(slice.residual, 0.0);  // of differences, which rounding may have made negative
    const auto is_worse = [](const auto& a, const auto& b) {
        return a.residual != b.residual ? a.residual > b.residual : a.slice < b.slice;
    };
    const auto end = slices.begin() + std::clamp<std::int64_t>(count, 0, std::ssize(slices));
    std::partial_sort(slices.begin(), end, slices.end(), is_worse);
    slices.erase(end, slices.end());
}

/// The sums of all ranks' slices of a mode. Each slice is added up on one rank.
void add_mode(const Communicator& comm, Slices mine, std::int64_t count, Residuals& result) {
    std::vector<Slices> to_rank(comm.size());
    comm.agree([&] {
        join(mine);
        for (const auto& slice : mine) to_rank[slice.slice % comm.size()].push_back(slice);
    });
    const auto received = exchanged(comm, std::move(to_rank));
    Slices own;
    double sums[] = {0, 0};
    std::int64_t elements = 0;
    comm.agree([&] {
        for (const auto& list : received) own.insert(own.end(), list.begin(), list.end());
        join(own);
        for (const auto& slice : own) {
            sums[0] += slice.squares;
            sums[1] += slice.residual;
            elements += slice.elements;
        }
        keep_worst(own, count);
    });
    comm.sum(sums, 2);
    result.elements = comm.sum(elements);
    result.squares = sums[0];
    result.residual = std::max(sums[1], 0.0);
    auto worst = gathered(comm, own);
    comm.agree([&] {
        keep_worst(worst, count);
        result.worst.push_back(std::move(worst));
    });
}

/// By pair of columns: what the squared norms of the slices of a mode are made of.
template <class T>
std::vector<double> slice_gram(const Communicator& comm, const CpModel<T>& model, int mode) {
    const auto R = model.rank();
    std::vector<double> product(static_cast<std::size_t>(R) * R);
    for (int r = 0; r < R; ++r)
        for (int s = 0; s < R; ++s) product[r * R + s] = model.lambda()[r] * model.lambda()[s];
    for (int m = 0; m < model.order(); ++m) {
        if (m == mode) continue;
        const auto gram = decompose::factor_gram(comm, model, m, R);
        for (std::size_t i = 0; i < gram.size(); ++i) product[i] *= gram[i];
    }
    return product;
}

template <class T>
std::vector<double> slice_gram(const Communicator& comm, const TuckerModel<T>& model, int mode) {
    return decompose::slice_gram(comm, model, mode);
}

/// Squared norms of the model's slices.
template <class T>
Slices slices_of_model(const ModelFactors<T>& model, int mode, const std::vector<double>& gram) {
    const auto& rows = model.rows(mode);
    const auto R = rows.empty() ? 0 : std::ssize(model.factor(mode)) / std::ssize(rows);
    Slices slices;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const T* const row = model.factor(mode).data() + static_cast<std::int64_t>(i) * R;
        double square = 0;
        for (std::int64_t r = 0; r < R; ++r)
            for (std::int64_t s = 0; s < R; ++s) square += static_cast<double>(row[r]) * static_cast<double>(row[s]) * gram[r * R + s];
        slices.push_back({rows[i], 0, 0, square});
    }
    return slices;
}

template <class Tensor, class Model>
void check_pair(const Tensor& tensor, const Model& model) {
    communicator_of(model.world(), "residuals");  // not of a dry run
    if (tensor.world().state() != model.world().state())
        throw InvalidArgument(tensor.name() + ": this tensor is on another world than the model; load both on one");
    if (tensor.extents() != model.lengths())
        throw InvalidArgument(tensor.name() + ": this is a tensor of " + joined(tensor.extents(), " x ") + ", and the model is of " +
                              joined(model.lengths(), " x ") + "; give the tensor that it was made from");
}

/// Sums over the local slices of a mode.
struct LocalSlices {
    std::vector<double> squares, residual;

    explicit LocalSlices(std::int64_t count) : squares(count), residual(count) {}
};

/// By mode, of a rank's block of the elements x and those m of a model.
template <class T>
std::vector<LocalSlices> block_slices(const std::vector<std::int64_t>& sizes, const T* x, const T* m) {
    std::vector<LocalSlices> slices(sizes.begin(), sizes.end());
    const auto rows = sizes[0];
    std::int64_t columns = rows == 0 ? 0 : 1;
    for (std::size_t mode = 1; mode < sizes.size(); ++mode) columns *= sizes[mode];
    double *const squares = slices[0].squares.data(), *const residuals = slices[0].residual.data();
    for (std::int64_t column = 0; column < columns; ++column, x += rows, m += rows) {
        double square = 0, residual = 0;
#pragma omp simd reduction(+ : square, residual)
        for (std::int64_t i = 0; i < rows; ++i) {
            const double value = x[i], left = value - static_cast<double>(m[i]);
            squares[i] += value * value;
            residuals[i] += left * left;
            square += value * value;
            residual += left * left;
        }
        auto rest = column;
        for (std::size_t mode = 1; mode < sizes.size(); rest /= sizes[mode++]) {
            slices[mode].squares[rest % sizes[mode]] += square;
            slices[mode].residual[rest % sizes[mode]] += residual;
        }
    }
    return slices;
}

/// Of a dense tensor and a model that has been multiplied out.
template <class T>
Residuals dense_residuals(const Tensor<T>& whole, const Tensor<T>& whole_model, std::int64_t count) {
    const auto tensor = decompose::with_plain_blocks(whole);
    const auto model = decompose::on_layout_of(whole_model, tensor).tensor;
    const auto& state = *tensor.state();
    const auto& comm = state.world->communicator();
    const auto position = decompose::block_position(state.layout, comm.rank());
    std::vector<LocalSlices> sums;
    comm.agree([&] {
        const HostElements x(state), m(*model.state());
        sums = block_slices(position.sizes, x.of<T>(), m.of<T>());
    });
    Residuals result;
    for (std::size_t mode = 0; mode < sums.size(); ++mode) {
        Slices slices;
        comm.agree([&] {
            for (std::int64_t i = 0; i < position.sizes[mode]; ++i)
                slices.push_back({position.coordinate[mode] + i * position.grid_length[mode], position.count() / position.sizes[mode],
                                  sums[mode].squares[i], sums[mode].residual[i]});
        });
        add_mode(comm, std::move(slices), count, result);
    }
    return result;
}

/// Of a dense tensor and a model that is multiplied out. Collective.
template <class T, class Model>
Residuals checked_residuals(const Tensor<T>& tensor, const Model& model, std::int64_t count) {
    state_of(tensor, "residuals");
    const CollectiveCall call(ranks_of(model.world()), "residuals", tensor, ModelArgument{&model}, count);
    check_pair(tensor, model);
    return dense_residuals(tensor, reconstruct(model), count);
}

template <class T>
std::vector<double> elements_of(const Communicator&, const CpModel<T>& model, const std::vector<std::vector<std::int64_t>>& indices) {
    return predict(model, indices);
}

template <class T>
std::vector<double> elements_of(const Communicator& comm, const TuckerModel<T>& model,
                                const std::vector<std::vector<std::int64_t>>& indices) {
    return decompose::elements_at(comm, model, indices);
}

/// Of a sparse tensor, whose elements the model is computed at. Collective.
template <class T, class Model>
Residuals sparse_residuals(const SparseTensor<T>& tensor, const Model& model, NotStored others, std::int64_t count) {
    const auto& comm = sparse_state_of(tensor, "residuals").comm();
    const bool are_zeros = others == NotStored::zeros;
    std::vector<std::vector<std::int64_t>> indices;
    comm.agree([&] {
        for (int m = 0; m < tensor.order(); ++m) indices.emplace_back(tensor.local_indices(m).begin(), tensor.local_indices(m).end());
    });
    const auto predicted = elements_of(comm, model, indices);
    const auto values = tensor.local_values();
    Residuals result;
    for (int m = 0; m < tensor.order(); ++m) {
        const auto gram = are_zeros ? slice_gram(comm, model, m) : std::vector<double>();
        Slices slices;
        comm.agree([&] {
            slices = slices_of_elements(indices[m], tensor.extents()[m], [&](std::size_t x) {
                const double value = values[x], part = predicted[x];
                return SliceResidual{0, 1, value * value, are_zeros ? value * (value - 2 * part) : (value - part) * (value - part)};
            });
            if (!are_zeros) return;
            const auto more = slices_of_model(model, m, gram);
            slices.insert(slices.end(), more.begin(), more.end());
        });
        add_mode(comm, std::move(slices), count, result);
    }
    return result;
}

}  // namespace

template <class T>
Residuals residuals(const SparseTensor<T>& tensor, const CpModel<T>& model, NotStored others, std::int64_t count) {
    sparse_state_of(tensor, "residuals");
    const CollectiveCall call(ranks_of(model.world()), "residuals", tensor, ModelArgument{&model}, others, count);
    check_pair(tensor, model);
    if (others == NotStored::zeros && model.has_biases())
        throw InvalidArgument(tensor.name() + ": a model with biases is of stored elements only; take the others as unknown");
    return sparse_residuals(tensor, model, others, count);
}

template <class T>
Residuals residuals(const SparseTensor<T>& tensor, const TuckerModel<T>& model, NotStored others, std::int64_t count) {
    sparse_state_of(tensor, "residuals");
    const CollectiveCall call(ranks_of(model.world()), "residuals", tensor, ModelArgument{&model}, others, count);
    check_pair(tensor, model);
    return sparse_residuals(tensor, model, others, count);
}

template <class T>
Residuals residuals(const Tensor<T>& tensor, const CpModel<T>& model, std::int64_t count) {
    return checked_residuals(tensor, model, count);
}

template <class T>
Residuals residuals(const Tensor<T>& tensor, const TuckerModel<T>& model, std::int64_t count) {
    return checked_residuals(tensor, model, count);
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template Residuals residuals(const SparseTensor<T>&, const CpModel<T>&, NotStored, std::int64_t);                                      \
    template Residuals residuals(const SparseTensor<T>&, const TuckerModel<T>&, NotStored, std::int64_t);                                  \
    template Residuals residuals(const Tensor<T>&, const CpModel<T>&, std::int64_t);                                                       \
    template Residuals residuals(const Tensor<T>&, const TuckerModel<T>&, std::int64_t);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
