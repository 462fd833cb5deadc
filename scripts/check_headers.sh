#!/usr/bin/env bash
# Every public header compiles alone, twice in a row, without a warning; those of C as C99 and as C++.
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
flags="${MPI_CFLAGS-} -Iinclude -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror"
while read -r header; do
    count=$((count + 1))
    text=$(printf '#include <%s>\n#include <%s>\n' "$header" "$header")
    if ! ${MPICC:?} -std=c99 -Wstrict-prototypes $flags -x c - <<<"$text" || ! $MPICXX -std=c++11 $flags -x c++ - <<<"$text"; then
        echo "$header does not compile alone"
        bad=1
    fi
done < <([ -d include ] && cd include && find . -maxdepth 1 -name '*.h' | cut -c3- | sort)
if ((bad)); then exit 1; fi
echo "headers: $count compile alone"
