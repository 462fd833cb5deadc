#!/usr/bin/env bash
# The program starts itself again with threads that yield, once, on every rank. Started on two ranks by the launcher of another MPI, it
# says so and does nothing. Run it by `make check`.
set -uo pipefail
: "${BUILD:?run this through make: it passes the settings of config.mk}" "${MPI:?}" "${MPIEXEC:?}"

# waits WANTED SETTING...: what two ranks with these variables say about threads that wait
waits() {
    local wanted=$1 said
    shift
    said=$(env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY "$@" $MPIEXEC ${MPIEXEC_FLAGS-} -n 2 "$BUILD/arges" machine --json </dev/null 2>&1)
    [[ $said == *'"ranks": 2,'* && $said == *"\"waiting_threads\": \"$wanted\""* ]] && return
    echo "launcher: with $* threads that wait are to be $wanted, and this is the output:"
    echo "$said"
    exit 1
}
waits GOMP_SPINCOUNT=1000 OMP_NUM_THREADS=2
waits GOMP_SPINCOUNT=7 OMP_NUM_THREADS=2 GOMP_SPINCOUNT=7
waits OMP_WAIT_POLICY=active OMP_NUM_THREADS=2 OMP_WAIT_POLICY=active
waits "as the runtime of OpenMP says" OMP_NUM_THREADS=1
echo "launcher: threads that wait yield"
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
