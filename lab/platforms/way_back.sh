# In a scratch folder, do what ends a run: $1 starts a process led by $2, $3 ends it, $4 with $5 removes the folder. Fails
# with the command's own message if any of it cannot be done here.
pid=
scratch=$(mktemp -d "${TMPDIR:-/tmp}/file-share-lab-XXXXXXXX") || exit
identity=$scratch/sleep.process
if mkdir "$scratch/folder" && echo >"$scratch/folder/file" &&
    sh -c "$1" sh "$identity" "$scratch/log" true "$2" sleep 60 && read -r pid <"$identity" && sh -c "$3" sh "$identity"; then
    pid= # the number may be another process's by now
    sh -c "$4" sh "$scratch" "$5" && exit # the name may be another folder's by now
fi
[ -z "$pid" ] || kill -s KILL "$pid" 2>/dev/null
rm -rf "$scratch"
exit 1
