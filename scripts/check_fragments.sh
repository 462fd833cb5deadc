#!/usr/bin/env bash
# The C++ of the documents compiles as docs/tutorial.md says: a block with a `main` is a program; the others of a section, one after the
# other, go into the frame (the first block of that page) in place of its comment, and their #include lines to the top. Blocks
# that name a file of src/, or `quoted` behind their file, are quotations that compile there. Run it by `make check-docs`.
set -uo pipefail
export COMPILE="${MPICXX:?run this through make check-docs} ${MPI_CFLAGS-} -std=c++20 -Iinclude -fsyntax-only -Wall -Wno-unused -Werror"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A file for each program and each section with blocks. The compiler names lines of the documents.
awk -v scratch="$scratch" '
function finish_section() {
    if (body != "") print includes head body tail > (scratch "/" page "." section ".cpp")
    body = includes = ""
}
FNR == 1 { finish_section(); page = FILENAME; gsub("/", "_", page); section = 0 }
/^## / && !inside { finish_section(); ++section }
/^```cpp/ && $2 !~ /^src\// && $3 != "quoted" { inside = 1; all = code = "#line " FNR + 1 " \"" FILENAME "\"\n"; tops = ""; next }
/^```/ && inside {
    inside = 0
    if (all ~ /int main\(/) print all > (scratch "/" page ".main" ++programs ".cpp")
    else { body = body code; includes = includes tops }
    if (head == "") { split(all, frame, /[^\n]*the blocks of a section go here[^\n]*\n/); head = frame[1]; tail = frame[2] }
    next
}
inside { all = all $0 "\n" }
inside && /^#include/ { tops = tops $0 "\n"; $0 = "" }
inside { code = code $0 "\n" }
END { finish_section() }' docs/tutorial.md README.md $(ls docs/*.md | grep -vx docs/tutorial.md) || exit 1

if ! ls "$scratch"/*.cpp | xargs -P "$(nproc 2>/dev/null || echo 1)" -I{} sh -c '$COMPILE {} || exit 1'; then
    echo "docs: C++ that does not compile"
    exit 1
fi
echo "docs: the C++ of $(ls "$scratch" | wc -l) programs and sections compiles"
