"""The modules of the package stand in layers: none imports one that is made of it, not even inside a function."""

import ast
import inspect
import pathlib

import arges
from arges import _operators

FOLDER = pathlib.Path(arges.__file__).parent


def imports_of(path):
    """Names of the modules of the package that a file imports anywhere; the package itself is __init__."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from (name for name in names if (FOLDER / f"{name}.py").exists())
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "arges":
            yield node.module.partition(".")[2] or "__init__"
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[2] or "__init__" for alias in node.names if alias.name.partition(".")[0] == "arges")


def circles(graph):
    """The modules that are left when those that import none of the rest are taken away, again and again."""
    left = {name: set(own) for name, own in graph.items()}
    while free := [name for name, own in left.items() if not own & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


def test_no_circle_of_imports():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["a", "b", "c"] and circles({"a": {"b"}, "b": set()}) == []
    assert circles({path.stem: set(imports_of(path)) for path in FOLDER.glob("*.py")}) == []


def test_methods_are_those_of_the_functions():
    for name, function in vars(_operators.functions).items():
        method = getattr(arges.Tensor, name, None)
        if method is None or isinstance(method, property) or name == "reshape":
            continue
        assert inspect.getdoc(method) == inspect.getdoc(function), name
        given, wanted = (list(inspect.signature(f).parameters.values())[1:] for f in (method, function))
        assert [(p.name, p.default) for p in given] == [(p.name, p.default) for p in wanted], name
