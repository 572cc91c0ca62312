# shellcheck shell=sh
# Print, in the host journal's folder, `held`, the process of the session that has the lock and its owner; or `free`.
# Then every record, one a line.
{ read -r run pid start; read -r owner; } 2>/dev/null < lock
if [ -n "$run" ] && { [ "$pid" = 0 ] || is_alive "$pid" "$start"; }; then
    printf 'held\n%s\n%s\n' "$pid" "$owner"
else
    echo free
fi
for record in *-[0-9]*; do
    case $record in *.* | '*-'*) ;; *) cat "$record" ;; esac
done
