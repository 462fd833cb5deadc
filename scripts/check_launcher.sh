#!/usr/bin/env bash
# The program, started on two ranks by the launcher of another MPI, says so and does nothing. Run it by `make check`.
set -uo pipefail
: "${BUILD:?run this through make: it passes the settings of config.mk}" "${MPI:?}"
other=mpiexec.$([ "$MPI" = mpich ] && echo openmpi || echo mpich)
command -v "$other" >/dev/null || { echo "launcher: there is no $other here to try"; exit 0; }
output=$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 timeout 60 "$other" -n 2 \
    "$BUILD/arges" cc examples/data/h2o_sto3g.fcidump </dev/null 2>&1)
status=$?
if ((status == 0)) || [[ $output != *"mpiexec started 2 processes"* || $output == *"SCF total"* ]]; then
    echo "launcher: $other -n 2 arges ended with status $status and this output:"
    echo "$output"
    exit 1
fi
echo "launcher: $other is refused"
