#!/usr/bin/env bash
# Runs the test binaries on the rank counts of test/ranks: all folders, or those given. One line per
# run, the log of a failed one below it, and `N passed, N failed` over all runs at the end.
# TEST_TIMEOUT is the limit of one run in seconds; a run that hangs or dies counts as one failure.
set -uo pipefail
. scripts/on_ranks.sh
export ARGES_MACHINE=/dev/null  # the default machine constants: plans do not depend on where tests run
logs=$BUILD/test-logs
mkdir -p "$logs"
limit=${TEST_TIMEOUT:-600}

# run SECONDS RANKS BINARY LOG: sets run_passed, run_failed, run_note; true if the run passed.
# LOG.out is the report of rank 0, LOG.err that of the others: mixed, they would tear lines apart.
run() {
    on_ranks "$1" "$2" "$3" >"$4.out" 2>"$4.err"
    local status=$? counts
    counts=$(sed -nE "s/^\[ranks\] $2: ([0-9]+) passed, ([0-9]+) failed, .*/\1 \2/p" "$4.out")
    read -r run_passed run_failed <<<"${counts:-0 0}"
    run_note=
    case $status in
        0) [ -n "$counts" ] || run_note="no report" ;;
        124 | 137) run_note="timed out" ;;
        *) ((run_failed > 0)) || run_note="exit status $status" ;;
    esac
    if [ -n "$run_note" ]; then run_failed=$((run_failed + 1)); fi
    ((run_failed == 0))
}

# show LOG: what went wrong; of the tests that passed, nothing. A test that only started is shown.
show() {
    awk '/^\[ RUN      \]/ { started = $0; next }
         /^\[       OK \]/ { started = ""; next }
         /^\[-----/ || $0 == "" { next }
         { if (started) print started; started = ""; print }
         END { if (started) print started }' "$1.out" | tail -n 60
    tail -n 60 "$1.err"
}

# The runner must see a failure on the last rank only.
planted=$logs/planted
if run 60 2 "$BUILD/planted_failure" "$planted" ||
    [ "$run_passed $run_failed$run_note" != "0 1" ]; then
    show "$planted"
    echo "run_tests: a planted failure on the last rank was not seen: no result can be trusted"
    exit 1
fi

if (($# == 0)); then set -- $(ls -d test/*/*_test.cpp 2>/dev/null | cut -d/ -f2 | uniq); fi
passed=0 failed=0
for folder; do
    ranks=$(awk -v folder="$folder" '{ name = $1; $1 = "" } name == folder { own = $0 }
        name == "default" { other = $0 } END { print own ? own : other }' test/ranks)
    for p in $ranks; do
        start=$EPOCHREALTIME
        log=$logs/$folder.$p
        verdict=ok
        run "$limit" "$p" "$BUILD/test/$folder" "$log" || verdict="FAILED${run_note:+ ($run_note)}"
        seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
        printf '%-13s ranks=%-3d %5d passed %3d failed %7.1f s  %s\n' \
            "$folder" "$p" "$run_passed" "$run_failed" "$seconds" "$verdict"
        if [ "$verdict" != ok ]; then show "$log" | sed 's/^/    /'; fi
        passed=$((passed + run_passed)) failed=$((failed + run_failed))
    done
done
if ((passed + failed == 0)); then echo "run_tests: no test ran"; fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
