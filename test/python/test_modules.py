"""The modules of the package stand in layers: none imports one that is made of it, not even inside a function."""

import ast
import graphlib
import inspect
import pathlib

import pytest

import arges
from arges import _operators

FOLDER = pathlib.Path(arges.__file__).parent
NAMES = {path.name.partition(".")[0] for path in FOLDER.iterdir()}


def imports_in(text):
    """The modules of the package that a module imports anywhere; the package itself is __init__."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            origin = f"arges.{node.module or ''}" if node.level else node.module
            found |= {f"{origin.rstrip('.')}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    paths = [name.split(".") + ["__init__"] for name in found]
    return {path[1] if path[1] in NAMES else "__init__" for path in paths if path[0] == "arges"}


def test_no_circle_of_imports():
    texts = ("from . import cc, _core", "def f():\n    from ._types import number", "import arges.linalg", "import arges", "import numpy")
    assert [imports_in(text) for text in texts] == [{"cc", "_core"}, {"_types"}, {"linalg"}, {"__init__"}, set()]
    graph = {path.stem: imports_in(path.read_text()) for path in FOLDER.glob("*.py")}
    graphlib.TopologicalSorter(graph).prepare()
    with pytest.raises(graphlib.CycleError, match="_types"):
        graphlib.TopologicalSorter(graph | {"_types": {"_tensor"}}).prepare()


def test_methods_are_those_of_the_functions():
    for name, function in vars(_operators.functions).items():
        method = getattr(arges.Tensor, name, None)
        if inspect.isfunction(method) and name != "reshape":
            assert inspect.getdoc(method) == inspect.getdoc(function), name
            given, wanted = (list(inspect.signature(f).parameters.values())[1:] for f in (method, function))
            assert [(p.name, p.default) for p in given] == [(p.name, p.default) for p in wanted], name
