# After own_folder.sh. For scripts after this one, $1 is the folder of the host journal; empty for the usual one.
place=$1
# shellcheck disable=SC2154  # home is of own_folder.sh
[ -n "$place" ] || { find_home && place=$home/journal; } || exit

# enter_journal: enter it. A link, or a folder that somebody else made, could hold foreign records.
enter_journal() {
    enter "$place" && return
    echo "$place is not the lab's own folder, or others can write into one above it" >&2
    return 1
}

# make_journal: enter it; create it if missing.
make_journal() {
    if [ -n "$1" ]; then cd /; else enter_home; fi && { [ -d "$place" ] || mkdir -m 700 "$place" 2>/dev/null; enter_journal; }
}

# leave_journal: remove it and the lab's home if they are empty.
leave_journal() {
    cd / && rmdir "$place" 2>/dev/null
    [ -n "$1" ] || rmdir "${place%/*}" 2>/dev/null
    :
}
