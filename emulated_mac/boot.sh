#!/bin/sh
# Turns a host that has just booted into an emulated Mac: PID 1 runs this in the host's Linux root, which ends up as
# /linux below the Mac's own root. What this mounts a boot makes anew; the tree is on the host's disk.
# usage: boot.sh
set -eu
if [ ! -d /mac ]; then
    mkdir -p /mac /linux
    mount --bind / /linux
    PYTHONPATH=/opt python3 -m emulated_mac.filesystem /mac
    umount /linux
    rmdir /linux
fi
mount --bind /mac /mac
cd /mac
pivot_root . linux
cd /
linux=/linux/usr/bin
$linux/mount --make-shared /
$linux/mount --bind /linux/dev /dev
$linux/mount --rbind /linux/dev/pts /dev/pts
$linux/mount -t tmpfs -o mode=755 fuse /private/var/fuse
$linux/mount --make-shared /private/var/fuse
$linux/mount -t tmpfs -o mode=755 run /private/var/run
$linux/mkdir -p /private/var/run/sshd /run/sshd
$linux/mount --bind /linux/srv/disk /Users/Shared/disk
$linux/chown 501:20 /Users/Shared/disk

PYTHONPATH=/linux/opt $linux/python3 -m emulated_mac.kernel &
$linux/nice $linux/python3 -m compileall -q /linux/opt/emulated_mac &
until [ -S /private/var/run/emulated_mac.sock ]; do $linux/sleep 0.01; done
exec $linux/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/private/var/root \
    $linux/tini -s -g -- /linux/usr/sbin/sshd -D -e -f /linux/etc/ssh/sshd_config </dev/null
