#!/bin/sh
# Starts a program as N ranks on this computer, each a process, with the variables that torchrun, mpirun and srun set:
#
#   examples/launch.sh 2 target/release/dacapo-example-train --device software --ranks 2
#
# Says on standard error which process each rank is, waits for all of them, and ends with the code of the lowest rank that
# failed. A rank that dies is left to the others to notice: no launcher should be needed for that. MASTER_PORT is where rank
# 0 waits for the others; the next launch at the same time needs another one.
set -u
if [ $# -lt 2 ]; then
    echo "usage: $0 RANKS PROGRAM [ARGUMENT]..." >&2
    exit 2
fi
size=$1
shift
export WORLD_SIZE="$size" MASTER_ADDR="${MASTER_ADDR:-127.0.0.1}" MASTER_PORT="${MASTER_PORT:-29500}"

processes=""
rank=0
while [ "$rank" -lt "$size" ]; do
    RANK=$rank LOCAL_RANK=$rank "$@" &
    echo "rank $rank is process $!" >&2
    processes="$processes $!"
    rank=$((rank + 1))
done

first=0
rank=0
for process in $processes; do
    wait "$process"
    code=$?
    echo "rank $rank ended with $code" >&2
    [ "$first" -ne 0 ] || first=$code
    rank=$((rank + 1))
done
exit "$first"
