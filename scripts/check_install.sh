#!/usr/bin/env bash
# Installs into a temporary folder, builds the consumers in test/install against it by pkg-config (C++, C, Fortran, ctf.hpp)
# and by CMake (C++), and runs them on two ranks. For CMake the install is staged (DESTDIR) and not moved.
set -euo pipefail
. scripts/on_ranks.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# quietly COMMAND...: shows the output only if it fails.
quietly() { "$@" >"$scratch/log" 2>&1 || fail "failed: $*"; }
fail() { cat "$scratch/log"; echo "install: $1"; exit 1; }

quietly "${MAKE:-make}" install PREFIX="$scratch/prefix" DESTDIR=
export PKG_CONFIG_PATH=$scratch/prefix/lib/pkgconfig
quietly "${CXX:-c++}" -std=c++20 test/install/consumer.cpp -o "$scratch/by_pkg_config" \
    $(pkg-config --cflags --libs arges)
quietly "${CC:-cc}" -std=c99 test/install/consumer.c -o "$scratch/in_c" \
    $(pkg-config --cflags --libs arges-c) -Wl,-rpath,"$scratch/prefix/lib"
quietly "${MPIFC:?}" test/install/consumer.f90 -o "$scratch/in_fortran" \
    $(pkg-config --cflags --libs arges-fortran) -Wl,-rpath,"$scratch/prefix/lib"
quietly "${CXX:-c++}" -std=c++11 test/install/consumer.cxx -o "$scratch/with_ctf" $(pkg-config --cflags --libs arges-cyclops)

quietly "${MAKE:-make}" install PREFIX=/opt/arges DESTDIR="$scratch/stage"
quietly cmake -S test/install -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/stage/opt/arges"
quietly cmake --build "$scratch/build"

for program in "$scratch/by_pkg_config" "$scratch/in_c" "$scratch/in_fortran" "$scratch/with_ctf" "$scratch/build/consumer"; do
    quietly on_ranks 120 2 "$program"
    grep -q '^norm [0-9.]*$' "$scratch/log" || fail "no norm printed"
done
echo "install: programs in C++, C and Fortran, and one for Cyclops, build by pkg-config, one by CMake, and run"
