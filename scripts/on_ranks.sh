# Sourced by the scripts that start MPI programs.
# on_ranks SECONDS RANKS COMMAND...: runs COMMAND on RANKS ranks with one thread each, and ends the
# whole process group after SECONDS (exit status 124 or 137). Settings go to the ranks only, by
# `env`, which every MPI takes. The yield library replaces a busy wait; with sanitizers it stands
# before their library, which they must be told to accept; too large an allocation then throws as it does without them.
# Kernels of OpenBLAS for newer processors read behind arrays (zgemv_n of 0.3.21, its issue 4013), which sanitizers see.
: "${MPIEXEC:?run this through make: it passes the settings of config.mk}" "${BUILD:?}"

on_ranks() {
    local seconds=$1 ranks=$2 preload= pid
    shift 2
    if ((ranks > 1)); then preload=$PWD/$BUILD/libyield.so; fi
    if [ "${OPT-}" = checked ]; then set -- env OPENBLAS_CORETYPE="${OPENBLAS_CORETYPE:-Nehalem}" "$@"; fi
    timeout --kill-after=10 "$seconds" $MPIEXEC ${MPIEXEC_FLAGS-} -n "$ranks" \
        env OMP_NUM_THREADS=1 LD_PRELOAD="$preload" \
            ASAN_OPTIONS=verify_asan_link_order=0:allocator_may_return_null=1 "$@" </dev/null &
    pid=$!
    trap "kill $pid; exit 130" INT TERM
    wait "$pid"
    local status=$?
    trap - INT TERM
    return "$status"
}
