"""Builds the module arges._core by the Makefile, for the interpreter that runs this; all else is in pyproject.toml.

ARGES_MAKE_FLAGS: settings of config.mk, e.g. MPI=openmpi.
"""

import os
import pathlib
import shlex
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class Build(build_ext):
    """Makes the module where setuptools wants it, and its stub."""

    def build_extension(self, ext):
        here = pathlib.Path(__file__).resolve().parent
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        if not target.is_absolute():
            target = pathlib.Path.cwd() / target
        make = ["make", "-C", str(here), f"-j{os.cpu_count() or 1}", "python-module", f"PYTHON={sys.executable}"]
        subprocess.run([str(here / "scripts" / "install_dependencies.sh"), "build"], cwd=here, check=True)
        subprocess.run([*make, f"MODULE={target}", *shlex.split(os.environ.get("ARGES_MAKE_FLAGS", ""))], check=True)
        if not target.exists():
            raise RuntimeError(f"make has not made {target}")
        patterns = here / "src" / "python" / "stub_patterns.txt"
        stub = [
            sys.executable,
            "-m",
            "nanobind.stubgen",
            "-q",
            "-i",
            target.parent,
            "-m",
            "_core",
            "-p",
            patterns,
            "-o",
            target.parent / "_core.pyi",
        ]
        subprocess.run(stub, check=True)


setup(ext_modules=[Extension("arges._core", sources=[])], cmdclass={"build_ext": Build})
