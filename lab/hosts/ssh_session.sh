# shellcheck shell=sh
# After started.sh.
# ssh_session: pid and start of the nearest ancestor that is an SSH server's: it ends with the connection, however that
# ends. Where the lab runs on this machine itself, that is the lab: the parent of the shell that has its mark (local.py).
name_of() { if [ -d /proc/self ]; then cat "/proc/$1/comm"; else ps -o comm= -p "$1"; fi; }
words_of() { if [ -d /proc/self ]; then tr '\0' ' ' <"/proc/$1/cmdline"; else ps -ww -o args= -p "$1"; fi; }
ssh_session() {
    pid=$$
    while pid=$(about "$pid" 2 ppid); pid=${pid##* }; [ "${pid:-0}" -gt 1 ]; do
        case $(name_of "$pid") in *ssh*|*dropbear*) echo "$pid $(started "$pid")"; return ;; esac
        words=$(words_of "$pid")
        case $words in "/bin/sh -c : file-share-lab-local-"*)
            words=${words#*local-}
            pid=${words%%;*}
            echo "$pid $(started "$pid")"
            return
        esac
    done
    echo "0 unknown"
}
