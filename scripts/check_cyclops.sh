#!/usr/bin/env bash
# The programs in test/cyclops, compiled as C++11, pass on 1 to 7 ranks, and as C++20 on two. One with dense tensors only needs neither
# ScaLAPACK nor HDF5. Run it by `make check-cyclops`.
set -uo pipefail
. scripts/on_ranks.sh
export ARGES_MACHINE=/dev/null
scratch=$(mktemp -d)
export ARGES_TEST_FOLDER=$scratch
trap 'rm -rf "$scratch"' EXIT
fail() { cat "$scratch/log" 2>/dev/null; echo "cyclops: $1"; exit 1; }

for library in scalapack hdf5; do
    if readelf -d "$BUILD/cyclops/test/dense_core.c++11" | grep -q "$library"; then fail "a program with dense tensors needs $library"; fi
done
runs=0
for program in "$BUILD"/cyclops/test/*.c++11 "$BUILD"/cyclops/test/*.c++20; do
    for ranks in 1 2 3 4 5 7; do
        if [[ $program == *.c++20 && $ranks != 2 ]]; then continue; fi
        on_ranks 300 "$ranks" "$program" $((ranks < 4 ? 30 : 2)) >"$scratch/log" 2>&1 || fail "$program failed on $ranks ranks"
        grep -qx passed "$scratch/log" || fail "$program says nothing on $ranks ranks"
        runs=$((runs + 1))
    done
done
echo "cyclops: $runs runs of programs with ctf.hpp passed"
