// The models of CP and Tucker decompositions: their rows, tensors made from them, and their files.
#include "arges/checkpoint.hpp"
#include "arges/cpd.hpp"
#include "arges/error.hpp"
#include "arges/tucker.hpp"
#include "base/buffer.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "decompose/factor_tensor.hpp"
#include "decompose/model_arguments.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/world/world_state.hpp"
#include "io/model/matrix_files_kruskal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace arges {

namespace {

const char* const cp_title = "CP model";

/// Numbers of the rows that stand in the places begin to end - 1 of a factor's file. Collective.
/// @throws InvalidArgument on every rank if they do not ascend within the mode
std::vector<std::int64_t> row_numbers(const Communicator& comm, const io::KruskalShape& shape, std::size_t mode, std::int64_t begin,
                                      std::int64_t end) {
    const auto& list = shape.row_lists[mode];
    const auto before = list.empty() || begin == 0 || begin == end ? begin : begin - 1;  // whoever comes before is compared, too
    std::vector<std::int64_t> numbers;
    comm.agree([&] { numbers.resize(end - before); });
    std::iota(numbers.begin(), numbers.end(), before);
    if (list.empty()) return numbers;
    numbers = io::read_matrix<std::int64_t>(comm, list, numbers);
    comm.agree([&] {
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (numbers[i] < 0 || numbers[i] >= shape.lengths[mode] || (i > 0 && numbers[i] <= numbers[i - 1]))
                throw InvalidArgument(list + ": number " + std::to_string(before + static_cast<std::int64_t>(i) + 1) + " is " +
                                      std::to_string(numbers[i]) + (i > 0 ? " after " + std::to_string(numbers[i - 1]) : "") +
                                      "; the rows of a mode of " + std::to_string(shape.lengths[mode]) +
                                      " are counted from 0, in ascending order");
    });
    numbers.erase(numbers.begin(), numbers.begin() + (begin - before));
    return numbers;
}

/// This rank's part of a factor: rows that stand together in its file, those that are zero left out, as empty slices have them.
template <class T>
void read_factor(const Communicator& comm, const io::KruskalShape& shape, std::size_t mode, std::vector<std::int64_t>& rows,
                 std::vector<T>& values, std::vector<T>& biases) {
    const auto begin = part_begin(shape.rows[mode], comm.rank(), comm.size()),
               end = part_begin(shape.rows[mode], comm.rank() + 1, comm.size());
    const auto numbers = row_numbers(comm, shape, mode, begin, end);
    std::vector<std::int64_t> wanted;
    comm.agree([&] { wanted.resize(numbers.size()); });
    std::iota(wanted.begin(), wanted.end(), begin);
    const auto all = io::read_matrix<T>(comm, shape.paths[mode + 1], wanted);
    const auto beside = shape.biases.empty() ? std::vector<T>() : io::read_matrix<T>(comm, shape.biases[mode], wanted);
    comm.agree([&] {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto row = all.begin() + i * shape.components;
            if (std::all_of(row, row + shape.components, [](T v) { return v == T(0); }) && (beside.empty() || beside[i] == T(0))) continue;
            if (!beside.empty()) biases.push_back(beside[i]);
            rows.push_back(numbers[i]);
            values.insert(values.end(), row, row + shape.components);
        }
    });
}

constexpr std::int64_t difference_parts = 16;
const char* const tucker_title = "Tucker model";

template <class T>
std::vector<std::int64_t> columns_of(const CpModel<T>& model) {
    return std::vector<std::int64_t>(model.order(), model.rank());
}
template <class T>
const std::vector<std::int64_t>& columns_of(const TuckerModel<T>& model) {
    return model.ranks();
}

/// The elements of a model in some ranges: `product` times the rows of all factors that are there.
/// @param labels  of the factors' columns
/// @param weights of the first factor's columns; none: all are 1
template <class T, class Model>
Tensor<T> product_with_factors(const Model& model, const char* title, decompose::IndexRanges ranges, Expression<T> product,
                               const std::vector<std::string>& labels, const std::vector<double>& weights) {
    ranges = decompose::checked_ranges(title, model.lengths(), std::move(ranges));
    if (model.order() == 0) throw InvalidArgument(std::string(title) + ": it has no modes, so there is nothing to reconstruct");
    const auto rows = decompose::numbered_labels('x', model.order());
    const auto columns = columns_of(model);
    std::vector<std::int64_t> extents;
    for (std::size_t m = 0; m < rows.size(); ++m) {
        auto values = model.factor(m);
        for (std::size_t x = 0; m == 0 && !weights.empty() && x < values.size(); ++x)
            values[x] *= static_cast<T>(weights[x % weights.size()]);
        const auto factor = decompose::factor_tensor<T>(model.world(), model.rows(m), values, columns[m], ranges.begin[m], ranges.end[m]);
        extents.push_back(factor.extents()[0]);
        product = product * factor[Labels(std::vector<std::string>{rows[m], labels[m]})];
    }
    Tensor<T> result(model.world(), extents, "model");
    result[Labels(rows)] = product;
    return result;
}

std::string mode_name(std::size_t mode) { return "mode_" + std::to_string(mode + 1); }

}  // namespace

template <class T>
void ModelFactors<T>::check(const std::vector<std::int64_t>& columns) const {
    std::vector<std::int64_t> values;
    for (const auto& factor : factors_) values.push_back(std::ssize(factor));
    decompose::check_rows(title_, lengths_, columns, rows_, values);
}

template <class T>
const std::vector<std::int64_t>& ModelFactors<T>::rows(int mode) const {
    return rows_[decompose::checked_mode(title_, mode, order())];
}

template <class T>
const std::vector<T>& ModelFactors<T>::factor(int mode) const {
    return factors_[decompose::checked_mode(title_, mode, order())];
}

template <class T>
std::vector<T> ModelFactors<T>::gathered(const World& world, int mode, const std::vector<std::int64_t>& columns) const {
    const auto& comm = communicator_of(world, title_);
    std::size_t m = 0;
    comm.agree([&] { m = decompose::checked_mode(title_, mode, order()); });
    const auto rows = arges::gathered(comm, rows_[m]);
    const auto values = arges::gathered(comm, factors_[m]);
    std::vector<T> result;
    comm.agree([&] {
        if (std::ssize(values) != std::ssize(rows) * columns[m])
            throw InvalidArgument("model: the ranks have rows of different lengths; give the same components on all");
        const auto elements = saturated_product(lengths_[m], columns[m]);
        result.assign(static_cast<std::size_t>(array_bytes(elements, sizeof(T))) / sizeof(T), T(0));
    });
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy_n(values.begin() + static_cast<std::int64_t>(i) * columns[m], columns[m], result.begin() + rows[i] * columns[m]);
    return result;
}

template <class T>
CpModel<T>::CpModel(World world, std::vector<std::int64_t> lengths, std::vector<double> lambda, std::vector<std::vector<std::int64_t>> rows,
                    std::vector<std::vector<T>> factors)
    : ModelFactors<T>(cp_title, std::move(lengths), std::move(rows), std::move(factors)), world_(std::move(world)),
      lambda_(std::move(lambda)) {
    world_.size();  // refuses World::outside()
    this->check(columns_of(*this));
}

template <class T>
std::vector<T> CpModel<T>::gather(int mode) const {
    const CollectiveCall call(ranks_of(world_), "CpModel::gather", ModelArgument{this}, mode);
    return this->gathered(world_, mode, columns_of(*this));
}

template <class T>
const std::vector<T>& CpModel<T>::bias(int mode) const {
    static const std::vector<T> none;
    const auto m = decompose::checked_mode(cp_title, mode, this->order());
    return biases_.empty() ? none : biases_[m];
}

template <class T>
std::vector<T> CpModel<T>::gather_bias(int mode) const {
    const CollectiveCall call(ranks_of(world_), "CpModel::gather_bias", ModelArgument{this}, mode);
    const auto& comm = communicator_of(world_, cp_title);
    std::size_t m = 0;
    comm.agree([&] { m = decompose::checked_mode(cp_title, mode, this->order()); });
    const auto rows = arges::gathered(comm, has_biases() ? this->rows(mode) : std::vector<std::int64_t>());
    const auto values = arges::gathered(comm, bias(mode));
    std::vector<T> result;
    comm.agree([&] {
        if (rows.size() != values.size())
            throw InvalidArgument(std::string(cp_title) + ": some ranks have biases, and others none; give them on all");
        result.assign(static_cast<std::size_t>(array_bytes(this->lengths()[m], sizeof(T))) / sizeof(T), T(0));
        for (std::size_t i = 0; i < rows.size(); ++i) result[static_cast<std::size_t>(rows[i])] = values[i];
    });
    return result;
}

template <class T>
void CpModel<T>::set_biases(double mean, std::vector<std::vector<T>> biases) {
    bool fits = std::ssize(biases) == this->order();
    for (std::size_t m = 0; fits && m < biases.size(); ++m) fits = biases[m].size() == this->rows(static_cast<int>(m)).size();
    if (!fits) throw InvalidArgument(std::string(cp_title) + ": the biases are not as many as rows; give one for each row of each mode");
    mean_ = mean;
    biases_ = std::move(biases);
}

template <class T>
Tensor<T> reconstruct(const CpModel<T>& model, std::vector<std::int64_t> begin, std::vector<std::int64_t> end) {
    const CollectiveCall call(ranks_of(model.world()), "reconstruct", ModelArgument{&model}, begin, end);
    const auto ranges = decompose::checked_ranges(cp_title, model.lengths(), {std::move(begin), std::move(end)});
    auto result =
        product_with_factors(model, cp_title, ranges, Expression<T>(T(1)), std::vector<std::string>(model.order(), "r"), model.lambda());
    if (!model.has_biases()) return result;
    const auto labels = decompose::numbered_labels('x', model.order());
    std::vector<Tensor<T>> ones;
    for (auto n : result.extents()) ones.emplace_back(model.world(), std::vector<std::int64_t>{n}, "ones").fill(T(1));
    Tensor<T> one(model.world(), std::vector<std::int64_t>{1}, "one");
    one.fill(T(1));
    Expression<T> mean(static_cast<T>(model.mean()));
    for (std::size_t k = 0; k < labels.size(); ++k) mean = mean * ones[k][Labels(std::vector<std::string>{labels[k]})];
    result[Labels(labels)] += mean;
    for (std::size_t m = 0; m < labels.size(); ++m) {
        const auto bias = decompose::factor_tensor<T>(model.world(), model.rows(static_cast<int>(m)), model.bias(static_cast<int>(m)), 1,
                                                      ranges.begin[m], ranges.end[m]);
        Expression<T> term = bias[Labels(std::vector<std::string>{labels[m], "one"})] * one[Labels(std::vector<std::string>{"one"})];
        for (std::size_t k = 0; k < labels.size(); ++k)
            if (k != m) term = term * ones[k][Labels(std::vector<std::string>{labels[k]})];
        result[Labels(labels)] += term;
    }
    return result;
}

template <class T>
void save_model(const CpModel<T>& model, const std::string& directory, ModelForm form) {
    const CollectiveCall call(ranks_of(model.world()), "save_model", ModelArgument{&model}, directory, form);
    const std::vector<T> weights(model.lambda().begin(), model.lambda().end());
    io::KruskalRows mine{io::MatrixRows::contiguous(0, weights, 1), model.lengths(), {}};
    for (int m = 0; m < model.order(); ++m) {
        mine.factors.emplace_back(model.rows(m), model.factor(m));
        if (model.has_biases()) mine.biases.emplace_back(model.rows(m), model.bias(m));
    }
    mine.mean = model.mean();
    io::write_kruskal(communicator_of(model.world(), "save_model"), directory, mine,
                      form == ModelForm::npy ? io::MatrixForm::npy : io::MatrixForm::text);
}

template <class T>
CpModel<T> load_model(const World& world, const std::string& directory) {
    const CollectiveCall call(ranks_of(world), "load_model", directory);
    const auto& comm = communicator_of(world, "load_model");
    const auto shape = io::kruskal_shape(comm, directory);
    std::vector<std::int64_t> weight_rows(shape.weight_rows);
    std::iota(weight_rows.begin(), weight_rows.end(), 0);
    const auto weights = io::read_matrix<T>(comm, shape.paths[0], weight_rows);
    std::vector<std::vector<std::int64_t>> rows(shape.lengths.size());
    std::vector<std::vector<T>> factors(shape.lengths.size()), biases(shape.lengths.size());
    for (std::size_t m = 0; m < shape.lengths.size(); ++m) read_factor(comm, shape, m, rows[m], factors[m], biases[m]);
    CpModel<T> model(world, shape.lengths, {weights.begin(), weights.end()}, std::move(rows), std::move(factors));
    if (!shape.biases.empty()) model.set_biases(shape.mean, std::move(biases));
    return model;
}

template <class T>
TuckerModel<T>::TuckerModel(std::vector<std::int64_t> lengths, Tensor<T> core, std::vector<std::vector<std::int64_t>> rows,
                            std::vector<std::vector<T>> factors)
    : ModelFactors<T>(tucker_title, std::move(lengths), std::move(rows), std::move(factors)), core_(std::move(core)) {
    if (this->order() == 0 && !core_.state()) return;  // no model yet
    if (core_.order() != this->order())
        throw InvalidArgument(std::string(tucker_title) + ": a core of order " + std::to_string(core_.order()) + " for " +
                              std::to_string(this->order()) + " lengths; give a length for each mode of the core");
    this->check(ranks());
}

template <class T>
std::vector<T> TuckerModel<T>::gather(int mode) const {
    const CollectiveCall call(ranks_of(world()), "TuckerModel::gather", ModelArgument{this}, mode);
    return this->gathered(world(), mode, ranks());
}

template <class T>
double TuckerModel<T>::compression() const {
    double whole = 1, kept = 1, factors = 0;
    for (std::size_t m = 0; m < ranks().size(); ++m) {
        whole *= this->lengths()[m];
        kept *= ranks()[m];
        factors += static_cast<double>(this->lengths()[m]) * ranks()[m];
    }
    return whole / (kept + factors);
}

template <class T>
Tensor<T> reconstruct(const TuckerModel<T>& model, std::vector<std::int64_t> begin, std::vector<std::int64_t> end) {
    const CollectiveCall call(ranks_of(model.world()), "reconstruct", ModelArgument{&model}, begin, end);
    auto labels = decompose::numbered_labels('y', model.order());
    Expression<T> core = model.core()[Labels(labels)];
    return product_with_factors(model, tucker_title, {std::move(begin), std::move(end)}, std::move(core), labels, {});
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
std::map<int, std::int64_t> listed_modes(const CpModel<T>& model) {
    const CollectiveCall call(ranks_of(model.world()), "listed_modes", ModelArgument{&model});
    std::map<int, std::int64_t> listed;
    for (int m = 0; m < model.order(); ++m) {
        const auto rows = model.world().sum(std::ssize(model.rows(m)));
        if (io::is_listed(model.lengths()[m], rows)) listed[m + 1] = rows;
    }
    return listed;
}

template <class T>
void save_model(const TuckerModel<T>& model, const std::string& file) {
    const CollectiveCall call(ranks_of(model.world()), "save_model", ModelArgument{&model}, file);
    CheckpointWriter out(model.world(), file);
    out.set("kind", std::string(tucker_title));
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
    if (!in.has_value("kind") || in.value<std::string>("kind") != tucker_title)
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
    template class ModelFactors<T>;                                                                                                        \
    template class CpModel<T>;                                                                                                             \
    template Tensor<T> reconstruct(const CpModel<T>&, std::vector<std::int64_t>, std::vector<std::int64_t>);                               \
    template void save_model(const CpModel<T>&, const std::string&, ModelForm);                                                            \
    template std::map<int, std::int64_t> listed_modes(const CpModel<T>&);                                                                  \
    template CpModel<T> load_model(const World&, const std::string&);                                                                      \
    template class TuckerModel<T>;                                                                                                         \
    template Tensor<T> reconstruct(const TuckerModel<T>&, std::vector<std::int64_t>, std::vector<std::int64_t>);                           \
    template double relative_error(const Tensor<T>&, const TuckerModel<T>&);                                                               \
    template void save_model(const TuckerModel<T>&, const std::string&);                                                                   \
    template TuckerModel<T> load_tucker_model(const World&, const std::string&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
