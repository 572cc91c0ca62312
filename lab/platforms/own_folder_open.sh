# shellcheck shell=sh
# shellcheck disable=SC2154  # owner is of own_folder.sh
# After own_folder.sh.
# Let the account $3 through the folder $1, which is the account $2's, and nobody else, where it has a group of its own.
go "$1" && stands_firm any && [ "$owner" = "$(id -u "$2")" ] || exit
[ "$(id -gn "$3" 2>/dev/null)" != "$3" ] || { chown ":$3" . && chmod 710 .; }
