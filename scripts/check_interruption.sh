#!/usr/bin/env bash
# A calculation and a decomposition on two ranks, interrupted: one line says what is left, no rank stays, and the calculation goes on
# from there. Run it by `make check`.
set -uo pipefail
: "${BUILD:?run this through make: it passes the settings of config.mk}" "${MPIEXEC:?}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "interruption: $1"
    cat "$folder/out" "$folder/err"
    exit 1
}

# interrupt SIGNAL PATTERN COMMAND...: runs it until its output has the pattern, then sends the signal to the launcher.
interrupt() {
    local signal=$1 pattern=$2 pid
    shift 2
    rm -f "$folder/out"  # of the run before
    $MPIEXEC ${MPIEXEC_FLAGS-} -n 2 env OMP_NUM_THREADS=1 LD_PRELOAD="$PWD/$BUILD/libyield.so" "$@" >"$folder/out" 2>"$folder/err" </dev/null &
    pid=$!
    for ((i = 0; i < 300; ++i)); do
        grep -qsE "$pattern" "$folder/out" && break
        sleep 0.1
    done
    kill -s "$signal" "$pid"
    for ((i = 0; i < 100; ++i)); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -0 "$pid" 2>/dev/null && { kill -9 "$pid"; fail "the launcher did not end within ten seconds of $signal"; }
    wait "$pid"  # the status is the launcher's own
    pgrep -f "$folder" >/dev/null && fail "a rank is still there after $signal"
    return 0
}

for signal in INT TERM; do
    rm -f "$folder"/*.h5
    interrupt $signal '^ +12 ' "$BUILD/arges" cc examples/data/h2o_631g.fcidump --method ccsdt --tolerance 1e-30 --max-iterations 100000 \
        --checkpoint "$folder/water.h5" --checkpoint-every 3
    [ "$(grep -c '^arges: ' "$folder/err")" = 1 ] || fail "there is not one line after $signal"
    grep -qE "^arges: interrupted; .*water.h5 has the amplitudes of iteration [0-9]+, go on with --restart$" "$folder/err" ||
        fail "nothing says after $signal what is left"
    $MPIEXEC ${MPIEXEC_FLAGS-} -n 1 env OMP_NUM_THREADS=1 "$BUILD/arges" cc examples/data/h2o_631g.fcidump --method ccsdt \
        --checkpoint "$folder/water.h5" --restart >"$folder/out" 2>"$folder/err" || fail "the calculation does not go on"
done
interrupt INT '^ +5 ' "$BUILD/arges" cpd test/data/yago-4d.tns.gz --rank 6 --iterations 100000 --tolerance 0 --output "$folder/factors" --save-every 2
grep -qE "^arges: interrupted; .*factors has the factors of iteration [0-9]+" "$folder/err" || fail "nothing says which factors are left"
for signal in INT TERM; do  # without --save-every: the iteration is finished and saved
    rm -rf "$folder/factors"
    interrupt $signal '^ +5 ' "$BUILD/arges" cpd test/data/yago-4d.tns.gz --rank 6 --iterations 100000 --tolerance 0 --output "$folder/factors"
    [ "$(grep -c '^arges: interrupted; .*factors has the factors of iteration' "$folder/err")" = 1 ] || fail "nothing says after $signal which factors are left"
    [ -e "$folder/factors/description.json" ] || fail "no factors are saved after $signal"
    interrupt $signal '^ +2 ' "$BUILD/arges" tucker test/data/yago-4d.tns.gz --ranks 6,4,6,6 --iterations 100000 --fit-tolerance 0 --output "$folder/model.h5"
    [ "$(grep -c '^arges: interrupted; .*model.h5 has core and factors of iteration' "$folder/err")" = 1 ] || fail "nothing says after $signal which model is left"
    [ -e "$folder/model.h5" ] || fail "no model is saved after $signal"
    rm -f "$folder/model.h5"
done
echo "interruption: the last checkpoint, or what the last iteration found, is left, and said to be"
