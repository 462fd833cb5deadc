#!/usr/bin/env bash
# simulate.sh: runs bench/contraction on simulated machines (SimGrid) and prints a table. `make simulate` calls it.
# CASES     cases and sizes, e.g. "mm:1024 mttkrp3:192"
# MACHINES  tori such as 4x4x4, and fat trees such as fat4x16: 16 nodes of 4 ranks
# COMPUTES  yes: time between MPI calls counts as it is measured here; no (default): communication only, which repeats exactly
# AS        what the planner is told: machine (default), or flat: that every rank is equally far from every other
# RUNS      of each statement after the first; 8 by default
set -euo pipefail

cases=${CASES:-mm:1024 mm:4096 3mm:1024 mttkrp3:192 ttmc5:12 model4ns:24 model4as:32 model6as:10 hadamard:64}
machines=${MACHINES:-4x4x4 8x8 16x4 2x4x8 2x32 12x6 2x2x2x2x2x2 fat4x16}
computes=${COMPUTES:-no}
build=build/simulated
link_bandwidth=2GBps link_latency=1us speed=40Gf

# A torus of hosts with a rank each, or nodes of several ranks under one switch of a fat tree of two levels.
platform() {
    local machine=$1 kind hosts per_host
    if [[ $machine == fat* ]]; then
        per_host=${machine#fat} per_host=${per_host%x*} hosts=${machine##*x}
        kind="FAT_TREE\" topo_parameters=\"2;4,$(((hosts + 3) / 4));1,2;1,1"
    else
        per_host=1 hosts=$((${machine//x/*}))
        kind="TORUS\" topo_parameters=\"${machine//x/,}"
    fi
    cat > "$build/$machine.xml" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="machine" prefix="node-" radical="0-$((hosts - 1))" suffix="" speed="$speed" core="$per_host"
           bw="$link_bandwidth" lat="$link_latency" topology="$kind"
           loopback_bw="8GBps" loopback_lat="300ns"/>
</platform>
XML
    for ((host = 0; host < hosts; ++host)); do
        for ((rank = 0; rank < per_host; ++rank)); do echo "node-$host"; done
    done > "$build/$machine.hosts"
    ranks=$((hosts * per_host))
    {
        echo "flops_per_second = 4e10"
        if [ "${AS:-machine}" = flat ]; then
            echo "ranks_per_node = 1"
        elif [[ $machine == fat* ]]; then
            echo "ranks_per_node = $per_host"
            echo "bytes_per_second = 2e9"
            echo "node_bytes_per_second = 2e9"
        else
            local dimensions=${machine//[0-9]/}
            echo "torus = $machine"
            echo "bytes_per_second = $((4 * (${#dimensions} + 1)))e9"
            echo "link_bytes_per_second = 2e9"
            echo "link_seconds = 1e-6"
        fi
    } > "$build/$machine.conf"
}

printf '%-14s %-12s %6s %12s %12s\n' machine case ranks 'first s' 'settled s'
for machine in $machines; do
    platform "$machine"
    for job in $cases; do
        line=$(ARGES_MACHINE="$build/$machine.conf" OMP_NUM_THREADS=1 smpirun -np "$ranks" -platform "$build/$machine.xml" -hostfile "$build/$machine.hosts" \
                   --cfg=smpi/host-speed:$speed --cfg=smpi/simulate-computation:"$computes" --log=root.thresh:critical \
                   "$build/bench/contraction" "${job%:*}" "${job#*:}" "${RUNS:-8}")
        first=${line#*first=} settled=${line#*seconds=}
        printf '%-14s %-12s %6s %12s %12s\n' "$machine" "$job" "$ranks" "${first%% *}" "${settled%% *}"
    done
done
