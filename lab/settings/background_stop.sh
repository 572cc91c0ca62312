# shellcheck shell=sh
# End the process group in the file $1: asked first, forced after 2 s, given up after 5 s.
read -r pid <"$1" || exit 0
kill -s TERM -- "-$pid" 2>/dev/null
tries=0
while any_of "$pid"; do
    tries=$((tries + 1))
    [ $tries -eq 200 ] && kill -s KILL -- "-$pid"
    [ $tries -gt 500 ] && exit 1
    sleep 0.01
done
rm -f "$1"
