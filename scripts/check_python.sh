#!/usr/bin/env bash
# The Python package: its tests on several numbers of ranks, its examples, and an installation by pip into a new virtual environment that is
# then used. Needs `make python`. ARGES_FUZZ_COUNT: random cases of each test.
#   check_python.sh [tests RANKS]     the second form runs the tests only
set -uo pipefail
. scripts/on_ranks.sh
python=${PYTHON:?run this through make}
export PYTHONPATH=$PWD/$BUILD/python PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=Agg
logs=$BUILD/test-logs
mkdir -p "$logs"
failed=0

# tests RANKS COUNT FILE...: the test files on so many ranks, with so many random cases of each test.
tests() {
    local ranks=$1 count=$2 log=$logs/python.$1 start=$EPOCHREALTIME status outcome
    shift 2
    ARGES_FUZZ_COUNT=$count on_ranks 600 "$ranks" "$python" -m pytest -q -p no:cacheprovider "$@" >"$log.out" 2>"$log.err"
    status=$?
    if grep -aq ' passed' "$log.out"; then outcome=ok; else outcome=FAILED; fi
    [ "$status" = 0 ] || outcome=FAILED
    printf 'python        ranks=%-3d %s  %.1f s  %s\n' "$ranks" "$(grep -aoE '[0-9]+ (passed|failed)[^=]*' "$log.out" | head -n 1)" \
        "$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')" "$outcome"
    if [ "$outcome" = FAILED ]; then
        tail -n 60 "$log.out" "$log.err"
        failed=1
    fi
    return "$failed"
}

if [ "${1-}" = tests ]; then
    tests "$2" 8 test/python
    exit "$failed"
fi
tests 1 20 test/python &  # beside what follows: one rank leaves a core to others
on_one_rank=$!
tests 2 8 test/python
tests 3 2 test/python/test_tensors.py test/python/test_statements.py test/python/test_decompositions.py test/python/test_sparse_functions.py
tests 4 2 test/python/test_tensors.py test/python/test_statements.py test/python/test_decompositions.py \
    test/python/test_mean_fields.py::test_orbitals_that_differ_between_ranks test/python/test_mean_fields.py::test_sources_and_options_that_differ

# Examples: the last line of each says what it has found to be right.
for example in examples/python/*.py; do
    for ranks in 1 2; do
        log=$logs/$(basename "$example").$ranks
        if ! on_ranks 300 "$ranks" "$python" "$example" "$logs" >"$log" 2>&1; then
            echo "$example on $ranks ranks:"
            tail -n 30 "$log"
            failed=1
        fi
    done
done
for notebook in examples/python/*.ipynb; do
    if ! "$(dirname "$python")/jupyter-execute" "$notebook" >"$logs/notebook" 2>&1; then
        echo "$notebook:"
        tail -n 30 "$logs/notebook"
        failed=1
    fi
done

# A new virtual environment, and a first script in another folder.
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
if ! { "$python" -m venv "$fresh/venv" && "$fresh/venv/bin/python" -m pip install --quiet --disable-pip-version-check . &&
    (cd "$fresh" && PYTHONPATH= "$fresh/venv/bin/python" "$OLDPWD/examples/python/01_first_tensor.py"); } >"$logs/pip" 2>&1; then
    echo "pip install . into a new virtual environment:"
    tail -n 30 "$logs/pip"
    failed=1
fi
wait "$on_one_rank" || failed=1
[ "$failed" = 0 ] && echo "python: tests, examples and pip install . are right"
exit "$failed"
