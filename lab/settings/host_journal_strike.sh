# shellcheck shell=sh
# Remove these records ($2, $3, …) and end their timers.
shift
for record in "$@"; do
    if [ -e "$record.armed" ] || [ -e "$record.fired" ]; then disarm "$record"; fi
    rm -f "$record" "$record".*
done
