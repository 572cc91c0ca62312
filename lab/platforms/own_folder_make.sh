# After own_folder.sh, which sets `home` and `above`.
# Make the folder whose path is standard input, with mode $1. $2 is `home` for a folder in the lab's home, made for the
# account $3; else who may own the folders above (see stands_firm). The folder must not exist, and no list of processes
# shows its name.
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
