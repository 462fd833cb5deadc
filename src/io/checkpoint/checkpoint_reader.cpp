// Reads checkpoints: rank 0 reads the contents, then every rank its slabs of elements, which are compared with their checksum.
#include "arges/checkpoint.hpp"

#include "arges/error.hpp"
#include "base/instantiate.hpp"
#include "comm/collective_call.hpp"
#include "comm/values.hpp"
#include "interface/call_arguments.hpp"
#include "interface/tensor_state.hpp"
#include "interface/world_state.hpp"
#include "io/checkpoint/checkpoint_contents.hpp"
#include "io/dense/slab_exchange.hpp"
#include "io/file/checksum.hpp"
#include "io/file/hdf5_handle.hpp"
#include "io/file/number_type.hpp"
#include "io/file/parallel_file.hpp"

#include <algorithm>

namespace arges {

using namespace io;

namespace {

/// What rank 0 finds, on all ranks. Collective.
CheckpointContents contents_of(const InputFile& file) {
    return CheckpointContents::from_bytes(from_first_rank(file.comm(), [&] { return read_contents(file).bytes(); }));
}

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

template <class V>
constexpr const char* kind_of() {
    if constexpr (std::is_same_v<V, std::int64_t>) return "an integer";
    if constexpr (std::is_same_v<V, double>) return "a number";
    if constexpr (std::is_same_v<V, std::string>) return "a text";
    return "a vector of numbers";
}

}  // namespace

std::string to_string(ElementType type) { return number_type_of(type).name(); }

struct CheckpointReader::State {
    State(const World& where, const std::string& path)
        : world(where), file(communicator_of(where, "CheckpointReader"), path), contents(contents_of(file)) {
        for (const auto& [name, tensor] : contents.tensors) shapes.push_back(tensor.shape);
    }
    const StoredTensor& find(const std::string& name) const {
        const auto found = contents.tensors.find(name);
        if (found == contents.tensors.end())
            throw InvalidArgument(file.path() + ": the checkpoint has no tensor \"" + name + "\"; it has " + names_of(contents.tensors));
        return found->second;
    }
    template <class T>
    const StoredTensor& find_of_type(const std::string& name) const {
        const auto& stored = find(name);
        if (stored.shape.element != element_type_of<T>())
            throw InvalidArgument(file.path() + ": tensor \"" + name + "\" has elements of type " + to_string(stored.shape.element) +
                                  ", not " + to_string(element_type_of<T>()) + "; read it as that type");
        return stored;
    }
    template <class T>
    void load(const StoredTensor& stored, TensorState& to) const;

    World world;
    InputFile file;
    CheckpointContents contents;
    std::vector<CheckpointTensor> shapes;
};

template <class T>
void CheckpointReader::State::load(const StoredTensor& stored, TensorState& to) const {
    RunningChecksum sum;
    SlabExchange(SlotOrder::first_fastest).load<T>(to, [&](const Slab<T>& slab) {
        const auto bytes = static_cast<std::size_t>(slab.count) * sizeof(T);
        if (bytes == 0) return;
        file.read_exactly(stored.offset + slab.first * std::int64_t{sizeof(T)}, slab.values, bytes);
        sum.add(slab.values, bytes);
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

template <class T>
Tensor<T> CheckpointReader::read(const std::string& name) const {
    const CollectiveCall call(ranks_of(opened(state_).world), "CheckpointReader::read", name);
    const StoredTensor* stored = nullptr;
    opened(state_).file.comm().agree([&] { stored = &opened(state_).find_of_type<T>(name); });
    Tensor<T> tensor(opened(state_).world, stored->shape.extents, stored->shape.symmetry, name);
    opened(state_).load<T>(*stored, state_of(tensor, "CheckpointReader::read"));
    return tensor;
}

template <class T>
void CheckpointReader::read_into(const std::string& name, Tensor<T>& tensor) const {
    const CollectiveCall call(ranks_of(opened(state_).world), "CheckpointReader::read_into", tensor, name);
    const auto& s = opened(state_);
    const StoredTensor* stored = nullptr;
    s.file.comm().agree([&] {
        stored = &s.find_of_type<T>(name);
        if (!(state_of(tensor, "CheckpointReader::read_into").world_handle == s.world))
            throw InvalidArgument(s.file.path() + ": tensor \"" + name + "\" is to be read into a tensor of another world; use transfer()");
        if (tensor.extents() != stored->shape.extents)
            throw InvalidArgument(s.file.path() + ": tensor \"" + name + "\" is " + extents_text(stored->shape.extents) +
                                  ", and the tensor to read into " + extents_text(tensor.extents()) +
                                  "; was the checkpoint written for other input?");
        if (tensor.symmetry() != stored->shape.symmetry)
            throw InvalidArgument(s.file.path() + ": tensor \"" + name + "\" has the symmetry " + stored->shape.symmetry.to_string() +
                                  ", and the tensor to read into " + tensor.symmetry().to_string() + "; use read(), then with_symmetry()");
    });
    s.load<T>(*stored, state_of(tensor, "CheckpointReader::read_into"));
}

template <class V>
V CheckpointReader::value(const std::string& name) const {
    const auto& values = opened(state_).contents.values;
    const auto found = values.find(name);
    if (found == values.end())
        throw InvalidArgument(opened(state_).file.path() + ": the checkpoint has no value \"" + name + "\"; it has " + names_of(values));
    if (const auto* value = std::get_if<V>(&found->second)) return *value;
    const auto is = std::visit([](const auto& v) { return kind_of<std::decay_t<decltype(v)>>(); }, found->second);
    throw InvalidArgument(opened(state_).file.path() + ": value \"" + name + "\" is " + is + ", not " + kind_of<V>() +
                          "; ask for that type");
}

#define ARGES_INSTANTIATE(T)                                                                                                               \
    template Tensor<T> CheckpointReader::read<T>(const std::string&) const;                                                                \
    template void CheckpointReader::read_into(const std::string&, Tensor<T>&) const;
ARGES_FOR_EACH_ELEMENT_TYPE(ARGES_INSTANTIATE)
#undef ARGES_INSTANTIATE

template std::int64_t CheckpointReader::value(const std::string&) const;
template double CheckpointReader::value(const std::string&) const;
template std::string CheckpointReader::value(const std::string&) const;
template std::vector<double> CheckpointReader::value(const std::string&) const;

}  // namespace arges
