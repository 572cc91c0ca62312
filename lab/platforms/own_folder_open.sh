# After own_folder.sh.
# Let only the account $3 pass the folder $1 of the account $2, if $3 has a group of its own.
# shellcheck disable=SC2154  # owner is of own_folder.sh
go "$1" && stands_firm any && [ "$owner" = "$(id -u "$2")" ] || exit
[ "$(id -gn "$3" 2>/dev/null)" != "$3" ] || { chown ":$3" . && chmod 710 .; }
