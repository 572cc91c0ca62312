#!/bin/sh
# usage: use_wheel.sh VENV
# Uses the lab that is installed in VENV, in the current folder, which is empty. Ends at the first thing that is wrong.
set -eu
venv=$1
lab=$venv/bin/lab
most_mb=450 # without extras
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT

# usage: expect CODE TEXT COMMAND...: it ends with this exit code, prints this text somewhere, and has no traceback
expect() {
    code=$1 text=$2
    shift 2
    actual=0
    "$@" >"$printed" 2>&1 || actual=$?
    if [ "$actual" = "$code" ] && grep -qF -e "$text" "$printed" && ! grep -q Traceback "$printed"; then
        shift
        echo "  lab $*"
        return
    fi
    echo "make wheel: FAILED with exit code $actual: $*: it should be $code, with: $text" >&2
    tail -n 30 "$printed" >&2
    exit 1
}

expect 0 "lab $("$venv/bin/python" -c 'from importlib.metadata import version; print(version("file-share-lab"))')" "$lab" --version
expect 0 "usage: lab" "$lab" --help
expect 0 "usage: lab show" "$lab" show --help
expect 0 "32 cases" "$lab" plan demo
expect 0 '"grid_cases": 10' "$lab" plan macs --json
expect 2 "the sweeps that come with the lab are" "$lab" plan nothing
expect 2 "hosts.ini: no such file" "$lab" run demo
expect 2 "holds no run" "$lab" show
expect 0 "Fastest write" "$lab" show example
expect 0 "a run that comes with the lab" "$lab" show example --full
expect 0 "Fastest read" "$lab" show example-delay
expect 0 "B/A" "$lab" compare example example-delay
expect 0 "report-example/report.html" "$lab" report example
expect 0 "elsewhere/report.html" "$lab" report example --to elsewhere
expect 2 "pip install 'file-share-lab[notebook]'" "$lab" notebook
[ "$(id -u)" != 0 ] || expect 2 "pip install ./emulated_mac" "$lab" local up --name wheel --platform macos@15.5
expect 0 '"title": "file-share-lab, schema 2: a line of trials.jsonl"' "$lab" export --schema trial
for file in report-example/report.html report-example/figures/throughput.png elsewhere/post.md; do
    [ -s "$file" ] || { echo "make wheel: FAILED: no $file was written" >&2; exit 1; }
done
package=$(echo "$venv"/lib/python3*/site-packages/lab)
reference=$package/shipped/docs/reference
for file in "$reference/commands.md" "$reference/schema/trial.json" "$venv/share/man/man1/lab.1" \
    "$package/platforms/macos/assumptions.toml" "$package/protocols/mounts/macos_assumptions.toml"; do
    [ -s "$file" ] || { echo "make wheel: FAILED: the wheel lacks $file" >&2; exit 1; }
done
[ "$(ls)" = "elsewhere
report-example" ] || { echo "make wheel: FAILED: files were left that nobody asked for:" *  >&2; exit 1; }

size_mb=$(du -sm "$venv" | cut -f 1)
echo "  $size_mb MB installed"
[ "$size_mb" -lt "$most_mb" ] || { echo "make wheel: FAILED: more than $most_mb MB" >&2; exit 1; }
