# bash evaluates what compgen -W gets, and in older versions inserts a name as it is: a folder may come from anywhere,
# so that one with other signs than these is not offered
# shellcheck disable=SC2154  # what comes with the lab, which completion.py puts in front
_lab_run_names() {
    local file name folder
    folder=$(_lab_results)
    for file in "$folder"/*/run.json; do
        name=${file%/run.json}
        name=${name#"$folder"/}
        case $name in
            *[!A-Za-z0-9._-]*) ;;
            "$1"*) printf '%s\n' "$name" ;;
        esac
    done
}

# The folder of runs that the line names
_lab_results() {
    local index folder=results
    for ((index = 1; index < ${#COMP_WORDS[@]} - 1; index++)); do
        if [ "${COMP_WORDS[index]}" = --results ]; then folder=${COMP_WORDS[index + 1]}; fi
    done
    printf '%s\n' "${folder/#"~/"/"$HOME/"}"
}

_lab_run_dirs() {
    _lab_run_names "$1"
    compgen -W "${_lab_shipped_examples[*]}" -- "$1"
    compgen -d -- "$1"
}

_lab_notebook_names() {
    compgen -W "${_lab_shipped_notebooks[*]}" -- "$1"
    _lab_run_dirs "$1"
}

_lab_sweep_files() {
    compgen -W "${_lab_shipped_sweeps[*]}" -- "$1"
    compgen -f -X '!*.toml' -- "$1"
    compgen -d -- "$1"
}
