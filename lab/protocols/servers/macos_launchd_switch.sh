# shellcheck shell=sh
# What launchd notes of the switch of service $1: enabled, disabled, or none. Before 13 it prints whether it is disabled
# as true or false; before 10.10 launchctl has no such word, and load passes over the switch.
case $(launchctl print-disabled system 2>/dev/null | sed -n "s/^[[:blank:]]*\"$1\" => //p") in
disabled | true) echo disabled ;;
enabled | false) echo enabled ;;
*) echo none ;;
esac
