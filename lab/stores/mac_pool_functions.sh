# shellcheck shell=sh
# After own_folder.sh.
# O3X 2 has its programs in a folder of its own, O3X 1 in /usr/local/bin; sudo keeps neither. Root runs none that an account can
# change, as Homebrew's may be.
for folder in /usr/local/zfs/bin /usr/local/bin; do
    if (cd -P "$folder" 2>/dev/null && stands_firm us); then PATH=$PATH:$folder; fi
done

# The disks of the image $1, one a line.
disks_of() {
    # shellcheck disable=SC2016 # $ is awk's
    hdiutil info | IMAGE=$1 awk '
        /^====/ { ours = 0 }
        /^image-path *: / { path = $0; sub(/^image-path *: /, "", path); ours = path == ENVIRON["IMAGE"] }
        ours && $1 ~ /^\/dev\/disk[0-9]+$/ { print $1 }'
}

# What there is of a pool: `imported` where one has this name and its only device is the disk of the image, or the first partition of
# that, which O3X 2 makes; `absent` where none has the name; else what there is. $1 the pool, $2 the image.
state() {
    command -v zpool >/dev/null || { echo absent; return; }
    pools=$(zpool list -H -o name) || { echo "pools unknown"; return; }
    printf '%s\n' "$pools" | grep -qxF -- "$1" || { echo absent; return; }
    devices=$(zpool list -HvP "$1" | grep "^$(printf '\t')/" | cut -f 2)
    disk=$(disks_of "$2")
    if [ "$disk" ] && { [ "$devices" = "$disk" ] || [ "$devices" = "${disk}s1" ]; }; then echo imported
    else echo "pool over $(printf '%s\n' "${devices:-nothing that it tells}" | sed 1q)"; fi
}

# Whether it is a pool of the lab's own; says what it is where it is not.
is_own() {
    state=$(state "$1" "$2")
    [ "$state" = imported ] || { echo "$1 is no pool of the lab's own in $2: $state" >&2; false; }
}

# Takes the pool's volume off. zpool does not see that one which is shown as HFS+ is mounted. $1 where, $2 how often it was tried.
take_off() {
    mount | grep -qF " on $1 (" || return 0
    umount "$1" || { [ "$2" -gt 3 ] && umount -f "$1"; }
}
