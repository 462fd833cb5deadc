// The model of a CP decomposition, and tensors made from it.
#include "arges/cpd.hpp"

#include "arges/error.hpp"
#include "base/buffer.hpp"
#include "base/saturate.hpp"
#include "comm/values.hpp"
#include "decompose/factor_tensor.hpp"
#include "interface/world_state.hpp"

#include <algorithm>

namespace arges {

template <class T>
CpModel<T>::CpModel(World world, std::vector<std::int64_t> lengths, std::vector<double> lambda,
                    std::vector<std::vector<std::int64_t>> rows, std::vector<std::vector<T>> factors)
    : world_(std::move(world)), lengths_(std::move(lengths)), lambda_(std::move(lambda)), rows_(std::move(rows)),
      factors_(std::move(factors)) {}

template <class T>
std::vector<T> CpModel<T>::gather(int mode) const {
    const auto& comm = world_.state()->communicator();
    const auto m = static_cast<std::size_t>(mode);
    comm.agree([&] {
        if (mode < 0 || mode >= order())
            throw InvalidArgument("CP model: there is no mode " + std::to_string(mode) + "; modes are 0 to " +
                                  std::to_string(order() - 1));
    });
    const auto all_rows = gathered(comm, rows_[m]);
    const auto all_values = gathered(comm, factors_[m]);
    std::vector<T> result;
    comm.agree([&] {
        const auto elements = saturated_product(lengths_[m], static_cast<std::int64_t>(lambda_.size()));
        result.assign(static_cast<std::size_t>(array_bytes(elements, sizeof(T))) / sizeof(T), T(0));
    });
    for (std::size_t i = 0; i < all_rows.size(); ++i)
        std::copy_n(all_values.data() + i * lambda_.size(), lambda_.size(),
                    result.data() + static_cast<std::size_t>(all_rows[i]) * lambda_.size());
    return result;
}

template <class T>
Tensor<T> reconstruct(const CpModel<T>& model, std::vector<std::int64_t> begin, std::vector<std::int64_t> end) {
    const auto ranges = decompose::checked_ranges("CP model", model.lengths(), {std::move(begin), std::move(end)});
    const auto labels = decompose::numbered_labels('x', model.order());
    std::vector<std::int64_t> extents;
    Expression<T> product(T(1));
    for (int m = 0; m < model.order(); ++m) {
        const auto place = static_cast<std::size_t>(m);
        auto values = model.factor(m);
        for (std::size_t x = 0; m == 0 && x < values.size(); ++x)
            values[x] *= static_cast<T>(model.lambda()[x % model.lambda().size()]);
        const auto factor = decompose::factor_tensor<T>(model.world(), model.rows(m), values, model.rank(), ranges.begin[place],
                                                        ranges.end[place]);
        extents.push_back(factor.extents()[0]);
        product = product * factor[Labels(std::vector<std::string>{labels[place], "r"})];
    }
    Tensor<T> result(model.world(), extents, "model");
    result[Labels(labels)] = product;
    return result;
}

#define ARGES_INSTANTIATE(T)     \
    template class CpModel<T>;   \
    template Tensor<T> reconstruct(const CpModel<T>&, std::vector<std::int64_t>, std::vector<std::int64_t>);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)

}  // namespace arges
