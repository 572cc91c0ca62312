# After own_folder.sh.
# Remove the folder $1 with its content, but not beyond a mount point, and nothing if a link is in its place. Also remove
# the lab's home if it is empty then. $2 is own_folder_empty.pl.
if go "$1"; then perl -e "$2" || exit; fi # it has said what stays, and why
cd -P "${1%/*}/" && rmdir "./${1##*/}" || exit
find_home
# shellcheck disable=SC2154  # home is of own_folder.sh
[ "$(pwd -P)" != "$home" ] || { cd .. && rmdir file-share-lab 2>/dev/null; }
:
