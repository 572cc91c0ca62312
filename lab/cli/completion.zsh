_lab_runs() {
    local -a runs
    local folder=results
    integer at=${words[(I)--results]}
    if ((at)); then folder=${words[at + 1]}; fi
    at=${words[(I)--results=*]}
    if ((at)); then folder=${words[at]#--results=}; fi
    folder=${folder/#\~\//$HOME/}
    runs=($folder/*/run.json(N:h:t))
    compadd -a runs
    compadd -a _lab_shipped_examples
    _files -/
}

_lab_notebooks() {
    compadd -a _lab_shipped_notebooks
    _lab_runs
}

_lab_sweeps() {
    compadd -a _lab_shipped_sweeps
    _files -g '*.toml'
}
