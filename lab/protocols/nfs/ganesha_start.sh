# shellcheck shell=sh
# Become NFS-Ganesha, in private mounts: $1 a folder of its own, $2 its configuration, $3 its pid file, $4 a shell test of
# readiness of rpcbind.
#
# Ganesha skips a tmpfs by the name that /etc/mtab gives it. Here it reads another mtab, on an overlay over /etc that
# nothing outside sees. rpcbind, where the host has none running, comes along with a /run of its own, or it would leave
# its socket and lock there. libblkid, which looks at disks for Ganesha, would leave what it saw in the host's own table.
mount -t tmpfs -o mode=755 lab "$1" && mkdir "$1/upper" "$1/work" &&
    sed 's/^\([^ ]* [^ ]*\) tmpfs /\1 ext4 /' /proc/self/mounts > "$1/upper/mtab" &&
    cd "$1" && mount -t overlay -o lowerdir=/etc,upperdir=upper,workdir=work lab /etc && cd / || exit
if ! sh -c "$4"; then
    mount -t tmpfs -o mode=755 lab /run && mkdir /run/rpcbind || exit
    rpcbind -f -w &
    until sh -c "$4"; do
        kill -0 $! || exit
        sleep 0.01
    done
fi
export BLKID_FILE="$1/blkid.tab"
exec ganesha.nfsd -F -L STDERR -N EVENT -f "$2" -p "$3"
