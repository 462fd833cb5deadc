#!/usr/bin/env bash
# simulate.sh: runs bench/contraction on simulated machines (SimGrid) and prints a table. `make simulate` calls it.
# CASES     cases and sizes, e.g. "mm:1024 mttkrp3:192"
# MACHINES  tori such as 4x4x4; fat trees such as fat4x16: 16 nodes of 4 ranks; dragonflies such as dragonfly4x2x4x2: 4 groups of
#           2 chassis of 4 routers of 2 ranks
# AS        what the planner is told, a run for each: machine (default); flat: every rank is equally far from every other; a torus such as
#           8x8; folded: all dimensions are one ring; unfolded: a dimension for each prime factor; ordered: as machine, and the ranks are
#           put in the machine's order, by coordinates (ARGES_COORDINATES) on tori, else by nodes (ARGES_RANK_ORDER)
# PEER      another program, compiled the same way, that takes a case, a size and repetitions, and prints first=... seconds=...
# SHUFFLE   a seed: ranks are put on hosts in random order
# WEAK      ranks for which the sizes are meant: other machines get sizes of as many flops on a rank, and efficiencies are printed
# COMPUTES  yes: time between MPI calls counts as it is measured here; no (default): communication only, which repeats exactly; plans
#           then take computation to be free
# FACTORS   no: links give messages of any length their full rate; yes (default): short messages get less, as SimGrid measured on a cluster
# RUNS      of each statement after the first; 8 by default
# CSV       a file for the same figures, which are added
set -euo pipefail

cases=${CASES:-mm:1024 mm:4096 3mm:1024 mttkrp3:192 ttmc5:12 model4ns:24 model4as:32 model6as:10 hadamard:64 reverse2:4096 reverse4:48}
machines=${MACHINES:-4x4x4 8x8 16x4 2x4x8 2x32 12x6 2x2x2x2x2x2 fat4x16 dragonfly4x2x4x2 fat4x64 8x8x8}
computes=${COMPUTES:-no}
build=build/simulated
flops=40e9 link_rate=2e9 group_cables=4 # flops of a rank, bytes of a link, links between two groups of a dragonfly
csv=${CSV:-$build/simulated.csv}
[ -n "${CSV:-}" ] || rm -f "$csv"
[ -s "$csv" ] || echo "machine,as,case,size,ranks,first,settled,predicted,ratio,bytes,messages,efficiency,bound_efficiency" > "$csv"
failed=0
rows_before=$(wc -l < "$csv")

product() { awk -v a="$1" -v b="$2" 'BEGIN { print a * b }'; }

# Hosts of a rank each, or nodes of several ranks; how they are linked; what a rank can send; and the same in lines of a machine file.
# places: the lengths by which hosts are numbered, first fastest, where coordinates are known.
describe() {
    local machine=$1 lengths
    per_host=1 places=""
    case $machine in
    fat*)
        lengths=${machine#fat}
        per_host=${lengths%x*} hosts=${lengths#*x} rate=$link_rate
        topology="FAT_TREE\" topo_parameters=\"2;4,$(((hosts + 3) / 4));1,4;1,1"
        known="ranks_per_node = $per_host\nnode_bytes_per_second = $link_rate\nlink_seconds = 2e-6\n" # two levels of switches
        ;;
    dragonfly*)
        lengths=${machine#dragonfly}
        local groups chassis routers nodes
        IFS=x read -r groups chassis routers nodes <<< "$lengths"
        hosts=$((groups * chassis * routers * nodes)) rate=$link_rate
        topology="DRAGONFLY\" topo_parameters=\"$groups,$group_cables;$chassis,1;$routers,1;$nodes"
        # The nodes of a router send no more than one link carries to other routers (measured). Routes leave a group by the one router that
        # has the cables, to which a link leads from each other chassis.
        local leaving=$((group_cables < chassis ? group_cables : chassis))
        places=${nodes}x${routers}x${chassis}x${groups}
        known="levels = $places\nlevel_bytes_per_second = $rate $link_rate 0 0\nlink_seconds = 1e-6\n"
        known+="level_pair_bytes_per_second = 0 $link_rate $(product $routers $link_rate) $(product $leaving $link_rate)\n"
        ;;
    *)
        local crosses=${machine//[0-9]/}
        hosts=$((${machine//x/*})) rate=$((4 * (${#crosses} + 1)))e9 places=$machine
        topology="TORUS\" topo_parameters=\"${machine//x/,}"
        known="link_bytes_per_second = $link_rate\nlink_seconds = 1e-6\n"
        ;;
    esac
    ranks=$((hosts * per_host))
}

# What SimGrid is told: the platform, and the host of each rank.
write_platform() {
    cat > "$build/$machine.xml" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="machine" prefix="node-" radical="0-$((hosts - 1))" suffix="" speed="40Gf" core="$per_host"
           bw="2GBps" lat="1us" topology="$topology" loopback_bw="8GBps" loopback_lat="300ns"/>
</platform>
XML
    awk -v hosts="$hosts" -v per_host="$per_host" -v seed="${SHUFFLE:-}" 'BEGIN {
        n = hosts * per_host
        for (r = 0; r < n; ++r) host[r] = int(r / per_host)
        if (seed != "") {
            srand(seed)
            for (r = n - 1; r > 0; --r) { s = int(rand() * (r + 1)); t = host[r]; host[r] = host[s]; host[s] = t }
        }
        for (r = 0; r < n; ++r) print "node-" host[r]
    }' > "$build/$machine.hosts"
    [ -z "$places" ] || awk -F - -v shape="$places" 'BEGIN { d = split(shape, length_of, "x") }
        { text = ""; h = $2; for (i = 1; i <= d; ++i) { text = text h % length_of[i] " "; h = int(h / length_of[i]) } print text }' \
        "$build/$machine.hosts" > "$build/$machine.coordinates"
}

# What the planner is told: a machine file, and whether ranks are to be reordered.
write_knowledge() {
    local as=$1 shape=""
    coordinates="" rank_order=given
    case $as in
    machine | ordered) [[ $machine == [a-z]* ]] || shape=$machine ;;
    folded) shape=$ranks ;;
    unfolded) shape=$(factor ${machine//x/ } | cut -d: -f2 | xargs | tr ' ' x) ;;
    flat) ;;
    *) shape=$as ;;
    esac
    if [ "$as" = ordered ]; then
        [ -n "$places" ] && coordinates=$build/$machine.coordinates || rank_order=machine
    fi
    {
        if [ "$computes" = yes ]; then
            printf '%s\n' "flops_per_second = $flops" "planning_seconds = 5e-3" # as arges calibrate finds on 64 ranks
        else
            printf '%s\n' "flops_per_second = 1e18" "copied_bytes_per_second = 1e18" "listed_element_seconds = 1e-18"
        fi
        echo "message_seconds = 1e-9" # SimGrid sends at no cost to the processor
        if [ "$as" = flat ]; then
            echo "ranks_per_node = 1"
        else
            echo "bytes_per_second = $rate"
            [ -z "$shape" ] || echo "torus = $shape"
            printf '%b' "$known"
        fi
    } > "$build/$machine.conf"
}

# The size that gives a rank as many flops as `size` does on $WEAK ranks.
weak_size() {
    local power
    case $case in
    mm | 2mm | 3mm | mttkrp3*) power=3 ;;
    model4* | ttmc5) power=6 ;;
    model6*) power=9 ;;
    model8*) power=12 ;;
    mttkrp5*) power=5 ;;
    hadamard | reverse2) power=2 ;;
    *) power=4 ;;
    esac
    awk -v n="$1" -v ratio="$ranks/$WEAK" -v power="$power" 'BEGIN { split(ratio, r, "/"); printf "%.0f", n * (r[1] / r[2]) ^ (1 / power) }'
}

simulate() { # PROGRAM
    local network=() # a look at messages that are under way (smpi/test) would take 0.1 ms by itself
    [ "${FACTORS:-yes}" = yes ] || network=(--cfg=smpi/bw-factor:0:1.0 --cfg=smpi/lat-factor:0:1.0 --cfg=network/crosstraffic:no)
    ARGES_MACHINE="$build/$machine.conf" ARGES_COORDINATES="$coordinates" ARGES_RANK_ORDER="$rank_order" OMP_NUM_THREADS=1 ARGES_WAIT_NOTICE=0 \
        smpirun -np "$ranks" -platform "$build/$machine.xml" -hostfile "$build/$machine.hosts" \
        --cfg=smpi/host-speed:40Gf --cfg=smpi/test:1e-7 --cfg=smpi/simulate-computation:"$computes" "${network[@]}" --log=root.thresh:critical \
        "$1" "$case" "$size" "${RUNS:-8}"
}

# Prints a line of the table and of the file. Efficiency: computation at the rate of a rank, by that and communication; the bound's own has
# the bytes of the lower bound at the rate that a rank can send.
report() { # AS LINE
    awk -v line="$2" -v as="$1" -v machine="$machine" -v name="$case" -v size="$size" -v ranks="$ranks" -v base="$base" -v csv="$csv" \
        -v weak="${WEAK:-}" -v flops="$flops" -v rate="$rate" 'BEGIN {
        for (n = split(line, words, " "); n > 0; --n) { split(words[n], pair, "="); value[pair[1]] = pair[2] }
        ratio = base > 0 ? sprintf("%.2f", base / value["seconds"]) : ""
        efficiency = bound = ""
        if (weak != "" && value["flops"] > 0) {
            computing = value["flops"] / ranks / flops
            efficiency = sprintf("%.3f", computing / (computing + value["seconds"]))
            bound = sprintf("%.3f", computing / (computing + value["bound"] / rate))
        }
        printf "%-16s %-10s %-14s %6s %10.3g %10.3g %10.3g %6s %12s %8s%s\n", machine, as, name ":" size, ranks, value["first"],
            value["seconds"], value["planned"], ratio, value["bytes"], value["messages"], weak != "" ? sprintf(" %10s %8s", efficiency, bound) : ""
        print machine "," as "," name "," size "," ranks "," value["first"] "," value["seconds"] "," value["planned"] "," ratio "," \
            value["bytes"] "," value["messages"] "," efficiency "," bound >> csv
    }'
}

printf '%-16s %-10s %-14s %6s %10s %10s %10s %6s %12s %8s' machine as case ranks 'first s' 'settled s' 'predicted' ratio bytes messages
[ -z "${WEAK:-}" ] || printf ' %10s %8s' efficiency bound
echo
for machine in $machines; do
    describe "$machine"
    write_platform
    for job in $cases; do
        case=${job%:*} size=${job#*:} base=0
        [ -z "${WEAK:-}" ] || size=$(weak_size "$size")
        for as in ${AS:-machine} ${PEER:+peer}; do
            if [ "$as" = peer ]; then program=$PEER; else program=$build/bench/contraction && write_knowledge "$as"; fi
            if ! line=$(simulate "$program"); then
                printf '%-16s %-10s %-14s %6s failed\n' "$machine" "$as" "$case:$size" "$ranks"
                failed=1
                continue
            fi
            [ "$base" != 0 ] || base=$(sed 's/.*seconds=\([^ ]*\).*/\1/' <<< "$line")
            report "$as" "$line"
        done
    done
done

# By machine and what was told: the geometric mean of the first one's seconds over its own, and how many predictions hold.
awk -F , -v before="$rows_before" 'NR > before && $7 > 0 {
    key = sprintf("%-16s %-10s", $1, $2)
    if (!(key in count)) order[++keys] = key
    ++count[key]
    if ($9 > 0) { logs[key] += log($9); ++ratios[key] }
    if ($8 > 0) { ++predicted[key]; if ($8 / $7 < 1.2 && $7 / $8 < 1.2) ++near[key] }
} END {
    print "\nmachine          as         geometric mean of ratios, predictions within 20 %"
    for (k = 1; k <= keys; ++k) {
        key = order[k]
        printf "%s %.3f  %d of %d\n", key, (ratios[key] > 0 ? exp(logs[key] / ratios[key]) : 0), near[key], predicted[key]
    }
}' "$csv"
exit $failed
