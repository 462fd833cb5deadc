#!/usr/bin/env bash
# What the documents say is what the programs do: every block that names a file (```cpp FILE; c, fortran) stands in that file, up to
# indentation; every link to a file leads to one; the examples print what examples/expected holds on 1, 2 and 3 ranks; and blocks of output
# are what programs print (scripts/check_outputs.py).
# Outside of make only the text is checked. Run it by `make check-examples`; RENEW=1 writes examples/expected and the blocks of output anew.
set -uo pipefail
bad=0
renew=${RENEW:-}

# quoted DOCUMENT: prints the blocks that are not in their files.
quoted() {
    awk '
    function bare(line) { sub(/^[ \t]+/, "", line); sub(/[ \t]+$/, "", line); return line }
    function whole(file,    line, text) {
        while ((getline line < file) > 0) text = text bare(line) "\n"
        close(file)
        return text
    }
    /^```(cpp|c|fortran) / { file = $2; block = ""; first = FNR; next }
    /^```/ && file != "" {
        if (index("\n" whole(file), "\n" block) == 0) print FILENAME ":" first ": not in " file
        file = ""
        next
    }
    file != "" { block = block bare($0) "\n" }' "$1"
}

# links DOCUMENT: prints the relative links that lead nowhere.
links() {
    awk '/^```/ { code = !code } !code' "$1" | grep -oE '\]\([^)#: ]+' | cut -c3- | sort -u | while read -r target; do
        [ -e "$(dirname "$1")/$target" ] || echo "$1: the link to $target leads nowhere"
    done
}

documents="README.md CONTRIBUTING.md $(ls docs/*.md)"
for document in $documents; do
    wrong=$(quoted "$document"; links "$document")
    if [ -n "$wrong" ]; then echo "$wrong"; bad=1; fi
done
for document in docs/*.md; do
    grep -q "($document)" README.md || { echo "$document is not reachable from README.md"; bad=1; }
done

# differs EXPECTED: compares the output on stdin with a file, line by line and word by word; prints the first difference and
# fails. Numbers with a point or an exponent may differ by one in their last digit, and those below 1e-12 are all zero.
differs() {
    awk -v expected="$1" '
    function unit(text,    parts) {  # one in the last digit of a number
        split(text, parts, "e")
        return 10 ^ ((parts[2] != "" ? parts[2] : 0) - (index(parts[1], ".") ? length(parts[1]) - index(parts[1], ".") : 0))
    }
    function close_to(a, b,    off) {
        if (a == b) return 1
        if (a b !~ /[.e]/ || a !~ number || b !~ number) return 0
        off = a - b
        if (off < 0) off = -off
        return off <= 1.001 * unit(a) || (a + 0 < 1e-12 && a + 0 > -1e-12 && b + 0 < 1e-12 && b + 0 > -1e-12)
    }
    # The line with blanks around whatever is no part of a number or word.
    function words(line, list) {
        gsub(/[^-+.,A-Za-z0-9_]/, " & ", line)
        return split(line, list, " ")
    }
    function report(a, b) { print "line " NR ": expected: " a; print "line " NR ":      got: " b; bad = 1; exit 1 }
    BEGIN { number = "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[-+]?[0-9]+)?$" }
    {
        if ((getline wanted < expected) <= 0) report("the end", $0)
        n = words(wanted, a)
        if (n != words($0, b)) report(wanted, $0)
        for (i = 1; i <= n; ++i) if (!close_to(a[i], b[i])) report(wanted, $0)
    }
    END { if (!bad && (getline wanted < expected) > 0) { ++NR; report(wanted, "the end") }; exit bad }'
}

# An example prints examples/expected/NAME.txt on every number of ranks, or NAME.P.txt on P ranks.
runs=0
if [ -n "${BUILD:-}" ]; then
    . scripts/on_ranks.sh
    export ARGES_MACHINE=/dev/null ARGES_MEMORY_LIMIT=4G  # plans do not depend on the machine
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    for source in examples/*.cpp examples/c/*.c examples/fortran/*.f90; do
        name=${source#examples/} name=${name%.*}
        expected=examples/expected/$name
        for ranks in 1 2 3; do
            runs=$((runs + 1))
            log=$scratch/$name.$ranks
            mkdir -p "$(dirname "$log")"
            if ! on_ranks 120 "$ranks" "$BUILD/examples/$name" >"$log" 2>"$log.err"; then
                cat "$log" "$log.err"
                echo "$BUILD/examples/$name failed on $ranks ranks"
                bad=1
            elif [ -z "$renew" ]; then
                text=$expected.$ranks.txt
                [ -e "$text" ] || text=$expected.txt
                differs "$text" <"$log" || { echo "$source on $ranks ranks does not print $text"; bad=1; }
            fi
        done
        if [ -n "$renew" ] && ((!bad)); then
            mkdir -p "$(dirname "$expected")"
            rm -f "$expected".txt "$expected".[123].txt
            if differs "$scratch/$name.1" <"$scratch/$name.2" >/dev/null && differs "$scratch/$name.1" <"$scratch/$name.3" >/dev/null; then
                cp "$scratch/$name.1" "$expected.txt"
            else
                for ranks in 1 2 3; do cp "$scratch/$name.$ranks" "$expected.$ranks.txt"; done
            fi
        fi
    done
    # An error ends a program with one line, whatever the number of ranks.
    wrong=$(on_ranks 60 2 "$BUILD/examples/18_triangles" nowhere.mtx 2>&1)
    if [ $? -ne 1 ] || [ "$(grep -c 'nowhere.mtx' <<<"$wrong")" -ne 1 ]; then echo "a missing file: $wrong"; bad=1; fi
fi
scripts/check_outputs.py $documents || bad=1
if ((bad)); then exit 1; fi
echo "examples: $(cat $documents | grep -cE '^```(cpp|c|fortran) ') blocks of $(wc -w <<<"$documents") documents are as in the code, $runs runs printed what they should"
