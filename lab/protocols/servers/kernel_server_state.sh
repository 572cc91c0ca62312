# Print `free` if the lab may use a server of the kernel, else a word that says why not. $1 a shell test whether this kernel
# has the server, $2 a script that prints who uses it, or `free`; then the programs that it needs. A shared kernel shows
# none of its threads.
has=$1 who=$2
shift 2
[ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ] || { echo shared; exit; }
sh -c "$has" || { echo unknown; exit; }
lacking=$(for program in "$@"; do command -v "$program" >/dev/null || printf ' %s' "$program"; done)
[ -z "$lacking" ] || { echo "lacks$lacking"; exit; }
sh -c "$who"
