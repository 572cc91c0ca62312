# shellcheck shell=sh
# After own_folder.sh.
# Make the folder whose path is standard input, of mode $1: $2 is `home` where it is in the lab's home, for the account $3;
# else whose folders may be above it, as stands_firm has it. It must not be there yet, and its name stands in no list of
# processes.
path=$(cat)
if [ "$2" = home ]; then
    enter_home || exit
    [ "$PWD" = "${path%/*}" ] || { echo "$PWD is the lab's own folder here, not ${path%/*}" >&2; exit 1; }
else
    cd -P "${path%/*}/" || exit
    (stands_firm "$2") || {
        echo "others can write into ${path%/*}/ or a folder above it, and so put a link in the place of the lab's folder" >&2
        exit 1
    }
fi
printf '%s' "${path##*/}" | perl -e "$4" -- "$1" "$3"
