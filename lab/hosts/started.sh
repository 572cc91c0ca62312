# shellcheck shell=sh
# about PID FIELD WORD: something about a process. That field of what Linux's kernel says after its name, or that word
# of ps elsewhere. (Linux's ps may lack -p on small systems, and works the start out from the clock, a second off now
# and then.)
about() {
    if [ -d /proc/self ]; then sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f "$2"
    else ps -o "$3=" -p "$1"; fi
}
# started PID: when a process started, as text that stays the same as long as it lives; a pid alone may have gone to
# another one. Only single blanks are left in it, for some ps pad it, and `read` cuts the ends off.
# shellcheck disable=SC2046,SC2005
started() { echo $(about "$1" 20 lstart); }
