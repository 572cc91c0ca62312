_lab_runs() {
    local -a runs
    runs=(results/*/run.json(N:h:t))
    compadd -a runs
    compadd -a _lab_shipped_examples
    _files -/
}

_lab_sweeps() {
    compadd -a _lab_shipped_sweeps
    _files -g '*.toml'
}
