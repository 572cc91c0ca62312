# shellcheck shell=sh
# shellcheck disable=SC2154  # owner is of own_folder.sh
# After own_folder.sh and own_folder_list.sh.
# Close the folder $1, which is the account $2's and open to all, to all but that account and the owner of the file in it whose
# name is standard input; the file goes. Without a name nobody but that account writes there. An owner without a group of its
# own shares every group that could be given to the folder: then by an access control list. Prints how, where that is not by
# the mode alone: `list`, or `open` where it stays so.
name=$(cat)
go "$1" && stands_firm any && [ "$owner" = "$(id -u "$2")" ] || exit
[ "$name" ] || { chmod 755 .; exit; }
# shellcheck disable=SC2046  # a line of `ls` has words, and the third is the owner
set -- $(ls -ldn "./$name" 2>/dev/null)
rm -f "./$name"
[ $# -gt 2 ] || exit 0 # the share is another folder: the trial will say so
if [ "$3" = "$owner" ] || [ "$3" = 0 ]; then chmod 700 .
elif group=$(id -gn "$3" 2>/dev/null) && [ "$group" = "$(id -un "$3")" ]; then chown ":$group" . && chmod 1770 .
elif list_alone "$3"; then echo list
else echo open; fi
