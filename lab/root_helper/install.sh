# shellcheck disable=SC2015,SC2154  # give_up follows any failure before it; owner is set by own_folder.sh
# After own_folder.sh. As root: write the helper from standard input to the file $1, and the line $2 to the file $3 of
# sudo's settings, after a check by visudo. Only root may write into the folders above them.
program=$1 line=$2 settings=$3
give_up() { rm -f "$settings.new" "$program.new"; echo "$1" >&2; exit 1; }
command -v perl >/dev/null ||
    give_up "the helper is a perl script, and there is no perl here"
mkdir -p "${program%/*}"
{ go "${program%/*}" && stands_firm us && [ "$owner" = 0 ]; } ||
    give_up "${program%/*} is a link, or others than root can write into it or a folder above it"
cat >"$program.new" && [ -s "$program.new" ] && chown 0:0 "$program.new" && chmod 755 "$program.new" ||
    give_up "$program cannot be written"
perl -cT "$program.new" 2>/dev/null || give_up "perl does not take the helper"
# Macs before 10.11 have no such folder
if [ ! -d "${settings%/*}" ]; then
    mv -f "$program.new" "$program" || give_up "$program cannot be written"
    echo "put there: $program"
    exit
fi
# sudo reads no file whose name has a dot
printf '%s\n' "$line" >"$settings.new" && chown 0:0 "$settings.new" && chmod 440 "$settings.new" ||
    give_up "$settings cannot be written"
visudo -cqf "$settings.new" || give_up "visudo does not take: $line"
mv -f "$program.new" "$program" && mv -f "$settings.new" "$settings" || give_up "$settings cannot be written"
printf '%s\n' "put there: $program" "put there: $settings ($line)"
