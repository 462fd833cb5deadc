#!/usr/bin/env bash
# timed.sh COMMAND...: runs a command of `make check` and keeps its seconds for the table at the end. `timed.sh --begin` starts a new table;
# `timed.sh --table` prints it, the longest first, and below it the tests that run_tests.sh has counted since: `N passed, N failed`.
set -uo pipefail
times=build/check-times
mkdir -p build
case ${1:?} in
    --begin) : >"$times" ;;
    --table)
        awk '$1 == "tests" { passed += $2; failed += $3; next }
             { printf "%8.1f s  %s\n", $1, substr($0, length($1) + 2) | "sort -rn"; all += $1 }
             END { close("sort -rn"); printf "%8.1f s  all steps, some of them side by side\n%d passed, %d failed\n", all, passed, failed }' "$times" ;;
    *)
        name=${TIMED_AS:-$(basename "$1" .sh)} start=$EPOCHREALTIME
        unset TIMED_AS  # what the command times has a name of its own
        "$@"
        status=$?
        awk -v a="$start" -v b="$EPOCHREALTIME" -v name="$name" 'BEGIN { printf "%.1f %s\n", b - a, name }' >>"$times"
        exit "$status" ;;
esac
