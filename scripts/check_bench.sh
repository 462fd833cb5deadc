#!/usr/bin/env bash
# Every program in bench/ with small input on two ranks, or one where it is no MPI program: it must end with status 0. A program that has no
# input here is a failure, and so is input without a program. bench/scaling has a check of its own. Run it by `make check-bench`.
set -uo pipefail
. scripts/on_ranks.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tensor=$folder/small.tns
awk 'BEGIN { srand(7); for (n = 0; n < 3000; ++n) seen[1 + int(40 * rand()) " " 1 + int(30 * rand()) " " 1 + int(20 * rand())] = rand()
             for (place in seen) print place, seen[place] }' > "$tensor"

# Program, ranks, arguments.
inputs="
algebras 2 1 60
contraction 2 model4as 8 2
dense_decompositions 2 cp tucker double small
distributions 1 $tensor 4
hypergraph 1 --parts 4 $tensor
linalg 2 60 300 10 1
movements 2 1
mttkrp 1 $tensor 4 1
packed 2 1
padding 1 --words 256
pairs 2 2000 24
planning 1 64
rccsd 2 4 8 1
sparse_plans 2 --scale 6 --mesh 6 4
sparse_statements 2 --scale 6 --mesh 6 --repeats 1
speedups 2 --rank 4 --iterations 3 --repeats 1 $tensor
volumes 2 0.2
"
failed=0 count=0
for source in bench/*.cpp; do
    name=$(basename "$source" .cpp)
    grep -q "^$name " <<<"$inputs" || { echo "bench: $source has no small input; add a line to scripts/check_bench.sh"; failed=1; }
done
while read -r name ranks arguments; do
    [ -n "$name" ] || continue
    [ -e "bench/$name.cpp" ] || { echo "bench: there is no bench/$name.cpp; take its line out of scripts/check_bench.sh"; failed=1; continue; }
    start=$EPOCHREALTIME
    on_ranks 60 "$ranks" "$BUILD/bench/$name" $arguments >"$folder/out" 2>&1
    status=$?
    [ -z "${VERBOSE-}" ] || awk -v a="$start" -v b="$EPOCHREALTIME" -v name="$name" 'BEGIN { printf "%6.1f s  %s\n", b - a, name }'
    ((++count))
    if ((status == 0)) && [ -s "$folder/out" ]; then continue; fi
    echo "bench: $name $arguments on $ranks ranks ended with status $status and this output:"
    tail -20 "$folder/out"
    failed=1
done <<<"$inputs"
((failed == 0)) && echo "bench: $count programs ran"
exit $failed
