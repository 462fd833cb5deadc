#!/usr/bin/env bash
# What the documents say is what the programs do: every C++ block that names a file (```cpp FILE) stands in that file, up to
# indentation; every link to a file leads to one; and the examples end with success on 1, 2 and 3 ranks. Without built
# examples only the text is checked. Run it by `make check`.
set -uo pipefail
bad=0

# quoted DOCUMENT: prints the blocks that are not in their files.
quoted() {
    awk '
    function bare(line) { sub(/^[ \t]+/, "", line); sub(/[ \t]+$/, "", line); return line }
    function whole(file,    line, text) {
        while ((getline line < file) > 0) text = text bare(line) "\n"
        close(file)
        return text
    }
    /^```cpp / { file = $2; block = ""; first = FNR; next }
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

documents="README.md $(ls docs/*.md)"
for document in $documents; do
    wrong=$(quoted "$document"; links "$document")
    if [ -n "$wrong" ]; then echo "$wrong"; bad=1; fi
done
for document in docs/*.md; do
    grep -q "($document)" README.md || { echo "$document is not reachable from README.md"; bad=1; }
done

runs=0
if [ -n "${BUILD:-}" ]; then
    . scripts/on_ranks.sh
    for source in examples/*.cpp; do
        program=$BUILD/${source%.cpp}
        [ -x "$program" ] || continue
        for ranks in 1 2 3; do
            runs=$((runs + 1))
            if ! log=$(on_ranks 120 "$ranks" "$program" 2>&1); then
                echo "$log"
                echo "$program failed on $ranks ranks"
                bad=1
            fi
        done
    done
fi
if ((bad)); then exit 1; fi
echo "examples: $(cat $documents | grep -c '^```cpp ') blocks of $(wc -w <<<"$documents") documents are as in the code, $runs runs succeeded"
