#include "io/matrix_files_kruskal.hpp"

#include "arges/error.hpp"
#include "io/tns_writer.hpp"

#include <filesystem>

namespace arges::io {

namespace {

namespace fs = std::filesystem;

std::string file_name(int mode, MatrixForm form) {
    return (mode == 0 ? std::string("lambda") : "mode_" + std::to_string(mode)) + (form == MatrixForm::npy ? ".npy" : ".txt");
}

template <class T>
std::string description(const KruskalRows<T>& tensor, MatrixForm form) {
    const auto quote = [](const std::string& text) { return "\"" + text + "\""; };
    std::string lengths, factors;
    for (std::size_t m = 0; m < tensor.lengths.size(); ++m) {
        lengths += (m == 0 ? "" : ", ") + std::to_string(tensor.lengths[m]);
        factors += (m == 0 ? "" : ", ") + quote(file_name(static_cast<int>(m) + 1, form));
    }
    return "{\n  \"kind\": \"Kruskal tensor\",\n"
           "  \"meaning\": \"X(i1,...,iN) = sum over r of lambda(r) mode_1(i1,r) ... mode_N(iN,r)\",\n"
           "  \"order\": " +
           std::to_string(tensor.lengths.size()) + ",\n  \"components\": " + std::to_string(tensor.weights.size()) +
           ",\n  \"lengths\": [" + lengths + "],\n  \"element_type\": " + quote(sizeof(T) == 4 ? "float32" : "float64") +
           ",\n  \"weights\": " + quote(file_name(0, form)) + ",\n  \"factors\": [" + factors + "]\n}\n";
}

/// Removes what an older set has and this one has not. On one rank.
void remove_older(const std::string& folder, int order, MatrixForm form) {
    const auto other = form == MatrixForm::npy ? MatrixForm::text : MatrixForm::npy;
    std::error_code ignored;
    for (int mode = 0; mode <= order; ++mode) fs::remove(kruskal_path(folder, mode, other), ignored);
    for (auto each : {form, other})
        for (int mode = order + 1; fs::remove(kruskal_path(folder, mode, each), ignored); ++mode) {}
}

}  // namespace

std::string kruskal_path(const std::string& folder, int mode, MatrixForm form) {
    return (fs::path(folder) / file_name(mode, form)).string();
}

template <class T>
void write_kruskal(const Communicator& comm, const std::string& folder, const KruskalRows<T>& mine, MatrixForm form) {
    comm.agree([&] {
        if (mine.factors.size() != mine.lengths.size())
            throw InvalidArgument(folder + ": " + std::to_string(mine.factors.size()) + " factors for " +
                                  std::to_string(mine.lengths.size()) + " modes");
        if (comm.rank() != 0) return;
        std::error_code code;
        fs::create_directories(folder, code);
        if (!fs::is_directory(folder))
            throw InvalidArgument(folder + ": the folder cannot be made" + (code ? " (" + code.message() + ")" : "") +
                                  "; name one that may be written");
    });
    const auto components = static_cast<std::int64_t>(mine.weights.size());
    std::vector<std::unique_ptr<OutputFile>> files;
    for (std::size_t m = 0; m < mine.factors.size(); ++m)
        files.push_back(prepare_matrix(comm, kruskal_path(folder, static_cast<int>(m) + 1, form), {mine.lengths[m], components},
                                       mine.factors[m], form));
    const auto weights = MatrixRows<T>::contiguous(0, comm.rank() == 0 ? mine.weights : std::span<const T>(), 1);
    files.push_back(prepare_matrix(comm, kruskal_path(folder, 0, form), {components, 1}, weights, form));
    files.push_back(prepare_text(comm, (fs::path(folder) / "description.json").string(), false,
                                 [&](const std::function<void(std::string_view)>& take) {
                                     if (comm.rank() == 0) take(description(mine, form));
                                 }));
    for (auto& file : files) file->publish();
    if (comm.rank() == 0) remove_older(folder, static_cast<int>(mine.lengths.size()), form);
    comm.barrier();
}

KruskalShape kruskal_shape(const Communicator& comm, const std::string& folder) {
    KruskalShape shape;
    std::int64_t found[2] = {0, 0};  // order, form
    comm.agree([&] {
        if (comm.rank() != 0) return;
        if (!fs::is_directory(folder)) throw InvalidArgument(folder + ": there is no such folder; check the path");
        const bool binary = fs::exists(kruskal_path(folder, 0, MatrixForm::npy));
        const auto form = binary ? MatrixForm::npy : MatrixForm::text;
        if (!fs::exists(kruskal_path(folder, 0, form)) || !fs::exists(kruskal_path(folder, 1, form)))
            throw InvalidArgument(folder + ": there is no " + file_name(0, form) + " with " + file_name(1, form) +
                                  "; name a folder that a decomposition wrote");
        while (fs::exists(kruskal_path(folder, static_cast<int>(found[0]) + 1, form))) ++found[0];
        found[1] = binary ? 1 : 0;
    });
    comm.broadcast(found, sizeof found, 0);
    shape.form = found[1] == 1 ? MatrixForm::npy : MatrixForm::text;
    const auto weights = matrix_shape(comm, kruskal_path(folder, 0, shape.form));
    shape.components = weights.rows;
    for (int mode = 1; mode <= found[0]; ++mode) {
        const auto path = kruskal_path(folder, mode, shape.form);
        const auto factor = matrix_shape(comm, path);
        shape.lengths.push_back(factor.rows);
        if (factor.columns != shape.components || weights.columns != 1)
            throw InvalidArgument(path + ": " + std::to_string(factor.columns) + " columns, but there are " +
                                  std::to_string(shape.components) + " weights in " + file_name(0, shape.form) +
                                  "; use files of one decomposition");
    }
    return shape;
}

template void write_kruskal(const Communicator&, const std::string&, const KruskalRows<float>&, MatrixForm);
template void write_kruskal(const Communicator&, const std::string&, const KruskalRows<double>&, MatrixForm);

}  // namespace arges::io
