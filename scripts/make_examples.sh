#!/bin/sh
# Makes the runs that come with the lab anew, as root on Linux, on a machine with nothing else to do: the sweep `example`
# in two local labs. Some ten minutes.
set -eu
cd "$(dirname "$0")/.."
examples=$PWD/lab/shipped/examples
scripts=$PWD/scripts
lab=$PWD/.venv/bin/lab
folder=$(mktemp -d)
title="a run that comes with the lab, made in a local lab on one machine"
cd "$folder" # run.json names the folder of its hosts file

# usage: make_one NAME DELAY
make_one() {
    # shellcheck disable=SC2016
    "$scripts/with_local_lab.sh" "$1" "$2" sh -euc '
        trap "exit 1" HUP INT TERM # not before `lab run` has put its hosts back
        sed "s/^title = local lab on [^:]*:/title = $2:/" "hosts.local.$1.ini" >"$1.ini"
        "$3" run --hosts "$1.ini" example
    ' sh "$1" "$title" "$lab"
    "$lab" export -1 --output "$1" # without the names of this machine
    (cd "$1" && "$(dirname "$lab")/python" -m zipfile -c "$folder/$1.zip" run.json trials.jsonl samples.jsonl)
    rm -r results "$1"
}

make_one example 250us
make_one example-delay 1ms
mv "$folder"/*.zip "$examples" # at the end: each run notes whether this checkout was as it was committed
rm -r "$folder"
