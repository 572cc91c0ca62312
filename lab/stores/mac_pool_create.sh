# shellcheck shell=sh
# After mac_pool_functions.sh. $1 the pool, $2 the image, $3 the mount point, $4 the image's disk, $5 whether it is shown as HFS+ (on, off, or
# "" for on if that Mac has an AFP server, which shares nothing else), then options of `zpool create`.
pool=$1 image=$2 place=$3 device=$4 mimic=$5
shift 5
[ "$(disks_of "$image")" = "$device" ] || { echo "$device is not the only disk of $image" >&2; exit 1; }
known=$(zfs get 2>&1)
has() { printf '%s\n' "$known" | grep -q "^[[:blank:]]*$1[[:blank:]]"; }
if [ "$mimic" = "" ]; then
    case $(sw_vers -productVersion) in 10.*) mimic=on ;; *) mimic=off ;; esac
fi
if [ "$mimic" = on ]; then
    if has 'com\.apple\.mimic_hfs'; then set -- "$@" -O com.apple.mimic_hfs=on
    elif has 'com\.apple\.mimic'; then set -- "$@" -O com.apple.mimic=hfs
    else echo "this ZFS cannot be shown as HFS+" >&2; exit 1; fi
fi
# Without a disk of its own, which Disk Arbitration would look at and mount
if has 'com\.apple\.devdisk'; then set -- "$@" -O com.apple.devdisk=off; fi
zpool create "$@" -m "$place" "$pool" "$device" && is_own "$pool" "$image"
