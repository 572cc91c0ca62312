# Become NFS-Ganesha in private mounts: $1 a folder of its own, $2 its configuration, $3 its pid file, $4 a shell test for
# rpcbind. Ganesha skips a file system that /etc/mtab calls tmpfs, so an overlay over /etc gives it another mtab. If the
# host runs no rpcbind, one starts here with its own /run, or its socket and lock would stay. BLKID_FILE keeps libblkid
# from writing into the host's own table.
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
