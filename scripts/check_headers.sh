#!/usr/bin/env bash
# Every public header compiles alone, twice in a row, without a warning.
set -uo pipefail
compile="${MPICXX:?run this through make check} ${MPI_CFLAGS-} -std=c++20 -Iinclude -fsyntax-only"
compile+=" -Wall -Wextra -Wpedantic -Wshadow -Werror"
count=0 bad=0
while read -r header; do
    count=$((count + 1))
    if ! printf '#include <%s>\n#include <%s>\n' "$header" "$header" | $compile -x c++ -; then
        echo "$header does not compile alone"
        bad=1
    fi
done < <([ -d include ] && cd include && find arges -name '*.hpp' | sort)
if ((bad)); then exit 1; fi
echo "headers: $count compile alone"
