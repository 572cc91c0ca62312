#!/bin/sh
# usage: with_local_lab.sh NAME DELAY COMMAND...
# Runs a command while the local lab NAME is up, with its hosts file in this folder, and takes it down however that ends.
set -eu
lab=$(dirname "$0")/../.venv/bin/lab
name=$1 delay=$2
shift 2
# without these a signal would end this shell, and the trap of EXIT would not run
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
trap '"$lab" local down --name "$name"' EXIT
"$lab" local up --name "$name" --delay "$delay" || {
    code=$?
    [ $code -ne 2 ] || trap - EXIT # one that is up already is not this script's
    exit $code
}
"$@"
