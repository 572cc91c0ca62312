# As the guard of an account: strike the records named by lines of standard input with the command $@, which asks the helper,
# and then here.
names=$(cat)
# shellcheck disable=SC2086  # a name is one word
printf '%s\n' "$names" | "$@" && rm -f -- $names
