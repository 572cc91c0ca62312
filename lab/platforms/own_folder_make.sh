# shellcheck shell=sh
# After own_folder.sh, which has `home` and `above` for itself.
# Make the folder whose path is standard input, of mode $1: $2 is `home` where it is in the lab's home, for the account $3;
# else whose folders may be above it, as stands_firm has it. It must not be there yet, and its name stands in no list of
# processes.
path=$(cat)
parent=${path%/*}
if [ "$2" = home ]; then
    enter_home || exit
    [ "$PWD" = "$parent" ] || { echo "$PWD is the lab's own folder here, not $parent" >&2; exit 1; }
else
    cd -P "$parent/" || exit
    (stands_firm "$2") || {
        echo "others can write into $parent/ or a folder above it, and so put a link in the place of the lab's folder" >&2
        exit 1
    }
fi
printf '%s' "${path##*/}" | perl -e "$4" -- "$1" "$3"
