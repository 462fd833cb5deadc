#!/usr/bin/env bash
# Coupled cluster of water on two ranks, then its energies beside the reference ones. Fails when one
# differs by more than 1e-8 hartree. Run it by `make demo`.
set -euo pipefail
. scripts/on_ranks.sh
data=examples/data
input=h2o_sto3g.fcidump

on_ranks 600 2 "$BUILD/arges" cc "$data/$input"
json=$(on_ranks 600 2 "$BUILD/arges" cc "$data/$input" --json)

echo
printf '%-9s %20s %20s %10s\n' "$input" "Arges (hartree)" reference difference
JSON=$json awk -F, -v input="$input" '
    # The number behind "key": in the JSON object, or "" if the key is not there.
    function value_of(key,    json, at) {
        json = ENVIRON["JSON"]
        at = index(json, "\"" key "\"")
        if (!at) return ""
        json = substr(json, at + length(key) + 2)
        if (!match(json, /^[ \t\n]*:[ \t\n]*-?[0-9][0-9.eE+-]*/)) return "none"
        json = substr(json, 1, RLENGTH)
        sub(/.*:/, "", json)
        return json + 0
    }
    $1 == input {
        energy = value_of($2)
        if (energy == "") next  # a method that was not asked for
        if (energy == "none") { print $2 ": the program printed no number"; wrong = 1; next }
        difference = energy - $3
        ok = difference <= 1e-8 && difference >= -1e-8
        printf "%-17s %20.10f %20.10f %10.1e%s\n", $2, energy, $3, difference, ok ? "" : "  WRONG"
        seen[$2] = 1
        if (!ok) wrong = 1
    }
    END {
        if (!seen["ccsd"]) print "no CCSD energy was reported"
        exit wrong || !seen["ccsd"]
    }' "$data/references.csv"

echo
echo "Next, with triples:"
echo "    ${MPIEXEC}${MPIEXEC_FLAGS:+ $MPIEXEC_FLAGS} -n 2 env OMP_NUM_THREADS=1 $BUILD/arges cc $data/h2o_631g.fcidump --method \"ccsd(t)\""
