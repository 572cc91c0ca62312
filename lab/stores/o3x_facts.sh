# shellcheck shell=sh
# After mac_pool_functions.sh. $1 the mount point, in a folder named like the pool. zpool and zfs print pool, property, value, source.
folder=${1%/*}
pool=${folder##*/}
zpool get -Hp ashift "$pool" && zfs get -Hp casesensitivity,compression "$pool" || exit
case $(mount | grep -F " on $(cd "$1" && pwd -P) (") in *" (hfs,"*) echo "mimic on" ;; *) echo "mimic off" ;; esac
{ zfs version || sysctl -n zfs.kext_version; } 2>/dev/null | sed -n '1s/^\(zfs-\)\{0,1\}/version /p'
