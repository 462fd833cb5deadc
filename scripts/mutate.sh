#!/usr/bin/env bash
# Plants the faults of test/mutations, one at a time, in a copy of the tree under build/mutate, and runs tests until one notices:
# the folder's own tests first, then all others, on few ranks first. A run that crashes or hangs has noticed. Prints a table.
# It goes on where an earlier call stopped; SECONDS_LEFT makes it stop after so many seconds (exit status 2), MUTANTS="3 7"
# picks faults by number, FRESH=1 forgets earlier results and copies the tree again. Run it by `make mutate`.
set -uo pipefail
: "${BUILD:?run this through make: it passes the settings of config.mk}" "${MPIEXEC:?}" "${OPT:?}"
list=$PWD/test/mutations
work=$PWD/build/mutate
end=$(($(date +%s) + ${SECONDS_LEFT:-1000000000}))
export TEST_TIMEOUT=${TEST_TIMEOUT:-120}
others="interface execute redistribute device plan layout linalg decompose chemistry io cli symmetry local sparse partition comm topology base"

# The faults: files[n], old[n], new[n]; key[n] tells a changed fault from the one that has a result.
files=() old=() new=() key=()
while IFS= read -r line; do
    case $line in
        src/*) file=$line ;;
        '- '*) files+=("$file") old+=("${line#- }") ;;
        '+'*) line=${line#+} new+=("${line# }") key+=("$(cksum <<<"$file${old[-1]}${new[-1]}" | tr ' ' .)") ;;
    esac
done <"$list"
((${#old[@]} == ${#new[@]})) || { echo "mutate: test/mutations needs a line with + for each with -"; exit 1; }

# occurrences FILE TEXT: how often the text is in the file.
occurrences() {
    local rest=$(<"$1") count=0
    while [[ $rest == *"$2"* ]]; do rest=${rest#*"$2"} count=$((count + 1)); done
    echo $count
}

# Two copies: one to plant faults in, one with the tests as they are.
copy() {
    local tree
    for tree in tree clean; do
        mkdir -p "$work/$tree/$(dirname "$BUILD")"
        cp -a Makefile VERSION config.mk examples include scripts src test "$work/$tree"
        cp -a "$BUILD" "$work/$tree/$BUILD"
    done
    mkdir -p "$work/results"
}
[ -n "${FRESH:-}" ] && rm -rf "$work"
[ -e "$work/tree" ] || copy

# restore: the tree without a fault. Objects get the time of now, so that the library takes them back. The file `planted` has
# the key and the file of the fault that is in the tree.
restore() {
    local file object
    read -r _ file 2>/dev/null <"$work/planted" || return 0
    cp -p "$work/clean/$file" "$work/tree/$file"
    (cd "$work/tree" && find "$BUILD/obj" -name '*.o' -newer "$work/planted") | while read -r object; do
        cp "$work/clean/$object" "$work/tree/$object" 2>/dev/null || rm "$work/tree/$object"  # its file was taken out of a unit
    done
    rm "$work/planted"
}

plant() {
    restore
    local n=$1 path text
    path=$work/tree/${files[n]}
    text=$(<"$path")
    echo "${key[n]} ${files[n]}" >"$work/planted"
    sleep 0.01
    printf '%s\n' "${text%%"${old[n]}"*}${new[n]}${text#*"${old[n]}"}" >"$path"
}

# row FOLDER: its rank counts.
row() { awk -v folder="$1" '{ n = $1; $1 = "" } n == folder { own = $0 } n == "default" { other = $0 } END { print own ? own : other }' test/ranks; }

# sequence FOLDER: `folder ranks` in the order in which they are run: on one rank and two those of the folder and whole statements,
# then the folder's on up to four, then all.
sequence() {
    local folder p
    if [ "$1" = python ]; then
        printf 'python %s\n' 1 2
        return
    fi
    {
        printf '%s\n' "$1 1" "interface 1" "$1 2" "interface 2" "$1 3" "$1 4"
        for p in 1 2 3 4 5 6 7 8 16; do
            for folder in "$1" $others $(cd test && ls -d */ | tr -d /); do echo "$folder $p"; done
        done
    } | awk '!seen[$0]++' | while read -r folder p; do
        ls test/"$folder"/*_test.cpp >/dev/null 2>&1 && [[ " $(row "$folder") " == *" $p "* ]] && echo "$folder $p"
    done
}

# run TREE FOLDER RANKS: one run of the tests there; its line is on stdout.
run() {
    if [ "$2" = python ]; then
        (cd "$work/$1" && scripts/check_python.sh tests "$3")
        return
    fi
    (cd "$work/$1" && echo "$2 $3" >"$work/table" &&  # one rank stops at its first failure: no other waits; JOBS=1 repeats nothing
        JOBS=1 GTEST_FAIL_FAST=$(($3 == 1)) TEST_TABLE=$work/table scripts/run_tests.sh "$2")
}

# culprit FOLDER RANKS: the first test that failed, or that was running.
culprit() {
    local log=$work/tree/$BUILD/test-logs/$1.$2 failed
    failed=$(sed -nE 's/^\[  FAILED  \] ([^ ,]+).*/\1/p; s/.*Failure in (.*)/\1/p; s/^FAILED ([^ ]+).*/\1/p' "$log.out" "$log.err")
    [ -n "$failed" ] || failed=$(sed -nE 's/^\[ RUN      \] //p' "$log.out" | tail -n 1)
    head -n 1 <<<"$failed"
}

# passes_without_fault FOLDER RANKS: else the run says nothing about a fault; slow is not hanging, for one.
passes_without_fault() {
    local known=$work/passes.$1.$2
    [ -e "$known" ] || run clean "$1" "$2" | grep "^$1 .*ranks=" >"$known"
    grep -q ' ok$' "$known" && return 0
    echo "mutate: without a fault, too: $(cat "$known")"
    return 1
}

# attempt N: sets verdict; 2 if there was no time left.
attempt() {
    local n=$1 position=$work/position.${key[$1]} at=0 line log folder p started
    [ "$(cat "$work/planted" 2>/dev/null)" = "${key[n]} ${files[n]}" ] || plant "$n"
    [ -e "$position" ] && read -r at spent <"$position"
    started=$(date +%s)
    mapfile -t runs < <(sequence "$(cut -d/ -f2 <<<"${files[n]}")")
    for (( ; at < ${#runs[@]}; ++at)); do
        read -r folder p <<<"${runs[at]}"
        if (($(date +%s) >= end)); then
            echo "$at $((spent + $(date +%s) - started))" >"$position"
            return 2
        fi
        if ! make -C "$work/tree" OPT="$OPT" "$([ "$folder" = python ] && echo python-package || echo "$BUILD/test/$folder")" \
            >"$work/make.log" 2>&1; then
            tail -n 20 "$work/make.log"
            verdict="does not compile"
            return 1
        fi
        log=$(run tree "$folder" "$p")
        line=$(grep "^$folder .*ranks=" <<<"$log") || { echo "$log"; echo "mutate: the tests of $folder did not run"; exit 1; }
        [[ $line == *" ok" ]] && continue
        passes_without_fault "$folder" "$p" || continue
        verdict="$folder, $p ranks: $(culprit "$folder" "$p") $(grep -oE '\(.*\)$' <<<"$line")"
        spent=$((spent + $(date +%s) - started))
        return 0
    done
    spent=$((spent + $(date +%s) - started))
    verdict="SURVIVED"
}

stale=0
for n in "${!files[@]}"; do
    [ "$(occurrences "$work/clean/${files[n]}" "${old[n]}")" = 1 ] && continue
    echo "mutate: fault $((n + 1)) is not once in ${files[n]}: ${old[n]}"
    stale=1
done
((stale)) && exit 1

trap 'exit 130' INT TERM
for n in "${!files[@]}"; do
    [[ -z ${MUTANTS:-} || " $MUTANTS " == *" $((n + 1)) "* ]] || continue
    [ -e "$work/results/${key[n]}" ] && continue
    verdict= spent=0
    attempt "$n"
    case $? in
        2) echo "mutate: stopped at fault $((n + 1)); call it again to go on"; exit 2 ;;
    esac
    printf '%d | %s | `%s` -> `%s` | %s | %d s\n' $((n + 1)) "${files[n]#src/}" "${old[n]}" "${new[n]}" "$verdict" "$spent" |
        tee "$work/results/${key[n]}"
done
restore

echo
survived=0
for n in "${!files[@]}"; do
    result=$work/results/${key[n]}
    [ -e "$result" ] || continue
    cat "$result"
    grep -qE '\| (SURVIVED|does not compile) \|' "$result" && survived=$((survived + 1))
done
echo "mutate: $survived of ${#files[@]} faults were not noticed"
((survived == 0))
