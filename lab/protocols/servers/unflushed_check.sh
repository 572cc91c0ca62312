# For each process called $2 in the group of the daemon in the file $1, print `yes` if its flushes do nothing: unflushed.pl
# started it, which goes on only once the kernel has the filter, and it has a filter.
# shellcheck disable=SC2009  # pgrep tells no groups
read -r group < "$1" && ps -A -o pgid= -o pid= -o comm= | while read -r pgid pid name; do
    [ "$pgid $name" = "$group $2" ] || continue
    if tr '\0' '\n' < "/proc/$pid/environ" | grep -qx FILE_SHARE_LAB_FLUSHES=ignored &&
        grep -q '^Seccomp:[[:space:]]*2' "/proc/$pid/status"; then
        echo yes
    else
        echo no
    fi
done
