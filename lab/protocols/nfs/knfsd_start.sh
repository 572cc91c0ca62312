# Serve mount requests for the kernel's NFS server in private mounts: $1 the folder to export, $2 its options, $3 a shell
# test for rpcbind, $4 the port of mountd. The kernel asks rpc.mountd who has access, and nfsdcld for known clients: there
# are none, so it waits for nobody. Nobody else sees their files.
mount -t tmpfs -o mode=755 lab /var/lib/nfs && mount -t tmpfs -o mode=755 lab /run || exit
mkdir /run/rpcbind /run/rpc_pipefs /var/lib/nfs/nfsdcld && touch /var/lib/nfs/etab /var/lib/nfs/rmtab || exit
mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs && mount -t nfsd nfsd /proc/fs/nfsd || exit
rpcbind -f -w &
until sh -c "$3"; do
    kill -0 $! || exit
    sleep 0.01
done
nfsdcld -F &
exportfs -o "$2" "*:$1" && exec rpc.mountd -F -p "$4"
