function _lab_runs
    for file in results/*/run.json
        string replace -rf '^results/([A-Za-z0-9._-]+)/run\.json$' '$1' -- $file
    end
    string join \n -- $_lab_shipped_examples
    __fish_complete_directories (commandline -ct)
end

function _lab_sweeps
    string join \n -- $_lab_shipped_sweeps
    for path in (__fish_complete_suffix .toml)
        string match -r -- '.*(?:\.toml|/)(?:\t.*)?$' $path
    end
end
