#!/usr/bin/env bash
# Weak and strong scaling on a cluster: times cases on one number of ranks after the other, and makes tables and plots of all of them.
# docs/cluster.md says how to read them. Run it where the program was built, from the root of the sources.
set -euo pipefail

usage() {
    cat <<'TEXT'
bench/scaling/run.sh [OPTIONS]          runs, then prints tables
bench/scaling/run.sh --tables [OPTIONS] tables and plots of the runs that there are
  --ranks "1 2 4"       numbers of ranks; strong scaling has the size of the first
  --cases A,B           which cases; without it all (--list names them)
  --scaling "weak strong"  which of the two, or both
  --words N             elements of the largest tensor of a case, for each rank; 262144
  --paper               deinsum-2022's products in the sizes of its Table V
  --repetitions N       runs that are timed, of which the median counts; 5
  --settle N            runs before them; 7
  --threads N           threads of a rank; 1
  --calibrate           measure the machine first, on the most ranks, for predicted seconds
  --out FOLDER          where files go; build/scaling
  --launcher NAME       mpiexec (default), or slurm: a job script for each number of ranks, handed to sbatch
  --launch COMMAND      what starts the program: "mpiexec -n %r", "srun -n %r"; %r stands for the number of ranks
  --ranks-per-node N    slurm: tasks on a node; 1
  --time T              slurm: limit of a job; 00:30:00
  --sbatch "LINES"      slurm: further options of sbatch, separated by |
  --dry                 print what would run, and write the job scripts, but start nothing
  --list                names of the cases
TEXT
}

fail() { echo "run.sh: $1" >&2; exit 2; }

build=${BUILD:-build/fast}
here=$(dirname "$0")
ranks="1 2 4" cases= scalings="weak strong" words=262144 repetitions=5 settle=7 threads=1 out=build/scaling launcher=mpiexec launch=
per_node=1 limit=00:30:00 sbatch= paper= calibrate= dry= tables=
while (($#)); do
    option=$1
    case $option in
        --paper | --calibrate | --dry | --tables) printf -v "${option#--}" yes; shift; continue ;;
        --list) exec "$build/bench/scaling" --list ;;
        --help) usage; exit ;;
        --*) (($# > 1)) || fail "$option needs a value, or is no option; --help lists them" ;;
    esac
    case $option in
        --ranks) ranks=$2 ;;
        --cases) cases=$2 ;;
        --scaling) scalings=$2 ;;
        --words) words=$2 ;;
        --repetitions) repetitions=$2 ;;
        --settle) settle=$2 ;;
        --threads) threads=$2 ;;
        --out) out=$2 ;;
        --launcher) launcher=$2 ;;
        --launch) launch=$2 ;;
        --ranks-per-node) per_node=$2 ;;
        --time) limit=$2 ;;
        --sbatch) sbatch=$2 ;;
        *) fail "there is no option $option; --help lists them" ;;
    esac
    shift 2
done
ranks=$(tr -s ', ' '\n' <<<"$ranks" | grep . | sort -nu | tr '\n' ' ')
for number in $ranks "$words" "$repetitions" "$settle" "$threads" "$per_node"; do
    [[ $number =~ ^[0-9]+$ ]] || fail "\"$number\" is not a number"
done
for scaling in $scalings; do
    [[ $scaling == weak || $scaling == strong ]] || fail "--scaling takes weak, strong or both, not $scaling"
done
case $launcher in
    mpiexec) : "${launch:=${MPIEXEC:-$(command -v mpiexec.mpich || echo mpiexec)} ${MPIEXEC_FLAGS-} -n %r}" ;;
    slurm) : "${launch:=srun --cpu-bind=cores -n %r}" ;;
    *) fail "--launcher is mpiexec or slurm, not $launcher" ;;
esac
first=${ranks%% *} last=${ranks% } last=${last##* }
csv=$out/scaling.csv

# The command line for a number of ranks; with more of them than cores, waiting ranks of MPICH must give their core away.
start() {
    local count=$1 preload=
    shift
    if [[ $launcher == mpiexec && -e $build/libyield.so ]] && ((count * threads > $(nproc))); then preload="LD_PRELOAD=$PWD/$build/libyield.so"; fi
    echo "${launch//%r/$count} env OMP_NUM_THREADS=$threads ARGES_MACHINE=$machine $preload $*"
}

lines_for() {
    local count=$1 scaling sized
    for scaling in $scalings; do
        sized=$count
        if [ "$scaling" = strong ]; then sized=$first; fi
        start "$count" "$build/bench/scaling --scaling $scaling --words $words --sized-for $sized --repetitions $repetitions --settle $settle" \
            "${cases:+--cases $cases} ${paper:+--paper} --csv $csv"
    done
}

job_script() {
    local count=$1
    echo "#!/bin/bash"
    echo "#SBATCH --job-name=scaling-$count"
    echo "#SBATCH --nodes=$(((count + per_node - 1) / per_node))"
    echo "#SBATCH --ntasks=$count"
    echo "#SBATCH --ntasks-per-node=$((count < per_node ? count : per_node))"
    echo "#SBATCH --cpus-per-task=$threads"
    echo "#SBATCH --time=$limit"
    echo "#SBATCH --output=$out/job-$count.log"
    if [ -n "$sbatch" ]; then tr '|' '\n' <<<"$sbatch" | sed 's/^/#SBATCH /'; fi
    echo "cd $PWD"
    if [[ -n $calibrate && $count = "$last" ]]; then start "$count" "$build/arges calibrate"; fi
    lines_for "$count"
}

print_tables() {
    [ -s "$csv" ] || fail "there are no runs in $csv"
    local status=0
    awk -f "$here/tables.awk" "$csv" | tee "$out/tables.txt" || status=1
    for scaling in $(awk -F, 'NR > 1 { print $1 }' "$csv" | sort -u); do
        awk -v wanted="$scaling" -f "$here/plot.awk" "$csv" > "$out/$scaling.svg"
    done
    echo "in $out: scaling.csv, tables.txt, $(cd "$out" && echo *.svg)"
    return $status
}

if [ -n "$tables" ]; then print_tables; exit; fi
machine=${ARGES_MACHINE:-/dev/null}
if [ -n "$calibrate" ]; then machine=$(realpath -m "$out")/machine.conf; fi
if [ -z "$dry" ]; then
    for program in "$build/bench/scaling" ${calibrate:+"$build/arges"}; do
        [ -x "$program" ] || fail "there is no $program; build it with: make $program"
    done
fi
mkdir -p "$out"
if [ "$launcher" = slurm ]; then
    # Jobs wait for the one before, so that no two write at once; the most ranks come first, and measure the machine for all.
    before=
    for count in $(tr ' ' '\n' <<<"$ranks" | grep . | sort -nr); do
        job_script "$count" > "$out/job-$count.sh"
        if [ -n "$dry" ]; then echo "sbatch $out/job-$count.sh"; continue; fi
        before=$(sbatch --parsable ${before:+--dependency=afterany:$before} "$out/job-$count.sh")
        echo "job ${before%%;*}: $out/job-$count.sh"
        before=${before%%;*}
    done
    echo "when the jobs have ended: $0 --tables --out $out"
    exit
fi
if [ -n "$calibrate" ]; then commands=$(start "$last" "$build/arges calibrate"); fi
for count in $ranks; do commands="${commands:+$commands$'\n'}$(lines_for "$count")"; done
if [ -n "$dry" ]; then echo "$commands"; exit; fi
[ ! -e "$csv" ] || mv "$csv" "$csv.before"
status=0
while read -r -a command; do
    code=0
    "${command[@]}" </dev/null || code=$?
    # 1: bytes were not as planned, which the tables say.
    if ((code > 1)); then fail "exit code $code of: ${command[*]}"; fi
    if ((code == 1)); then status=1; fi
done <<<"$commands"
print_tables || status=1
exit $status
