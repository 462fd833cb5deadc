// The module arges._core: what the Python package needs of the library, over handles whose element type is known at run time.
#include "python/bindings.hpp"

#include "arges/chemistry.hpp"
#include "comm/collective_call.hpp"
#include "interface/world/world_state.hpp"

#include <array>
#include <exception>

namespace arges::python {

namespace {

/// The classes of the package; they live as long as the interpreter.
struct ErrorClasses {
    PyObject *error, *invalid, *memory, *unsupported, *mpi, *not_converged;
};
ErrorClasses classes;

PyObject* error_class(nb::module_& module, const char* name, nb::object bases, const char* doc) {
    PyObject* made = PyErr_NewExceptionWithDoc((std::string("arges.") + name).c_str(), doc, bases.ptr(), nullptr);
    if (made == nullptr) throw nb::python_error();
    module.attr(name) = nb::borrow(made);
    return made;
}

}  // namespace

void bind_errors(nb::module_& module) {
    const auto builtin = [](PyObject* type) { return nb::borrow(type); };
    classes.error = error_class(module, "Error", builtin(PyExc_RuntimeError), "Base of all exceptions of Arges.");
    const auto below = [&](PyObject* other) { return nb::make_tuple(nb::borrow(classes.error), builtin(other)); };
    classes.invalid =
        error_class(module, "InvalidArgument", below(PyExc_ValueError), "An argument is wrong: labels, shapes, keys, a file.");
    classes.memory = error_class(module, "OutOfMemory", below(PyExc_MemoryError), "The work does not fit into the memory limit.");
    classes.unsupported = error_class(module, "Unsupported", below(PyExc_NotImplementedError), "Meaningful, but not implemented.");
    classes.mpi = error_class(module, "MpiError", builtin(classes.error), "The MPI library reported an error.");
    classes.not_converged = error_class(module, "NotConverged", builtin(classes.error), "An iteration that ended above its tolerance.");
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        const auto raise = [](PyObject* type, const Error& error) { PyErr_SetString(type, in_words_of_python(error.what()).c_str()); };
        try {
            std::rethrow_exception(thrown);
        } catch (const InvalidArgument& e) {
            raise(classes.invalid, e);
        } catch (const OutOfMemory& e) {
            raise(classes.memory, e);
        } catch (const Unsupported& e) {
            raise(classes.unsupported, e);
        } catch (const MpiError& e) {
            raise(classes.mpi, e);
        } catch (const chemistry::NotConverged& e) {
            raise(classes.not_converged, e);
        } catch (const Error& e) {
            raise(classes.error, e);
        }
    });
}

OutsideInterpreter::OutsideInterpreter() : work_(of_library()) {}

std::recursive_mutex& OutsideInterpreter::of_library() {
    static std::recursive_mutex mutex;
    return mutex;
}

Labels labels_of(nb::handle labels) {
    if (nb::isinstance<nb::str>(labels)) return nb::cast<std::string>(labels);
    return nb::cast<std::vector<std::string>>(labels);
}

namespace {

/// Stands before the name of a Python exception in the message that ranks agree on.
constexpr char mark = '\x01';

/// The message of a Python exception with the name of its class.
std::string marked(nb::python_error& error) {
    const auto core = nb::module_::import_("arges._core"), builtins = nb::module_::import_("builtins");
    std::string name;
    for (const auto type : error.type().attr("__mro__")) {  // other ranks may not know the class itself
        name = nb::cast<std::string>(type.attr("__name__"));
        if (nb::hasattr(core, name.c_str()) || nb::hasattr(builtins, name.c_str())) break;
    }
    const auto text = nb::cast<std::string>(nb::str(error.value()));
    return mark + name + mark + text;
}

/// The public function that has defined a local one, for a message.
std::string caller_of(const nb::callable& work) {
    if (!nb::hasattr(work, "__qualname__")) return "a call";
    const auto name = nb::cast<std::string>(nb::str(work.attr("__qualname__")));
    const auto own = name.substr(0, name.find(".<locals>"));
    return own.empty() || own[0] == '_' || own[0] == '<' ? "a call" : own;
}

/// Raises the exception that a marked message tells of.
[[noreturn]] void raise_marked(const std::string& message) {
    const auto end = message.find(mark, 1);
    const auto name = message.substr(1, end - 1), text = message.substr(end + 1);
    const auto core = nb::module_::import_("arges._core"), builtins = nb::module_::import_("builtins");
    const bool is_own = nb::hasattr(core, name.c_str());
    const auto type = is_own                                ? core.attr(name.c_str())
                      : nb::hasattr(builtins, name.c_str()) ? builtins.attr(name.c_str())
                                                            : core.attr("Error");
    PyErr_SetString(type.ptr(), text.c_str());
    throw nb::python_error();
}

}  // namespace

nb::object agree(const World& world, const nb::callable& work, bool same) {
    if (world.is_dry_run() || world.size() == 1) return work();
    const CollectiveCall call(world.state()->movement_communicator(), "World::agree");
    nb::object result;
    std::array<std::int64_t, 2> ends{};  // the smallest digest and, inverted, the largest
    try {
        world.state()->agree(
            [&] {
                try {
                    result = work();
                    const auto digest = same ? static_cast<std::int64_t>(digest_of({work, result})) : 0;
                    ends = {digest, ~digest};
                } catch (nb::python_error& error) {
                    throw InvalidArgument(marked(error));
                }
            },
            ends);
        if (ends[0] != ~ends[1])
            throw InvalidArgument(caller_of(work) + ": the arguments differ between ranks; give the same ones on every rank");
    } catch (const InvalidArgument& e) {
        const std::string message = e.what();
        if (message.empty() || message[0] != mark) throw;
        raise_marked(message);
    }
    return result;
}

void raise_interruption(const World& world) {
    agree(world, function_of([] {
              if (PyErr_CheckSignals() != 0) throw nb::python_error();
          }));
}

}  // namespace arges::python

NB_MODULE(_core, module) {
    using namespace arges::python;
    module.doc() = "The library behind the package arges; use the package.";
    module.attr("version") = ARGES_VERSION;
    // Objects that are alive when the interpreter ends, held by another package for example, are no fault of the user's.
    nanobind::set_leak_warnings(false);
    bind_errors(module);
    bind_world(module);
    bind_tensor(module);
    bind_arrays(module);
    bind_statements(module);
    bind_linalg(module);
    bind_decompositions(module);
    bind_files(module);
    bind_tables(module);
    bind_chemistry(module);
}
