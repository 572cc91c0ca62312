# shellcheck shell=sh
# After loop_disks_functions.sh. $1 the folder of files, $2 the folder of nodes. Other loops stay. A device may be open for a moment.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    loops_over_files "$1" | while IFS= read -r below; do
        loops_over_loop "$below" | while IFS= read -r above; do losetup -d "$above"; done
        [ "$(loops_over_loop "$below")" ] || losetup -d "$below"
    done
    [ "$(loops_over_files "$1")" ] || break
    sleep 1
done
[ -z "$(loops_over_files "$1")" ] || exit
[ ! -L "$2" ] || { echo "$2 is a link" >&2; exit 1; }
[ ! -e "$2" ] || { rm -f -- "$2"/vdev-* && rmdir -- "$2"; }
