// Reads checkpoints: rank 0 reads the contents, then every rank its slabs of elements, which are compared with their checksum.
#include "arges/checkpoint.hpp"

#include "arges/error.hpp"
#include "base/text.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/dense/tensor_state.hpp"
#include "interface/world/call_arguments.hpp"
#include "interface/world/world_state.hpp"
#include "io/checkpoint/checkpoint_contents.hpp"
#include "io/dense/slab_exchange.hpp"
#include "io/file/checksum.hpp"
#include "io/file/hdf5_handle.hpp"
#include "io/file/number_type.hpp"
#include "io/file/parallel_file.hpp"

#include <array>

namespace arges {

using namespace io;

namespace {

/// What a reader has open.
template <class State>
const State& opened(const std::unique_ptr<State>& state) {
    if (!state) throw InvalidArgument("CheckpointReader: the reader was moved from; open the checkpoint again");
    return *state;
}

/// "A, B and C" for messages.
template <class Map>
std::string names_of(const Map& map) {
    std::string text;
    for (const auto& [name, ignored] : map) text += (text.empty() ? "\"" : ", \"") + name + "\"";
    return text.empty() ? "none" : text;
}

std::string kind_of(const CheckpointValue& value) {
    return std::array{"an integer", "a number", "a text", "a vector of numbers"}[value.index()];
}

}  // namespace

struct CheckpointReader::State {
    State(const World& where, const std::string& path)
        : world(where), file(communicator_of(where, "CheckpointReader"), path),
          contents(from_first_rank(file.comm(), [&] { return read_contents(file); })) {
        for (const auto& [name, tensor] : contents.tensors) shapes.push_back(tensor.shape);
    }
    const StoredTensor& find(const std::string& name) const {
        const auto found = contents.tensors.find(name);
        if (found == contents.tensors.end())
            throw InvalidArgument(file.path() + ": the checkpoint has no tensor \"" + name + "\"; it has " + names_of(contents.tensors));
        return found->second;
    }
    const StoredTensor& find_of_type(const std::string& name, const ElementKernels& kernels) const {
        const auto& stored = find(name);
        const auto type = element_type_of(kernels);
        if (stored.shape.element != type)
            throw InvalidArgument(file.path() + ": tensor \"" + name + "\" has elements of type " + to_string(stored.shape.element) +
                                  ", not " + (type ? to_string(*type) : readable_type(kernels.name)) + "; read it as that type");
        return stored;
    }
    void load(const StoredTensor& stored, TensorState& to) const;

    World world;
    InputFile file;
    CheckpointContents contents;
    std::vector<CheckpointTensor> shapes;
};

void CheckpointReader::State::load(const StoredTensor& stored, TensorState& to) const {
    RunningChecksum sum;
    SlabExchange(SlotOrder::first_fastest).load(to, [&](const Slab& slab) {
        if (slab.bytes == 0) return;
        file.read_exactly(stored.offset + slab.first * to.kernels->size, slab.elements, slab.bytes);
        sum.add(slab.elements, slab.bytes);
    });
    if (sum.of_all(file.comm()) != stored.checksum)
        throw InvalidArgument(file.path() + ": the elements of tensor \"" + stored.shape.name +
                              "\" differ from their checksum, so the file is damaged; use an older checkpoint, or copy the file again");
}

CheckpointReader::CheckpointReader(const World& world, const std::string& path) {
    const CollectiveCall call(ranks_of(world), "CheckpointReader", path);
    const QuietHdf5 quiet;
    state_ = std::make_unique<State>(world, path);
}
CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;

const std::vector<CheckpointTensor>& CheckpointReader::tensors() const { return opened(state_).shapes; }
std::vector<std::string> CheckpointReader::value_names() const {
    std::vector<std::string> names;
    for (const auto& [name, value] : opened(state_).contents.values) names.push_back(name);
    return names;
}
bool CheckpointReader::has_tensor(const std::string& name) const { return opened(state_).contents.tensors.count(name) > 0; }
bool CheckpointReader::has_value(const std::string& name) const { return opened(state_).contents.values.count(name) > 0; }
const CheckpointTensor& CheckpointReader::tensor(const std::string& name) const { return opened(state_).find(name).shape; }

AnyTensor CheckpointReader::read(ElementType type, const std::string& name) const {
    const auto& s = opened(state_);
    const CollectiveCall call(ranks_of(s.world), "CheckpointReader::read", name);
    const StoredTensor* stored = nullptr;
    s.file.comm().agree([&] { stored = &s.find_of_type(name, element_kernels(type)); });
    const auto tensor =
        new_tensor(s.world.state()->kernels(element_kernels(type)), s.world, stored->shape.extents, stored->shape.symmetry, name);
    s.load(*stored, *tensor);
    return AnyTensor(tensor);
}

void CheckpointReader::read_into(const std::string& name, AnyTensor& tensor) const {
    const CollectiveCall call(ranks_of(opened(state_).world), "CheckpointReader::read_into", tensor, name);
    const auto& s = opened(state_);
    const StoredTensor* stored = nullptr;
    s.file.comm().agree([&] {
        const auto& state = state_of(tensor, "CheckpointReader::read_into");
        stored = &s.find_of_type(name, *state.kernels);
        if (!(state.world_handle == s.world))
            throw InvalidArgument(s.file.path() + ": tensor \"" + name + "\" is to be read into a tensor of another world; use transfer()");
        if (tensor.extents() != stored->shape.extents)
            throw InvalidArgument(s.file.path() + ": tensor \"" + name + "\" is " + extents_text(stored->shape.extents) +
                                  ", and the tensor to read into " + extents_text(tensor.extents()) +
                                  "; was the checkpoint written for other input?");
        if (tensor.symmetry() != stored->shape.symmetry)
            throw InvalidArgument(s.file.path() + ": tensor \"" + name + "\" has the symmetry " + stored->shape.symmetry.to_string() +
                                  ", and the tensor to read into " + tensor.symmetry().to_string() + "; use read(), then with_symmetry()");
    });
    s.load(*stored, state_of(tensor, "CheckpointReader::read_into"));
}

const CheckpointValue& CheckpointReader::value_like(const CheckpointValue& wanted, const std::string& name) const {
    const auto& values = opened(state_).contents.values;
    const auto found = values.find(name);
    if (found == values.end())
        throw InvalidArgument(opened(state_).file.path() + ": the checkpoint has no value \"" + name + "\"; it has " + names_of(values));
    if (found->second.index() == wanted.index()) return found->second;
    throw InvalidArgument(opened(state_).file.path() + ": value \"" + name + "\" is " + kind_of(found->second) + ", not " +
                          kind_of(wanted) + "; ask for that type");
}

}  // namespace arges
