# As root: remove the file $2 of sudo's settings, which names the helper, and then the helper $1.
for file in "$2" "$1"; do
    if [ -e "$file" ] || [ -L "$file" ]; then rm -f "$file" && echo "removed: $file" || exit
    else echo "not there: $file"; fi
done
rmdir "${1%/*}" 2>/dev/null
:
