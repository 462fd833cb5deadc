// What Python objects hold, as a number, to compare the arguments of the ranks.
#include "python/bindings.hpp"

#include "interface/world/call_arguments.hpp"

namespace arges::python {

namespace {

void add_to(Digest& digest, nb::handle value);

void add_whole_number(Digest& digest, nb::handle value) {
    int overflow = 0;
    const auto number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0)
        digest.add(static_cast<std::int64_t>(number));
    else
        digest.add(nb::cast<std::string>(nb::str(value)));
}

/// The elements of an array of NumPy by their places; of objects, and of numbers whose bytes have gaps, only type and shape count.
void add_array(Digest& digest, nb::handle value) {
    const nb::object type = value.attr("dtype");
    digest.add(nb::cast<std::string>(nb::str(nb::handle(type))));
    Extents extents, strides;
    for (const auto length : value.attr("shape")) extents.push_back(nb::cast<std::int64_t>(length));
    const auto bytes = nb::cast<std::int64_t>(value.attr("itemsize"));
    bool is_even = bytes > 0;
    for (const auto stride : value.attr("strides")) {
        strides.push_back(bytes > 0 ? nb::cast<std::int64_t>(stride) / bytes : 0);
        is_even = is_even && nb::cast<std::int64_t>(stride) % bytes == 0;
    }
    const auto kind = nb::cast<std::string>(type.attr("kind"));
    const bool has_gaps = (kind == "f" && bytes > 8) || (kind == "c" && bytes > 16);
    if (kind.find_first_of("biufcSUMm") == std::string::npos || has_gaps) {
        digest.add(extents);
    } else if (!is_even) {
        add_array(digest, value.attr("copy")());
    } else {
        const auto address = nb::cast<std::uintptr_t>(value.attr("ctypes").attr("data"));
        digest.add(StridedArray{reinterpret_cast<const void*>(address), extents, strides, bytes});
    }
}

/// Functions of the package hold the arguments of the call that has made them; of others the name counts.
void add_function(Digest& digest, nb::handle value) {
    if (nb::hasattr(value, "__name__")) digest.add(nb::cast<std::string>(nb::str(value.attr("__name__"))));
    if (PyFunction_Check(value.ptr()) == 0 || !nb::cast<std::string>(nb::str(value.attr("__module__"))).starts_with("arges.")) return;
    PyObject* const closure = PyFunction_GetClosure(value.ptr());
    static thread_local int depth = 0;  // functions may hold themselves
    if (closure == nullptr || depth > 4) return;
    ++depth;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(closure); ++i)
        if (PyObject* const held = PyCell_GET(PyTuple_GET_ITEM(closure, i))) add_to(digest, held);
    --depth;
}

/// Objects that say nothing about what they hold count by their class.
void add_other(Digest& digest, nb::handle value) {
    if (nb::hasattr(value, "_h") && nb::isinstance<AnyTensor>(value.attr("_h"))) return add_to(digest, value.attr("_h"));
    if (nb::isinstance<AnyTensor>(value)) return static_cast<void>(digest.add(nb::cast<const AnyTensor&>(value)));
    if (nb::hasattr(value, "__array_interface__") && nb::hasattr(value, "ctypes")) return add_array(digest, value);
    if (nb::hasattr(value, "dtype") && nb::hasattr(value, "item") && nb::hasattr(value, "nbytes"))  // a number of NumPy
        return add_to(digest, value.attr("item")());
    if (nb::hasattr(value, "itemsize") && nb::hasattr(value, "kind"))  // an element type of NumPy, which has several objects for one
        return add_to(digest, nb::str(value));
    digest.add(nb::cast<std::string>(value.type().attr("__name__")));
    if (PyCallable_Check(value.ptr()) != 0) add_function(digest, value);
}

void add_to(Digest& digest, nb::handle value) {
    PyObject* const object = value.ptr();
    if (value.is_none()) {
        digest.add('n');
    } else if (PyBool_Check(object)) {
        digest.add('b').add(object == Py_True);
    } else if (PyLong_Check(object)) {
        add_whole_number(digest.add('i'), value);
    } else if (PyFloat_Check(object)) {
        digest.add('f').add(PyFloat_AS_DOUBLE(object));
    } else if (PyComplex_Check(object)) {
        digest.add('c').add(PyComplex_RealAsDouble(object)).add(PyComplex_ImagAsDouble(object));
    } else if (PyUnicode_Check(object)) {
        digest.add('s').add(nb::cast<std::string>(value));
    } else if (PyTuple_Check(object) || PyList_Check(object)) {
        digest.add('l').add(static_cast<std::int64_t>(PySequence_Size(object)));
        for (const auto part : value) add_to(digest, part);
    } else if (PyDict_Check(object)) {
        digest.add('d').add(static_cast<std::int64_t>(PyDict_Size(object)));
        for (const auto [key, part] : nb::borrow<nb::dict>(value)) {
            add_to(digest, key);
            add_to(digest, part);
        }
    } else if (PySlice_Check(object)) {
        for (const char* const part : {"start", "stop", "step"}) add_to(digest, value.attr(part));
    } else {
        add_other(digest.add('o'), value);
    }
}

}  // namespace

std::uint64_t digest_of(std::initializer_list<nb::handle> values) {
    Digest digest;
    for (const auto value : values) add_to(digest, value);
    return digest.value();
}

}  // namespace arges::python
