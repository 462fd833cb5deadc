"""Builds the module arges._core by the Makefile, for the interpreter that runs this; all else is in pyproject.toml."""

import os
import pathlib
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class Build(build_ext):
    """make python-package, then the module to where setuptools wants it."""

    def build_extension(self, ext):
        here = pathlib.Path(__file__).resolve().parent
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        if not target.is_absolute():
            target = pathlib.Path.cwd() / target
        make = ["make", "-C", str(here), f"-j{os.cpu_count() or 1}", "python-module", f"PYTHON={sys.executable}"]
        subprocess.run([str(here / "scripts" / "install_dependencies.sh"), "build"], cwd=here, check=True)
        subprocess.run([*make, f"MODULE={target}"], check=True)
        if not target.exists():
            raise RuntimeError(f"make has not made {target}")


setup(ext_modules=[Extension("arges._core", sources=[])], cmdclass={"build_ext": Build})
