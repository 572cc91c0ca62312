# After own_folder.sh and own_folder_list.sh.
# Close the folder $1, which belongs to the account $2 and is open to all. Afterwards only that account and the owner of
# the file named on standard input may write there; the file is removed. Without a name only the account may write. An
# owner without a group of its own gets an access control list. Prints `list` then, or `open` if the folder stays open.
# shellcheck disable=SC2154  # owner is of own_folder.sh
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
