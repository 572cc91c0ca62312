# Mount the URI $1 in a GVfs session; a password comes on standard input.
# DHX2 logins of AFP sometimes fail, so several are tried. If the password is refused, gio asks again, finds no second one,
# and ends without a message.
IFS= read -r password
why="the password was refused"
# shellcheck disable=SC2034  # the number of the try is not needed
for try in 1 2 3 4 5; do
    output=$(printf '%s\n' "$password" | timeout 60 gio mount "$1" 2>&1)
    code=$?
    [ $code -eq 0 ] && exit 0
    [ $code -eq 124 ] && { why="no answer in 60 s"; break; }
    sleep 0.2
done
echo "$output" | grep "^gio:" >&2 || echo "gio mount $1: $why" >&2
exit 1
