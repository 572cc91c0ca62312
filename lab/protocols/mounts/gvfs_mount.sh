# Mount the URI $1 in a GVfs session; a password comes on standard input.
# Exits with 77 if gio asked for the password again: then it was refused, and gio ends without a message. Exits with 124 if
# gio did not end in time, and as gio or the shell does otherwise.
# DHX2 logins of AFP sometimes fail, so several are tried. A server may lock an account after a few wrong passwords: other
# protocols get no second try of a password.
IFS= read -r password
# shellcheck disable=SC2034  # the number of the try is not needed
for try in 1 2 3 4 5; do
    output=$(printf '%s\n' "$password" | timeout 60 gio mount "$1" 2>&1)
    code=$?
    # GVfs mounts an export without a look at the folder in it; another try finds the export mounted already
    case $1:$code:$output in
        nfs:*:0:* | nfs:*"Location is already mounted") output=$(timeout 10 gio info "$1" 2>&1) && exit || code=2 ;;
    esac
    if [ "$(printf '%s\n' "$output" | grep -c '^Password:')" -gt 1 ]; then code=77; fi
    case $code:$1 in
        0:*) exit 0 ;;
        77:afp:*) ;;
        77:* | 124:* | 126:* | 127:*) break ;;
    esac
    sleep 0.2
done
case $code in
    77) why="gio mount $1: it asked for the password again: the password was refused" ;;
    124) why="gio mount $1: no answer in 60 s" ;;
    *) why=$(printf '%s\n' "$output" | grep '^gio:') || why=${output:-gio mount $1: exit code $code} ;;
esac
printf '%s\n' "$why" >&2
exit "$code"
