# shellcheck shell=sh
# After started.sh.
# ssh_session: pid and start of the nearest ancestor that is an SSH server's: it ends with the connection, however that
# ends.
name_of() { if [ -d /proc/self ]; then cat "/proc/$1/comm"; else ps -o comm= -p "$1"; fi; }
ssh_session() {
    pid=$$
    while pid=$(about "$pid" 2 ppid); pid=${pid##* }; [ "${pid:-0}" -gt 1 ]; do
        case $(name_of "$pid") in *ssh*|*dropbear*) echo "$pid $(started "$pid")"; return ;; esac
    done
    echo "0 unknown"
}
