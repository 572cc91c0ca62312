# shellcheck shell=sh
# After loop_disks_functions.sh and named_device_functions.sh.
# What there is of a pool: `imported` where one has this name and all its devices are files or nodes in a folder, or devices with its
# name as their mark, as a start of the machine finds them; `suspended` where those cannot be written to, `absent` where none has the
# name; else what there is. $1 the pool, $2 the folder, $3 that of the files where those in $2 have to be disks over files.
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

# Whether it is a pool of the lab's own, which can be used; says what it is where it is not.
is_own() {
    state=$(state "$@")
    [ "$state" = imported ] || { echo "$1 is no pool of the lab's own in $2 that can be used: $state" >&2; false; }
}

# Run a command for so long at most: what waits for a device that is gone no signal ends. 124: it runs still.
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

# Whether a device of the pool $1 is gone. ZFS may not know: it writes again and again (up to 2.3, github.com/openzfs/zfs/pull/18814), and
# whoever waits for that waits for ever, until the pool is told to look at its devices again (zpool reopen) and is suspended.
has_lost() {
    zpool list -HvP "$1" 2>/dev/null | grep "^$(printf '\t')/dev/" | cut -f 2 | while IFS= read -r vdev; do
        look_at "$vdev" 2>/dev/null || { echo gone; break; }
    done | grep -q gone
}
