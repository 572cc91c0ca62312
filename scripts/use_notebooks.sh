#!/bin/sh
# usage: use_notebooks.sh VENV
# Executes every notebook of the lab that is installed in VENV, in the current folder, which is empty, and writes it as a page
# that fetches nothing. Ends at the first that fails.
set -eu
venv=$1
for notebook in "$venv"/lib/python3*/site-packages/lab/shipped/notebooks/*.ipynb; do
    name=$(basename "$notebook" .ipynb)
    "$venv/bin/lab" notebook "$name" --export "$name.html" >/dev/null
    if grep -qE '<script|<link|src="[^d]|href="[^#]' "$name.html"; then
        echo "make wheel: FAILED: $name.html loads something" >&2
        exit 1
    fi
    echo "  lab notebook $name: $(($(wc -c <"$name.html") / 1024)) KiB"
done
