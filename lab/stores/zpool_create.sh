# shellcheck shell=sh
# After zpool_functions.sh.
# $1 the pool, $2 the folder of its files, $3 where it is mounted, $4 whose that becomes, then the words that make it. All may write
# there, as into a RAM disk; nothing is given away before the pool proves to be over just those files.
pool=$1 folder=$2 path=$3 account=$4
shift 4
"$@" && is_own "$pool" "$folder" && chown "$account" "$path" && chmod 1777 "$path"
