# Wait until nfsd of a Mac exports the folder $1: it reads its exports some time after it is told to.
tries=0
until showmount -e 127.0.0.1 2>/dev/null | grep -F -- "$1" | grep -vq '<offline>'; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ]; then
        echo "nfsd does not export $1:" >&2
        nfsd checkexports >&2
        exit 1
    fi
    sleep 0.1
done
