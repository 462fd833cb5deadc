// Tensors: making, shape, elements by key, slices, sums.
#include "python/bindings.hpp"

#include "interface/sparse_state.hpp"
#include "python/arrays.hpp"

#include <nanobind/ndarray.h>

#include <cmath>

namespace arges::python {

namespace {

using handles::is_sparse_tensor;

ElementType type_of(int number) { return static_cast<ElementType>(number); }

Symmetry symmetry_of(int order, const std::optional<std::string>& letters, const std::optional<std::string>& text) {
    if (!text) return Symmetry::none(order);
    return Symmetry::parse(letters.value_or(std::string("abcdefghijklmnopqrstuvwxyz").substr(0, order)), *text);
}

nb::object value_of(const Number& number) {
    return std::visit([](const auto& value) { return nb::cast(value); }, number);
}

/// A single element as a number of Python.
template <class T>
nb::object object_of(const T& element) {
    if constexpr (std::is_same_v<T, bool>) return nb::bool_(element);
    return value_of(handles::number_from(element));
}

void write(const TensorHandle& tensor, const ConstArray& keys, const ConstArray& values, int duplicates, double tolerance) {
    tensor.visit([&](const auto& own) {
        auto target = std::remove_cvref_t<decltype(own)>(own.state());
        using T = handles::element_of<decltype(target)>;
        if constexpr (is_sparse_tensor<decltype(target)>)
            target.write(span_of<std::int64_t>(keys), span_of<T>(values), static_cast<Duplicates>(duplicates));
        else
            target.write(span_of<std::int64_t>(keys), span_of<T>(values), tolerance);
    });
}

void accumulate(const TensorHandle& tensor, const ConstArray& keys, const ConstArray& values, const Number& alpha, const Number& beta) {
    tensor.visit([&](const auto& own) {
        auto target = std::remove_cvref_t<decltype(own)>(own.state());
        using T = handles::element_of<decltype(target)>;
        T a{}, b{};
        target.world().agree([&] {
            a = handles::element_from<T>(alpha);
            b = handles::element_from<T>(beta);
        });
        target.accumulate(span_of<std::int64_t>(keys), span_of<T>(values), a, b);
    });
}

/// A vector of elements; bool has one of bytes.
template <class T>
nb::object flat_array(std::vector<T> values) {
    const auto count = std::ssize(values);
    if constexpr (std::is_same_v<T, bool>)
        return bool_array(std::vector<std::uint8_t>(values.begin(), values.end()), {count});
    else
        return array_of(std::move(values), {count});
}

nb::object read(const TensorHandle& tensor, const ConstArray& keys) {
    if (keys.size() > 0) require_elements(tensor, "reading");
    return tensor.visit([&](const auto& own) { return flat_array(own.read(span_of<std::int64_t>(keys))); });
}

/// The element at integers for all dimensions; None where the key is anything else, or elements are spread over ranks. Raises IndexError.
nb::object element_at(const TensorHandle& tensor, nb::handle key) {
    const auto& world = tensor.world();
    const auto& extents = tensor.extents();
    if (!PyTuple_Check(key.ptr()) || nb::len(key) != extents.size() || world.is_dry_run() || world.size() > 1) return nb::none();
    std::int64_t linear = 0, step = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
        PyObject* const own = PyTuple_GET_ITEM(key.ptr(), static_cast<Py_ssize_t>(d));
        if (!PyLong_CheckExact(own)) return nb::none();
        int overflow = 0;
        const auto given = PyLong_AsLongLongAndOverflow(own, &overflow);
        if (overflow != 0 || given < -extents[d] || given >= extents[d])
            throw nb::index_error(("index " + nb::cast<std::string>(nb::str(own)) + " in dimension " + std::to_string(d) +
                                   " is not within its extent " + std::to_string(extents[d]))
                                      .c_str());
        if (extents[d] > 0 && step > std::numeric_limits<std::int64_t>::max() / extents[d]) return nb::none();  // there are no keys
        linear += step * (given < 0 ? given + extents[d] : given);
        step *= extents[d];
    }
    return tensor.visit([&](const auto& own) -> nb::object {
        const auto found = own.read(std::span<const std::int64_t>(&linear, 1));
        return object_of(static_cast<handles::element_of<decltype(own)>>(found[0]));
    });
}

nb::tuple local_pairs(const TensorHandle& tensor) {
    return tensor.visit([&](const auto& own) {
        using T = handles::element_of<decltype(own)>;
        if constexpr (is_sparse_tensor<decltype(own)>) {
            nb::list indices;
            for (int mode = 0; mode < own.order(); ++mode) {
                const auto here = own.local_indices(mode);
                indices.append(array_of(std::vector<std::int64_t>(here.begin(), here.end()), {std::ssize(here)}));
            }
            const auto values = own.local_values();
            return nb::make_tuple(indices, flat_array(std::vector<T>(values.begin(), values.end())));
        } else {
            auto [keys, values] = own.local_pairs();
            return nb::make_tuple(flat_array(std::move(keys)), flat_array(std::move(values)));
        }
    });
}

/// Indices of a sparse tensor's nonzeros on this rank, an array for each mode, which nobody may change, and copies of their values. Local.
nb::tuple stored_here(const TensorHandle& tensor) {
    return tensor.visit_sparse("stored_here", [&](const auto& own) {
        using T = handles::element_of<decltype(own)>;
        using Kept = std::shared_ptr<const SparsePattern>;
        const auto pattern = own.state()->pattern();
        nb::list indices;
        for (const auto& column : pattern->indices) {
            nb::capsule owner(new Kept(pattern), [](void* p) noexcept { delete static_cast<Kept*>(p); });
            auto* const data = const_cast<std::int64_t*>(column.data());
            indices.append(array_over(data, ElementType::int64, {std::ssize(column)}, std::move(owner)));
        }
        const auto values = own.local_values();
        return nb::make_tuple(indices, flat_array(std::vector<T>(values.begin(), values.end())));
    });
}

nb::tuple gather_sparse(const TensorHandle& tensor) {
    return tensor.visit_sparse("gather_sparse", [](const auto& own) {
        auto all = own.gather(true);
        nb::list indices;
        for (auto& mode : all.indices) indices.append(flat_array(std::move(mode)));
        return nb::make_tuple(indices, flat_array(std::move(all.values)));
    });
}

TensorHandle from_entries(const World& world, const Extents& lengths, const std::vector<ConstArray>& indices, const ConstArray& values,
                          int type, int duplicates, const std::string& name) {
    return with_element_type(type_of(type), [&]<class T>() -> TensorHandle {
        SparseEntries<T> mine;
        world.agree([&] {
            for (const auto& mode : indices) {
                const auto own = span_of<std::int64_t>(mode);
                mine.indices.emplace_back(own.begin(), own.end());
            }
            const auto own = span_of<T>(values);
            mine.values.assign(own.begin(), own.end());
        });
        return SparseTensor<T>::from_entries(world, lengths, mine, static_cast<Duplicates>(duplicates), name);
    });
}

TensorHandle slice(const TensorHandle& tensor, const Extents& begin, const Extents& end) {
    return tensor.visit([&](const auto& own) -> TensorHandle { return own.slice(begin, end); });
}

nb::object sum(const TensorHandle& tensor) {
    require_elements(tensor, "the sum");
    return tensor.visit([&](const auto& own) -> nb::object {
        using T = handles::element_of<decltype(own)>;
        if constexpr (kernels::has_negative<T>)
            return value_of(handles::number_from(own.sum()));
        else if constexpr (!is_sparse_tensor<decltype(own)>)
            return nb::cast(own.count_nonzero());
        else
            throw InvalidArgument(tensor.title() + ": the sum of a sparse tensor of bool; convert it to int64");
    });
}

double norm(const TensorHandle& tensor, int which) {
    require_elements(tensor, "the norm");
    return tensor.visit([&](const auto& own) -> double {
        using T = handles::element_of<decltype(own)>;
        if constexpr (!kernels::has_negative<T>) {
            throw InvalidArgument(tensor.title() + ": norm of elements of type bool; convert the tensor");
        } else if constexpr (is_sparse_tensor<decltype(own)>) {
            if (which != 2) throw InvalidArgument(tensor.title() + ": of sparse tensors there is the norm of order 2 only");
            return own.norm();
        } else {
            return which == 1 ? own.norm1() : which == 2 ? own.norm() : own.norm_max();
        }
    });
}

/// Smallest, largest, or element of largest magnitude, with its index.
nb::tuple extremum(const TensorHandle& tensor, int which) {
    require_elements(tensor, "an extremum");
    return tensor.visit_dense("an extremum", [&](const auto& own) -> nb::tuple {
        using T = handles::element_of<decltype(own)>;
        if constexpr (!kernels::has_negative<T>) {
            throw InvalidArgument(tensor.title() + ": extrema of elements of type bool; use any() and all()");
        } else {
            if constexpr (kernels::is_complex<T>)
                if (which != 0) throw InvalidArgument(tensor.title() + ": complex elements have no order; use largest_magnitude()");
            Extremum<T> found;
            if constexpr (!kernels::is_complex<T>) found = which < 0 ? own.minimum() : which > 0 ? own.maximum() : own.largest_magnitude();
            if constexpr (kernels::is_complex<T>) found = own.largest_magnitude();
            return nb::make_tuple(object_of(found.value), nb::cast(found.index));
        }
    });
}

void fill(const TensorHandle& tensor, const Number& value) {
    tensor.visit([&](const auto& own) {
        auto target = std::remove_cvref_t<decltype(own)>(own.state());
        using T = handles::element_of<decltype(target)>;
        T element{};
        target.world().agree([&] { element = handles::element_from<T>(value); });
        target.fill(element);
    });
}

void fill_random(const TensorHandle& tensor, std::uint64_t seed, double low, double high) {
    tensor.visit_floating("fill_random", [&](const auto& own) {
        auto target = std::remove_cvref_t<decltype(own)>(own.state());
        using R = real_of<handles::element_of<decltype(target)>>;
        target.fill_random(seed, static_cast<R>(low), static_cast<R>(high));
    });
}

TensorHandle with_symmetry(const TensorHandle& tensor, const std::optional<std::string>& letters, const std::optional<std::string>& text) {
    return tensor.visit([&](const auto& own) -> TensorHandle {
        Symmetry symmetry;
        own.world().agree([&] { symmetry = symmetry_of(own.order(), letters, text); });
        return own.with_symmetry(symmetry);
    });
}

TensorHandle part_of_complex(const TensorHandle& tensor, bool imaginary) {
    return tensor.visit_dense(imaginary ? "imag" : "real", [&](const auto& own) -> TensorHandle {
        using T = handles::element_of<decltype(own)>;
        if constexpr (kernels::is_complex<T>)
            return imaginary ? imag(own) : real(own);
        else
            throw InvalidArgument(tensor.title() + ": real and imaginary part of elements that are real");
    });
}

TensorHandle concatenated_along(int dimension, const std::vector<TensorHandle>& parts) {
    if (parts.empty()) throw InvalidArgument("concat: no tensors; give at least one");
    return parts[0].visit_dense("concat", [&]<class T>(const Tensor<T>&) -> TensorHandle {
        std::vector<Tensor<T>> own;
        std::vector<const AnyTensor*> addresses;
        parts[0].world().agree([&] {
            for (const auto& part : parts)
                part.visit([&](const auto& tensor) {
                    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(tensor)>, Tensor<T>>)
                        own.emplace_back(tensor.state());
                    else
                        throw InvalidArgument("concat: tensors of several types; convert them to one, dense");
                });
            for (const auto& part : own) addresses.push_back(&part);
        });
        return Tensor<T>::joined_from(dimension, addresses);
    });
}

void drop(const TensorHandle& tensor, double cutoff) {
    tensor.visit_sparse("drop", [&](const auto& own) {
        auto target = std::remove_cvref_t<decltype(own)>(own.state());
        using T = handles::element_of<decltype(target)>;
        if constexpr (kernels::has_negative<T>) {
            if (std::isnan(cutoff)) throw InvalidArgument(own.name() + ": drop() with a cutoff that is not a number");
            if (cutoff > 0) return target.drop(static_cast<real_of<T>>(cutoff));
        }
        target.drop();
    });
}

/// What a tensor is, without its elements.
void bind_shape(nb::class_<TensorHandle>& handle) {
    handle.def_prop_ro("element", [](const TensorHandle& t) { return static_cast<int>(t.element()); })
        .def_prop_ro("is_sparse", &TensorHandle::is_sparse)
        .def_prop_ro("world", &TensorHandle::world, nb::rv_policy::copy)
        .def_prop_ro("shape", [](const TensorHandle& t) { return nb::tuple(nb::cast(t.extents())); })
        .def_prop_ro("ndim", &TensorHandle::order)
        .def_prop_ro("name", &TensorHandle::name)
        .def("set_name",
             [](const TensorHandle& t, const std::string& name) {
                 t.visit([&](const auto& own) { std::remove_cvref_t<decltype(own)>(own.state()).set_name(name); });
             })
        .def("symmetry", [](const TensorHandle& t, const std::string& letters) { return t.symmetry().to_string(letters); })
        .def_prop_ro("has_symmetry", [](const TensorHandle& t) { return !t.symmetry().trivial(); })
        .def("stored",
             [](const TensorHandle& t) {
                 return t.visit([](const auto& own) {
                     if constexpr (is_sparse_tensor<decltype(own)>)
                         return own.nonzeros();
                     else
                         return own.packed_size();
                 });
             })
        .def("count_nonzero",
             [](const TensorHandle& t) {
                 require_elements(t, "count_nonzero");
                 return t.visit_dense("count_nonzero", [](const auto& own) { return own.count_nonzero(); });
             })
        .def("layout",
             [](const TensorHandle& t) { return t.visit_dense("a layout", [](const auto& own) { return own.layout_to_string(); }); });
}

}  // namespace

void bind_tensor(nb::module_& module) {
    const nb::call_guard<OutsideInterpreter> outside;
    nb::class_<TensorHandle> handle(module, "Handle");
    bind_shape(handle);
    handle.def("write", &write, outside)
        .def("accumulate", &accumulate, outside)
        .def("read", &read)
        .def("element_at", &element_at)
        .def("local_pairs", &local_pairs)
        .def("stored_here", &stored_here)
        .def("gather_sparse", &gather_sparse)
        .def("slice", &slice, outside)
        .def("set_slice", &handles::set_slice, outside)
        .def("sum", &sum)
        .def("norm", &norm, outside)
        .def("extremum", &extremum)
        .def("fill", &fill, outside)
        .def("fill_random", &fill_random, outside)
        .def("with_symmetry", &with_symmetry, nb::arg("letters").none(), nb::arg("text").none(), outside)
        .def("part_of_complex", &part_of_complex, outside)
        .def("drop", &drop, outside)
        .def("copy", &handles::copied, outside)
        .def(
            "converted", [](const TensorHandle& t, int type) { return handles::converted(t, type_of(type)); }, outside)
        .def("to_dense", &handles::to_dense, outside)
        .def("to_sparse", &handles::to_sparse, outside);
    module.def(
        "make",
        [](int type, bool is_sparse, const World& world, const Extents& extents, const std::optional<std::string>& letters,
           const std::optional<std::string>& symmetry, const std::string& name) {
            Symmetry tree;
            world.agree([&] { tree = symmetry_of(extents.size(), letters, symmetry); });
            return handles::made_tensor(type_of(type), is_sparse, world, extents, tree, name);
        },
        nb::arg("type"), nb::arg("is_sparse"), nb::arg("world"), nb::arg("extents"), nb::arg("letters").none(), nb::arg("symmetry").none(),
        nb::arg("name"));
    module.def("from_entries", &from_entries);
    module.def("concatenated", &concatenated_along, outside);
    module.def("common_type", [](int a, int b) { return static_cast<int>(handles::common_type(type_of(a), type_of(b))); });
}

}  // namespace arges::python
