# Print launchd's note about the switch of service $1: enabled, disabled, or none. Before 13 launchctl prints true or false
# for disabled. Before 10.10 it has no such command, and load ignores the switch.
case $(launchctl print-disabled system 2>/dev/null | sed -n "s/^[[:blank:]]*\"$1\" => //p") in
disabled | true) echo disabled ;;
enabled | false) echo enabled ;;
*) echo none ;;
esac
