// The model of a CP decomposition, and tensors made from it.
#include "arges/cpd.hpp"

#include "arges/error.hpp"
#include "comm/collective_call.hpp"
#include "decompose/factor_tensor.hpp"
#include "decompose/model_arguments.hpp"
#include "interface/world_state.hpp"

namespace arges {

namespace {

const char* const title = "CP model";

}  // namespace

template <class T>
CpModel<T>::CpModel(World world, std::vector<std::int64_t> lengths, std::vector<double> lambda, std::vector<std::vector<std::int64_t>> rows,
                    std::vector<std::vector<T>> factors)
    : world_(std::move(world)), lengths_(std::move(lengths)), lambda_(std::move(lambda)), rows_(std::move(rows)),
      factors_(std::move(factors)) {
    world_.size();  // refuses World::outside()
    decompose::check_rows<T>(title, lengths_, std::vector<std::int64_t>(lengths_.size(), std::ssize(lambda_)), rows_, factors_);
}

template <class T>
const std::vector<std::int64_t>& CpModel<T>::rows(int mode) const {
    return rows_[decompose::checked_mode(title, mode, order())];
}

template <class T>
const std::vector<T>& CpModel<T>::factor(int mode) const {
    return factors_[decompose::checked_mode(title, mode, order())];
}

template <class T>
std::vector<T> CpModel<T>::gather(int mode) const {
    const CollectiveCall call(ranks_of(world_), "CpModel::gather", ModelArgument{this}, mode);
    const auto& comm = communicator_of(world_, title);
    std::size_t m = 0;
    comm.agree([&] { m = decompose::checked_mode(title, mode, order()); });
    return decompose::gathered_rows<T>(comm, rows_[m], factors_[m], lengths_[m], rank());
}

template <class T>
Tensor<T> reconstruct(const CpModel<T>& model, std::vector<std::int64_t> begin, std::vector<std::int64_t> end) {
    const CollectiveCall call(ranks_of(model.world()), "reconstruct", ModelArgument{&model}, begin, end);
    const auto ranges = decompose::checked_ranges(title, model.lengths(), {std::move(begin), std::move(end)});
    if (model.order() == 0) throw InvalidArgument(std::string(title) + ": it has no modes, so there is nothing to reconstruct");
    const auto labels = decompose::numbered_labels('x', model.order());
    std::vector<std::int64_t> extents;
    Expression<T> product(T(1));
    for (int m = 0; m < model.order(); ++m) {
        const std::size_t place = m;
        auto values = model.factor(m);
        for (std::size_t x = 0; m == 0 && x < values.size(); ++x) values[x] *= static_cast<T>(model.lambda()[x % model.lambda().size()]);
        const auto factor =
            decompose::factor_tensor<T>(model.world(), model.rows(m), values, model.rank(), ranges.begin[place], ranges.end[place]);
        extents.push_back(factor.extents()[0]);
        product = product * factor[Labels(std::vector<std::string>{labels[place], "r"})];
    }
    Tensor<T> result(model.world(), extents, "model");
    result[Labels(labels)] = product;
    return result;
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template class CpModel<T>;                                                                                                             \
    template Tensor<T> reconstruct(const CpModel<T>&, std::vector<std::int64_t>, std::vector<std::int64_t>);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
