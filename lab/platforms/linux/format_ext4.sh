# $1 the size in KiB. Make ext4 on the only device of brd, if it has just this size, nobody uses it, and nothing is on it.
# mkfs opens the device exclusively, so it refuses a device that is mounted in any namespace. The journal stays, as is
# usual. Work that mkfs usually leaves for later is done now, or it would go on during a transfer.
refuse() { echo "$1: /dev/ram0 is not certainly ours, and is left alone" >&2; exit 1; }
[ "$(echo /sys/block/ram*)" = /sys/block/ram0 ] || refuse "brd has several devices"
[ "$(cat /sys/block/ram0/size)" = $(($1 * 2)) ] || refuse "it has another size"
[ "$(stat -c %F:%t:%T /dev/ram0)" = "block special file:1:0" ] || refuse "it is no device of brd"
[ -z "$(ls /sys/block/ram0/holders)" ] || refuse "another device is on top of it"
# shellcheck disable=SC2015
signatures=$(wipefs --no-act /dev/ram0) && [ -z "$signatures" ] || refuse "something is on it"
exec mkfs.ext4 -q -T default -m 0 -E lazy_itable_init=0,lazy_journal_init=0 /dev/ram0
