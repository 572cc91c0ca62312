# shellcheck shell=sh
# A disk is two loops: one over a file of the lab's own, with the sectors of the disk, and one over that, with sectors of 512 bytes. A
# device node in a folder of the lab's own in /dev is a name for the second that lasts.

# The loops over a file in the folder $1, one a line. The kernel adds a word to the name of a file that was removed.
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

# `upper` and `lower`, the loops of the disk whose node is $1, as /sys knows them. Fails where it is none.
look_below() {
    [ -b "$1" ] || return
    numbers=$(stat -c '0x%t:0x%T' "$1")
    upper=/sys/dev/block/$((${numbers%:*})):$((${numbers#*:}))
    lower=$(cat "$upper/loop/backing_file" 2>/dev/null)
    case $lower in /dev/loop*) lower=/sys/block/${lower#/dev/} ;; *) return 1 ;; esac
}

# Whether the node $2 is that of a disk over just the file $1; see look_below.
is_disk() { look_below "$2" && [ "$(cat "$lower/loop/backing_file" 2>/dev/null)" = "$1" ]; }

# The bytes of a sector of the disk that look_below found: as it says, and as it has them.
sectors() { echo "$(cat "$upper/queue/logical_block_size") $(cat "$lower/queue/logical_block_size")"; }

# Writes out what is left for the disk that look_below found, and prints the bytes that its lower loop read and wrote
# (Documentation/block/stat.rst: in units of 512 bytes).
count_moved() {
    sync "/dev/${lower##*/}" || return
    read -r _ _ sectors_read _ _ _ sectors_written _ < "$lower/stat"
    printf 'read_bytes\t%s\nwrite_bytes\t%s\n' $((sectors_read * 512)) $((sectors_written * 512))
}

# `present` where each file of the folder $1 is behind the disk of its name in the folder $2, `absent` where there is no loop and no
# such folder; else what there is.
disks_state() {
    loops=$(loops_over_files "$1")
    if [ -z "$loops" ] && [ ! -e "$2" ] && [ ! -L "$2" ]; then echo absent; return; fi
    for file in "$1"/vdev-*; do
        is_disk "$file" "$2/${file##*/}" || { echo "no disk ${file##*/}"; return; }
    done
    echo present
}
