#!/usr/bin/env bash
# Runs the test binaries on the rank counts of the table test/ranks: all folders, or those given. TEST_TABLE names
# another table, e.g. test/checked or test/device, whose folders are then all. One line per run, the log of a failed one below it, and
# `N passed, N failed` over all runs at the end. TEST_TIMEOUT is the limit of one run in seconds; a run that hangs, dies,
# or runs no test counts as one failure. After an interruption what had passed, by the same binary, is not run again.
# Runs go side by side as long as there is a core (JOBS of them) for each rank, those with the most to do first; one that failed beside
# others is repeated alone, and fails if it passes only there: a test must not depend on what else runs.
set -uo pipefail
. scripts/on_ranks.sh
export ARGES_MACHINE=/dev/null  # the default machine constants: plans do not depend on where tests run
logs=$BUILD/test-logs
mkdir -p "$logs"
limit=${TEST_TIMEOUT:-900}
table=${TEST_TABLE:-test/ranks}
cores=${JOBS:-$(nproc 2>/dev/null || echo 1)}

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
    set -- $(if [ "$table" = test/ranks ]; then ls -d test/*/*_test.cpp | cut -d/ -f2 | sort -u
             else awk '!/^#/ && NF > 1 { print $1 }' "$table"; fi)
fi
done_before=$logs/passed.$(basename "$table")  # there while a call is under way
touch "$done_before"

# What is to run: cores, ranks, folder, filter, the most to do first, as the lines of its tests and its ranks say.
jobs=$(for folder; do
    IFS='|' read -r ranks filter <<<"$(row "$folder")"
    for p in $ranks; do
        printf '%d %d %d %s %s\n' $(($(cat test/"$folder"/*_test.cpp | wc -l) * p)) $((p < cores ? p : cores)) "$p" "$folder" \
            "${GTEST_FILTER:-${filter:-*}}"
    done
done | sort -k1,1nr -k3,3nr | cut -d' ' -f2-)

passed=0 failed=0
count() { passed=$((passed + run_passed)) failed=$((failed + run_failed)); }

# line FOLDER RANKS SECONDS VERDICT
line() { printf '%-13s ranks=%-3d %5d passed %3d failed %7.1f s  %s\n' "$1" "$2" "$run_passed" "$run_failed" "$3" "$4"; }

# begin RANKS FOLDER FILTER: starts a run in the background; what `run` sets and the seconds go into LOG.result.
begin() {
    local log=$logs/$2.$1
    (
        start=$EPOCHREALTIME
        GTEST_FILTER=$3 run "$limit" "$1" "$BUILD/test/$2" "$log"
        seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
        printf '%s\n' "$run_passed" "$run_failed" "$seconds" "$run_note" >"$log.result"
    ) &
    running[$!]="$1 $2 $3"
}

# finish RANKS FOLDER FILTER: reads what a run has left, repeats it alone if it failed beside others, and prints its line.
finish() {
    local log=$logs/$2.$1 seconds verdict=ok
    { read -r run_passed; read -r run_failed; read -r seconds; IFS= read -r run_note; } <"$log.result"
    if ((run_failed > 0)); then
        verdict="FAILED${run_note:+ ($run_note)}"
        line "$2" "$1" "$seconds" "$verdict"
        show "$log" | sed 's/^/    /'
        again+=("$1 $2 $3")
    else
        line "$2" "$1" "$seconds" ok
        printf '%s\n' "$2 $1 $(stat -c %Y "$BUILD/test/$2") $3" "$run_passed" >>"$done_before"
    fi
    count
}

declare -A running=()
again=() free=$cores
trap 'kill "${!running[@]}" 2>/dev/null; exit 130' INT TERM
# reap: waits for a run to end.
reap() {
    local pid
    wait -n -p pid "${!running[@]}"
    local job=${running[$pid]}
    unset "running[$pid]"
    local ranks=${job%% *}
    free=$((free + (ranks < cores ? ranks : cores)))
    set -f; finish $job; set +f
}
while [ -n "$jobs" ]; do
    rest=
    while read -r width ranks folder filter; do
        key="$folder $ranks $(stat -c %Y "$BUILD/test/$folder") $filter"
        if known=$(grep -F -x -A 1 -e "$key" "$done_before"); then
            known=${known##*$'\n'}
            printf '%-13s ranks=%-3d %5d passed before the interruption\n' "$folder" "$ranks" "$known"
            passed=$((passed + known))
        elif ((width <= free)); then
            free=$((free - width))
            begin "$ranks" "$folder" "$filter"
        else
            rest+="$width $ranks $folder $filter"$'\n'
        fi
    done <<<"$jobs"
    jobs=${rest%$'\n'}
    ((${#running[@]} == 0)) || reap
done
while ((${#running[@]} > 0)); do reap; done

if ((cores > 1)); then
    for job in "${again[@]}"; do
        read -r ranks folder filter <<<"$job"
        if GTEST_FILTER=$filter run "$limit" "$ranks" "$BUILD/test/$folder" "$logs/$folder.$ranks"; then
            echo "run_tests: $folder on $ranks ranks passes alone, but did not beside others"
        else
            echo "run_tests: $folder on $ranks ranks fails alone, too"
        fi
    done
fi
rm -f "$done_before"
if ((passed + failed == 0)); then echo "run_tests: no test ran"; fi
[ ! -e build/check-times ] || echo "tests $passed $failed" >>build/check-times
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
