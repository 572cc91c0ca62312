# After account_of.sh.
# End the command whose outermost shell is the process $1, with its group, if the shell belongs to this account or to the
# caller of sudo. If the shell has ended, its group may still run; its number stays taken until then.
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
