# shellcheck shell=sh
# What there is of an image: `device`, the loop over just that file, and `source`, what is mounted at a folder. Empty: nothing.
# $1 the folder as the table of mounts shows it, $2 the image. The kernel adds a word to the name of a file that was removed.
look() {
    device=
    for file in /sys/block/loop*/loop/backing_file; do
        case $(cat "$file" 2>/dev/null) in "$2" | "$2 (deleted)") device=${file%/loop/backing_file} ;; esac
    done
    device=${device:+/dev/${device##*/}}
    source=$(grep -F " $1 " /proc/self/mounts | sed 's/ .*//')
}

# As look. `mounted` where that loop is mounted there, `absent` where there is neither; else what there is.
state() {
    look "$@"
    case $device/$source in
    /) echo absent ;;
    "$source/$device") echo mounted ;;
    *) echo "loop ${device:-none}, mounted ${source:-nothing}" ;;
    esac
}
