# Unload the service $2 of the property list $1, by `unload` or, if that is not enough, by `bootout`.
launchctl unload "$1"
if launchctl list "$2" >/dev/null 2>&1; then launchctl bootout "system/$2"; fi
