# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After named_device_functions.sh. A partition is one of the kernel's: no table of partitions is written.

# `part`, the partition of the lab's on the device that look_at found, as the kernel has it; empty: none.
find_part() {
    part=
    for partition in "$sys"/*/partition; do
        folder=${partition%/partition}
        [ ! -e "$partition" ] || [ "$(cat "$folder/start")" != "$START" ] || part=$folder
    done
}
START=2048  # in units of 512 bytes: 1 MiB

# `present` where the node $1 is that of the device $2, or with $3 `partition` of its partition; `absent` where there is neither node
# nor partition; else what there is.
node_state() {
    found=
    [ ! -b "$1" ] || found=$(stat -c '0x%t:0x%T' "$1")
    [ -z "$found" ] || found=$((${found%:*})):$((${found#*:}))
    if ! look_at "$2" 2>/dev/null; then [ "$found" ] && echo "node of a device that is gone" || echo absent; return; fi
    find_part
    case $3 in partition) wanted=${part:+$(cat "$part/dev")} ;; *) wanted=$numbers ;; esac
    if [ "$found" ] && [ "$found" = "$wanted" ]; then echo present
    elif [ -z "$found$part" ]; then echo absent
    else echo "node ${found:-none}, partition ${part:-none}"
    fi
}
