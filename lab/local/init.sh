#!/bin/sh
# PID 1 of a host: mounts on its root what a boot makes anew and turns into tini, which runs sshd.
# usage: init.sh ROOT EMULATED_MAC BOOT LINK   (EMULATED_MAC: the package of that name, or empty; BOOT: a script in
# ROOT to turn into instead, or empty; LINK: the control group of the link, or empty; runs in new mount, UTS, IPC,
# network, PID and cgroup namespaces)
set -eu
root=$1 emulated_mac=$2 boot=$3 link=$4

mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup" || :   # where the kernel has none, the host's CPU seconds are unknown
mount -t tmpfs -o mode=755 dev "$root/dev"
for node in "null 1 3" "zero 1 5" "full 1 7" "random 1 8" "urandom 1 9" "tty 5 0" "fuse 10 229"; do
    # shellcheck disable=SC2086
    set -- $node
    mknod -m 666 "$root/dev/$1" c "$2" "$3"
done
if [ -z "$emulated_mac" ]; then
    mknod -m 600 "$root/dev/loop-control" c 10 237   # images with a file system; all hosts share the kernel's loops
    for number in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do mknod -m 600 "$root/dev/loop$number" b 7 "$number"; done
fi
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t tmpfs -o mode=755 run "$root/run"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mkdir -p "$root/run/sshd" "$root/run/rpcbind"
mkdir -m 1777 "$root/run/lock"
if [ -n "$link" ]; then   # what the link takes of the machine's processors: lab/platforms/linux/clock.py reads it
    : > "$root/run/file-share-lab.link"
    mount --bind -o ro "$link/cpu.stat" "$root/run/file-share-lab.link"
fi

if [ -n "$emulated_mac" ]; then
    # an overlay over the package: Python writes what it compiles into the upper layer
    overlay=$root/run/emulated_mac.package
    mkdir -p "$root/opt/emulated_mac" "$overlay/upper" "$overlay/work"
    mount -t overlay -o "lowerdir=$emulated_mac,upperdir=$overlay/upper,workdir=$overlay/work" emulated_mac "$root/opt/emulated_mac"
fi

hostname "$(cat "$root/etc/hostname")"
ip link set lo up
echo "0 2147483647" > /proc/sys/net/ipv4/ping_group_range   # as systemd sets it: everybody may ping

cd "$root"
mkdir -p old
pivot_root . old
umount -l /old
rmdir /old
[ -z "$boot" ] || exec /bin/sh "$boot"
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
    tini -s -g -- /usr/sbin/sshd -D -e </dev/null
