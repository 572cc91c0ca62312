# Print `running` if the process in the file $1 runs, `remains` if only children of a killed leader run, else `absent`.
# The file has the process's number and its start.
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
