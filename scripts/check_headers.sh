#!/usr/bin/env bash
# Every public header compiles alone, twice in a row, without a warning; those of C as C99 and as C++. It brings in those that
# scripts/headers.txt says, no others: what a header includes is paid for by every file that includes it. RENEW=1 writes the list anew.
set -uo pipefail
export COMPILE="${MPICXX:?run this through make check} ${MPI_CFLAGS-} -Iinclude -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror"
export COMPILE_C="${MPICC:?} ${MPI_CFLAGS-} -Iinclude -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Werror"

export lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT

# alone HEADER: compiles it, and notes what it brings in.
alone() {
    local text list=$lists/${1//\//.}
    text=$(printf '#include <%s>\n#include <%s>\n' "$1" "$1")
    case $1 in
        *.hpp) $COMPILE -std=c++20 -MMD -MF "$list.d" -x c++ - <<<"$text" && {
            printf '%s:' "$1"
            grep -oE '(^| )include/[^ ]+' "$list.d" | cut -d/ -f2- | grep -vxF "$1" | sort -u | tr '\n' ' ' | sed 's/^\(.\)/ \1/; s/ $//'
            echo
        } >"$list.line" ;;
        *) $COMPILE_C -std=c99 -x c - <<<"$text" && $COMPILE -std=c++11 -x c++ - <<<"$text" ;;
    esac || { echo "$1 does not compile alone"; return 1; }
}
export -f alone
headers=$(cd include && find . -name '*.h' -o -name '*.hpp' | cut -c3- | sort)
xargs -P "${JOBS:-1}" -I{} bash -c 'alone {}' <<<"$headers" || exit 1
cat "$lists"/*.line | sort >"$lists/all"
[ -n "${RENEW:-}" ] && cp "$lists/all" scripts/headers.txt
if ! diff scripts/headers.txt "$lists/all"; then
    echo "headers: they do not bring in what scripts/headers.txt says (<): use a forward declaration, or RENEW=1 make check-headers"
    exit 1
fi
echo "headers: $(wc -l <<<"$headers") compile alone, and bring in what they may"
