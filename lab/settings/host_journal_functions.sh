# shellcheck disable=SC2154  # narrow is of account_of.sh
# Functions of the scripts beside this one. They need is_alive, account_of and signal of lab/hosts/processes.py, and
# FILES of host_journal.py.

# Print what identifies this boot: the boot ID of the kernel, and the start of the first process (for containers).
boot() {
    kernel=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || sysctl -n kern.bootsessionuuid 2>/dev/null)
    # shellcheck disable=SC2046,SC2086  # unquoted, so that single blanks part the words
    echo $kernel $(started 1)
}

# End the process $1 that started at $2, if it belongs to the account $3. A narrow sudo ends only processes of its caller.
end() {
    case ${narrow:-$3} in '' | *[!0-9]*) return ;; "$3") ;; *) return ;; esac
    tries=0
    while is_alive "$1" "$2" && [ "$(account_of "$1")" = "$3" ] && [ $tries -lt 100 ]; do
        [ $((tries % 20)) -ne 0 ] || signal "$3" TERM "$1" "$2"
        sleep 0.02
        tries=$((tries + 1))
    done
}

# End the guard of a lease, whose process is in the file `lease`. Without its socket it would end some seconds later.
end_guard() {
    if { read -r pid start; } 2>/dev/null <lease; then end "$pid" "$start" "$(id -u)"; fi
    rm -f lease lease.socket
}

# End the timer of the record $1. If it is undoing the change already, wait for its end and fail.
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
