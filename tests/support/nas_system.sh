#!/bin/sh
# Gives this host the programs of a NAS, run by BusyBox with the words of a file of nas_systems in its environment: `kept`
# are globs of programs that stay, `missing` of those that go nevertheless, `busybox` the programs of BusyBox, `sh` what sh
# is, `read_only` folders, `meminfo_lacks` a row. In /run/nas lie programs that know fewer options, and tables of /proc.
# shellcheck disable=SC2154
set -f
bb() { /usr/bin/busybox "$@"; }
fits() { # $1 a name, then globs
    name=$1
    shift
    for glob in "$@"; do
        # shellcheck disable=SC2254
        case $name in $glob) return 0 ;; esac
    done
    return 1
}
bb sed -i "s|^\($account:.*\):[^:]*:[^:]*\$|\1:$home:$shell|" /etc/passwd
for folder in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /usr/games; do
    for name in $(bb ls "$folder"); do
        # shellcheck disable=SC2086
        if fits "$name" $missing || ! fits "$name" busybox $kept; then bb rm -f "$folder/$name"; fi
    done
done
for name in $busybox; do
    [ -e "/usr/bin/$name" ] || bb ln -s /usr/bin/busybox "/usr/bin/$name"
done
[ -z "$sh" ] || bb ln -sf "/usr/bin/$sh" /usr/bin/sh
bb mkdir -p /usr/libexec/nas
for name in $(bb ls /run/nas/bin 2>/dev/null); do
    bb mv "/usr/bin/$name" /usr/libexec/nas && bb mv "/run/nas/bin/$name" /usr/bin || exit
done
[ -z "$meminfo_lacks" ] || bb grep -v "^$meminfo_lacks" /proc/meminfo >/run/nas/proc/meminfo
for table in $(bb ls /run/nas/proc); do bb mount -o bind "/run/nas/proc/$table" "/proc/$table" || exit; done
for folder in $read_only; do bb mount -o bind "$folder" "$folder" && bb mount -o remount,bind,ro "$folder" || exit; done
