#!/bin/sh
# Runs a script in a root made of folders that are only read, with a /dev of its own: what a guest needs to boot, and no more.
# usage: layered_root.sh LAYERS SCRIPT WORK   (LAYERS: folders with colons between; WORK: a folder that is /tmp, to be written,
# or empty; runs in new mount, network and PID namespaces)
set -eu
root=/mnt   # this machine's, covered for nobody else
mount -t overlay -o "lowerdir=$1" layers "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 dev "$root/dev"
for node in "null 1 3" "zero 1 5" "urandom 1 9"; do
    # shellcheck disable=SC2086
    (set -- $node; mknod -m 666 "$root/dev/$1" c "$2" "$3")
done
mkdir "$root/dev/shm"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
[ -z "$3" ] || mount --bind "$3" "$root/tmp"
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/dev/shm TMPDIR=/dev/shm \
    chroot "$root" tini -s -g -- /bin/sh -euc "$2"   # as process 1 User Mode Linux could not end itself
