#!/bin/sh
# Makes the two network cards of a guest, as taps in the namespace of its host: management has an address, data is a port.
# usage: guest_taps.sh ADDRESS/LENGTH MTU
set -eu
mkdir /dev/net
mknod /dev/net/tun c 10 200
for tap in management data; do ip tuntap add dev "$tap" mode tap; done
ip address add "$1" dev management
ip link set dev management up
ip link set dev data mtu "$2" up
