# bash evaluates what compgen -W gets, and in older versions inserts a name as it is: a folder may come from anywhere,
# so that one with other signs than these is not offered
# shellcheck disable=SC2154  # what comes with the lab, which completion.py puts in front
_lab_run_names() {
    local file name
    for file in results/*/run.json; do
        name=${file%/run.json}
        name=${name#results/}
        case $name in
            *[!A-Za-z0-9._-]*) ;;
            "$1"*) printf '%s\n' "$name" ;;
        esac
    done
}

_lab_run_dirs() {
    _lab_run_names "$1"
    compgen -W "${_lab_shipped_examples[*]}" -- "$1"
    compgen -d -- "$1"
}

_lab_sweep_files() {
    compgen -W "${_lab_shipped_sweeps[*]}" -- "$1"
    compgen -f -X '!*.toml' -- "$1"
    compgen -d -- "$1"
}
