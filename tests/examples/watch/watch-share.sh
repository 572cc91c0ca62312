#!/bin/sh
# Measures a share, and prints something only where it has become slower, or could not be measured.
PATH=$HOME/.local/bin:/opt/homebrew/bin:/usr/local/bin:$PATH
cd "$HOME/share-speed" || exit 1
if ! lab measure smb://nas/media --password file:password --save nas >measure.log 2>&1; then
    cat measure.log
    exit 1
fi
lab history nas --fail-if 'slower-than 10%' >history.txt 2>&1
code=$?
if [ $code -ne 0 ]; then
    cat history.txt
    if command -v osascript >/dev/null; then
        osascript -e 'display notification "The NAS is slower than before" with title "lab history nas"'
    fi
fi
exit $code
