# $1 a folder; prints "folder" and its path without links, or why it cannot be entered. Entering lets an automounter mount.
if cd "$1" 2>/dev/null; then
    echo folder
    pwd -P
elif [ -d "$1" ]; then
    echo closed
elif [ -e "$1" ]; then
    echo file
else
    echo missing
fi
