_lab_runs() {
    local -a runs
    runs=(results/*/run.json(N:h:t))
    compadd -a runs
    _files -/
}

_lab_sweeps() {
    _files -g '*.toml'
}
