#!/usr/bin/env bash
# The fences of docs/architecture.md: a file under src/X includes "X/...", the layers below X and
# public headers, one under src/cli of these layers base only; some words stay in the layers that own them. Comments and literals do not count.
set -uo pipefail

# Top to bottom.
layers="cli python cyclops c decompose chemistry linalg io interface execute redistribute device plan partition \
sparse local comm topology layout symmetry base"
# Layers that a layer may not include although they are below it; mpi: nor <mpi.h>, nor any public
# header that brings it.
fences="plan:comm,local,sparse,mpi partition:comm,local,sparse,mpi sparse:comm,mpi local:comm,mpi \
device:comm,mpi topology:mpi layout:mpi symmetry:mpi base:mpi"

# check ROOT: prints the violations under ROOT/src and ROOT/include, one a line.
check() {
    (cd "$1" && find src include -type f -regex '.*\.[ch]pp' 2>/dev/null | sort | xargs -r awk \
        -v layers="$layers" -v fences="$fences" '
    function report(text) { violation[++violations] = FILENAME ":" FNR ": " text }

    # The line without comments; literals become "" and quoted characters a space.
    function code_of(line,    out, token, end) {
        out = ""
        while (line != "") {
            if (in_comment) {
                end = index(line, "*/")
                if (!end) return out
                line = substr(line, end + 2)
                in_comment = 0
            }
            if (!match(line, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)\047|\/\/|\/\*/)) return out line
            token = substr(line, RSTART, RLENGTH)
            out = out substr(line, 1, RSTART - 1)
            line = substr(line, RSTART + RLENGTH)
            if (token == "//") return out
            else if (token == "/*") in_comment = 1
            else out = out (token ~ /^"/ ? "\"\"" : " ")
        }
        return out
    }

    function source_include(name, quoted,    to) {
        if (name == "arges.h" || name == "tapp.h") {
            if (layer != "c") report("\"" name "\" is for programs in C, and for src/c")
        } else if (name ~ /^ctf(_[a-z]+)?\.hpp$/ && layer == "cyclops") {  # installed beside ctf.hpp
        } else if (quoted && name !~ /^arges\//) {
            to = name
            if (!sub(/\/.*/, "", to) || !(to in depth)) report("\"" name "\" does not name a layer")
            else if (depth[to] < depth[layer]) report(layer " is below " to)
            else if ((layer, to) in fenced) report(layer " may not see " to)
            else if (layer == "cli" && to !~ /^(cli|base)$/) report("cli stands on public headers, and may not see " to)
        } else if ((layer, "mpi") in fenced) {
            if (name == "mpi.h") report(layer " may not see MPI")
            if (name ~ /^arges\//) {
                wants[++wanted] = name
                asked[wanted] = FILENAME ":" FNR ": " layer
            }
        }
    }

    function public_include(name, quoted) {
        if (name ~ /^arges\//) { from[++edges] = header; target[edges] = name }
        else if (name == "mpi.h" && header == "arges/world.hpp") brings_mpi[header] = 1
        else if (quoted || name !~ /^[a-z0-9_]+$/) report("a public header may not include " name)
    }

    function words(code) {
        if (layer != "comm") {
            # Communicators come in through interface, c and cyclops, and io and linalg hand them on to HDF5 and BLACS.
            if (layer ~ /^(interface|c|cyclops|io|linalg)$/ || header == "arges/world.hpp")
                gsub(/MPI_(Comm|COMM_WORLD|COMM_NULL|INFO_NULL|Fint|File|Op|OP_NULL)[^A-Za-z0-9_]/, " ", code)
            if (match(code, /(^|[^A-Za-z0-9_])P?MPI_[A-Za-z0-9_]+/))
                report("MPI outside src/comm: " substr(code, RSTART, RLENGTH))
        }
        for (name in home)
            if (layer != home[name] && match(code, "(^|[^A-Za-z0-9_])" calls[name]))
                report(name " outside src/" home[name] ": " substr(code, RSTART, RLENGTH))
        if (layer != "base" && code ~ /getenv/) report("getenv outside src/base")
        if (layer != "cli" && code ~ /std::(cout|cerr|clog)|(^|[^A-Za-z0-9_])f?printf[ ]*\(/)
            report("the library prints nothing itself")
    }

    BEGIN {
        home["BLAS"] = "local";  calls["BLAS"] = "(cblas|openblas)_[a-z]"
        home["HDF5"] = "io";     calls["HDF5"] = "H5[A-Z]+[a-z]"
        home["CUDA"] = "device"; calls["CUDA"] = "cu(da|blas)[A-Z_]"
        home["LAPACK, ScaLAPACK"] = "linalg"
        calls["LAPACK, ScaLAPACK"] = "(Fortran(Real)?<|C?blacs_[a-z]|LAPACKE_)"
        n = split(layers, name_at)
        for (i = 1; i <= n; ++i) depth[name_at[i]] = i
        n = split(fences, fence)
        for (i = 1; i <= n; ++i) {
            split(fence[i], side, ":")
            m = split(side[2], ahead, ",")
            for (j = 1; j <= m; ++j) fenced[side[1], ahead[j]] = 1
        }
    }
    FNR == 1 {
        ++files
        in_comment = 0
        layer = header = ""
        split(FILENAME, part, "/")
        if (part[1] == "src") layer = part[2]
        else header = substr(FILENAME, length("include/") + 1)
        if (layer != "" && !(layer in depth)) report("src/" layer " is not a layer")
    }
    !in_comment && match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]*/) {
        name = substr($0, RSTART, RLENGTH)
        quoted = name ~ /"/
        sub(/.*[<"]/, "", name)
        if (layer != "") source_include(name, quoted)
        else public_include(name, quoted)
        next
    }
    { words(code_of($0)) }
    END {
        do {  # which public headers bring <mpi.h>, through others
            grown = 0
            for (i = 1; i <= edges; ++i)
                if ((target[i] in brings_mpi) && !(from[i] in brings_mpi))
                    grown = brings_mpi[from[i]] = 1
        } while (grown)
        for (i = 1; i <= wanted; ++i)
            if (wants[i] in brings_mpi)
                violation[++violations] = asked[i] " may not see MPI, which " wants[i] " brings"
        for (i = 1; i <= violations; ++i) print violation[i]
    }')
}

# Self-test: each line of the first tree is one violation, the second tree has none.
self_test() {
    local root path line planted=0 found status=0
    root=$(mktemp -d) || return 1
    while IFS='|' read -r path line; do
        mkdir -p "$root/$(dirname "$path")"
        echo "$line" >>"$root/$path"
        planted=$((planted + 1))
    done <<'PLANTED'
src/base/a.cpp|#include "comm/communicator.hpp"
src/base/a.cpp|  # include <mpi.h>
src/plan/a.cpp|#include "local/blas.hpp"
src/plan/a.hpp|#include "execute/run.hpp"
src/plan/b.cpp|#include <arges/umbrella.hpp>
src/partition/a.cpp|#include "comm/collectives.hpp"
src/local/a.cpp|#include "comm/collectives.hpp"
src/sparse/a.cpp|#include "comm/collectives.hpp"
src/layout/a.cpp|#include <arges/world.hpp>
src/topology/a.cpp|#include "arges/world.hpp"
src/symmetry/a.cpp|#include "packed_index.hpp"
src/symmetry/a.cpp|#include "../base/error.hpp"
src/utilities/a.cpp|int f();
src/interface/a.cpp|MPI_Barrier(comm);
src/interface/a.cpp|#include "arges.h"
src/c/a.cpp|MPI_Barrier(comm);
src/interface/a.cpp|#include "c/objects.hpp"
src/cli/a.cpp|#include "interface/world/world_state.hpp"
src/execute/a.cpp|/* a comment */ MPI_Comm comm;
src/linalg/a.cpp|MPI_Barrier(comm);
src/decompose/a.cpp|cblas_dgemm(CblasColMajor);
src/decompose/a.cpp|LAPACKE_dpotrf("L", n, a, n);
src/decompose/a.cpp|linalg::Fortran<double>::potrf("L");
src/chemistry/a.cpp|H5Fclose(file);
src/local/a.cpp|cudaFree(array);
src/io/a.cpp|const char* home = std::getenv("HOME");
src/io/a.cpp|std::cout << "// not a comment";
src/io/a.cpp|std::printf("text");
include/arges/a.hpp|#include "plan/plan.hpp"
include/arges/a.hpp|#include <fmt/core.h>
include/arges/a.hpp|#include <mpi.h>
include/arges/a.hpp|MPI_Comm comm();
include/arges/world.hpp|MPI_Barrier(comm);
PLANTED
    mkdir -p "$root/clean/src/"{plan,comm,interface,linalg,cli,base,c}
    echo '#include <mpi.h>' >>"$root/include/arges/world.hpp"
    echo '#include "arges/world.hpp"' >"$root/include/arges/umbrella.hpp"
    mkdir -p "$root/clean/include/arges"
    cp "$root/include/arges/umbrella.hpp" "$root/clean/include/arges"
    printf '%s\n' '#include <mpi.h>' 'World(MPI_Comm comm = MPI_COMM_WORLD);' \
        >"$root/clean/include/arges/world.hpp"
    printf '%s\n' '#include "plan/plan.hpp"' '#include "layout/cyclic.hpp"' '#include <vector>' \
        '/* std::cout' ' MPI_Send( */ int f(); // getenv(' 'throw Error("call MPI_Init( first");' \
        'std::snprintf(text, 9, "%d", 1);' >"$root/clean/src/plan/a.cpp"
    printf '%s\n' '#include <mpi.h>' 'MPI_Barrier(comm);' >"$root/clean/src/comm/a.cpp"
    printf '%s\n' '#include <arges/world.hpp>' 'MPI_Comm comm;' >"$root/clean/src/interface/a.cpp"
    cp "$root/clean/src/interface/a.cpp" "$root/clean/src/linalg"
    printf '%s\n' '#include "arges.h"' '#include "interface/a.hpp"' 'int f(MPI_Comm comm, MPI_Fint number);' >"$root/clean/src/c/a.cpp"
    printf '%s\n' '#include "arges/world.hpp"' '#include "base/text.hpp"' '#include "cli/a.hpp"' 'std::cout << 1; std::printf("1");' \
        >"$root/clean/src/cli/main.cpp"
    echo 'std::getenv("HOME");' >"$root/clean/src/base/a.cpp"
    found=$(check "$root" | sort -u)
    if [ "$(grep -c . <<<"$found")" != "$planted" ] || [ -n "$(check "$root/clean")" ]; then
        printf '%s\n' "$found" "clean:" "$(check "$root/clean")"
        echo "check_layers: its self-test found something else than the $planted planted violations"
        status=1
    fi
    rm -rf "$root"
    return $status
}

self_test || exit 1
violations=$(check .)
if [ -n "$violations" ]; then
    echo "$violations"
    echo "layers: $(grep -c . <<<"$violations") violations"
    exit 1
fi
echo "layers: $(find src include -type f 2>/dev/null | wc -l) files, no violation"
