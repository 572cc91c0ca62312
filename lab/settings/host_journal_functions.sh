# shellcheck shell=sh
# shellcheck disable=SC2154  # narrow is of account_of.sh
# Functions of the scripts beside this one. They need is_alive, account_of and signal of lab/hosts/processes.py, and
# host_journal_files.sh.

# Print what tells this start of the host from every other: of its kernel, and of its first process, for a container has
# a first process of its own.
boot() {
    kernel=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || sysctl -n kern.bootsessionuuid 2>/dev/null)
    # shellcheck disable=SC2046,SC2086  # unquoted, so that single blanks part the words
    echo $kernel $(started 1)
}

# End the process $1 that started at $2, if it is the account $3's. A narrow sudo ends nothing but what is its caller's.
end() {
    case ${narrow:-$3} in '' | *[!0-9]*) return ;; "$3") ;; *) return ;; esac
    tries=0
    while is_alive "$1" "$2" && [ "$(account_of "$1")" = "$3" ] && [ $tries -lt 100 ]; do
        [ $((tries % 20)) -ne 0 ] || signal "$3" TERM "$1" "$2"
        sleep 0.02
        tries=$((tries + 1))
    done
}

# End the guard of a lease, whose process is in the file `lease`. Without its socket it ends by itself, some seconds later.
end_guard() {
    if { read -r pid start; } 2>/dev/null <lease; then end "$pid" "$start" "$(id -u)"; fi
    rm -f lease lease.socket
}

# End the timer of the record $1. Fails where it has begun to take the change back; then it is let finish.
disarm() {
    if move "$1.armed" "$1.off"; then signal=TERM file=$1.off; else signal=0 file=$1.fired; fi
    { read -r pid start; } 2>/dev/null < "$file" || return
    own=$(id -u) tries=0
    while is_alive "$pid" "$start" && [ "$(account_of "$pid")" = "$own" ] && [ $tries -lt 3000 ]; do
        kill -s $signal -- "-$pid"
        sleep 0.01
        tries=$((tries + 1))
    done
    printf '%s\n' "$1.off" | remove
    [ $signal = TERM ]
}
