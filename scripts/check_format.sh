#!/usr/bin/env bash
# Is all C++ and C laid out as .clang-format says? Releases of clang-format differ: only the one below is asked. `make format` lays it out.
set -uo pipefail
release=14
program=$(command -v clang-format-$release || command -v clang-format)
if [ -z "$program" ] || ! "$program" --version | grep -q "version $release\."; then
    echo "format: not checked, this machine has no clang-format $release"
    exit 0
fi
files=$(find src include test bench examples -name '*.[ch]pp' -o -name '*.[ch]' -o -name '*.cu' | sort)
if [ "${1:-}" = --fix ]; then exec "$program" -i $files; fi
# The check itself: a file that is not laid out so must be found.
if echo 'int  f( );' | "$program" --dry-run -Werror >/dev/null 2>&1; then
    echo "check_format: clang-format accepts anything" >&2
    exit 1
fi
wrong=$("$program" --dry-run -Werror $files 2>&1 | sed -n 's/^\([^: ]*\):.*clang-format-violations.*/\1/p' | sort -u)
if [ -n "$wrong" ]; then
    echo "$wrong"
    echo "format: $(wc -l <<<"$wrong") files are not as .clang-format says; run make format"
    exit 1
fi
echo "format: $(wc -w <<<"$files") files as .clang-format says"
