#!/usr/bin/env bash
# Runs the test binaries on the rank counts of the table test/ranks: all folders, or those given. TEST_TABLE names
# another table, e.g. test/checked or test/device, whose folders are then all. One line per run, the log of a failed one below it, and
# `N passed, N failed` over all runs at the end. TEST_TIMEOUT is the limit of one run in seconds; a run that hangs, dies,
# or runs no test counts as one failure. After an interruption what had passed, by the same binary, is not run again.
set -uo pipefail
. scripts/on_ranks.sh
export ARGES_MACHINE=/dev/null  # the default machine constants: plans do not depend on where tests run
logs=$BUILD/test-logs
mkdir -p "$logs"
limit=${TEST_TIMEOUT:-600}
table=${TEST_TABLE:-test/ranks}

# run SECONDS RANKS BINARY LOG: sets run_passed, run_failed, run_note; true if the run passed.
# LOG.out is the report of rank 0, LOG.err that of the others: mixed, they would tear lines apart.
run() {
    on_ranks "$1" "$2" "$3" >"$4.out" 2>"$4.err"
    local status=$? counts
    counts=$(sed -nE "s/^\[ranks\] $2: ([0-9]+) passed, ([0-9]+) failed, .*/\1 \2/p" "$4.out")
    read -r run_passed run_failed <<<"${counts:-0 0}"
    run_note=
    case $status in
        0) if [ -z "$counts" ]; then run_note="no report"
           elif ((run_passed + run_failed == 0)); then run_note="no test ran"; fi ;;
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

# must_fail FILTER RESULT WHAT: the planted tests FILTER, which are WHAT, must show as the pattern RESULT: passed, failed, note.
must_fail() {
    local log=$logs/planted
    if GTEST_FILTER=$1 run 60 2 "$BUILD/planted_failure" "$log" || [[ "$run_passed $run_failed$run_note" != $2 ]]; then
        show "$log"
        echo "run_tests: $3 shows as '$run_passed $run_failed$run_note', not as '$2': no result can be trusted"
        exit 1
    fi
}
must_fail 'Planted.*OnTheLastRank' "0 2" "a test that fails and one that is skipped on the last rank only"
must_fail 'Planted.IsNoTest' "0 1no test ran" "a run without tests"
if [ "$OPT" = checked ]; then must_fail 'Planted.Leaks' "1 1exit status *" "a leak"; fi

# row FOLDER: its rank counts, then its filter, from the table.
row() {
    awk -v folder="$1" '$1 == folder { own = $0 } $1 == "default" { other = $0 }
        END { n = split(own ? own : other, word)
              for (i = 2; i <= n; ++i) if (word[i] ~ /^[0-9]+$/) ranks = ranks " " word[i]; else filter = word[i]
              print ranks "|" filter }' "$table"
}

if (($# == 0)); then
    set -- $(if [ "$table" = test/ranks ]; then ls -d test/*/*_test.cpp | cut -d/ -f2 | uniq
             else awk '!/^#/ && NF > 1 { print $1 }' "$table"; fi)
fi
passed=0 failed=0
done_before=$logs/passed.$(basename "$table")  # there while a call is under way
touch "$done_before"
for folder; do
    IFS='|' read -r ranks filter <<<"$(row "$folder")"
    for p in $ranks; do
        start=$EPOCHREALTIME
        log=$logs/$folder.$p
        verdict=ok
        key="$folder $p $(stat -c %Y "$BUILD/test/$folder") ${GTEST_FILTER:-${filter:-*}}"
        if known=$(grep -F -x -A 1 -e "$key" "$done_before"); then
            known=${known##*$'\n'}
            printf '%-13s ranks=%-3d %5d passed before the interruption\n' "$folder" "$p" "$known"
            passed=$((passed + known))
            continue
        fi
        GTEST_FILTER=${GTEST_FILTER:-${filter:-*}} run "$limit" "$p" "$BUILD/test/$folder" "$log" ||
            verdict="FAILED${run_note:+ ($run_note)}"
        seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
        printf '%-13s ranks=%-3d %5d passed %3d failed %7.1f s  %s\n' \
            "$folder" "$p" "$run_passed" "$run_failed" "$seconds" "$verdict"
        if [ "$verdict" != ok ]; then show "$log" | sed 's/^/    /'; else printf '%s\n' "$key" "$run_passed" >>"$done_before"; fi
        passed=$((passed + run_passed)) failed=$((failed + run_failed))
    done
done
rm -f "$done_before"
if ((passed + failed == 0)); then echo "run_tests: no test ran"; fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
