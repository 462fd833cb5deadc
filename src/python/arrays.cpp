// Whole tensors from arrays and as arrays.
#include "python/arrays.hpp"

#include "interface/tensor_shares.hpp"
#include "interface/tensor_state.hpp"
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
    const auto make = [](Code code, int bits) {
        return nb::dlpack::dtype{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
    };
    switch (type) {
    case ElementType::float32: return make(Code::Float, 32);
    case ElementType::float64: return make(Code::Float, 64);
    case ElementType::complex64: return make(Code::Complex, 64);
    case ElementType::complex128: return make(Code::Complex, 128);
    case ElementType::int16: return make(Code::Int, 16);
    case ElementType::int32: return make(Code::Int, 32);
    case ElementType::int64: return make(Code::Int, 64);
    default: return make(Code::Bool, 8);
    }
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
TensorHandle from_array(const World& world, const ConstArray& array, const std::optional<nb::object>& owner, const std::string& name) {
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
    return with_element_type(type, [&]<class T>() -> TensorHandle {
        const auto* const data = static_cast<const T*>(array.data());
        const bool fits = owner && array.size() > 0 && world.size() == 1 && !world.is_dry_run() && is_first_fastest(array) &&
                          reinterpret_cast<std::uintptr_t>(data) % std::min<std::size_t>(sizeof(T), 16) == 0;
        if (fits) return Tensor<T>::over_array(world, extents, const_cast<T*>(data), owner_of(*owner), name);
        Tensor<T> result(world, extents, Symmetry::none(extents.size()), name);
        result.set_array(data, strides);
        return result;
    });
}

/// The whole tensor on every rank: a view of its elements where this is the only rank, else gathered.
nb::object to_array(const TensorHandle& tensor) {
    require_elements(tensor, "an array");
    return tensor.visit_dense("an array", [&](const auto& own) -> nb::object {
        using T = handles::element_of<decltype(own)>;
        auto whole = std::remove_cvref_t<decltype(own)>(own.state());
        if (whole.world().size() == 1 && !whole.world().is_dry_run()) {
            T* elements = whole.array();
            if (elements == nullptr) {  // a symmetry, or dimensions in another order
                whole = whole.with_symmetry(Symmetry::none(whole.order()));
                elements = whole.array();
            }
            if (elements != nullptr) {
                const auto extents = whole.extents();
                auto* const kept = new TensorHandle(std::move(whole));
                nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<TensorHandle*>(p); });
                return array_over(elements, element_type_of<T>(), extents, std::move(owner));
            }
        }
        if constexpr (std::is_same_v<T, bool>) {
            const auto values = whole.gather();
            return bool_array(std::vector<std::uint8_t>(values.begin(), values.end()), whole.extents());
        } else {
            return array_of(whole.gather(), whole.extents());
        }
    });
}

/// This rank's elements of a dense tensor without symmetry, as they lie, for use at once: the array, for each dimension the first index and
/// the step between indices, and whether no rank before has the same elements. None where they do not lie in the order of their keys.
/// Local.
nb::object local_array(const TensorHandle& tensor) {
    return tensor.visit_dense("an array", [&](const auto& own) -> nb::object {
        const auto& state = *own.state();
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
        auto* const kept = new TensorHandle(tensor);
        nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<TensorHandle*>(p); });
        void* const data = const_cast<std::byte*>(state.bytes.data());
        return nb::make_tuple(array_over(data, tensor.element(), lengths, std::move(owner)), nb::cast(first), nb::cast(step),
                              !is_idle && layout.is_first_copy(state.rank()));
    });
}

/// Room for elements, and the array that keeps it.
std::pair<std::byte*, nb::object> new_array(std::int64_t count, ElementType type, std::int64_t element_bytes) {
    auto* const data = new std::byte[std::max<std::int64_t>(1, count * element_bytes)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<std::byte*>(p); });
    return {data, array_over(data, type, {count}, std::move(owner))};
}

/// This rank's share of the elements in an order of dimensions, the fastest first. Collective.
nb::object read_share_of(const TensorHandle& tensor, const std::vector<int>& order, const Extents& bounds) {
    require_elements(tensor, "a share");
    return tensor.visit_dense("a share", [&](const auto& own) -> nb::object {
        using T = handles::element_of<decltype(own)>;
        std::pair<std::byte*, nb::object> result;
        own.world().agree([&] {
            const std::size_t rank = own.world().rank();
            result = new_array(bounds.at(rank + 1) - bounds[rank], element_type_of<T>(), sizeof(T));
        });
        outside_interpreter([&] { read_share(own, {order, bounds}, result.first); });
        return result.second;
    });
}

/// Sets all elements, each rank those of its share. Collective.
void write_share_of(const TensorHandle& tensor, const std::vector<int>& order, const Extents& bounds, const ConstArray& values) {
    tensor.visit_dense("a share", [&](const auto& own) {
        auto target = std::remove_cvref_t<decltype(own)>(own.state());
        using T = handles::element_of<decltype(target)>;
        const T* data = nullptr;
        own.world().agree([&] {
            const auto given = span_of<T>(values);
            const std::size_t rank = own.world().rank();
            if (std::ssize(given) != bounds.at(rank + 1) - bounds[rank])
                throw InvalidArgument(own.name() + ": a share of " + std::to_string(given.size()) +
                                      " elements where its bounds say another");
            data = given.data();
        });
        outside_interpreter([&] { write_share(target, {order, bounds}, data); });
    });
}

/// counts[r] elements for each rank r, one behind the other; what the ranks have for this one, likewise. Collective.
nb::object exchange(const World& world, const ConstArray& values, const Extents& counts) {
    const auto type = element_of_array(values.dtype());
    return with_element_type(type.value(), [&]<class T>() -> nb::object {
        const auto* const comm = ranks_of(world);
        const auto received = comm == nullptr ? counts : comm->all_to_all_counts(counts);
        auto* const from = const_cast<T*>(static_cast<const T*>(values.data()));
        std::pair<std::byte*, nb::object> result;
        world.agree([&] { result = new_array(std::reduce(received.begin(), received.end()), *type, sizeof(T)); });
        std::vector<Piece> sends, receives;
        std::int64_t sent = 0, filled = 0;
        for (std::size_t r = 0; r < counts.size(); ++r) {
            auto* const out = reinterpret_cast<std::byte*>(from + sent);
            auto* const in = result.first + filled * std::int64_t{sizeof(T)};
            const auto bytes = counts[r] * std::int64_t{sizeof(T)};
            if (static_cast<std::int64_t>(r) == world.rank()) {
                std::memcpy(in, out, bytes);
            } else {
                if (counts[r] > 0) sends.push_back({static_cast<std::int64_t>(r), out, bytes});
                if (received[r] > 0) receives.push_back({static_cast<std::int64_t>(r), in, received[r] * std::int64_t{sizeof(T)}});
            }
            sent += counts[r];
            filled += received[r];
        }
        if (comm != nullptr) outside_interpreter([&] { comm->exchange(sends, receives); });
        return result.second;
    });
}

}  // namespace

void require_elements(const TensorHandle& tensor, const char* what) {
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
    Extents strides;
    std::int64_t step = 1;
    for (auto n : extents) {
        strides.push_back(step);
        step *= std::max<std::int64_t>(n, 1);
    }
    static std::int64_t nothing = 0;  // an address for arrays without elements
    return nb::cast(nb::ndarray<nb::numpy>(data == nullptr ? &nothing : data, shape.size(), shape.data(), owner, strides.data(),
                                           dtype_of(element), nb::device::cpu::value),
                    nb::rv_policy::reference);
}

nb::object bool_array(std::vector<std::uint8_t> values, Extents extents) {
    auto* const held = new std::vector<std::uint8_t>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
    return array_over(held->data(), ElementType::boolean, extents, std::move(owner));
}

void bind_arrays(nb::module_& module) {
    module.def("from_array", &from_array, nb::arg("world"), nb::arg("array"), nb::arg("owner").none(), nb::arg("name"));
    module.def("to_array", &to_array);
    module.def("local_array", &local_array);
    module.def("read_share", &read_share_of);
    module.def("write_share", &write_share_of);
    module.def("exchange", &exchange);
    module.def(
        "reshaped",
        [](const TensorHandle& tensor, const Extents& extents) {
            return tensor.visit_dense("another shape", [&](const auto& own) -> TensorHandle { return own.reshaped(extents, true); });
        },
        nb::call_guard<OutsideInterpreter>());
}

}  // namespace arges::python
