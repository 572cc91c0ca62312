# shellcheck shell=sh
# Set `device` to the loop over the image $2, and `source` to what is mounted at the folder that the mount table shows as $1; empty for none.
# The kernel adds a word to the name of a removed file.
look() {
    device=
    for file in /sys/block/loop*/loop/backing_file; do
        case $(cat "$file" 2>/dev/null) in "$2" | "$2 (deleted)") device=${file%/loop/backing_file} ;; esac
    done
    device=${device:+/dev/${device##*/}}
    source=$(grep -F " $1 " /proc/self/mounts | sed 's/ .*//')
}

# `mounted` if that loop is mounted there, `absent` if there is neither; else what there is.
state() {
    look "$@"
    case $device/$source in
    /) echo absent ;;
    "$source/$device") echo mounted ;;
    *) echo "loop ${device:-none}, mounted ${source:-nothing}" ;;
    esac
}
