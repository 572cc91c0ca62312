# shellcheck shell=sh
# After named_device_functions.sh.
# `mounted` where a device $2 is what is mounted at a folder, which the table of mounts shows as $1; `absent` where nothing is; else what
# there is.
mount_state() {
    source=$(grep -F " $1 " /proc/self/mounts | sed 's/ .*//')
    if [ -z "$source" ]; then echo absent
    elif [ "$(readlink -f -- "$source")" = "$(readlink -f -- "$2")" ]; then echo mounted
    else echo "mounted $source"
    fi
}
