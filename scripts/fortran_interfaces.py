#!/usr/bin/env python3
"""Writes a Fortran module with the functions and constants of headers in C. The Makefile makes arges_interfaces and tapp so.

    fortran_interfaces.py MODULE HEADER...

Enumerators are constants of kind c_int. Functions of arges.h and descriptors.h are named c_X for arges_X, since the modules over them have
procedures arges_X; those of tapp.h keep their names. By the prototypes arguments are

    numbers, choices                       by value
    X* of an opaque struct, void*          type(c_ptr) by value
    const T*                               an array that is read
    T**, T being anything                  type(c_ptr), a result; an array of addresses that is read if const, or named in ARRAYS
    T* else                                a result; an array if T is char, or named in ARRAYS
    CFI_cdesc_t*                           of any type and rank; read if const, else changed

What is not by value may be left out, which is null in C; of the module tapp, which is for users, what OPTIONAL names. A function that
returns an int of a const object is pure. Functions of types that Fortran lacks (MPI_Comm) are left out. All else that is not understood is
an error.
"""

import re
import sys
import textwrap

ARRAYS = {"extents", "strides", "D"}
OPTIONAL = {"tapp": {"message", "status", "C"}}
LACKING = {"MPI_Comm"}
KINDS = {
    "int": "integer(c_int)",
    "MPI_Fint": "integer(c_int)",
    "int64_t": "integer(c_int64_t)",
    "uint64_t": "integer(c_int64_t)",
    "intptr_t": "integer(c_intptr_t)",
    "size_t": "integer(c_size_t)",
    "double": "real(c_double)",
    "bool": "logical(c_bool)",
    "char": "character(kind=c_char)",
    "void": None,  # no value in Fortran, as opaque structs
    "CFI_cdesc_t": "type(*)",
}


ARGUMENT = re.compile(r"(const )?(\w+)(?: | ?((?:\* ?(?:const ?)?)+))(\w+)")


class Header:
    """What a header declares: constants (type, name, value), and functions (returned, name, arguments as matched)."""

    def __init__(self, path, kinds):
        self.path, self.kinds, self.functions = path, kinds, []
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", file.read(), flags=re.DOTALL)
        self.constants = [("type(c_ptr)", name, "c_null_ptr") for name in re.findall(r"^#define (\w+) NULL$", text, flags=re.MULTILINE)]
        text = re.sub(r"^\s*#(.*\\\n)*.*$", "", text, flags=re.MULTILINE)
        text = re.sub(r'extern "C" \{(.*)\}', r"\1", text, flags=re.DOTALL)
        for declaration in re.findall(r"[^;{]+(?:\{[^}]*\}[^;]*)?;|\S+", text):
            self.read(" ".join(declaration.rstrip(";").split()))

    def read(self, declaration):
        if match := re.fullmatch(r"(?:typedef )?enum(?: \w+)? \{(.*)\} ?(\w*)", declaration):
            enumerators = [re.fullmatch(r"(\w+) = (-?\w+)", enumerator.strip()) for enumerator in match[1].split(",")]
            self.check(all(enumerators), declaration)
            self.constants += [("integer(c_int)", enumerator[1], enumerator[2]) for enumerator in enumerators]
            self.kinds[match[2]] = KINDS["int"]
        elif match := re.fullmatch(r"typedef struct \w+ (\w+)", declaration):
            self.kinds[match[1]] = None
        elif match := re.fullmatch(r"typedef (\w+) (\w+)", declaration):
            self.kinds[match[2]] = self.kind(match[1])
        else:
            match = re.fullmatch(r"(?:\w+_EXPORT )?([\w* ]+?) ?\b(\w+)\((.*)\)", declaration)
            self.check(match, declaration)
            arguments = [ARGUMENT.fullmatch(argument.strip()) for argument in match[3].split(",") if argument != "void"]
            self.check(all(arguments), declaration)
            if not any(argument[2] in LACKING for argument in arguments):
                self.functions.append((match[1], match[2], arguments))

    def check(self, is_understood, text):
        if not is_understood:
            sys.exit(f"{self.path}: not understood: {text}")

    def kind(self, word):
        self.check(word in self.kinds, f"the type {word}")
        return self.kinds[word]

    def declaration(self, argument, module):
        """Of an argument, in Fortran."""
        const, word, stars, name = argument.groups("")
        kind, depth = self.kind(word), stars.count("*")
        is_array, is_descriptor = const or name in ARRAYS, word == "CFI_cdesc_t"
        self.check(depth < 3 and (depth > 0 or kind) and (depth == 1 or not is_descriptor), argument[0])
        if depth == 0:
            return f"{kind}, value :: {name}"
        if depth == 1 and kind is None:
            return f"type(c_ptr), value :: {name}"
        if depth == 2:
            kind, intent = "type(c_ptr)", "in" if is_array else "out"
        else:
            is_array = is_array or word == "char"
            intent = "in" if const else "inout" if is_array or is_descriptor else "out"
        optional = ", optional" if name in OPTIONAL.get(module, {name}) else ""
        return f"{kind}, intent({intent}){optional} :: {name}{'(..)' if is_descriptor else '(*)' if is_array else ''}"

    def interfaces(self, module):
        """Of each function, its name in Fortran and the lines of its interface."""
        for returned, name, arguments in self.functions:
            own = re.sub("^arges_", "c_", name)
            what = "subroutine" if returned == "void" else "function"
            kind = "" if returned == "void" else "type(c_ptr) " if "*" in returned else self.kind(returned) + " "
            pure = "pure " if returned == "int" and arguments[0][1] else ""
            first = f"{pure}{kind}{what} {own}({', '.join(argument[4] for argument in arguments)}) bind(C,name='{name}')"
            yield own, [first, "    import", *("    " + self.declaration(argument, module) for argument in arguments), f"end {what}"]


def text(module, headers):
    """The lines of the module."""
    yield f"!> The functions and constants of {' and '.join(header.path.split('/')[-1] for header in headers)}."
    yield "!> Made by scripts/fortran_interfaces.py."
    yield from (f"module {module}", "    use, intrinsic :: iso_c_binding", "    implicit none", "    private", "")
    for header in headers:
        yield from (f"    {kind}, parameter, public :: {name} = {value}" for kind, name, value in header.constants)
    interfaces = [interface for header in headers for interface in header.interfaces(module)]
    yield from ("", f"    public :: {', '.join(name for name, _ in interfaces)}", "", "    interface")
    for _, lines in interfaces:
        yield from ("        " + line for line in lines)
    yield from ("    end interface", "", f"end module {module}")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    module, *paths = sys.argv[1:]
    kinds = dict(KINDS)
    for line in text(module, [Header(path, kinds) for path in paths]):
        indent = " " * (len(line) - len(line.lstrip()) + 8)
        print(" &\n".join(textwrap.wrap(line, 120, subsequent_indent=indent)))


if __name__ == "__main__":
    main()
