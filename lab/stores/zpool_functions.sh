# shellcheck shell=sh
# After loop_disks_functions.sh and named_device_functions.sh. `imported` if all devices of the pool $1 are files or nodes in the folder $2, or
# have its name as their mark, as after a reboot; `suspended` if they cannot be written to; `absent` if there is no such pool; else what there
# is. With $3, the devices in $2 must be disks over the files in $3.
state() {
    [ -e /sys/module/zfs ] || { echo absent; return; }
    pools=$(zpool list -H -o name) || { echo "pools unknown"; return; }
    printf '%s\n' "$pools" | grep -qxF -- "$1" || { echo absent; return; }
    devices=$(zpool list -HvP "$1" | grep "^$(printf '\t')/" | cut -f 2)
    foreign=$(printf '%s\n' "$devices" | while IFS= read -r vdev; do
        case $vdev in
        "$2"/vdev-*) [ -z "$3" ] || is_disk "$3/${vdev##*/}" "$vdev" ;;
        *) look_at "$vdev" 2>/dev/null && is_marked "$1" ;;
        esac || echo "${vdev:-none}"
    done)
    if [ "$foreign" ]; then echo "pool over $(printf '%s\n' "$foreign" | sed 1q)"; return; fi
    if [ "$(zpool list -H -o health "$1")" = SUSPENDED ]; then echo suspended; else echo imported; fi
}

# Whether the pool is the lab's and can be used; else say what it is.
is_own() {
    state=$(state "$@")
    [ "$state" = imported ] || { echo "$1 is no pool of the lab's own in $2 that can be used: $state" >&2; false; }
}

# Run a command for at most 15 s: no signal ends what waits for a device that is gone. 124: it still runs.
in_time() {
    "$@" </dev/null >/dev/null 2>&1 &
    tenths=0
    while kill -s 0 $! 2>/dev/null; do
        [ $tenths -lt 150 ] || return 124
        tenths=$((tenths + 1))
        sleep 0.1
    done
    wait $!
}

# Whether a device of the pool $1 is gone. ZFS up to 2.3 may not notice and retry for ever (github.com/openzfs/zfs/pull/18814), until `zpool
# reopen` suspends the pool.
has_lost() {
    zpool list -HvP "$1" 2>/dev/null | grep "^$(printf '\t')/dev/" | cut -f 2 | while IFS= read -r vdev; do
        look_at "$vdev" 2>/dev/null || { echo gone; break; }
    done | grep -q gone
}
