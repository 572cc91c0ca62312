#!/bin/sh
# Runs a command where /proc, /etc and /usr are those of the Linux below.
# usage: in_linux_mounts.sh COMMAND [ARGUMENT …]   (runs in a new mount namespace)
set -e
mount --make-slave /
mount --bind /linux/proc /proc
mount --bind /linux/etc /private/etc
mount --bind /linux/usr /usr
cd /
exec "$@"
