#!/bin/sh
# Runs a private D-Bus, gvfsd, and gvfsd-fuse on a FUSE mount that is open already.
# usage: gvfs_session.sh FOLDER LIBEXEC DESCRIPTOR   (FOLDER: has bus.conf; DESCRIPTOR: of the opened /dev/fuse)
dbus-daemon --nofork --nopidfile --config-file="$1/bus.conf" &
until [ -S "$1/bus" ]; do sleep 0.01; done
"$2/gvfsd" --no-fuse &
gdbus wait --session --timeout 30 org.gtk.vfs.Daemon && exec "$2/gvfsd-fuse" -f -o noforget "/dev/fd/$3"
