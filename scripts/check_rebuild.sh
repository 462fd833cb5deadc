#!/usr/bin/env bash
# What is built is not compiled again: by no target, and units of files are taken apart only where a file has been edited. Run it by
# `make check`, when all is built.
set -euo pipefail
units=$PWD/scripts/units.sh
for target in lib shared arges examples tests fortran "$BUILD/bench/scaling" python-package demo-built; do
    plan=$("${MAKE:-make}" -n "$target")
    if compiled=$(grep -E ' -c .* -o ' <<<"$plan"); then
        echo "rebuild: make $target compiles again:"
        head -n 3 <<<"$compiled"
        exit 1
    fi
done

# Five files of a folder, at most three of them together.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
mkdir -p scripts src/some build/obj/src/some
echo "3 src/some" >scripts/units.txt
for name in a b c d e; do echo >src/some/$name.cpp; done
touch -d "2 hours ago" src/some/*.cpp

# expect WHAT FILES: units.sh puts these files into units, now that WHAT.
expect() {
    "$units" build
    local found
    found=$(sed -E 's/unit_of_src.some.(.).cpp := src.some.unit_(.)/\1\2/' build/units/units.mk | tr '\n' ' ')
    [ "$found" = "$2" ] && return
    echo "rebuild: units.sh gives '$found' for '$2' where $1"
    exit 1
}
expect "nothing is built" "a1 b1 c2 d2 e2 "
touch -d "1 hour ago" build/obj/src/some/unit_1.o build/obj/src/some/unit_2.o
expect "all is built" "a1 b1 c2 d2 e2 "
touch src/some/d.cpp
expect "a file is edited" "a1 b1 "
touch build/obj/src/some/{c,d,e}.o
touch -d "2 hours ago" src/some/d.cpp
expect "its unit has been taken apart" "a1 b1 "
touch src/some/{a,b}.cpp
expect "most files of a unit are new" "a1 b1 "
rm build/obj/src/some/*.o
expect "all is cleaned" "a1 b1 c2 d2 e2 "
echo "rebuild: what is built is not compiled again"
