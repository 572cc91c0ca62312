# shellcheck shell=sh
# shellcheck disable=SC2154  # what look_at of named_device_functions.sh sets
# After named_device_functions.sh. Only the kernel knows the partition: no partition table is written.

# Set `part` to the lab's partition on the device of look_at, in /sys; empty for none.
find_part() {
    part=
    for partition in "$sys"/*/partition; do
        folder=${partition%/partition}
        [ ! -e "$partition" ] || [ "$(cat "$folder/start")" != "$START" ] || part=$folder
    done
}
START=2048  # in units of 512 bytes: 1 MiB

# `present` if the node $1 is the device $2, or with $3 `partition` its partition; `absent` if there is neither node nor partition; else what
# there is.
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
