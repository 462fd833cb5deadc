// Models in directories.
#include "arges/cpd.hpp"
#include "base/saturate.hpp"
#include "comm/collective_call.hpp"
#include "interface/real_world.hpp"
#include "interface/world_state.hpp"
#include "io/matrix_files_kruskal.hpp"

#include <algorithm>
#include <numeric>

namespace arges {

namespace {

/// This rank's part of a factor: consecutive rows, those that are zero left out, as empty slices have them.
template <class T>
void read_factor(const Communicator& comm, const std::string& path, std::int64_t length, std::int64_t components,
                 std::vector<std::int64_t>& rows, std::vector<T>& values) {
    const auto begin = part_begin(length, comm.rank(), comm.size()),
               end = part_begin(length, comm.rank() + 1, comm.size());
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(end - begin));
    std::iota(wanted.begin(), wanted.end(), begin);
    const auto all = io::read_matrix<T>(comm, path, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto row = all.begin() + static_cast<std::ptrdiff_t>(i) * components;
        if (std::all_of(row, row + components, [](T v) { return v == T(0); })) continue;
        rows.push_back(wanted[i]);
        values.insert(values.end(), row, row + components);
    }
}

}  // namespace

template <class T>
void save_model(const CpModel<T>& model, const std::string& directory, ModelForm form) {
    const CollectiveCall call(ranks_of(model.world()), "save_model", directory, form);
    const std::vector<T> weights(model.lambda().begin(), model.lambda().end());
    io::KruskalRows<T> mine{weights, model.lengths(), {}};
    for (int m = 0; m < model.order(); ++m) mine.factors.push_back({model.rows(m), model.factor(m)});
    io::write_kruskal(communicator_of(model.world(), "save_model"), directory, mine,
                      form == ModelForm::npy ? io::MatrixForm::npy : io::MatrixForm::text);
}

template <class T>
CpModel<T> load_model(const World& world, const std::string& directory) {
    const CollectiveCall call(ranks_of(world), "load_model", directory);
    const auto& comm = communicator_of(world, "load_model");
    const auto shape = io::kruskal_shape(comm, directory);
    std::vector<std::int64_t> weight_rows(static_cast<std::size_t>(shape.weight_rows));
    std::iota(weight_rows.begin(), weight_rows.end(), 0);
    const auto weights = io::read_matrix<T>(comm, shape.paths[0], weight_rows);
    std::vector<std::vector<std::int64_t>> rows(shape.lengths.size());
    std::vector<std::vector<T>> factors(shape.lengths.size());
    for (std::size_t m = 0; m < shape.lengths.size(); ++m)
        read_factor(comm, shape.paths[m + 1], shape.lengths[m], shape.components, rows[m], factors[m]);
    return {world, shape.lengths, {weights.begin(), weights.end()}, std::move(rows), std::move(factors)};
}

#define ARGES_INSTANTIATE(T)                                                        \
    template void save_model(const CpModel<T>&, const std::string&, ModelForm);     \
    template CpModel<T> load_model(const World&, const std::string&);
ARGES_INSTANTIATE(float)
ARGES_INSTANTIATE(double)

}  // namespace arges
