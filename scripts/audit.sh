#!/bin/sh
# Asks the database of known vulnerabilities about every Python package that is installed in .venv: one request a package.
# pip-audit, which asks, is installed into a folder of its own that goes afterwards. Exit code 1 where there is a
# vulnerability; 0 where there is none, and where nothing can be asked: a machine without a network is told, and passes.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

.venv/bin/python -m pip list --format freeze --exclude-editable --disable-pip-version-check >"$folder/installed"
: >"$folder/report"
code=1
if .venv/bin/python -m venv "$folder/venv" &&
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check pip-audit >"$folder/log" 2>&1; then
    code=0
    "$folder/venv/bin/pip-audit" --requirement "$folder/installed" --no-deps --disable-pip --progress-spinner off \
        --format columns >"$folder/report" 2>"$folder/log" || code=$?
fi
scripts/audit_report.sh "$folder/report" "$code" "$(grep -c . "$folder/installed")" || exit
[ "$code" = 0 ] || tail -n 3 "$folder/log" >&2
