#!/usr/bin/env bash
# The version stands in VERSION, and builds read it there. Where it must be written again it is the same: in arges.h, which programs compile,
# in the names of symbols of libarges.so, and in documents. CHANGELOG.md has a section for it, or for what is not released.
set -uo pipefail
version=$(<VERSION)
[[ $version =~ ^([0-9]+)\.([0-9]+)\.[0-9]+$ ]] || { echo "version: VERSION has '$version', not three numbers"; exit 1; }
major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}

# expect FILE TEXT
expect() { grep -qF -e "$2" "$1" || { echo "version: $version, but $1 does not have '$2'"; exit 1; }; }
expect include/arges.h "#define ARGES_VERSION_MAJOR $major "
expect include/arges.h "#define ARGES_VERSION_MINOR $minor "
expect src/c/exports.map "ARGES_$major.$minor {"
expect docs/c_and_fortran.md "\`ARGES_$major.$minor\`"
expect README.md "find_package(arges $major.$minor REQUIRED)"
expect test/install/CMakeLists.txt "find_package(arges $major.$minor REQUIRED)"
grep -qE "^## \[(Unreleased|${version//./\\.})\]" CHANGELOG.md || { echo "version: CHANGELOG.md says nothing of $version"; exit 1; }
echo "version: $version everywhere"
