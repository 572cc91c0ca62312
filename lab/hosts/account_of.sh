# shellcheck shell=sh
# After started.sh.
# account_of PID: the number of the account whose process it is, which nobody can forge. Nothing where its real and effective
# account differ: such a program has the rights of one and the words of the other. (ps of a Mac: uid is the effective one.)
account_of() {
    is_pid "$1" || return
    if [ -d /proc/self ]; then
        while read -r key real effective rest; do
            [ "$key" = Uid: ] || continue
            [ "$real" != "$effective" ] || echo "$real"
            return
        done <"/proc/$1/status"
    else
        ps -o ruid= -o uid= -p "$1" | { read -r real effective && [ "$real" = "$effective" ] && echo "$real"; }
    fi 2>/dev/null
}
# shellcheck disable=SC2034  # of scripts after this one
# narrow: the account that the helper of a narrow sudo does this for; empty elsewhere.
narrow=${FILE_SHARE_LAB_ACCOUNT:-}
