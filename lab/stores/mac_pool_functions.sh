# shellcheck shell=sh
# After own_folder.sh. O3X 2 has its own folder of programs, O3X 1 uses /usr/local/bin; sudo keeps neither in PATH. Root must not run programs
# that an account can change, such as Homebrew's.
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

# `imported` if the only device of the pool $1 is the disk of the image $2, or its first partition, which O3X 2 makes; `absent` if there is no
# such pool; else what there is.
state() {
    command -v zpool >/dev/null || { echo absent; return; }
    pools=$(zpool list -H -o name) || { echo "pools unknown"; return; }
    printf '%s\n' "$pools" | grep -qxF -- "$1" || { echo absent; return; }
    devices=$(zpool list -HvP "$1" | grep "^$(printf '\t')/" | cut -f 2)
    disk=$(disks_of "$2")
    if [ "$disk" ] && { [ "$devices" = "$disk" ] || [ "$devices" = "${disk}s1" ]; }; then echo imported
    else echo "pool over $(printf '%s\n' "${devices:-nothing that it tells}" | sed 1q)"; fi
}

# Whether the pool is the lab's; else say what it is.
is_own() {
    state=$(state "$1" "$2")
    [ "$state" = imported ] || { echo "$1 is no pool of the lab's own in $2: $state" >&2; false; }
}

# Unmount the pool's volume at $1, by force from the fourth try on ($2): zpool does not see the mount of a volume that is shown as HFS+.
take_off() {
    mount | grep -qF " on $1 (" || return 0
    umount "$1" || { [ "$2" -gt 3 ] && umount -f "$1"; }
}
