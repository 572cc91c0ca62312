# The folder of runs that the line names
function _lab_results
    set -l folder results
    set -l words (commandline -opc)
    for index in (seq 2 (count $words))
        switch $words[$index]
            case --results
                set folder $words[(math $index + 1)]
            case '--results=*'
                set folder (string replace -- --results= '' $words[$index])
        end
    end
    string replace -r -- '^~/' $HOME/ $folder
end

function _lab_runs
    set -l folder (_lab_results)
    for file in $folder/*/run.json
        string replace -rf '^.*/([A-Za-z0-9._-]+)/run\.json$' '$1' -- $file
    end
    string join \n -- $_lab_shipped_examples
    __fish_complete_directories (commandline -ct)
end

function _lab_notebooks
    string join \n -- $_lab_shipped_notebooks
    _lab_runs
end

function _lab_sweeps
    string join \n -- $_lab_shipped_sweeps
    for path in (__fish_complete_suffix .toml)
        string match -r -- '.*(?:\.toml|/)(?:\t.*)?$' $path
    end
end
