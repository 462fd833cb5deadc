// Models in directories.
#include "arges/cpd.hpp"
#include "arges/error.hpp"
#include "base/math.hpp"
#include "comm/collective_call.hpp"
#include "decompose/model_arguments.hpp"
#include "interface/world_state.hpp"
#include "io/model/matrix_files_kruskal.hpp"

#include <algorithm>
#include <numeric>

namespace arges {

namespace {

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

}  // namespace

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

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template void save_model(const CpModel<T>&, const std::string&, ModelForm);                                                            \
    template CpModel<T> load_model(const World&, const std::string&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)
#undef ARGES_INSTANTIATE

}  // namespace arges
