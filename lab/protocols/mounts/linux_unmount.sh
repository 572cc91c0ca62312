# Unmount the mount point $2, which is $1 in the table of mounts, even if its server is dead. Needs find_mount.
# With a dead server umount may wait in the kernel, where no signal reaches it, so it is left there. From Linux 6.5 NFS has
# a switch for each mount that lets all waiting requests fail, now and later. Before, umount -f fails the requests that wait
# at that moment; a process in state D goes on to its next request until none is left. umount -l finally hides the mount,
# while the kernel goes on waiting, for CIFS up to some minutes.
entry=$1 point=$2
gone() { ! find_mount "$entry" >/dev/null; }
off() {
    # shellcheck disable=SC2086  # no flag is no word
    umount $1 "$point" </dev/null >/dev/null 2>&1 &
    tries=0
    while kill -s 0 $! && [ $tries -lt 250 ]; do
        tries=$((tries + 1))
        sleep 0.02
    done 2>/dev/null
    gone
}
if off || { sleep 0.5; off; }; then exit; fi
switch=/sys/fs/nfs/$(grep -F " $entry " /proc/self/mountinfo | cut -d ' ' -f 3)/shutdown
[ -w "$switch" ] && echo 1 >"$switch"
waited_ms=0 # by waiting, for a clock may be set meanwhile
while [ $waited_ms -lt 20000 ]; do
    off -f && exit
    sleep 0.3
    waited_ms=$((waited_ms + tries * 20 + 300))
done
umount -l "$point"
