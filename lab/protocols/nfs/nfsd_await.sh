# Wait up to 30 s until nfsd of a Mac is $1, `running` or `stopped`: launchd may wait 10 s between starts. Needs nfsd_state.
tries=0
until [ "$(nfsd_state)" = "$1" ]; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ]; then
        echo "nfsd is not $1:" >&2
        nfsd status >&2
        exit 1
    fi
    sleep 0.1
done
