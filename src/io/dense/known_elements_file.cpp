#include "arges/known_elements.hpp"
#include "arges/tensor_io.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/sparse/sparse_state.hpp"
#include "interface/sparse/sparse_tensor_slices.hpp"

#include <filesystem>
#include <system_error>

namespace arges {

namespace {

/// Of FILE:/dataset that of FILE.
std::int64_t bytes_of_file(const std::string& path) {
    std::error_code unknown;
    auto size = std::filesystem::file_size(path, unknown);
    if (unknown) size = std::filesystem::file_size(path.substr(0, path.find(":/")), unknown);
    return unknown ? 0 : static_cast<std::int64_t>(size);
}

template <class T>
AnyTensor known_elements_of(const World& world, const std::string& path, MissingElements missing) {
    return known_elements(read_tensor<T>(world, path), missing);
}

}  // namespace

AnyTensor read_known_elements(ElementType type, const World& world, const std::string& path, MissingElements missing, ReadReport& report) {
    const CollectiveCall call(ranks_of(world), "read_known_elements", path, type, missing);
    const auto& comm = communicator_of(world, path);
    report = {};
    report.form = tensor_file_info(world, path).form;
    report.bytes = from_first_rank(comm, [&] { return bytes_of_file(path); });
    auto tensor =
        type == ElementType::float32 ? known_elements_of<float>(world, path, missing) : known_elements_of<double>(world, path, missing);
    report.lengths = tensor.extents();
    report.entries = tensor.stored();
    const auto pattern = sparse_state_of(tensor, "read_known_elements").pattern();
    for (const auto& column : pattern->indices) report.nonempty_slices.push_back(nonempty_slices(comm, column).total());
    return tensor;
}

}  // namespace arges
