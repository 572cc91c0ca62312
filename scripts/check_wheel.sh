#!/bin/sh
# Builds the wheel, installs it into a clean venv of the oldest and of the newest Python of this machine, and uses it there
# in an empty folder, as somebody does who has nothing of this repository.
set -eu
unset PYTHONPATH PYTHONHOME # pip would take the checkout for an installed lab
cd "$(dirname "$0")/.."
scripts=$PWD/scripts
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

candidates() {
    for name in python3 python3.11 python3.12 python3.13 python3.14 python3.15; do command -v $name || :; done
    if command -v pyenv >/dev/null; then ls "$(pyenv root)"/versions/*/bin/python3 2>/dev/null || :; fi
}

# Lines such as "3.13 /usr/bin/python3.13", the oldest first, of those that the lab supports and that can make a venv
pythons() {
    candidates | while read -r python; do
        "$python" -c 'import ensurepip, sys, venv
if sys.version_info >= (3, 11): print("%d.%d" % sys.version_info[:2], sys.executable)' 2>/dev/null || :
    done | sort -t . -k 2,2n -u
}

pythons >"$folder/pythons"
[ -s "$folder/pythons" ] || { echo "make wheel: needs Python 3.11 or later, with its venv module" >&2; exit 2; }
oldest=$(head -n 1 "$folder/pythons") newest=$(tail -n 1 "$folder/pythons")

echo "Building the wheel with Python ${oldest%% *}"
"${oldest#* }" -m venv "$folder/build"
"$folder/build/bin/pip" install --quiet --disable-pip-version-check build
"$folder/build/bin/python" -m build --outdir "$folder/dist" . >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
set -- "$folder"/dist/*.whl
echo "$(basename "$1"): $(($(wc -c <"$1") / 1024)) KiB"

printf '%s\n' "$oldest" "$newest" | uniq | while read -r version python; do
    echo "Installing it into a clean venv of Python $version"
    "$python" -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet --disable-pip-version-check "$1"
    mkdir "$folder/empty-$version" "$folder/home-$version"
    (cd "$folder/empty-$version" && env -i PATH=/usr/bin:/bin HOME="$folder/home-$version" "$scripts/use_wheel.sh" "$folder/$version")
done

version=${newest%% *}
echo "Installing all that it can use, and executing its notebooks, with Python $version"
"$folder/$version/bin/pip" install --quiet --disable-pip-version-check "$1[all]"
"$folder/$version/bin/pip" check
cp -R emulated_mac "$folder/emulated_mac"
"$folder/$version/bin/pip" install --quiet --disable-pip-version-check "$folder/emulated_mac"
"$folder/$version/bin/lab" local fault --help | grep -q eject-busy
mkdir "$folder/notebooks"
(cd "$folder/notebooks" && env -i PATH=/usr/bin:/bin HOME="$folder/home-$version" "$scripts/use_notebooks.sh" "$folder/$version")
