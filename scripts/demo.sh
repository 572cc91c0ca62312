#!/bin/sh
# The demo, in a local lab that is up: a whole sweep, executed notebook and report, the answer.
set -eu
cd "$(dirname "$0")/.."
lab=.venv/bin/lab
hosts=hosts.local.demo.ini
# without it a signal would end this shell before `lab run` has put its hosts back
trap 'exit 1' HUP INT TERM

$lab check --hosts $hosts
failed=0
$lab run --hosts $hosts sweeps/demo.toml || failed=$?
# shellcheck disable=SC2012
run=$(ls -d results/*-demo | tail -n 1)

$lab report "$run"
echo "Executing the notebook"
$lab notebook explore "$run" --no-redact --export "$run/report/explore.html"
echo
$lab show "$run"
# what root made belongs to who asked for it
[ -z "${SUDO_UID:-}" ] || chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" results .venv
exit $failed
