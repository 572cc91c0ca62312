# shellcheck shell=sh
# After zpool_functions.sh. $1 the pool, $2 the folder of its devices, $3 the folder of the files below disks, $4 the mount point, $5 its
# owner, then the command that makes the pool. It is given away only after it proves to be over just those devices. All may write there.
pool=$1 folder=$2 files=$3 path=$4 account=$5
shift 5
"$@" && is_own "$pool" "$folder" "$files" && chown "$account" "$path" && chmod 1777 "$path"
