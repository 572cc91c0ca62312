# Remove the records named by lines of standard input, and end their timers. A journal without lock and records goes, too.
strike() {
    for record in "$@"; do
        if [ -e "$record.armed" ] || [ -e "$record.fired" ]; then disarm "$record"; fi
    done
    for record in "$@"; do printf '%s\n' "$record" "$record.*"; done | remove
}
journal=$1
# shellcheck disable=SC2046  # a name is one word
set -- $(cat)
strike "$@"
[ -e lock ] || leave_journal "$journal"
:
