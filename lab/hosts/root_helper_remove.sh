# shellcheck shell=sh
# As root: remove the helper $1 and the file $2 of sudo's settings. The settings first: they name the helper.
for file in "$2" "$1"; do
    if [ -e "$file" ] || [ -L "$file" ]; then rm -f "$file" && echo "removed: $file" || exit
    else echo "not there: $file"; fi
done
rmdir "${1%/*}" 2>/dev/null
:
