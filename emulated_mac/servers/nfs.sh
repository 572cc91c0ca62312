#!/bin/sh
# Runs NFS-Ganesha with the rpcbind and rpc.statd that it needs, as the only process of a Mac's nfsd.
# usage: nfs.sh STATE   (STATE: the folder of its configuration; runs in new mount and PID namespaces)
set -e
state=$1

# Ganesha skips a tmpfs, which it knows by its type in /etc/mtab. So it gets another mtab, in an overlay over /etc
mkdir -p "$state/etc"
mount -t tmpfs -o mode=755 nfs "$state/etc"
mkdir "$state/etc/upper" "$state/etc/work"
sed 's/^\([^ ]* [^ ]*\) tmpfs /\1 ext4 /' /proc/self/mounts > "$state/etc/upper/mtab"
cd "$state/etc"
mount -t overlay -o lowerdir=/linux/etc,upperdir=upper,workdir=work nfs /private/etc
cd /

mount -t tmpfs -o mode=755 nfs /run
mkdir -p /run/rpcbind /run/ganesha /run/statd/sm /run/statd/sm.bak
chown -R statd:nogroup /run/statd
rpcbind -f -w &
until [ -S /run/rpcbind.sock ] || [ -S /var/run/rpcbind.sock ]; do
    kill -0 $!
    sleep 0.01
done
rpc.statd --foreground --no-syslog --no-notify --state-directory-path /run/statd &
exec ganesha.nfsd -F -L STDERR -N EVENT -f "$state/ganesha.conf" -p /run/ganesha.pid
