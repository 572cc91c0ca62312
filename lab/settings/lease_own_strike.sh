# shellcheck shell=sh
# As the guard of an account: strike the records whose names are lines of standard input, by the command $@, which has the
# helper do it, and then here.
names=$(cat)
# shellcheck disable=SC2086  # a name is one word
printf '%s\n' "$names" | "$@" && rm -f -- $names
