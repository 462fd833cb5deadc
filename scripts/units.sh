#!/usr/bin/env bash
# Which files are compiled together. By scripts/units.txt, lines "FILES FOLDER" (at most so many files of a folder in one unit), writes the
# units' texts under BUILD/units, and units.mk there: the unit of each file that is in one.
#   units.sh BUILD
# A unit takes half the time that its files take one by one. Those whose files are being edited are taken apart: a unit some of whose
# files (but not most) are newer than its object, from then on, until `make clean`.
set -euo pipefail
build=$1

is_apart() { # UNIT FILES...
    local object=$build/obj/$1.o newer=0 file
    shift
    for file; do
        [[ -e $build/obj/${file%.cpp}.o ]] && return 0
        [[ -e $object && $file -nt $object ]] && newer=$((newer + 1))
    done
    [[ $newer -gt 0 && $((2 * newer)) -lt $# ]]
}

mkdir -p "$build/units"
made=$build/units/made.$$
while read -r most folder; do
    [[ $most == \#* || -z $most ]] && continue
    files=()
    for file in "$folder"/*.cpp; do [[ -e $file && $file != */main.cpp ]] && files+=("$file"); done
    count=$(((${#files[@]} + most - 1) / most))
    for ((u = 0; u < count; ++u)); do
        first=$((u * ${#files[@]} / count)) next=$(((u + 1) * ${#files[@]} / count))
        [[ $((next - first)) -gt 1 ]] || continue
        members=("${files[@]:first:next - first}") unit=$folder/unit_$((u + 1))
        is_apart "$unit" "${members[@]}" && continue
        text=$(printf '#include "%s"\n' "${members[@]}") path=$build/units/$unit.cpp
        if [[ ! -e $path || $(<"$path") != "$text" ]]; then
            mkdir -p "${path%/*}"
            echo "$text" >"$path"
        fi
        printf "unit_of_%s := $unit\n" "${members[@]}"
    done
done <scripts/units.txt >"$made"
if cmp -s "$made" "$build/units/units.mk"; then rm "$made"; else mv "$made" "$build/units/units.mk"; fi
