#!/usr/bin/env bash
# Every public header compiles alone, twice in a row, without a warning; those of C as C99 and as C++.
set -uo pipefail
export COMPILE="${MPICXX:?run this through make check} ${MPI_CFLAGS-} -Iinclude -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror"
export COMPILE_C="${MPICC:?} ${MPI_CFLAGS-} -Iinclude -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Werror"

# alone HEADER: compiles it.
alone() {
    local text
    text=$(printf '#include <%s>\n#include <%s>\n' "$1" "$1")
    case $1 in
        *.hpp) $COMPILE -std=c++20 -x c++ - <<<"$text" ;;
        *) $COMPILE_C -std=c99 -x c - <<<"$text" && $COMPILE -std=c++11 -x c++ - <<<"$text" ;;
    esac || { echo "$1 does not compile alone"; return 1; }
}
export -f alone
headers=$(cd include && find . -name '*.h' -o -name '*.hpp' | cut -c3- | sort)
xargs -P "${JOBS:-1}" -I{} bash -c 'alone {}' <<<"$headers" || exit 1
echo "headers: $(wc -l <<<"$headers") compile alone"
