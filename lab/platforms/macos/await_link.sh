# $1 an interface whose MTU has changed. Some drivers then take the link down for seconds, even after ifconfig returned.
# shellcheck disable=SC2034
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 1
    ifconfig "$1" | grep -q "status: inactive" || exit 0
done
echo "$1: the link did not come back" >&2
exit 1
