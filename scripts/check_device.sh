#!/usr/bin/env bash
# The check of a machine with a CUDA device, in at most 6 minutes: right numbers first, then timings, a line for each as soon as it is known.
#   make check-device                                on a machine with nvcc: builds, and packs programs and their libraries
#   scripts/check_device.sh run device_check.tar.xz  on the machine with the device, which needs a driver and CUDA's libraries only
# Expected on an H100 or H200, until measured: mm 8192 at 50 to 60 TFLOP/s by cuBLAS and at 0.9 of it or more; a copy at 2.6 (H100) or 4.3
# TB/s (H200), counting bytes read and written, and permutations at 0.8 of it or more; a sweep of MTTKRP of 20 million nonzeros in 0.02 s
# (16 columns) and 0.06 s (64), a tenth of 16 cores' time; out of memory mm at 0.8 of what it takes within it, with the copies of all but
# the first and the last window hidden; SpMM of 8 million nonzeros with 64 columns in 0.004 s; mttkrp3 1024 and mttkrp5 60 by reading their
# tensors once, 4 and 3 ms (H100), and ttmc5 60 within twice that; RCCSD of 21 and 93 orbitals (benzene, cc-pVDZ) in 0.2 s an iteration and
# (T) in 0.1 s, a tenth of 16 cores' time; the tests in two minutes.
set -uo pipefail

pack() {
    local to=${BUILD:?run this by make check-device}/pack archive=$BUILD/device_check.tar.xz file
    rm -rf "$to"
    mkdir -p "$to/lib" "$to/bin"
    for file in test/execute test/redistribute test/interface test/sparse bench/device bench/contraction bench/sparse_statements bench/rccsd arges; do
        strip -o "$to/bin/${file#*/}" "$BUILD/$file" || exit 1
    done
    cp "$BUILD/libyield.so" "$to/bin/"
    cp test/data/*.tns.gz "$to/"
    # Two ranks on one device: MPICH's launcher starts its proxy, which it looks for beside itself.
    for file in mpiexec.hydra hydra_pmi_proxy; do
        if command -v $file >/dev/null; then cp -L "$(command -v $file)" "$to/bin/"; fi
    done
    # All libraries but those of the C library, the compiler's run time for C++, and CUDA.
    ldd "$to"/bin/* | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
        grep -vE '/(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|cublas|cublasLt|cudart|cuda)\.so.*)$' | xargs -r cp -L -t "$to/lib"
    XZ_OPT=-T0 tar -cJf "$archive" -C "$to" . || exit 1
    echo "check_device: $(du -h "$archive" | cut -f1) in $archive; take it and $0 to the machine with the device, and run there:"
    echo "    bash ${0##*/} run ${archive##*/}"
}

# at_most SECONDS COMMAND...: less where the 6 minutes end before.
at_most() {
    local left=$((350 - SECONDS))
    timeout $((left < 1 ? 1 : left < $1 ? left : $1)) "${@:2}"
}

# tests FOLDER RANKS FILTER: one line; what failed below it.
tests() {
    local start=$SECONDS log launch=()
    log=$(mktemp)
    if (($2 > 1)); then launch=("$pack/bin/mpiexec.hydra" -launcher fork -n "$2" env LD_PRELOAD="$pack/bin/libyield.so"); fi
    GTEST_FILTER=$3 at_most 100 "${launch[@]}" "$pack/bin/$1" --gtest_brief=1 >"$log" 2>&1
    local status=$?
    if [ $status = 124 ]; then echo "tests of $1 on $2 ranks: stopped by the time"
    elif [ $status != 0 ]; then echo "tests of $1 on $2 ranks: FAILED with status $status"; fi
    grep -E 'Failure|^\[ranks\]' "$log" | tail -n 12 | sed "s/^/$1: /; s/\$/  ($((SECONDS - start)) s)/"
    [ $status = 0 ] || { grep -vE '^\[ +OK|^$' "$log" | tail -n 15; failed=1; }
    rm -f "$log"
}

# out_of_memory "CASE SIZE": bytes, a quarter of what the tensors of the statement take, about.
out_of_memory() {
    case $1 in
        "mm "*) echo $((6 * ${1#mm } * ${1#mm })) ;;
        mttkrp*|ttmc5*) echo 2G ;;
        *) echo 200M ;;
    esac
}

# einsum_of_torch CASE SIZE: seconds of torch's einsum on the device for the same product, where torch is installed.
einsum_of_torch() {
    local text
    case $1 in
        mm) text="ij,jk->ik" ;;
        2mm) text="ij,jk,kl->il" ;;
        3mm) text="ij,jk,kl,lm->im" ;;
        mttkrp3) text="ijk,ja,ka->ia" ;;
        mttkrp5) text="ijklm,ja,ka,la,ma->ia" ;;
        ttmc5) text="ijklm,jb,kc,ld,me->ibcde" ;;
        *) return ;;
    esac
    python3 - "$text" "$2" <<'END' 2>&1 | tail -n 1
import sys, time
try:
    import torch
except ImportError:
    sys.exit("  torch is not there")
text, n = sys.argv[1], int(sys.argv[2])
inputs, output = text.split("->")
operands = [torch.rand([24 if c < "i" else n for c in word], dtype=torch.float64, device="cuda") for word in inputs.split(",")]
best = float("inf")
for _ in range(4):
    torch.cuda.synchronize()
    start = time.perf_counter()
    torch.einsum(text, *operands)
    torch.cuda.synchronize()
    best = min(best, time.perf_counter() - start)
print(f"  torch {torch.__version__}: einsum {text} {best:.5f} s")
END
}

run() {
    pack=$(mktemp -d) failed=0
    trap 'rm -rf "$pack"' EXIT
    tar -xJf "$1" -C "$pack" || exit 1
    local cuda case
    cuda=$(ls -d /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib /opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib 2>/dev/null | tr '\n' ':')
    export LD_LIBRARY_PATH=$pack/lib:$cuda${LD_LIBRARY_PATH:-} ARGES_DEVICE=cuda ARGES_MACHINE=/dev/null OMP_NUM_THREADS=4
    export ARGES_FUZZ_COUNT=${ARGES_FUZZ_COUNT:-60}
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || exit 1
    # The device's kernels one by one, then what is made of them. MemorySpaces make up a device of their own.
    tests redistribute 1 '*'
    tests execute 1 '*'
    tests sparse 1 '*'
    tests interface 1 '-*ManyPairs*:MemorySpaces*'
    if [ -x "$pack/bin/mpiexec.hydra" ]; then tests redistribute 2 '*'; fi
    OMP_NUM_THREADS=16 at_most 90 "$pack/bin/device" || { echo "bench/device: status $?"; failed=1; }
    # The last six are those of figure 6 of Deinsum (Ziogas et al., SC22), one node.
    for case in "mm 8192" "model4as 100" "ladder 100" "t3t2 64" "mm 4096" "2mm 4096" "3mm 4096" "mttkrp3 1024" "mttkrp5 60" "ttmc5 60"; do
        echo "statement $case on the device, then on 16 cores of the host:"
        at_most 30 "$pack/bin/contraction" $case 3 || echo "  status $?"
        einsum_of_torch $case
        case $case in
            *"mm 4096") ;;
            *)
                echo "  in a quarter of the memory that its tensors take:"
                at_most 20 env ARGES_DEVICE_MEMORY=$(out_of_memory "$case") "$pack/bin/contraction" $case 1 || echo "  status $?"
                ;;
        esac
        echo "  on the host:"
        at_most 20 env ARGES_DEVICE=none OMP_NUM_THREADS=16 "$pack/bin/contraction" $case 1 || echo "  status $?"
    done
    for place in cuda none; do
        echo "RCCSD(T) with the orbitals of benzene in cc-pVDZ, random numbers, ARGES_DEVICE=$place:"
        OMP_NUM_THREADS=16 at_most 40 env ARGES_DEVICE=$place "$pack/bin/rccsd" 21 93 2 packed || echo "  status $?"
    done
    for place in cuda none; do
        echo "sparse statements on a graph of a million vertices, ARGES_DEVICE=$place:"
        OMP_NUM_THREADS=16 at_most 40 env ARGES_DEVICE=$place "$pack/bin/sparse_statements" --scale 20 --mesh 4 "SpMM 16" "SpMM 64" "SDDMM 64" ||
            echo "  status $?"
    done
    for case in yago-4d wn18rr-3d; do
        for columns in 16 64; do
            for place in "none auto" "cuda device"; do
                set -- $place
                echo "cpd of $case, rank $columns, --device $1 --format $2:"
                OMP_NUM_THREADS=16 at_most 20 "$pack/bin/arges" cpd "$pack/$case.tns.gz" --rank $columns --iterations 10 --tolerance 0 \
                    --device $1 --format $2 | grep -E '^fit' || echo "  status $?"
            done
        done
    done
    echo "check_device: $SECONDS s, $([ $failed = 0 ] && echo "all right" || echo "FAILURES above")"
    exit $failed
}

case ${1-} in
    pack) pack ;;
    run) run "${2:?the archive that make check-device has made}" ;;
    *) sed -n '2,4s/^# *//p' "$0"; exit 2 ;;
esac
