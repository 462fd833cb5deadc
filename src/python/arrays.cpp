// Whole tensors from arrays and as arrays.
#include "python/arrays.hpp"

#include "interface/dense/tensor_shares.hpp"
#include "interface/dense/tensor_state.hpp"
#include "io/file/number_type.hpp"
#include "layout/layout.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

namespace arges::python {

namespace {

nb::dlpack::dtype dtype_of(ElementType type) {
    using Code = nb::dlpack::dtype_code;
    const auto number = io::number_type_of(type);
    const auto code = number.kind == 'f' ? Code::Float : number.kind == 'c' ? Code::Complex : number.kind == 'i' ? Code::Int : Code::Bool;
    return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * number.bytes), 1};
}

/// Steps between the elements of an array whose first index is fastest.
Extents first_fastest(const Extents& extents) {
    Extents strides;
    std::int64_t step = 1;
    for (auto n : extents) {
        strides.push_back(step);
        step *= std::max<std::int64_t>(n, 1);
    }
    return strides;
}

/// The array of a caller, which nobody else keeps.
std::shared_ptr<const void> owner_of(const nb::object& array) {
    auto* const held = new nb::object(array);
    return {held, [](nb::object* kept) {
                if (Py_IsInitialized() == 0) return;
                const nb::gil_scoped_acquire hold;
                delete kept;
            }};
}

/// Is element x at the sum of x[d] times the product of the extents before d?
bool is_first_fastest(const ConstArray& array) {
    std::int64_t step = 1;
    for (std::size_t d = 0; d < array.ndim(); ++d) {
        if (array.shape(d) > 1 && array.stride(d) != step) return false;
        step *= static_cast<std::int64_t>(array.shape(d));
    }
    return true;
}

/// @param owner  of the array, where it may be taken over instead of copied
AnyTensor from_array(const World& world, const ConstArray& array, const std::optional<nb::object>& owner, const std::string& name) {
    ElementType type{};
    Extents extents, strides;
    world.agree([&] {
        const auto found = element_of_array(array.dtype());
        if (!found) throw InvalidArgument("an array of elements that no tensor has; convert it");
        type = *found;
        for (std::size_t d = 0; d < array.ndim(); ++d) {
            extents.push_back(array.shape(d));
            strides.push_back(array.stride(d));
        }
    });
    const auto& kernels = element_kernels(type);
    const bool fits = owner && array.size() > 0 && world.size() == 1 && world.device().kind == DeviceKind::none && !world.is_dry_run() &&
                      is_first_fastest(array) &&
                      reinterpret_cast<std::uintptr_t>(array.data()) % std::min<std::size_t>(kernels.size, 16) == 0;
    if (fits) return AnyTensor::adopted(kernels, world, extents, const_cast<void*>(array.data()), owner_of(*owner), name);
    AnyTensor result(kernels, Storage::dense, world, extents, GivenSymmetry(Symmetry::none(extents.size())), name);
    result.write_array(array.data(), strides);
    return result;
}

/// The whole tensor on every rank: a view of its elements where this is the only rank, else gathered.
nb::object to_array(const AnyTensor& tensor) {
    require_elements(tensor, "an array");
    state_of(tensor, "an array");
    const auto extents = tensor.extents();
    const auto type = tensor.element();
    if (tensor.world().size() == 1 && !tensor.world().is_dry_run()) {
        AnyTensor whole(tensor.any_state());
        void* elements = whole.array_here();
        if (elements == nullptr) {  // a symmetry, or dimensions in another order
            whole = whole.with_symmetry(Symmetry::none(whole.order()));
            elements = whole.array_here();
        }
        if (elements != nullptr) {
            auto* const kept = new AnyTensor(std::move(whole));
            nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<AnyTensor*>(p); });
            return array_over(elements, type, extents, std::move(owner));
        }
    }
    std::pair<std::byte*, nb::object> result{nullptr, nb::object()};
    tensor.gather_all([&](std::int64_t count) {
        result = new_array(count, type, extents);
        return result.first;
    });
    return result.second;
}

/// The state of a dense tensor on a CUDA device whose elements this rank has, all of them, in the order of their keys; they stay there from
/// now on. Null for others. Local.
TensorState* whole_on_device(const AnyTensor& tensor) {
    if (tensor.is_sparse()) return nullptr;
    auto& state = state_of(tensor, "an array");
    const auto* const space = state.kernels->space;
    if (space == nullptr || space->memory == nullptr || state.world->dry() || state.world->size() > 1 || !is_plain(state.shape()))
        return nullptr;
    state.stays = true;
    if (space->wait != nullptr) space->wait();
    return &state;
}

/// Address of such elements and number of their device. Local.
nb::object device_address(const AnyTensor& tensor) {
    const auto* const state = whole_on_device(tensor);
    if (state == nullptr) return nb::none();
    return nb::make_tuple(reinterpret_cast<std::uintptr_t>(state->bytes.data()), state->kernels->space->memory().number);
}

/// Such elements as an array that speaks DLPack. Local.
nb::object device_array(const AnyTensor& tensor) {
    auto* const state = whole_on_device(tensor);
    if (state == nullptr) return nb::none();
    const auto extents = tensor.extents();
    const std::vector<std::size_t> shape(extents.begin(), extents.end());
    auto* const kept = new AnyTensor(tensor.any_state());
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<AnyTensor*>(p); });
    return nb::cast(nb::ndarray<>(state->bytes.data(), shape.size(), shape.data(), owner, first_fastest(extents).data(),
                                  dtype_of(tensor.element()), nb::device::cuda::value, state->kernels->space->memory().number));
}

/// A copy of an array on this rank's device, element x at the sum of x[d] * strides[d]. Collective over a world of one rank.
AnyTensor from_device_array(const World& world, std::uintptr_t address, int type, const Extents& extents, const Extents& strides,
                            const std::string& name) {
    AnyTensor result(static_cast<ElementType>(type), Storage::dense, world, extents, Symmetry::none(extents.size()), name);
    auto& state = state_of(result, "an array");
    const auto* const space = state.kernels->space;
    if (space == nullptr || state.world->dry() || world.size() > 1 || !is_plain(state.shape()))
        throw InvalidArgument(
            "an array on a device becomes a tensor in a world of one rank on a device; make the world by World(comm, device=\"cuda\"), or "
            "copy the array to the host");
    const auto to = first_fastest(extents);
    std::vector<local::TransferAxis> axes;
    for (std::size_t d = 0; d < extents.size(); ++d) axes.push_back({extents[d], strides[d], to[d]});
    world.agree([&] {
        if (space->wait != nullptr) space->wait();
        if (result.size() > 0) state.kernels->transfer(axes, reinterpret_cast<const void*>(address), state.bytes.data(), nullptr, {});
    });
    return result;
}

/// This rank's elements of a dense tensor without symmetry, as they lie, for use at once: the array, for each dimension the first index and
/// the step between indices, and whether no rank before has the same elements. None where they do not lie in the order of their keys.
/// Local.
nb::object local_array(const AnyTensor& tensor) {
    const auto& state = state_of(tensor, "an array");
    const auto& layout = state.shape();
    if (state.world->dry() || state.kernels->space != nullptr || !is_plain(layout)) return nb::none();
    const bool is_idle = layout.grid().is_idle(state.rank());
    Extents lengths, first, step;
    for (int s = 0; s < layout.slots(); ++s) {
        first.push_back(is_idle ? 0 : layout.coordinate(state.rank(), s));
        lengths.push_back(is_idle ? 0 : layout.slot(s).local_size(first.back()));
        step.push_back(layout.slot(s).grid_length());
    }
    if (is_idle && layout.slots() == 0) lengths.push_back(0);  // a list of none
    auto* const kept = new AnyTensor(tensor.any_state());
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<AnyTensor*>(p); });
    void* const data = const_cast<std::byte*>(state.bytes.data());
    return nb::make_tuple(array_over(data, tensor.element(), lengths, std::move(owner)), nb::cast(first), nb::cast(step),
                          !is_idle && layout.is_first_copy(state.rank()));
}

/// This rank's share of the elements in an order of dimensions, the fastest first. Collective.
nb::object read_share_of(const AnyTensor& tensor, const std::vector<int>& order, const Extents& bounds) {
    require_elements(tensor, "a share");
    state_of(tensor, "a share");
    std::pair<std::byte*, nb::object> result;
    tensor.world().agree([&] {
        const std::size_t rank = tensor.world().rank();
        result = new_array(bounds.at(rank + 1) - bounds[rank], tensor.element());
    });
    outside_interpreter([&] { read_share(tensor, {order, bounds}, result.first); });
    return result.second;
}

/// Sets all elements, each rank those of its share. Collective.
void write_share_of(AnyTensor& tensor, const std::vector<int>& order, const Extents& bounds, const ConstArray& values) {
    state_of(tensor, "a share");
    const void* data = nullptr;
    tensor.world().agree([&] {
        const std::size_t rank = tensor.world().rank();
        if (static_cast<std::int64_t>(values.size()) != bounds.at(rank + 1) - bounds[rank])
            throw InvalidArgument(tensor.name() + ": a share of " + std::to_string(values.size()) +
                                  " elements where its bounds say another");
        data = values_of(tensor, values);
    });
    outside_interpreter([&] { write_share(tensor, {order, bounds}, data); });
}

/// counts[r] elements for each rank r, one behind the other; what the ranks have for this one, likewise. Collective.
nb::object exchange(const World& world, const ConstArray& values, const Extents& counts) {
    const auto type = element_of_array(values.dtype()).value();
    const auto size = element_kernels(type).size;
    const auto* const comm = ranks_of(world);
    const auto received = comm == nullptr ? counts : comm->all_to_all_counts(counts);
    auto* const from = const_cast<std::byte*>(static_cast<const std::byte*>(values.data()));
    std::pair<std::byte*, nb::object> result;
    world.agree([&] { result = new_array(std::reduce(received.begin(), received.end()), type); });
    std::vector<Piece> sends, receives;
    std::int64_t sent = 0, filled = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
        auto* const out = from + sent * size;
        auto* const in = result.first + filled * size;
        const auto bytes = counts[r] * size;
        if (static_cast<std::int64_t>(r) == world.rank()) {
            std::memcpy(in, out, bytes);
        } else {
            if (counts[r] > 0) sends.push_back({static_cast<std::int64_t>(r), out, bytes});
            if (received[r] > 0) receives.push_back({static_cast<std::int64_t>(r), in, received[r] * size});
        }
        sent += counts[r];
        filled += received[r];
    }
    if (comm != nullptr) outside_interpreter([&] { comm->exchange(sends, receives); });
    return result.second;
}

}  // namespace

void require_elements(const AnyTensor& tensor, const char* what) {
    if (tensor.world().is_dry_run())
        throw Unsupported(tensor.title() + ": " + what +
                          " on the world of a dry run, which has no elements; use a world of real ranks, or plan by statements");
}

std::optional<ElementType> element_of_array(const nb::dlpack::dtype& type) {
    using enum ElementType;
    for (auto element : {float32, float64, complex64, complex128, int16, int32, int64, boolean})
        if (type == dtype_of(element)) return element;
    return {};
}

nb::object array_over(void* data, ElementType element, const Extents& extents, nb::object owner) {
    std::vector<std::size_t> shape(extents.begin(), extents.end());
    const auto strides = first_fastest(extents);
    static std::int64_t nothing = 0;  // an address for arrays without elements
    return nb::cast(nb::ndarray<nb::numpy>(data == nullptr ? &nothing : data, shape.size(), shape.data(), owner, strides.data(),
                                           dtype_of(element), nb::device::cpu::value),
                    nb::rv_policy::reference);
}

std::pair<std::byte*, nb::object> new_array(std::int64_t count, ElementType type, const std::optional<Extents>& extents) {
    auto* const data = new std::byte[std::max<std::int64_t>(1, count * element_kernels(type).size)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<std::byte*>(p); });
    return {data, array_over(data, type, extents.value_or(Extents{count}), std::move(owner))};
}

const void* values_of(const AnyTensor& tensor, const ConstArray& values) {
    return with_element_type(tensor.element(), [&]<class T>() -> const void* { return span_of<T>(values).data(); });
}

void bind_arrays(nb::module_& module) {
    module.def("from_array", &from_array, nb::arg("world"), nb::arg("array"), nb::arg("owner").none(), nb::arg("name"));
    module.def("to_array", &to_array);
    module.def("device_address", &device_address);
    module.def("device_array", &device_array);
    module.def("from_device_array", &from_device_array, nb::arg("world"), nb::arg("address"), nb::arg("element"), nb::arg("extents"),
               nb::arg("strides"), nb::arg("name"));
    module.def("local_array", &local_array);
    module.def("read_share", &read_share_of);
    module.def("write_share", &write_share_of);
    module.def("exchange", &exchange);
    module.def(
        "reshaped", [](const AnyTensor& tensor, const Extents& extents) { return tensor.reshaped(extents, true); },
        nb::call_guard<OutsideInterpreter>());
}

}  // namespace arges::python
