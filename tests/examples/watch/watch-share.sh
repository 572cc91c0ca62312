#!/bin/sh
# Measures a share, and prints something only where it has become slower, or could not be measured.
target=/mnt/media
PATH=$HOME/.local/bin:/opt/homebrew/bin:/usr/local/bin:$PATH
cd "$HOME/share-speed" || exit 1

lab measure "$target" --save nas >measure.log 2>&1 || {
    cat measure.log
    exit 1
}
lab history nas --fail-if 'slower-than 10%' >history.txt 2>&1 || {
    code=$?
    cat history.txt
    if [ "$code" -eq 3 ] && command -v osascript >/dev/null; then
        osascript -e 'display notification "The share is slower than before" with title "lab history nas"'
    fi
    exit "$code"
}
