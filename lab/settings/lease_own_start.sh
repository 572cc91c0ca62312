# After is_alive.sh. As an account with a narrow sudo: start the guard $3 (perl) of a lease of $2 seconds, with the scripts $4
# to $6, in the account's folder $1. Standard input: a line with the run, a line with names of its records, then the input of
# the guard. The folder stands in for the host journal, which only root can enter: it has a lock and a file for each
# record. Prints the guard's process.
umask 077
read -r run && read -r names || exit
{ [ -d "$1/lease" ] || mkdir "$1/lease"; } && cd "$1/lease" && printf '%s 0 own\n' "$run" >lock || exit
for name in $names; do : >"$name"; done
guard=$({ printf '%s\n' "$run"; cat; } | perl -e "$3" -- '' "$2" '' "$4" "$5" "$6") &&
    echo "$guard $(started "$guard")" >lease && cat lease
