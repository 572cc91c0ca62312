#!/bin/sh
# Builds the modules of ZFS in /tmp, for the one kernel whose headers are here, and puts them into /tmp/modules.
set -eu
kernel=$(echo /usr/lib/modules/*)
cp -R /usr/src/zfs-* /tmp/zfs
cd /tmp/zfs
./configure --with-config=kernel --disable-dependency-tracking --with-linux="$kernel/source" --with-linux-obj="$kernel/build"
make -j "$(nproc)"
strip --strip-debug module/spl.ko module/zfs.ko
mkdir /tmp/modules
mv module/spl.ko module/zfs.ko /tmp/modules
