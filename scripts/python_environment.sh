#!/usr/bin/env bash
# python_environment.sh FOLDER: a virtual environment with what building and testing the Python package need. mpi4py is built for the MPI
# of config.mk. Says what it does only if there is something to do. Run it by `make python`.
set -euo pipefail
folder=$1
if [ ! -x "$folder/bin/python" ]; then python3 -m venv "$folder"; fi
echo "Installing Python packages into $folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r src/python/requirements.txt
if ! "$folder/bin/python" -c 'from mpi4py import MPI' 2>/dev/null; then
    MPICC=${MPICC:-mpicc.mpich} "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
        --no-binary=mpi4py mpi4py
fi
touch "$folder/ready"
