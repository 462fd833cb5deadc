#!/usr/bin/env bash
# libarges.so shows the functions of arges.h and tapp.h and nothing else; the programs in plain C (test/c) and Fortran (test/fortran) pass
# on 1, 2, 3 and 4 ranks, those for TAPP's functions, which are local, on one; and an error that a Fortran program does not ask for stops
# all ranks. Run it by `make check-c`.
set -uo pipefail
. scripts/on_ranks.sh
export ARGES_MACHINE=/dev/null
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "c and fortran: $1"; exit 1; }

shown=$(nm -D --defined-only "$BUILD/libarges.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)
wanted=$(grep -ohE '\b(arges_[a-z0-9_]+|TAPP_[a-z_]+)\(' include/arges.h include/tapp.h | tr -d '(' | sort -u)
missing=$(comm -13 <(echo "$shown") <(echo "$wanted"))
others=$(grep -vE '^(arges|TAPP)_' <<<"$shown")
if [ -n "$missing" ]; then fail "not in libarges.so: $(echo $missing)"; fi
if [ -n "$others" ]; then fail "libarges.so shows more than its headers say: $(echo $others)"; fi

total=0
for program in "$BUILD/plain_c" "$BUILD"/fortran_test/*_test; do
    if [[ $program == */conformance_test ]]; then continue; fi
    for ranks in 1 2 3 4; do
        mkdir -p "$scratch/files"
        if ! ARGES_TEST_FOLDER=$scratch/files on_ranks 300 "$ranks" "$program" >"$scratch/log" 2>&1; then
            cat "$scratch/log"
            fail "$program failed on $ranks ranks"
        fi
        rm -rf "$scratch/files"
        passed=$(sed -nE 's/^.*: ([0-9]+) passed, 0 failed$/\1/p' "$scratch/log")
        [ -n "$passed" ] || fail "$program says nothing on $ranks ranks"
        total=$((total + passed))
    done
done

products=0
for program in "$BUILD/conformance" "$BUILD/fortran_test/conformance_test"; do
    on_ranks 300 1 "$program" >"$scratch/log" 2>&1 || { tail -20 "$scratch/log"; fail "$program failed"; }
    passed=$(sed -nE 's/^conformance in .*: ([0-9]+) products of [0-9]+ properties, 0 failed$/\1/p' "$scratch/log")
    [ -n "$passed" ] || fail "$program says nothing"
    products=$((products + passed))
done

if on_ranks 60 2 "$BUILD/fortran_test/stops_test" unasked >"$scratch/log" 2>&1; then fail "an error did not stop a program in Fortran"; fi
grep -q 'arges: .*dimension' "$scratch/log" || { cat "$scratch/log"; fail "no message where a program in Fortran stopped"; }
echo "c and fortran: $(wc -w <<<"$shown") functions, $total checks and $products products passed"
