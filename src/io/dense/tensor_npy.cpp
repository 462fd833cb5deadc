// Dense tensors as .npy files.
#include "arges/tensor_io.hpp"
#include "comm/collective_call.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/world/world_state.hpp"
#include "io/dense/slab_exchange.hpp"
#include "io/dense/tensor_files.hpp"
#include "io/file/npy_array.hpp"
#include "layout/layout.hpp"

#include <algorithm>

namespace arges {

using namespace io;

namespace {

/// Bytes on each rank of a part of a symmetric tensor that is unpacked at once.
constexpr std::int64_t part_bytes = std::int64_t{1} << 26;

/// Writes a tensor whose slots are its dimensions, in their order, from element `begin` of the file on. Collective.
void store(const TensorState& tensor, OutputFile& file, std::int64_t data, std::int64_t begin) {
    SlabExchange(SlotOrder::first_fastest).store(tensor, [&](const Slab& slab) {
        if (slab.count > 0) file.write(data + (begin + slab.first) * tensor.kernels->size, slab.elements, slab.bytes);
    });
}

/// Writes any tensor, some indices of the last dimension after the others. Collective.
void store_in_parts(const AnyTensor& tensor, OutputFile& file, std::int64_t data) {
    const auto& extents = tensor.extents();
    const auto length = extents.back(), others = length == 0 ? 0 : tensor.size() / length;
    if (others == 0) return;
    const auto budget = part_bytes / tensor.kernels().size * tensor.world().size();
    const auto step = std::clamp<std::int64_t>(budget / others, 1, length);
    std::vector<std::int64_t> begin(extents.size(), 0), end = extents;
    for (std::int64_t first = 0; first < length; first += step) {
        begin.back() = first;
        end.back() = std::min(first + step, length);
        store(*tensor.slice(begin, end).with_symmetry(Symmetry::none(tensor.order())).dense_state(), file, data, first * others);
    }
}

}  // namespace

void write_npy(const AnyTensor& tensor, const std::string& path) {
    const auto& state = state_of(tensor, "write_npy");
    const CollectiveCall call(ranks_of(state.world_handle), "write_npy", state, path);
    const auto& comm = communicator_of(state.world_handle, path);
    require_floating(*state.kernels, path);
    const auto header = npy_array_header({number_type_of(*element_type_of(*state.kernels)), true, tensor.extents()});
    const auto data = std::ssize(header);
    OutputFile file(comm, path);
    comm.agree([&] {
        if (comm.rank() == 0) file.write(0, header.data(), header.size());
    });
    if (is_plain(state.shape()))
        store(state, file, data, 0);
    else
        store_in_parts(tensor, file, data);
    file.commit();
}

}  // namespace arges
