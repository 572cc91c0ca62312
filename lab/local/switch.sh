#!/bin/sh
# A switch for the hosts of a local lab: a bridge in a network of its own, which ends with this process. Its ports are added
# later. It passes everything on to where it belongs, as a switch out of the box does.
set -eu
ip link add switch type bridge
echo 0 > /sys/class/net/switch/bridge/multicast_snooping 2>/dev/null || :   # where /sys is of another network
ip link set dev switch up
echo ready
exec sleep infinity >/dev/null
