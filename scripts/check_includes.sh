#!/usr/bin/env bash
# Headers that a file includes and does not use: a header of the project of whose names none occurs in the file, or a
# standard one of whose names none does. Looks at text only: a name that is also the name of
# something else hides a header that is not needed. ctf_int.hpp brings what programs for Cyclops expect of it.
set -uo pipefail

# check ROOT: the findings under its src, include, test, bench and examples.
check() {
    (cd "$1" && find src include test bench examples -name '*.[ch]pp' ! -name precompiled.hpp ! -name 'ctf_*.hpp' 2>/dev/null | sort | xargs -r awk '
    function strip(line) {
        if (in_comment) {
            if (!index(line, "*/")) return ""
            line = substr(line, index(line, "*/") + 2)
            in_comment = 0
        }
        gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
        sub(/\/\/.*/, "", line)
        gsub(/\/\*[^*]*\*\//, "", line)
        if (index(line, "/*")) { line = substr(line, 1, index(line, "/*") - 1); in_comment = 1 }
        return line
    }
    # Names that a header declares: at the start of a line there is what belongs to the namespace.
    function declare(line,    rest, name) {
        rest = line
        while (match(rest, /[A-Za-z_][A-Za-z0-9_]*[ ]*([({=;,<\[:]|$)/)) {
            name = substr(rest, RSTART, RLENGTH)
            gsub(/[^A-Za-z0-9_]/, "", name)
            if (!(name in keyword)) declared[FILENAME, name] = names[FILENAME] = names[FILENAME] " " name
            rest = substr(rest, RSTART + RLENGTH)
        }
    }
    BEGIN {
        n = split("if for while switch return template class struct enum union using namespace public private const constexpr inline " \
                  "static void bool char int double float auto std string vector int64_t extern operator typename", words, " ")
        for (i = 1; i <= n; ++i) keyword[words[i]] = 1
        table["algorithm"] = "(sort|min|max|minmax|find|copy|fill|any_of|all_of|none_of|count|transform|reverse|unique|equal|for_each|clamp|swap|lower_bound|upper_bound|binary_search|rotate|remove|replace|move|merge|shuffle|partition|generate|is_sorted|max_element|min_element|minmax_element|lexicographical_compare|next_permutation|prev_permutation|nth_element|push_heap|pop_heap|make_heap|search|mismatch|includes|set_union|set_difference|set_intersection|adjacent_find|stable_sort|partial_sort|find_if|count_if|copy_n|copy_if|fill_n|remove_if|find_if_not|replace_if|set_symmetric_difference|inplace_merge|equal_range|partition_point|stable_partition|swap_ranges|generate_n|find_first_of|find_end|is_permutation|is_sorted_until|copy_backward|move_backward|unique_copy|remove_copy_if|rotate_copy|search_n|sort_heap|is_heap|reverse_copy|ranges)"
        table["array"] = "(array|to_array)"
        table["atomic"] = "atomic|memory_order"
        table["bit"] = "bit_(cast|ceil|floor|width)|popcount|countr_|countl_|has_single_bit|endian|rotl|rotr"
        table["bitset"] = "bitset"
        table["chrono"] = "chrono"
        table["complex"] = "complex|conj|real|imag|norm|abs"
        table["cstdio"] = "FILE|s?n?printf|fputs?|fopen|remove|rename|perror|stderr|stdout|BUFSIZ|std::size_t"
        table["cstring"] = "mem(cpy|move|cmp|set|chr)|str(len|cmp|ncmp|chr|error|signal|cpy|str|rchr)"
        table["deque"] = "deque"
        table["exception"] = "exception"
        table["filesystem"] = "filesystem|fs::"
        table["fstream"] = "(basic_)?[io]?fstream|filebuf"
        table["functional"] = "function|reference_wrapper|cref|mem_fn|hash|greater|less|plus|multiplies|ref|invoke|bind|bit_xor|equal_to|minus|identity"
        table["iomanip"] = "setw|setprecision|setfill|put_time"
        table["iostream"] = "cout|cerr|clog|cin"
        table["iterator"] = "iterator|inserter|back_inserter|distance|begin|end|next|prev|advance|size|data"
        table["limits"] = "numeric_limits"
        table["list"] = "list"
        table["map"] = "map"
        table["memory"] = "unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|addressof|allocator|enable_shared_from_this|assume_aligned"
        table["mutex"] = "mutex|lock|once"
        table["numeric"] = "iota|accumulate|reduce|inner_product|partial_sum|gcd|lcm|scan|midpoint|adjacent_difference"
        table["optional"] = "optional|nullopt"
        table["ostream"] = "ostream|flush|endl"
        table["random"] = "mt19937|distribution|random_device"
        table["regex"] = "regex"
        table["set"] = "set"
        table["span"] = "span"
        table["sstream"] = "stringstream|istringstream|ostringstream"
        table["stdexcept"] = "runtime_error|logic_error|length_error|overflow_error|range_error|domain_error|out_of_range|invalid_argument"
        table["string"] = "string|to_string|stoi|stol|stoll|stod|stoull|getline|char_traits"
        table["string_view"] = "string_view"
        table["thread"] = "thread|jthread|this_thread"
        table["tuple"] = "tuple|tie|apply"
        table["type_traits"] = "is_[a-z_]+|remove_|conditional|enable_if|decay|invoke_result|underlying_type|integral_constant|true_type|false_type|common_type|make_unsigned|make_signed|type_identity|void_t|add_"
        table["unordered_map"] = "unordered_(multi)?map"
        table["unordered_set"] = "unordered_(multi)?set"
        table["utility"] = "pair|move|swap|exchange|forward|declval|index_sequence|in_place|as_const|cmp_"
        table["variant"] = "variant|visit|get_if|holds_alternative|monostate"
        table["vector"] = "vector"
    }
    FNR == 1 { in_comment = 0 }
    match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]*/) {
        name = substr($0, RSTART, RLENGTH)
        sub(/.*[<"]/, "", name)
        from[++includes] = FILENAME
        header[includes] = name
        next
    }
    {
        line = strip($0)
        if (line == "") next
        text[FILENAME] = text[FILENAME] "\n" line
        if (FILENAME ~ /\.hpp$/ && (line ~ /^[A-Za-z_]/ || line ~ /^#[ \t]*define/) && line !~ /^(namespace|extern "C")/) {
            sub(/^#[ \t]*define[ \t]+/, "", line)
            declare(line)
        }
    }
    END {
        for (i = 1; i <= includes; ++i) {
            file = from[i]
            name = header[i]
            if (name in table) {
                if (!match(text[file], "(^|[^A-Za-z0-9_])(std::)?(" table[name] ")")) print file ": <" name ">"
                continue
            }
            path = ""
            if (("src/" name) in names) path = "src/" name
            else if (("include/" name) in names) path = "include/" name
            else if (("test/" name) in names) path = "test/" name
            if (path == "") continue
            own = file
            sub(/.*\//, "", own); sub(/\.[ch]pp$/, "", own); sub(/_test$/, "", own)
            base = path
            sub(/.*\//, "", base); sub(/\.hpp$/, "", base)
            if (own == base || file ~ /^include\/arges\/(arges|chemistry)\.hpp$/) continue
            m = split(names[path], word, " ")
            used = 0
            for (k = 1; k <= m && !used; ++k)
                used = match(text[file], "(^|[^A-Za-z0-9_])" word[k] "([^A-Za-z0-9_]|$)")
            if (!used) print file ": \"" name "\""
        }
    }')
}

# Self-test: the first file includes two headers that it does not use.
self_test() {
    local root found
    root=$(mktemp -d) || return 1
    mkdir -p "$root/src/a"
    printf '%s\n' '#pragma once' 'struct Used {' '    int part;' '};' 'int used_too(int);' >"$root/src/a/used.hpp"
    printf '%s\n' '#pragma once' 'struct Unused {};' >"$root/src/a/unused.hpp"
    printf '%s\n' '#include "a/used.hpp"' '#include "a/unused.hpp"' '#include <vector>' '#include <string>' \
        'std::vector<Used> f();  // Unused, std::string' >"$root/src/a/b.cpp"
    found=$(check "$root")
    rm -rf "$root"
    [ "$found" = 'src/a/b.cpp: "a/unused.hpp"
src/a/b.cpp: <string>' ] || { echo "check_includes: its self-test found: $found"; return 1; }
}

self_test || exit 1
unused=$(check .)
if [ -n "$unused" ]; then
    echo "$unused"
    echo "includes: $(grep -c . <<<"$unused") that the file does not use"
    exit 1
fi
echo "includes: all are used"
