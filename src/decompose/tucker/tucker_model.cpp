// The model of a Tucker decomposition: its rows, tensors made from it, and its file.
#include "arges/checkpoint.hpp"
#include "arges/error.hpp"
#include "arges/tucker.hpp"
#include "comm/collective_call.hpp"
#include "decompose/factor_tensor.hpp"
#include "decompose/model_arguments.hpp"
#include "interface/tensor_state.hpp"
#include "interface/world_state.hpp"

#include <algorithm>
#include <cmath>

namespace arges {

namespace {

constexpr std::int64_t difference_parts = 16;
const char* const kind = "Tucker model";

/// Labels {"x1", "y1"} of the factor of a mode.
Labels factor_labels(int mode) { return std::vector<std::string>{"x" + std::to_string(mode + 1), "y" + std::to_string(mode + 1)}; }

std::string mode_name(std::size_t mode) { return "mode_" + std::to_string(mode + 1); }

}  // namespace

template <class T>
TuckerModel<T>::TuckerModel(std::vector<std::int64_t> lengths, Tensor<T> core, std::vector<std::vector<std::int64_t>> rows,
                            std::vector<std::vector<T>> factors)
    : lengths_(std::move(lengths)), core_(std::move(core)), rows_(std::move(rows)), factors_(std::move(factors)) {
    if (lengths_.empty() && !core_.state()) return;  // no model yet
    if (core_.extents().size() != lengths_.size())
        throw InvalidArgument(std::string(kind) + ": a core of order " + std::to_string(core_.order()) + " for " +
                              std::to_string(lengths_.size()) + " lengths; give a length for each mode of the core");
    decompose::check_rows<T>(kind, lengths_, ranks(), rows_, factors_);
}

template <class T>
const std::vector<std::int64_t>& TuckerModel<T>::rows(int mode) const {
    return rows_[decompose::checked_mode(kind, mode, order())];
}

template <class T>
const std::vector<T>& TuckerModel<T>::factor(int mode) const {
    return factors_[decompose::checked_mode(kind, mode, order())];
}

template <class T>
std::vector<T> TuckerModel<T>::gather(int mode) const {
    const CollectiveCall call(ranks_of(world()), "TuckerModel::gather", ModelArgument{this}, mode);
    const auto& comm = communicator_of(world(), kind);
    std::size_t m = 0;
    comm.agree([&] { m = decompose::checked_mode(kind, mode, order()); });
    return decompose::gathered_rows<T>(comm, rows_[m], factors_[m], lengths_[m], ranks()[m]);
}

template <class T>
double TuckerModel<T>::compression() const {
    double whole = 1, kept = 1, factors = 0;
    for (std::size_t m = 0; m < lengths_.size(); ++m) {
        whole *= lengths_[m];
        kept *= ranks()[m];
        factors += static_cast<double>(lengths_[m]) * ranks()[m];
    }
    return whole / (kept + factors);
}

template <class T>
Tensor<T> reconstruct(const TuckerModel<T>& model, std::vector<std::int64_t> begin, std::vector<std::int64_t> end) {
    const CollectiveCall call(ranks_of(model.world()), "reconstruct", ModelArgument{&model}, begin, end);
    const auto ranges = decompose::checked_ranges(kind, model.lengths(), {std::move(begin), std::move(end)});
    std::vector<std::int64_t> extents;
    if (model.order() == 0) throw InvalidArgument(std::string(kind) + ": it has no modes, so there is nothing to reconstruct");
    Expression<T> product = model.core()[Labels(decompose::numbered_labels('y', model.order()))];
    for (int m = 0; m < model.order(); ++m) {
        const std::size_t place = m;
        const auto factor = decompose::factor_tensor<T>(model.world(), model.rows(m), model.factor(m), model.ranks()[place],
                                                        ranges.begin[place], ranges.end[place]);
        extents.push_back(factor.extents()[0]);
        product = product * factor[factor_labels(m)];
    }
    Tensor<T> result(model.world(), extents, "model");
    result[Labels(decompose::numbered_labels('x', model.order()))] = product;
    return result;
}

template <class T>
double relative_error(const Tensor<T>& tensor, const TuckerModel<T>& model) {
    const CollectiveCall call(ranks_of(tensor.world()), "relative_error", tensor, ModelArgument{&model});
    const auto& title = state_of(tensor, "relative_error").title();
    if (tensor.extents() != model.lengths()) throw InvalidArgument("relative_error: the lengths of " + title + " and of the model differ");
    if (tensor.order() == 0) throw InvalidArgument("relative_error: " + title + " has no modes, so it has no model");
    if (tensor.size() == 0) return 0;
    const auto longest =
        static_cast<std::size_t>(std::max_element(tensor.extents().begin(), tensor.extents().end()) - tensor.extents().begin());
    const auto length = tensor.extents()[longest], step = ceil_div(length, std::min(length, difference_parts));
    const Labels labels(decompose::numbered_labels('x', tensor.order()));
    auto begin = std::vector<std::int64_t>(tensor.extents().size(), 0), end = tensor.extents();
    double error = 0, whole = 0;
    for (std::int64_t first = 0; first < length; first += step) {
        begin[longest] = first;
        end[longest] = std::min(length, first + step);
        auto part = tensor.slice(begin, end);
        if (!part.symmetry().trivial()) part = part.with_symmetry(Symmetry::none(part.order()));
        whole = std::hypot(whole, static_cast<double>(part.norm()));
        part[labels] -= reconstruct(model, begin, end)[labels];
        error = std::hypot(error, static_cast<double>(part.norm()));
    }
    return error == 0 ? 0 : error / whole;
}

template <class T>
void save_model(const TuckerModel<T>& model, const std::string& file) {
    const CollectiveCall call(ranks_of(model.world()), "save_model", ModelArgument{&model}, file);
    CheckpointWriter out(model.world(), file);
    out.set("kind", std::string(kind));
    out.set("order", model.order());
    out.add("core", model.core());
    for (std::size_t m = 0; m < model.lengths().size(); ++m)
        out.add(mode_name(m),
                decompose::factor_tensor<T>(model.world(), model.rows(m), model.factor(m), model.ranks()[m], 0, model.lengths()[m]));
    out.commit();
}

template <class T>
TuckerModel<T> load_tucker_model(const World& world, const std::string& file) {
    const CollectiveCall call(ranks_of(world), "load_tucker_model", file);
    const CheckpointReader in(world, file);
    if (!in.has_value("kind") || in.value<std::string>("kind") != kind)
        throw InvalidArgument(file + ": this checkpoint holds no Tucker model; name a file that a Tucker decomposition wrote");
    auto core = in.read<T>("core");
    std::vector<std::int64_t> lengths;
    std::vector<std::vector<std::int64_t>> rows;
    std::vector<std::vector<T>> factors;
    for (std::size_t m = 0; m < core.extents().size(); ++m) {
        const auto factor = in.read<T>(mode_name(m));
        if (factor.order() != 2 || factor.extents()[1] != core.extents()[m])
            throw InvalidArgument(file + ": the factor " + mode_name(m) + " does not fit the core; use a file of one decomposition");
        const auto length = factor.extents()[0], columns = factor.extents()[1];
        lengths.push_back(length);
        rows.emplace_back();
        std::vector<std::int64_t> keys;
        for (auto i = world.rank(); i < length; i += world.size()) {
            rows.back().push_back(i);
            for (std::int64_t c = 0; c < columns; ++c) keys.push_back(i + c * length);
        }
        factors.push_back(factor.read(keys));
    }
    return {std::move(lengths), std::move(core), std::move(rows), std::move(factors)};
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template class TuckerModel<T>;                                                                                                         \
    template Tensor<T> reconstruct(const TuckerModel<T>&, std::vector<std::int64_t>, std::vector<std::int64_t>);                           \
    template double relative_error(const Tensor<T>&, const TuckerModel<T>&);                                                               \
    template void save_model(const TuckerModel<T>&, const std::string&);                                                                   \
    template TuckerModel<T> load_tucker_model(const World&, const std::string&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
