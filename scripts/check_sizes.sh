#!/usr/bin/env bash
# Source files stay near 300 lines: longer ones are listed, above 600 the check fails.
set -uo pipefail
find src include -type f 2>/dev/null | sort | xargs -r wc -l | awk '
    $2 == "total" { next }
    { files++ }
    $1 > 300 { print "  " $2 ": " $1 " lines" ($1 > 600 ? ", above the limit of 600" : "") }
    $1 > 600 { bad++ }
    END { printf "sizes: %d files, %d above 600 lines\n", files, bad; exit bad > 0 }'
