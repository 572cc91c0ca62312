# shellcheck shell=sh
# Print `running` where the process in the file $1 runs; `remains` where only children of it do, for they may outlive a
# leader that was killed; else `absent`. The file has the process's id, and when it started.
{ read -r pid && read -r start; } 2>/dev/null <"$1" || { echo absent; exit; }
if is_alive "$pid" "$start"; then
    echo running
elif runs "$pid"; then
    echo absent # the id belongs to another process now
elif any_of "$pid"; then
    echo remains
else
    echo absent
fi
