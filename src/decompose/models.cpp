// The models of CP and Tucker decompositions: their rows, tensors made from them, and their files.
#include "arges/checkpoint.hpp"
#include "arges/cpd.hpp"
#include "arges/error.hpp"
#include "arges/tucker.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
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
                 std::vector<T>& values) {
    const auto begin = part_begin(shape.rows[mode], comm.rank(), comm.size()),
               end = part_begin(shape.rows[mode], comm.rank() + 1, comm.size());
    const auto numbers = row_numbers(comm, shape, mode, begin, end);
    std::vector<std::int64_t> wanted;
    comm.agree([&] { wanted.resize(numbers.size()); });
    std::iota(wanted.begin(), wanted.end(), begin);
    const auto all = io::read_matrix<T>(comm, shape.paths[mode + 1], wanted);
    comm.agree([&] {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto row = all.begin() + i * shape.components;
            if (std::all_of(row, row + shape.components, [](T v) { return v == T(0); })) continue;
            rows.push_back(numbers[i]);
            values.insert(values.end(), row, row + shape.components);
        }
    });
}

constexpr std::int64_t difference_parts = 16;
const char* const tucker_title = "Tucker model";

/// Labels {"x1", "y1"} of the factor of a mode.
Labels factor_labels(int mode) { return std::vector<std::string>{"x" + std::to_string(mode + 1), "y" + std::to_string(mode + 1)}; }

std::string mode_name(std::size_t mode) { return "mode_" + std::to_string(mode + 1); }

}  // namespace

template <class T>
CpModel<T>::CpModel(World world, std::vector<std::int64_t> lengths, std::vector<double> lambda, std::vector<std::vector<std::int64_t>> rows,
                    std::vector<std::vector<T>> factors)
    : world_(std::move(world)), lengths_(std::move(lengths)), lambda_(std::move(lambda)), rows_(std::move(rows)),
      factors_(std::move(factors)) {
    world_.size();  // refuses World::outside()
    decompose::check_rows<T>(cp_title, lengths_, std::vector<std::int64_t>(lengths_.size(), std::ssize(lambda_)), rows_, factors_);
}

template <class T>
const std::vector<std::int64_t>& CpModel<T>::rows(int mode) const {
    return rows_[decompose::checked_mode(cp_title, mode, order())];
}

template <class T>
const std::vector<T>& CpModel<T>::factor(int mode) const {
    return factors_[decompose::checked_mode(cp_title, mode, order())];
}

template <class T>
std::vector<T> CpModel<T>::gather(int mode) const {
    const CollectiveCall call(ranks_of(world_), "CpModel::gather", ModelArgument{this}, mode);
    const auto& comm = communicator_of(world_, cp_title);
    std::size_t m = 0;
    comm.agree([&] { m = decompose::checked_mode(cp_title, mode, order()); });
    return decompose::gathered_rows<T>(comm, rows_[m], factors_[m], lengths_[m], rank());
}

template <class T>
Tensor<T> reconstruct(const CpModel<T>& model, std::vector<std::int64_t> begin, std::vector<std::int64_t> end) {
    const CollectiveCall call(ranks_of(model.world()), "reconstruct", ModelArgument{&model}, begin, end);
    const auto ranges = decompose::checked_ranges(cp_title, model.lengths(), {std::move(begin), std::move(end)});
    if (model.order() == 0) throw InvalidArgument(std::string(cp_title) + ": it has no modes, so there is nothing to reconstruct");
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

template <class T>
void save_model(const CpModel<T>& model, const std::string& directory, ModelForm form) {
    const CollectiveCall call(ranks_of(model.world()), "save_model", ModelArgument{&model}, directory, form);
    const std::vector<T> weights(model.lambda().begin(), model.lambda().end());
    io::KruskalRows mine{io::MatrixRows::contiguous(0, weights, 1), model.lengths(), {}};
    for (int m = 0; m < model.order(); ++m) mine.factors.emplace_back(model.rows(m), model.factor(m));
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
    std::vector<std::vector<T>> factors(shape.lengths.size());
    for (std::size_t m = 0; m < shape.lengths.size(); ++m) read_factor(comm, shape, m, rows[m], factors[m]);
    return {world, shape.lengths, {weights.begin(), weights.end()}, std::move(rows), std::move(factors)};
}

template <class T>
TuckerModel<T>::TuckerModel(std::vector<std::int64_t> lengths, Tensor<T> core, std::vector<std::vector<std::int64_t>> rows,
                            std::vector<std::vector<T>> factors)
    : lengths_(std::move(lengths)), core_(std::move(core)), rows_(std::move(rows)), factors_(std::move(factors)) {
    if (lengths_.empty() && !core_.state()) return;  // no model yet
    if (core_.extents().size() != lengths_.size())
        throw InvalidArgument(std::string(tucker_title) + ": a core of order " + std::to_string(core_.order()) + " for " +
                              std::to_string(lengths_.size()) + " lengths; give a length for each mode of the core");
    decompose::check_rows<T>(tucker_title, lengths_, ranks(), rows_, factors_);
}

template <class T>
const std::vector<std::int64_t>& TuckerModel<T>::rows(int mode) const {
    return rows_[decompose::checked_mode(tucker_title, mode, order())];
}

template <class T>
const std::vector<T>& TuckerModel<T>::factor(int mode) const {
    return factors_[decompose::checked_mode(tucker_title, mode, order())];
}

template <class T>
std::vector<T> TuckerModel<T>::gather(int mode) const {
    const CollectiveCall call(ranks_of(world()), "TuckerModel::gather", ModelArgument{this}, mode);
    const auto& comm = communicator_of(world(), tucker_title);
    std::size_t m = 0;
    comm.agree([&] { m = decompose::checked_mode(tucker_title, mode, order()); });
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
    const auto ranges = decompose::checked_ranges(tucker_title, model.lengths(), {std::move(begin), std::move(end)});
    std::vector<std::int64_t> extents;
    if (model.order() == 0) throw InvalidArgument(std::string(tucker_title) + ": it has no modes, so there is nothing to reconstruct");
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
