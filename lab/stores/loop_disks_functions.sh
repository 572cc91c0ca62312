# shellcheck shell=sh
# A disk is two loops: one over a file of the lab's own, with the real sectors, and one over that, with sectors of 512 bytes. A device node in
# a folder of the lab's own in /dev names the second.

# The loops over files in the folder $1, one a line. The kernel adds a word to the name of a removed file.
loops_over_files() {
    for backing in /sys/block/loop*/loop/backing_file; do
        case $(cat "$backing" 2>/dev/null) in "$1"/vdev-*) loop=${backing%/loop/backing_file}; echo "/dev/${loop##*/}" ;; esac
    done
}

# The loops over the loop $1, one a line.
loops_over_loop() {
    for backing in /sys/block/loop*/loop/backing_file; do
        [ "$(cat "$backing" 2>/dev/null)" != "$1" ] || { loop=${backing%/loop/backing_file}; echo "/dev/${loop##*/}"; }
    done
}

# Set `upper` and `lower` to the loops, in /sys, of the disk with the node $1. Fails for another node.
look_below() {
    [ -b "$1" ] || return
    numbers=$(stat -c '0x%t:0x%T' "$1")
    upper=/sys/dev/block/$((${numbers%:*})):$((${numbers#*:}))
    lower=$(cat "$upper/loop/backing_file" 2>/dev/null)
    case $lower in /dev/loop*) lower=/sys/block/${lower#/dev/} ;; *) return 1 ;; esac
}

# Whether the node $2 is a disk over just the file $1; see look_below.
is_disk() { look_below "$2" && [ "$(cat "$lower/loop/backing_file" 2>/dev/null)" = "$1" ]; }

# The bytes of a sector of the disk of look_below: reported, and real.
sectors() { echo "$(cat "$upper/queue/logical_block_size") $(cat "$lower/queue/logical_block_size")"; }

# Flush the disk of look_below, and print the bytes that its lower loop read and wrote (Documentation/block/stat.rst: units of 512 bytes).
count_moved() {
    sync "/dev/${lower##*/}" || return
    read -r _ _ sectors_read _ _ _ sectors_written _ < "$lower/stat"
    printf 'read_bytes\t%s\nwrite_bytes\t%s\n' $((sectors_read * 512)) $((sectors_written * 512))
}

# `present` if each file in the folder $1 has its disk in the folder $2, `absent` if there is no loop and no such folder; else what there is.
disks_state() {
    loops=$(loops_over_files "$1")
    if [ -z "$loops" ] && [ ! -e "$2" ] && [ ! -L "$2" ]; then echo absent; return; fi
    for file in "$1"/vdev-*; do
        is_disk "$file" "$2/${file##*/}" || { echo "no disk ${file##*/}"; return; }
    done
    echo present
}
