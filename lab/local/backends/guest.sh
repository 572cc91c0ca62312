#!/bin/sh
# PID 1 of a guest with a kernel of its own: mounts what a boot makes anew, sets up both network cards and turns into tini,
# which runs sshd. The data card is the port of a bridge named eth0: under User Mode Linux its own MTU could be lowered and
# never raised again.
# usage: guest.sh ADDRESS/LENGTH
set -eu
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
address=$1

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup || :   # where the kernel has none, the host's CPU seconds are unknown
mkdir -p /dev/pts /dev/shm
mount -t devpts -o ptmxmode=0666,mode=620,gid=5 devpts /dev/pts
ln -sfn /proc/self/fd /dev/fd
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=1777 tmp /tmp
mkdir -p /run/sshd /run/rpcbind /srv/disk
mkdir -m 1777 /run/lock

hostname "$(cat /etc/hostname)"
modprobe fuse   # makes /dev/fuse
chmod 666 /dev/fuse
modprobe -q virtio_net || :   # the cards under qemu; unknown elsewhere
card() {   # $1: its kind, as in its address; $2: what it is to be called
    device=$(grep -l "^02:00:00:00:$1:" /sys/class/net/*/address)
    ip link set "$(basename "${device%/address}")" name "$2"
}
card 00 management
card 01 data
ip link set lo up
ip address add 192.0.2.2/30 dev management
ip link set management up
ip link add eth0 address "$(cat /sys/class/net/data/address)" type bridge
ip link set data master eth0 up
for device in data eth0; do ethtool -K "$device" tso off gso off gro off; done   # so that each counts frames as they are on the link
# Frames are received by a thread, which waits for programs with real-time priority: on the one processor no reply can reach
# gvfsd-afp before it has noted what it sent (lab/protocols/mounts/gvfs.py), however busy the machine is
echo 1 > /sys/class/net/data/threaded
ip link set eth0 mtu 1500 up
ip address add "$address" dev eth0
echo "0 2147483647" > /proc/sys/net/ipv4/ping_group_range   # as systemd sets it: everybody may ping

exec env -i PATH="$PATH" HOME=/root LC_ALL=C tini -s -g -- /usr/sbin/sshd -D -e </dev/null
