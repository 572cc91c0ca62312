# shellcheck shell=sh
# After own_folder.sh. In what comes after this, $1 is the host journal's folder; empty for the one in the lab's home.
place=$1
# shellcheck disable=SC2154  # home is of own_folder.sh
[ -n "$place" ] || { find_home && place=$home/journal; } || exit

# enter_journal: enter it. One that somebody else made, or a link, could hold records that are theirs.
enter_journal() {
    enter "$place" && return
    echo "$place is not the lab's own folder, or others can write into one above it" >&2
    return 1
}

# make_journal: enter it, and make it where it is not there.
make_journal() {
    if [ -n "$1" ]; then cd /; else enter_home; fi && { [ -d "$place" ] || mkdir -m 700 "$place" 2>/dev/null; enter_journal; }
}

# leave_journal: remove it, and the lab's home with it, where nothing else is in them.
leave_journal() {
    cd / && rmdir "$place" 2>/dev/null
    [ -n "$1" ] || rmdir "${place%/*}" 2>/dev/null
    :
}
