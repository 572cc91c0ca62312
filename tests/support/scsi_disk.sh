# shellcheck shell=sh
# A SCSI disk of 700 MiB over a file, by the name /dev/usb-disk, as udev would have it. $1: `make` it, `pull` it out, as somebody does with
# a USB cable, or `plug` it in again.
target=/sys/kernel/config/target
case $1 in
make)
    modprobe -a target_core_file tcm_loop sd_mod && mount -t configfs none /sys/kernel/config
    mkdir -p /var/tmp/scsi "$target/core/fileio_0/disk" && truncate -s 700M /var/tmp/scsi/disk || exit
    echo "fd_dev_name=/var/tmp/scsi/disk,fd_dev_size=$((700 << 20))" > "$target/core/fileio_0/disk/control"
    echo 1 > "$target/core/fileio_0/disk/enable"
    port=$target/loopback/naa.5001405000000001/tpgt_1
    mkdir -p "$port" && echo naa.5001405000000002 > "$port/nexus"
    mkdir -p "$port/lun/lun_0" && ln -s "$target/core/fileio_0/disk" "$port/lun/lun_0/disk"
    ;;
pull)
    disk=$(readlink /dev/usb-disk) && echo 1 > "/sys/block/$disk/device/delete" && rm /dev/usb-disk
    exit
    ;;
esac
for host in /sys/class/scsi_host/host*; do
    [ "$(cat "$host/proc_name")" != tcm_loopback ] || echo "- - -" > "$host/scan"
done
for _ in 1 2 3 4 5 6 7 8 9 10; do
    for disk in /dev/sd*; do
        [ ! -b "$disk" ] || { ln -s "${disk#/dev/}" /dev/usb-disk; exit; }
    done
    sleep 0.5
done
exit 1
