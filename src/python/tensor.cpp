// Tensors: making, shape, elements by key, slices, sums.
#include "python/bindings.hpp"

#include "interface/sparse/sparse_state.hpp"
#include "python/arrays.hpp"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace arges::python {

namespace {

ElementType type_of(int number) { return static_cast<ElementType>(number); }

Symmetry symmetry_of(int order, const std::optional<std::string>& letters, const std::optional<std::string>& text) {
    if (!text) return Symmetry::none(order);
    return Symmetry::parse(letters.value_or(std::string("abcdefghijklmnopqrstuvwxyz").substr(0, order)), *text);
}

nb::object value_of(const Number& number) {
    return std::visit([](const auto& value) { return nb::cast(value); }, number);
}

/// A single element as a number of Python.
nb::object object_of(const void* element, ElementType type) {
    if (type == ElementType::boolean) return nb::bool_(*static_cast<const bool*>(element));
    return value_of(number_from(element, type));
}

void write(AnyTensor& tensor, const ConstArray& keys, const ConstArray& values, int duplicates, double tolerance) {
    const std::int64_t count = values.size();
    tensor.write_pairs(span_of<std::int64_t>(keys), values_of(tensor, values), count, static_cast<Duplicates>(duplicates), tolerance);
}

void accumulate(AnyTensor& tensor, const ConstArray& keys, const ConstArray& values, const Number& alpha, const Number& beta) {
    ElementValue a, b;
    tensor.world().agree([&] {
        a = element_from(alpha, tensor.element());
        b = element_from(beta, tensor.element());
    });
    const std::int64_t count = values.size();
    tensor.accumulate_pairs(span_of<std::int64_t>(keys), values_of(tensor, values), count, a.data(), b.data());
}

/// What a call writes to the room that it asks for, as a flat array of a tensor's type.
template <class Call>
nb::object flat_array(const AnyTensor& tensor, Call&& call) {
    std::pair<std::byte*, nb::object> result{nullptr, nb::object()};
    const auto type = tensor.element();
    call([&](std::int64_t count) -> void* {
        result = new_array(count, type);
        return result.first;
    });
    if (result.first == nullptr) result = new_array(0, type);
    return result.second;
}

nb::object read(const AnyTensor& tensor, const ConstArray& keys) {
    if (keys.size() > 0) require_elements(tensor, "reading");
    return flat_array(tensor, [&](const auto& room) { tensor.read_pairs(span_of<std::int64_t>(keys), room); });
}

/// The element at integers for all dimensions; None where the key is anything else, or elements are spread over ranks. Raises IndexError.
nb::object element_at(const AnyTensor& tensor, nb::handle key) {
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
    ElementValue found(tensor.kernels().size);
    tensor.read_pairs({&linear, 1}, [&](std::int64_t) { return found.data(); });
    return object_of(found.data(), tensor.element());
}

nb::object numbers_of(std::vector<std::int64_t> values) {
    const auto count = std::ssize(values);
    return array_of(std::move(values), {count});
}

/// Copies of a sparse tensor's values on this rank.
nb::object stored_values(const AnyTensor& tensor) {
    const auto& values = sparse_state_of(tensor, "values").values();
    return flat_array(tensor, [&](const auto& room) {
        if (values.count() > 0) std::memcpy(room(values.count()), values.data(), values.bytes());
    });
}

nb::tuple local_pairs(const AnyTensor& tensor) {
    std::vector<std::int64_t> keys;
    if (!tensor.is_sparse()) {
        auto values = flat_array(tensor, [&](const auto& room) { keys = tensor.pairs_here(room); });
        return nb::make_tuple(numbers_of(std::move(keys)), std::move(values));
    }
    nb::list indices;
    for (int mode = 0; mode < tensor.order(); ++mode) {
        const auto here = tensor.local_indices(mode);
        indices.append(numbers_of({here.begin(), here.end()}));
    }
    return nb::make_tuple(indices, stored_values(tensor));
}

/// Indices of a sparse tensor's nonzeros on this rank, an array for each mode, which nobody may change, and copies of their values. Local.
nb::tuple stored_here(const AnyTensor& tensor) {
    using Kept = std::shared_ptr<const SparsePattern>;
    const auto pattern = sparse_state_of(tensor, "stored_here").pattern();
    nb::list indices;
    for (const auto& column : pattern->indices) {
        nb::capsule owner(new Kept(pattern), [](void* p) noexcept { delete static_cast<Kept*>(p); });
        auto* const data = const_cast<std::int64_t*>(column.data());
        indices.append(array_over(data, ElementType::int64, {std::ssize(column)}, std::move(owner)));
    }
    return nb::make_tuple(indices, stored_values(tensor));
}

nb::tuple gather_sparse(const AnyTensor& tensor) {
    sparse_state_of(tensor, "gather_sparse");
    std::vector<std::vector<std::int64_t>> columns;
    auto values = flat_array(tensor, [&](const auto& room) { columns = tensor.gather_entries(room, true); });
    nb::list indices;
    for (auto& column : columns) indices.append(numbers_of(std::move(column)));
    return nb::make_tuple(indices, std::move(values));
}

/// With the number of values that were added to others.
nb::tuple from_entries(const World& world, const Extents& lengths, const std::vector<ConstArray>& indices, const ConstArray& values,
                       int type, int duplicates, const std::string& name) {
    std::vector<std::vector<std::int64_t>> own;
    const void* data = nullptr;
    const auto& kernels = element_kernels(type_of(type));
    const std::int64_t count = values.size();
    world.agree([&] {
        for (const auto& mode : indices) {
            const auto column = span_of<std::int64_t>(mode);
            own.emplace_back(column.begin(), column.end());
        }
        data = with_element_type(type_of(type), [&]<class T>() -> const void* { return span_of<T>(values).data(); });
    });
    const auto copy = [&](void* to) {
        if (count > 0) std::memcpy(to, data, count * kernels.size);
    };
    auto tensor = AnyTensor::made_from(kernels, world, lengths, own, count, copy, static_cast<Duplicates>(duplicates), name);
    const auto joined = static_cast<Duplicates>(duplicates) == Duplicates::sum ? world.sum(count - tensor.local_nonzeros()) : 0;
    return nb::make_tuple(std::move(tensor), joined);
}

/// What to_sparse() takes elements for that are not a number, by the numbers of the package.
enum class NanPolicy : int { refuse, keep, missing };

AnyTensor to_sparse(const AnyTensor& tensor, double cutoff, int nan) {
    const auto policy = static_cast<NanPolicy>(nan);
    const bool may_be_nan = tensor.element() <= ElementType::complex128;
    if (tensor.is_sparse() || policy == NanPolicy::keep || !may_be_nan) return tensor.to_sparse(cutoff);
    const auto magnitude = tensor.kernels().reductions->magnitude;
    const double least = policy == NanPolicy::refuse ? std::max(cutoff, 0.0) : cutoff;  // below zero: all
    std::int64_t missing = 0;
    auto result = tensor.sparse_where(
        [&](const void* element) {
            const auto size = static_cast<double>(magnitude(element));
            missing += std::isnan(size) ? 1 : 0;
            return size > least;
        },
        std::isnan(cutoff) ? cutoff : least);
    missing = tensor.world().sum(missing);
    if (policy == NanPolicy::refuse && missing > 0)
        throw InvalidArgument(tensor.title() + ": " + std::to_string(missing) +
                              " elements are NaN; say what they mean: to_sparse(nan=\"missing\") stores all others, zeros too, "
                              "and nan=\"keep\" stores them");
    return result;
}

nb::object sum(const AnyTensor& tensor) {
    require_elements(tensor, "the sum");
    if (tensor.element() != ElementType::boolean) return value_of(tensor.sum());
    if (tensor.is_sparse()) throw InvalidArgument(tensor.title() + ": the sum of a sparse tensor of bool; convert it to int64");
    return nb::cast(tensor.count_nonzero());
}

double norm(const AnyTensor& tensor, int which) {
    require_elements(tensor, "the norm");
    if (tensor.element() == ElementType::boolean)
        throw InvalidArgument(tensor.title() + ": norm of elements of type bool; convert the tensor");
    if (tensor.is_sparse() && which != 2) throw InvalidArgument(tensor.title() + ": of sparse tensors there is the norm of order 2 only");
    return which == 1 ? tensor.norm1() : which == 2 ? tensor.norm() : tensor.norm_max();
}

/// Smallest, largest, or element of largest magnitude, with its index.
nb::tuple extremum(const AnyTensor& tensor, int which) {
    require_elements(tensor, "an extremum");
    if (tensor.element() == ElementType::boolean)
        throw InvalidArgument(tensor.title() + ": extrema of elements of type bool; use any() and all()");
    if (which != 0 && tensor.kernels().is_complex)
        throw InvalidArgument(tensor.title() + ": complex elements have no order; use largest_magnitude()");
    const auto found = which < 0 ? tensor.minimum() : which > 0 ? tensor.maximum() : tensor.largest_magnitude();
    return nb::make_tuple(value_of(found.value), nb::cast(found.index));
}

AnyTensor with_symmetry(const AnyTensor& tensor, const std::optional<std::string>& letters, const std::optional<std::string>& text) {
    Symmetry symmetry;
    tensor.world().agree([&] { symmetry = symmetry_of(tensor.order(), letters, text); });
    return tensor.with_symmetry(symmetry);
}

/// What a tensor is, without its elements.
void bind_shape(nb::class_<AnyTensor>& handle) {
    handle.def_prop_ro("element", [](const AnyTensor& t) { return static_cast<int>(t.element()); })
        .def_prop_ro("is_sparse", &AnyTensor::is_sparse)
        .def_prop_ro("world", &AnyTensor::world, nb::rv_policy::copy)
        .def_prop_ro("shape", [](const AnyTensor& t) { return nb::tuple(nb::cast(t.extents())); })
        .def_prop_ro("ndim", &AnyTensor::order)
        .def_prop_ro("name", &AnyTensor::name)
        .def("set_name", &AnyTensor::set_name)
        .def("symmetry", [](const AnyTensor& t, const std::string& letters) { return t.symmetry().to_string(letters); })
        .def_prop_ro("has_symmetry", [](const AnyTensor& t) { return !t.symmetry().trivial(); })
        .def("stored", &AnyTensor::stored)
        .def("count_nonzero",
             [](const AnyTensor& t) {
                 require_elements(t, "count_nonzero");
                 return t.count_nonzero();
             })
        .def("layout", &AnyTensor::layout_to_string);
}

}  // namespace

void bind_tensor(nb::module_& module) {
    const nb::call_guard<OutsideInterpreter> outside;
    nb::class_<AnyTensor> handle(module, "Handle");
    bind_shape(handle);
    handle.def("write", &write, outside)
        .def("accumulate", &accumulate, outside)
        .def("read", &read)
        .def("element_at", &element_at)
        .def("local_pairs", &local_pairs)
        .def("stored_here", &stored_here)
        .def("gather_sparse", &gather_sparse)
        .def("slice", &AnyTensor::slice, outside)
        .def("set_slice", &AnyTensor::set_slice, outside)
        .def("sum", &sum)
        .def("norm", &norm, outside)
        .def("extremum", &extremum)
        .def("fill", &AnyTensor::fill, outside)
        .def("fill_random", &AnyTensor::fill_random, outside)
        .def("with_symmetry", &with_symmetry, nb::arg("letters").none(), nb::arg("text").none(), outside)
        .def(
            "part_of_complex", [](const AnyTensor& t, bool imaginary) { return imaginary ? imag(t) : real(t); }, outside)
        .def("drop", &AnyTensor::drop, outside)
        .def(
            "copy", [](const AnyTensor& t) { return AnyTensor(t); }, outside)
        .def(
            "converted", [](const AnyTensor& t, int type) { return t.converted(type_of(type)); }, outside)
        .def("to_dense", &AnyTensor::to_dense, outside)
        .def("to_sparse", &to_sparse, outside);
    module.def(
        "make",
        [](int type, bool is_sparse, const World& world, const Extents& extents, const std::optional<std::string>& letters,
           const std::optional<std::string>& symmetry, const std::string& name) {
            Symmetry tree;
            world.agree([&] { tree = symmetry_of(extents.size(), letters, symmetry); });
            return AnyTensor(type_of(type), is_sparse ? Storage::sparse : Storage::dense, world, extents, tree, name);
        },
        nb::arg("type"), nb::arg("is_sparse"), nb::arg("world"), nb::arg("extents"), nb::arg("letters").none(), nb::arg("symmetry").none(),
        nb::arg("name"));
    module.def("from_entries", &from_entries);
    module.def(
        "concatenated", [](int dimension, const std::vector<const AnyTensor*>& parts) { return concatenated(dimension, parts); }, outside);
    module.def("common_type", [](int a, int b) { return static_cast<int>(common_type(type_of(a), type_of(b))); });
}

}  // namespace arges::python
