# shellcheck shell=sh
# After zpool_functions.sh.
# $1 the pool, $2 the folder of its devices, $3 that of the files below where these are disks, $4 where it is mounted, $5 whose that
# becomes, then the words that make it. All may write there, as into a RAM disk; nothing is given away before the pool proves to be
# over just those files.
pool=$1 folder=$2 files=$3 path=$4 account=$5
shift 5
"$@" && is_own "$pool" "$folder" "$files" && chown "$account" "$path" && chmod 1777 "$path"
