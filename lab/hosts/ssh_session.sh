# After account_of.sh.
# ssh_session: pid and start of the nearest ancestor that is an SSH server's process, which ends with the connection. If the
# lab runs on this machine itself, it is the lab: the parent of the shell with its mark (local.py). The kernel vouches for
# parents; the words of a process may say anything.
name_of() { if [ -d /proc/self ]; then cat "/proc/$1/comm"; else ps -o comm= -p "$1"; fi; }
words_of() { if [ -d /proc/self ]; then tr '\0' ' ' <"/proc/$1/cmdline"; else ps -ww -o args= -p "$1"; fi; }
parent_of() { parent=$(about "$1" 2 ppid) && echo "${parent##* }"; }
ssh_session() {
    parent=$(parent_of $$)
    while pid=$parent; [ "${pid:-0}" -gt 1 ]; do
        parent=$(parent_of "$pid")
        case $(name_of "$pid") in *ssh*|*dropbear*) echo "$pid $(started "$pid")"; return ;; esac
        # shellcheck disable=SC2154  # narrow is of account_of.sh
        [ "$narrow" ] || case $(words_of "$pid") in "/bin/sh -c : file-share-lab-local-$parent;"*)
            echo "$parent $(started "$parent")"
            return ;;
        esac
    done
    echo "0 unknown"
}
