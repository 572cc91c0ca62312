# After is_alive.sh.
# account_of PID: the account number of a process, which nobody can forge. Empty if real and effective account differ: such
# a program has the rights of one and the words of the other. (In ps of a Mac, uid is the effective one.)
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
# narrow: the account for which the helper of a narrow sudo runs this; otherwise empty.
narrow=${FILE_SHARE_LAB_ACCOUNT:-}
