#!/usr/bin/env bash
# The scaling harness with small tensors on 1, 2 and 4 ranks: every case runs, statements send what was planned, tables and plots have
# every row, and a run that sends something else is noticed. Job scripts are written, but not handed in. Run it by `make check-scaling`.
set -uo pipefail
. scripts/on_ranks.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ARGES_MACHINE=$folder/nodes.conf
harness="bench/scaling/run.sh --words 2048 --repetitions 1 --settle 1 --out $folder"
csv=$folder/scaling.csv

fail() {
    echo "scaling: $1"
    exit 1
}

# Four ranks as two nodes: distances are told apart.
on_ranks 60 4 "$BUILD/arges" calibrate --ranks-per-node 2 --output "$ARGES_MACHINE" >/dev/null || fail "no calibration on four ranks"
for line in "ranks_per_node = 2" on_node_bytes_per_second on_node_message_seconds node_bytes_per_second planning_seconds; do
    grep -q "^$line" "$ARGES_MACHINE" || fail "$line is not in the file of calibrate"
done

cases=$("$BUILD/bench/scaling" --list | awk '{ print $1 }')
((rows = $(wc -w <<<"$cases") * 2 * 3))
((rows >= 60)) || fail "only $rows rows are expected"
lines=$($harness --ranks "4 1 2" --dry | grep -c "bench/scaling --scaling")
[ "$lines" = 6 ] || fail "--dry prints $lines runs of 6"
[ ! -e "$csv" ] || fail "--dry has run"
$harness --ranks "4 1 2" > "$folder/out" 2>&1 || { cat "$folder/out"; fail "the runs failed"; }

# Statements on one rank send nothing; on several ranks most cases send, and as planned. Two cases have no plan of bytes.
awk -F, -v rows="$rows" '
    NR == 1 { next }
    { ++seen[$1 "," $2 "," $4]; if (!($7 > 0 && $8 > 0 && $9 > 0)) { print "no time or work: " $0; wrong = 1 } }
    $14 != 0 || ($2 != "cp-sparse" && $12 >= 0 && $11 != $12) { print "not as planned: " $0; wrong = 1 }
    $4 == 1 && $2 != "cp-sparse" && $11 != 0 { print "sent by one rank: " $0; wrong = 1 }
    $4 > 1 && $11 > 0 { ++sending }
    $12 < 0 { ++without_plan }
    $10 > 0 { ++predicted }
    END {
        for (key in seen) ++different
        if (different != rows || NR != rows + 1) { print NR - 1 " rows, " different " different ones, instead of " rows; wrong = 1 }
        if (sending < rows / 2) { print sending " rows have sent something"; wrong = 1 }
        if (without_plan != 12) { print without_plan " rows have no planned bytes, instead of 12"; wrong = 1 }
        if (predicted != rows - 12) { print predicted " rows have predicted seconds"; wrong = 1 }
        exit wrong
    }' "$csv" || fail "wrong rows"
[ "$(grep -cE '^(weak|strong) +[a-z0-9-]+ +1 .* 1\.00 ' "$folder/tables.txt")" = $((rows / 3)) ] || fail "not all cases begin with efficiency 1"
for scaling in weak strong; do
    [ "$(grep -c '<polyline' "$folder/$scaling.svg")" = "$(wc -w <<<"$cases")" ] || fail "$scaling.svg has not all cases"
done

sed -i '2s/,0$/,1/' "$csv"
if $harness --tables > "$folder/out" 2>&1 || ! grep -q "NOT AS PLANNED on 1 ranks" "$folder/out"; then fail "other bytes than planned are not noticed"; fi

$harness --launcher slurm --ranks "1 8" --ranks-per-node 4 --sbatch "--partition=debug" --dry >/dev/null || fail "no job scripts"
bash -n "$folder/job-8.sh" || fail "a job script is not one"
for line in "--nodes=2" "--ntasks=8" "--partition=debug"; do grep -q -- "$line" "$folder/job-8.sh" || fail "no $line in the job script"; done
for wrong in "--ranks two" "--cases" "--scaling both" "--launcher lsf" "--fast yes"; do
    if $harness --dry $wrong >/dev/null 2>&1; then fail "$wrong is accepted"; fi
done
if "$BUILD/bench/scaling" --cases mm,none 2>"$folder/out" >&2 || ! grep -q "there is no case none" "$folder/out"; then fail "an unknown case is accepted"; fi
echo "scaling: $rows rows on 1, 2 and 4 ranks, as planned"
