# $1 a folder; prints "folder" and its path without links, or why it cannot be entered. Entering lets an automounter mount.
# Privacy of macOS lets a program enter, and not look: then it prints "refused" and the reason.
refusal=$({ cd "$1" && exec <.; } 2>&1)
if [ "$refusal" != "${refusal%Operation not permitted*}" ]; then
    echo refused
    echo "$refusal"
elif cd "$1" 2>/dev/null; then
    echo folder
    pwd -P
elif [ -d "$1" ]; then
    echo closed
elif [ -e "$1" ]; then
    echo file
else
    echo missing
fi
