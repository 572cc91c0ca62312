# shellcheck shell=sh
# After account_of.sh.
# End the command whose outermost shell is the process $1, with its group, if that shell is this account's, or whose sudo this
# is. Of a shell that has ended meanwhile others may still run in its group: until they end nobody else gets its number.
pid=$1
is_pid "$pid" || exit 0
if runs "$pid"; then
    case " $(id -u) $SUDO_UID " in *" $(account_of "$pid") "*) ;; *) exit 0 ;; esac
    group=$(ps -o pgid= -p "$pid" | tr -d " ")
fi
kill -s TERM -- "-${group:-$pid}" 2>/dev/null
sleep 0.2
kill -s KILL -- "-${group:-$pid}" 2>/dev/null
:
