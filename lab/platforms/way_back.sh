# In a scratch folder, do what ends a run: $1 starts a process led by $2, $3 ends it, $4 with $5 removes the folder. Fails
# with the command's own message if any of it cannot be done here. Once it is removed, its name may be somebody else's.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/file-share-lab-XXXXXXXX") && mkdir "$scratch/folder" && : >"$scratch/folder/file" || exit
identity=$scratch/sleep.process
if sh -c "$1" sh "$identity" "$scratch/log" true "$2" sleep 60 && read -r pid <"$identity" && sh -c "$3" sh "$identity"; then
    sh -c "$4" sh "$scratch" "$5" && exit
fi
[ -z "$pid" ] || kill -s KILL "$pid" 2>/dev/null
rm -rf "$scratch"
exit 1
